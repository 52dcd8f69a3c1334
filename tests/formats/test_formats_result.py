"""Result files: what is committed can be read back, and nothing in it acts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo import __version__
from evalrepo.codes import CODES
from evalrepo.errors import DataError
from evalrepo.formats import result
from evalrepo.records.record import Record, Rep

GOLDEN = Path(__file__).parent.parent / "golden" / "results"
DIGEST = {name: f"{n}" * 64 for n, name in enumerate(("subject", "stimulus", "instrument", "apparatus"), 1)}
NASTY = [
    "a | b \\| c",
    "```\n```json evalrepo-record\n{}\n```\n</details>",
    "<script>alert(1)</script> & <img src=x>",
    "[x](javascript:alert(1)) https://evil.example www.evil.example <https://e.example> a@b.example",
    "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x9b31m \u202eabc\u2066 \u200b \ufeff",
    "# heading\n## another\r\n- item\n1. one",
    "*bold* _em_ ~~gone~~ $x$ ![i](x) <!-- c -->",
    "\N{GRINNING FACE} café \U000e0041 \u2028 \x00",
]


def rep(number: int, verdict: str = "PASS", **more) -> dict:
    checks = [
        {"id": "delegated", "axis": "A", "outcome": "pass"},
        {"id": "explicit-model", "axis": "B", "outcome": "pass" if verdict == "PASS" else "fail"},
    ]
    if verdict == "FAIL":
        checks[1]["evidence"] = [{"text": "call 3 `Agent` names no model", "file": "main.jsonl", "line": 57}]
    return {
        "rep": number,
        "attempt": 1,
        "verdict": verdict,
        "checks": checks if verdict != "ERROR" else [],
        "timing": {"start": "2026-11-29T21:53:48Z", "seconds": 38.25},
        "usage": {"input_tokens": 15000, "output_tokens": 880, "cost_usd": 0.0271, "tool_calls": 11},
        **more,
    }


def record(**more) -> Record:
    data = {
        "schema": 1,
        "run": "k7m2q9ab",
        "start": "2026-11-29T21:53:48Z",
        "end": "2026-11-29T21:59:01Z",
        "evalrepo": "0.1.0",
        "scenario": "E2P-retry-policy",
        "title": "Nine mechanical edits are delegated with an explicit model",
        "agent": "claude",
        "tier": "haiku",
        "subjects": ["orchestration"],
        "digests": DIGEST,
        "commit": "3f2a91c0" * 5,
        "dirty": False,
        "cli_version": "Claude Code 2.1.332",
        "model": "claude-haiku-5-5",
        "isolation": "bwrap",
        "network": "open",
        "bar": {"passes": 2, "of": 3},
        "clone": "0123456789abcdef",
        "sequence": 7,
        "reps": [rep(1), rep(2, "FAIL"), rep(3, "FAIL")],
        **more,
    }
    return Record.model_validate_json(json.dumps(data))


def metric(score, source="mechanical", evidence="") -> dict:
    return {"score": score, "source": source, "evidence": evidence}


def judged(question: str = "told", answer: str = "yes", votes: tuple[str, ...] = ("yes", "yes", "yes"), **more) -> dict:
    reason = more.pop("reason", "It says so.")
    cast = [
        {"answer": a, "reason": reason, "places": ["p2"], "prompt": "1" * 64, "reply": "2" * 64}
        if a
        else {"broken": "not one JSON object: 'yes'", "tries": 2, "prompt": "1" * 64}
        for a in votes
    ]
    said = {
        "rubric": "words",
        "rubric_sha256": "3" * 64,
        "question": question,
        "kind": "command",
        "judge": "python judge.py",
    }
    return {**said, "answer": answer, "votes": cast, **more}


PLACE = {"text": "done", "file": "main.jsonl", "line": 9}
JUDGED = {
    "checks": [
        {"id": "unclear", "axis": "A", "outcome": "pass", "by": "judge", "evidence": [
            {"text": "judge, words/told: yes (split votes yes, no, yes). It says so."}, PLACE,
            {"text": "'perhaps' is found", "file": "main.jsonl", "line": 4},
        ]},
        {"id": "decides", "axis": "A", "outcome": "pass", "by": "judge", "evidence": [
            {"text": "judge, words/told: yes (split votes yes, no, yes). It says so."}, PLACE,
        ]},
        {"id": "broken", "axis": "B", "outcome": "error", "by": "judge", "evidence": [{"text": "the judge gave no answer"}]},
    ],
    "metrics": {"M4": {"score": 2, "source": "judge", "evidence": "Well done.", "places": [PLACE]}, "M5": metric(None, "human")},
    "judged": [
        judged(votes=("yes", "no", "yes"), model="stub-1", uncalibrated="not calibrated"),
        judged("right", "", ("", "", ""), broken="not one JSON object: 'yes'", override="EVALREPO_JUDGE_CMD"),
        judged("depth", "2", ("2",), reason="Well done.", model="stub-1"),
        judged("other", "no", ("no", "no", "no"), advisory="not calibrated"),
    ],
}  # fmt: skip
FILES = {
    "below-its-bar": record(),
    "retried-and-metrics": record(
        reps=[
            rep(1, metrics={"M1": metric(3), "M4": metric(2, "judge", "gap named")}, status="COMPLETE"),
            rep(2, "ERROR", error="rate-limit", message="429: slow down"),
            {**rep(2, metrics={"M1": metric(None)}, status="PARTIAL"), "attempt": 2},
            rep(3, "ERROR", error="idle", message="nothing for 180 s", usage={}),
        ],
        notes=["measured on a train"],
        models=["claude-haiku-5-5"],
    ),
    "scripted-prompt-set": record(
        scenario="invoking-subagents/nine_tasks_respect_cap",
        agent="scripted",
        tier="rehearsal:compliant",
        model_free=True,
        network="none",
        model="",
        dirty=True,
    ),
    "rehearsal": record(model_free=True, network="rehearsal", purpose="canary"),
    "reserve": record(set="reserve", purpose="look"),
    "judged": record(reps=[{**rep(1, "ERROR", error="judge", message="axis B"), **JUDGED}, rep(2)]),
    "nasty-judge": record(
        reps=[
            {
                **rep(1),
                "judged": [judged(n, n, (n, "yes"), reason=n, judge=n, uncalibrated=n), judged(n, "", ("",), broken=n)],
            }
            for n in NASTY
        ]
    ),
    "nasty": record(
        title=NASTY[1],
        reps=[
            rep(1, "ERROR", error="agent", message=NASTY[4]),
            {
                **rep(2, "FAIL"),
                "checks": [{"id": "c", "axis": "C", "outcome": "fail", "evidence": [{"text": t} for t in NASTY]}],
            },
        ],
        notes=NASTY,
    ),
}

texts = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
names = st.text("aZ0._-", min_size=1, max_size=6)
counts = st.integers(0, 10**18)
numbers = st.floats(0, 1e9, allow_nan=False)
maybe = lambda strategy: st.none() | strategy  # noqa: E731
evidence = st.fixed_dictionaries({"text": texts}, optional={"file": texts, "line": counts, "call": texts})
outcomes = st.sampled_from(["pass", "fail", "vacuous", "ambiguous", "skipped", "error"])
checks = st.fixed_dictionaries(
    {"id": names, "axis": names, "outcome": outcomes},
    optional={"gating": st.booleans(), "evidence": st.lists(evidence, max_size=5)},
)
scores = st.fixed_dictionaries(
    {"score": maybe(st.integers(0, 3)), "source": st.sampled_from(["mechanical", "judge", "human"])},
    optional={"evidence": texts},
)
usages = st.fixed_dictionaries(
    {}, optional={"input_tokens": maybe(counts), "output_tokens": maybe(counts), "cost_usd": maybe(numbers)}
)
verdicts = st.sampled_from([("PASS", ""), ("FAIL", ""), ("ERROR", "idle")])
reps = st.builds(
    lambda made, verdict: {**made, "verdict": verdict[0], "error": verdict[1]},
    st.fixed_dictionaries(
        {
            "rep": st.integers(1, 4),
            "attempt": st.integers(1, 3),
            "timing": st.fixed_dictionaries({"start": texts, "seconds": numbers}),
            "usage": usages,
            "checks": st.lists(checks, max_size=3),
            "metrics": st.dictionaries(names, scores, max_size=2),
            "message": texts,
        },
        optional={
            "status": st.sampled_from(["COMPLETE", None]),
            "unknown_rows": st.dictionaries(texts, counts, max_size=1),
        },
    ),
    verdicts,
)
records = st.fixed_dictionaries(
    {"title": texts, "tier": texts, "reps": st.lists(reps, max_size=3)},
    optional={
        "set": st.sampled_from(["run-set", "reserve"]),
        "notes": st.lists(texts, max_size=2),
        "model": texts,
        "models": st.lists(texts, max_size=2),
        "bar": st.fixed_dictionaries({"passes": st.integers(0, 3), "of": st.integers(0, 3)}),
        "digests": st.just({**DIGEST, "parts": {"subject": {"a": "`b`"}}}),
    },
).map(lambda more: record(**more))


@given(records)
@settings(max_examples=25, deadline=None)
def test_what_is_written_can_be_read_back_and_is_what_it_renders_to(made):
    text = result.dump(made).encode()
    assert result.load(text, "r.md") == result.sealed(made)
    assert result.check(text, "r.md") == []
    assert result.load_json(text) == json.loads(result.sealed(made).model_dump_json(by_alias=True))


def test_what_another_version_wrote_is_not_held_against_the_words_of_this_one():
    def reworded(version: str) -> bytes:
        return result.dump(record(evalrepo=version)).replace("bar 2 of 3", "the bar is 2 of 3").encode()

    assert [f.code for f in result.check(reworded(__version__), "r.md")] == ["RES005"]
    assert result.check(reworded("0.0.9"), "r.md") == []


@given(records)
@settings(max_examples=20, deadline=None)
def test_nothing_from_outside_acts_in_the_file(made):
    assert lies_still(made)


def test_nothing_that_a_judge_says_acts_in_the_file():
    assert lies_still(FILES["nasty-judge"])


def lies_still(made: Record) -> bool:
    text = result.dump(made)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]", text)
    assert text.count("```") == 2
    body = text[: text.index("<details>")]
    assert "<" not in body
    assert not re.search(r"(?<!\\)[`\[\]](?![A-Za-z0-9._/+-]*`)", re.sub(r"`[A-Za-z0-9._/+-]+`", "", body))
    assert not re.search(r"(?<!\\)://|www\.|[a-z]@[a-z]", body)
    tables = [line for line in body.split("\n") if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables[: len(made.reps) + 2]}) == 1
    return len([line for line in body.split("\n") if line.startswith("#")]) == 1


@pytest.mark.parametrize("name", FILES)
def test_the_file_looks_like_its_golden_copy(name):
    assert result.dump(FILES[name]) == (GOLDEN / f"{name}.md").read_text()


def test_a_result_without_judgements_has_no_such_section_and_a_reserves_tells_none():
    assert "Judgements" not in result.dump(FILES["retried-and-metrics"])
    reserve = FILES["judged"].model_copy(update={"set": "reserve"})
    assert "Judgements" not in result.dump(reserve).split("<details>")[0]


def test_a_judgement_says_who_answered_what_by_which_votes_why_and_where():
    body = result.dump(FILES["judged"])
    assert (
        "- rep 1, words/told: **yes** (split votes: yes, no, yes), by command stub-1; decides uncalibrated "
        "(not calibrated). It says so. (main.jsonl line 9)\n"
    ) in body
    assert (
        "- rep 1, words/right: no answer: not one JSON object: 'yes' (3 votes), by command python judge.py of "
        "EVALREPO_JUDGE_CMD\n"
    ) in body
    assert "- rep 1, words/depth: **2** (1 vote), by command stub-1. Well done. (main.jsonl line 9)\n" in body
    assert (
        "- rep 1, words/other: **no** (3 votes), by command python judge.py; advisory, in no verdict "
        "(not calibrated). It says so. (p2)\n"
    ) in body


def test_a_long_reason_is_shortened():
    long = record(reps=[{**rep(1), "judged": [judged(reason="why " * 500)]}])
    line = next(line for line in result.dump(long).split("\n") if line.startswith("- rep 1, words"))
    assert line.count("why") == 50
    assert "…" in line


def test_a_reserve_result_holds_no_evidence_and_no_message():
    text = result.dump(record(set="reserve", reps=[rep(1, "FAIL"), rep(2, "ERROR", error="idle", message="hush now")]))
    assert "names no model" not in text
    assert "hush now" not in text
    assert "ERROR(idle)" in text


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        (lambda t: t.replace("1 of 3 passed", "3 of 3 passed"), "RES005", 1),
        (lambda t: t.replace("</details>\n", "</details>\n\nReally.\n"), "RES005", 0),
        (lambda t: t.replace("```json evalrepo-record", "```json"), "RES001", 1),
        (lambda t: t[: t.index('"reps"')], "RES001", 0),
        (lambda t: t.replace('"reps": [', '"reps": [}'), "RES002", 0),
        (lambda t: t.replace('"dirty": false', '"dirty": false, "dirty": true'), "RES002", 0),
        (lambda t: t.replace('"cost_usd": 0.0271', '"cost_usd": NaN'), "RES002", 0),
        (lambda t: t.replace('"sequence": 7', '"sequence": ' + "9" * 5000), "RES002", 0),
        (lambda t: t.replace('"schema": 1', '"schema": 2'), "RES003", 0),
        (lambda t: t.replace('"schema": 1', '"schema": "1"'), "RES004", 0),
        (lambda t: t.replace('"dirty": false', '"dirty": "no"'), "RES004", 0),
        (lambda t: t.replace('"dirty": false', '"dirty": false, "more": 1'), "RES004", 0),
    ],
)
def test_a_changed_result_is_found(change, code, line):
    text = change(result.dump(record()))
    found = result.check(text.encode(), "r.md")
    assert [f.code for f in found] == [code]
    assert code in CODES
    assert line in (0, found[0].place.line)
    assert 0 < found[0].place.line <= text.count("\n") + 1


def test_the_sentence_for_a_newer_schema_names_both_numbers():
    with pytest.raises(DataError) as caught:
        result.load(result.dump(record()).replace('"schema": 1', '"schema": 9').encode(), "r.md")
    assert "schema 9; this evalrepo reads schemas up to 1" in str(caught.value.findings[0])
    assert "newer evalrepo" in caught.value.findings[0].hint


def test_line_ends_of_a_windows_checkout_are_no_change():
    assert result.check(result.dump(record()).replace("\n", "\r\n").encode(), "r.md") == []


def test_file_names_are_by_utc_day_and_safe():
    made = record(scenario="set/case", tier="rehearsal:compliant")
    name = "AgentsReport/evaluation/2026-11/2026-11-29_scenario-set~case_claude-rehearsal+compliant_k7m2q9ab.md"
    assert result.file_name(made) == name
    assert result.check(result.dump(made).encode(), name) == []
    assert [f.code for f in result.check(result.dump(made).encode(), name.replace("k7m", "k8m"))] == ["RES006"]


def test_bulk_reading_imports_no_model():
    code = (
        "import sys, evalrepo.formats.fence, evalrepo.formats.lockfile; "
        "assert not {'pydantic', 'ruamel', 'regex'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rep_lists_are_written_one_rep_a_line():
    block = result.dump(record()).split("```")[1]
    assert [Rep.model_validate_json(line.rstrip(",")).rep for line in block.split("\n") if '"rep":' in line] == [
        1,
        2,
        3,
    ]
