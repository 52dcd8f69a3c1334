"""Words and shingles in any script, and the two rules on them."""

from __future__ import annotations

import json

import pytest

from evalrepo.discipline.leaks import guard, judged, pack, too_near, unpack
from evalrepo.discipline.passages import Held, Passage
from evalrepo.discipline.shingles import Sieve, placed, share, shingles, width, words
from evalrepo.store.sifting import Hits

RESERVE = "Review the pipeline module and report every place where the retry policy is ignored by the webhook worker"
RUN_SET = (
    "Please review the pipeline module and report every place where the retry policy is ignored by the queue consumer"
)
CHINESE = "请检查计费模块并报告所有忽略重试策略的地方然后把结果写进报告文件里不要改动任何代码"
THAI = "กรุณาตรวจสอบโมดูลการเรียกเก็บเงินและรายงานทุกจุดที่ละเลยนโยบายการลองใหม่แล้วเขียนผลลัพธ์ลงในไฟล์รายงาน"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('Bring it over: sha256, "-V2" and_so on.', ["bring", "it", "over", "sha256", "v2", "and", "so", "on"]),
        ("Straße und Café", ["strasse", "und", "café"]),
        ("cafe\u0301", ["café"]),
        ("ﬁle １２", ["file", "12"]),
        ("zero\u200bwidth soft\u00adhyphen", ["zerowidth", "softhyphen"]),
        ("計費 module 一", ["計", "費", "module", "一"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        (r"one\ntwo\tthree", ["one", "two", "three"]),
        (r"caf\u00e9 \u8a08", ["café", "計"]),
        ("", []),
    ],
)
def test_a_word_is_what_stands_between_spaces_and_signs_or_a_character_where_nobody_writes_spaces(text, tokens):
    assert words(text.encode()) == tokens


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_the_encoding_of_a_copy_makes_no_other_words_of_it(encoding):
    text = "Prüfe das Modul\nund berichte"
    assert words(text.encode(encoding)) == ["prüfe", "das", "modul", "und", "berichte"]
    assert placed(text.encode(encoding))[1] == [1, 1, 1, 2, 2]


@pytest.mark.parametrize(("text", "wide"), [(RESERVE, 1), (CHINESE, 2), (THAI, 4), ("수정 사항을 보고", 1), ("", 1)])
def test_how_many_characters_make_a_word_depends_on_the_script(text, wide):
    assert width(words(text.encode())) == wide


def test_the_share_of_eight_word_shingles_is_what_the_literature_counts():
    assert share(RESERVE.encode(), RUN_SET.encode()) == pytest.approx(9 / 11)
    assert len(shingles(words(RESERVE.encode()), 13)) == 6
    assert share(b"fix the typo", b"please fix the typo now") == 1.0
    assert share(b"", b"x") == 0.0


def test_a_sieve_finds_what_a_search_for_every_shingle_finds():
    tokens = words((RESERVE + " and then " + RUN_SET).encode())
    vocabulary = sorted(set(words(RESERVE.encode())))
    ids = {word: n for n, word in enumerate(vocabulary)}
    numbers = {tuple(ids[w] for w in one): n for n, one in enumerate(shingles(words(RESERVE.encode()), 8))}
    spelled = {tuple(vocabulary[i] for i in shingle): n for shingle, n in numbers.items()}
    slow = sorted({spelled[one] for one in shingles(tokens, 8) if one in spelled})
    assert Sieve(vocabulary, numbers).find(tokens) == slow == list(range(11))
    assert Sieve((), {}).find(tokens) == []


def of(*passages: tuple[str, str]) -> Held:
    made = tuple(Passage("R1", kind, "scenarios-reserve/R1.yaml", text.encode()) for kind, text in passages)
    return Held(made, {}, ("scenarios-reserve",), {"R1": ()}, {"R1": "scenarios/S1.yaml"})


