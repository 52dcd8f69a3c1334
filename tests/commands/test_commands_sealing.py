"""What stands in the reserve is on no screen and in no log: not in lists, errors, tables, results or a failing self-test."""

from __future__ import annotations

import re

import pytest

from evalrepo.formats.result import sealed_rep
from evalrepo.records.judgement import Judgement, Vote
from evalrepo.records.record import Evidence, MetricScore, Rating, Rep, Timing, Verdict
from tests.commands.conftest import SCENARIO, Repo
from tests.commands.test_commands_look import HELD, TRIPWIRE, TWIN, freeze

FILE = "scenarios-reserve/S1-reserve.yaml"
SECRET = re.compile(f"zebra|quagga|okapi|{TRIPWIRE}", re.IGNORECASE)
HIDDEN = (
    TWIN.replace("A greeting in the README is misspelled, put it right please", "Zebra in the README, put it right")
    .replace("matches: hallo", "matches: quagga")
    .replace("new: hallo", "new: quagga")
    .replace("title: A typo", "expect: An okapi is seen.\ntitle: A typo")
)
LOOKS = (
    ("list", "--format", "json"),
    ("lint",),
    ("status",),
    ("ledger",),
    ("verify",),
    ("show", "S1-reserve", "--format", "json"),
    ("export", "S1-reserve"),
    ("export", "--format", "jsonl"),
    ("log", "S1-reserve"),
    ("run", "S1-reserve"),
    ("diff", "start"),
    ("diff", "start", "--format", "github"),
    ("gate", "--format", "junit"),
)


@pytest.fixture
def held(empty: Repo) -> Repo:
    """A frozen twin whose words are all of its own, and a subject by which it fails."""
    empty.commit(HELD | {FILE: HIDDEN}, "the world")
    empty.git("tag", "start")
    freeze(empty)
    empty.commit({"subjects/style/GUIDE.md": "Be quick.\n"}, "a worse wording")
    return empty


@pytest.mark.isolation
def test_a_look_that_fails_tells_verdicts_and_axes_and_no_word_of_the_reserve(held: Repo):
    said = held.run("run", "--reserve", "--why", "is the wording good enough", exit=1)
    assert "below its bar" in said
    assert not SECRET.search(said)
    for words in LOOKS:
        assert not SECRET.search(held.run(*words, exit=None)), words
    written = [
        p for folder in ("AgentsReport", "evalrepo.ledger") for p in (held.path / folder).rglob("*") if p.is_file()
    ]
    assert len(written) >= 3
    assert not [p for p in (*written, held.path / "evalrepo.lock") if SECRET.search(p.read_text())]
    assert not SECRET.search(held.git("log", "--format=%B%N"))


WRONG = [
    ("turns:", "limits: {wall_s: zebra}\nturns:", "limits.wall_s must be a number of seconds; what it is stays in the"),
    ("turns:", "polarity: an okapi\nturns:", "polarity must be one of positive, negative; what it is stays in"),
    ("turns:", "an okapi is seen: 3\nturns:", 'unknown key "…"'),
    ("{tool: read, path: README.md}", '{tool: read, path: {pattern: "okapi("}}', "is not a JSON Schema: "),
    ("matches: quagga", 'matches: "quagga("', "regular expression"),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG, ids=[new[:20] for _, new, _ in WRONG])
def test_an_error_in_a_reserve_file_names_its_place_and_not_its_words(held: Repo, old: str, new: str, words: str):
    assert old in HIDDEN
    held.write({FILE: HIDDEN.replace(old, new, 1)})
    for command in (("lint",), ("run",)):
        said = held.run(*command, exit=None)
        assert re.search(rf"{FILE}:\d+:\d+: SCN00\d ", said), said
        assert words in said
        assert not SECRET.search(said), said


def test_an_error_in_the_run_set_shows_what_is_there(held: Repo):
    held.write({"scenarios/S1-typo.yaml": SCENARIO.replace("turns:", "limits: {wall_s: zebra}\nturns:", 1)})
    assert 'got "zebra"' in held.run("lint", exit=1)


def test_a_self_test_shows_what_a_check_saw_only_while_the_twin_is_not_frozen(held: Repo):
    wrong = HIDDEN.replace("expect: {FAIL: B}", "expect: {FAIL: A}")
    held.write({FILE: wrong})
    said = held.run("selftest", exit=1)
    assert "S1-reserve: script lazy: expected FAIL A, got FAIL B" in said
    assert not SECRET.search(said)
    assert "thaw" in said
    assert not SECRET.search(str(held.json("selftest", exit=1)))
    held.write({FILE: HIDDEN})
    held.run("thaw", FILE, "--why", "the expectation of a script is wrong", "--kind", "repair")
    held.write({FILE: wrong})
    assert "quagga" in held.run("selftest", "S1-reserve", exit=1)


def test_a_reserve_rep_keeps_no_words_of_a_judge_or_a_person():
    score = MetricScore(
        score=2,
        source="human",
        evidence="the zebra",
        ratings=(Rating(by="Ada", score=2, evidence="the zebra"),),
        places=(Evidence(text="the zebra"),),
    )
    vote = Vote(answer="yes", reason="a quagga", places=("c1 the okapi",), prompt="0" * 64)
    judged = Judgement(
        rubric="r", rubric_sha256="0" * 64, question="q", kind="command", judge="j", answer="yes", votes=(vote,)
    )
    rep = Rep(
        rep=1,
        attempt=1,
        verdict=Verdict.PASS,
        timing=Timing(start="2026-11-30T00:00:00Z", seconds=1.0),
        message="zebra",
        metrics={"M1": score},
        judged=(judged,),
    )
    bare = sealed_rep(rep)
    assert not SECRET.search(bare.model_dump_json())
    assert (bare.metrics["M1"].score, bare.metrics["M1"].ratings[0].by) == (2, "Ada")
    assert bare.judged[0].votes[0].answer == "yes"
    assert sealed_rep(bare) == bare