def leaked(held: Held, text: str, shared: str = "") -> list[tuple[float, int]]:
    found = guard(held, 0.7)
    known = {"R1": found.sieve.find(words(shared.encode()))}
    hits = Hits((), tuple(found.sieve.find(words(text.encode()))))
    return [(round(f.share, 3), f.row) for f in judged(found, hits, known)]


NINE = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NINE, [(1.0, 17)]),
        (" ".join(NINE.split()[:13]), [(0.6, 13)]),  # thirteen words in a row
        (" ".join(NINE.split()[:12]), []),  # twelve: 5 of 10
        (NINE.replace("nine", "9"), []),  # one word in the middle changed: 2 of 10
        (f"{' '.join(NINE.split()[:12])}. {' '.join(NINE.split()[7:])}", [(0.8, 12)]),  # 70 % in two pieces
        ("ten words of nothing that the reserve ever said anywhere", []),
    ],
)
def test_seventy_percent_of_the_shingles_or_thirteen_words_in_a_row_are_a_leak(text, found):
    assert leaked(of(("a prompt", NINE)), f"Before it. {text}, after it.") == found


def test_what_is_shared_by_design_is_taken_out_before_anything_is_counted():
    held = of(("a prompt", NINE), ("a check", "alpha beta gamma delta epsilon zeta eta theta iota"))
    shared = "alpha beta gamma delta epsilon zeta eta theta iota"
    assert leaked(held, shared, shared) == []
    assert leaked(held, shared) == [(1.0, 9)]
    tail = NINE + " eighteen nineteen twenty"
    assert leaked(of(("a prompt", tail)), tail, NINE) == [(1.0, 10)]
    one_word_more = NINE + " eighteen"
    assert leaked(of(("a prompt", one_word_more)), one_word_more, NINE) == []


def test_a_short_prompt_leaks_as_a_whole_and_a_short_script_says_nothing():
    held = of(("a prompt", "Mend the spelling in NOTES.md"), ("a script", "All six files have it"))
    assert leaked(held, "docs: mend the spelling in notes.md, please") == [(1.0, 6)]
    assert leaked(held, "mend the spelling in notes") == []
    assert leaked(held, "all six files have it") == []
    assert leaked(of(("a prompt", "Fix it now")), "fix it now") == []


@pytest.mark.parametrize("text", [CHINESE, THAI])
def test_a_script_without_spaces_is_compared_by_longer_runs_of_characters(text):
    held = of(("a prompt", text))
    ((share_, row),) = leaked(held, f"说明 {text} end")
    assert share_ == 1.0
    assert row == len(words(text.encode())) // width(words(text.encode()))
    assert leaked(held, text[: len(text) // 4]) == []


def test_checks_and_scripts_of_a_pair_may_be_alike_and_prompts_may_not():
    held = of(("a prompt", RESERVE), ("a check", NINE))
    found = guard(held, 0.7)
    both = Hits((), tuple(found.sieve.find(words(f"{RESERVE}. {NINE}".encode()))))
    assert [f.kinds for f in judged(found, both, {}, ["R1"])] == [("a prompt",)]
    near = Hits((), tuple(found.sieve.find(words(RUN_SET.encode()))))
    assert too_near(found, near, "R1").share == pytest.approx(9 / 11)
    assert too_near(guard(held, 0.9), near, "R1") is None


def test_what_is_kept_in_the_cache_comes_back_as_it_was():
    found = guard(of(("a prompt", RESERVE), ("a check", CHINESE)), 0.7)
    back = unpack(json.loads(json.dumps(pack(found))))
    assert back == found
    assert back.digest == found.digest


def test_the_hash_of_a_leak_does_not_depend_on_what_else_the_reserve_holds():
    alone, beside = guard(of(("a prompt", NINE)), 0.7), guard(of(("a check", RESERVE), ("a prompt", NINE)), 0.7)
    tokens = words(NINE.encode())
    assert alone.spelled(alone.sieve.find(tokens)) == beside.spelled(beside.sieve.find(tokens))
