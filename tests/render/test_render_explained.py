"""An explained rep as text: votes with and without words, what does not follow, what is kept, nothing that acts."""

from __future__ import annotations

import json
from dataclasses import replace

from evalrepo.render.explained import (
    AxisSheet,
    Explained,
    JudgeSheet,
    VoteSheet,
    explained_json,
    explained_text,
)
from evalrepo.render.resting import ASKS, CheckSheet, RestsOn
from evalrepo.render.safe import width
from evalrepo.render.text import plain

CHECK = CheckSheet(
    "c", "A", "pass", True, "judge", (RestsOn("why", "log.jsonl", 3, '{"text":"x"}'),), "text: {matches: x}"
)
BARE = Explained(
    "S1", "claude", "small", "k7m2q9ab", "r.md", "T", 1, 2, "", "PASS", "", "", "", "it passed", True, False, "",
    axes=(AxisSheet("A", "pass", True, ("c",), (CHECK,)),),
)  # fmt: skip


def vote(answer: str, reason: str = "", broken: str = "", tries: int = 1) -> VoteSheet:
    return VoteSheet(answer, reason, broken, tries, (), "", "")


def judged(*votes: VoteSheet, split: bool = False) -> JudgeSheet:
    return JudgeSheet("words", "told", "", "command stub-1", "yes", "", split, "3 calls, cost unknown", votes)


def test_votes_stand_under_what_they_were_asked_for_and_without_words_where_these_are_sealed():
    sheet = judged(vote("yes"), vote("no", "It is not.", tries=2), vote("", broken="no answer", tries=2), split=True)
    said = explained_text(replace(BARE, judged=(("check c", sheet),)), plain)
    assert (
        '    | {"text":"x"}\n'
        "    judge words/told: yes · command stub-1; 3 calls, cost unknown\n"
        "      split votes: the judge does not agree with itself\n"
        "      vote 1: yes\n"
        "      vote 2: no (try 2). It is not.\n"
        "      vote 3: none (try 2): no answer\n"
    ) in said
    assert "put to a judge" not in said
    assert "\nput to a judge\n    judge words/told" in explained_text(replace(BARE, judged=(("", sheet),)), plain)


def test_a_verdict_that_does_not_follow_is_said_with_the_command_that_looks_into_it():
    said = explained_text(replace(BARE, sound=False, why="c did not pass"), plain)
    assert "verdict: PASS\n  c did not pass\n  such a record was not made by a run: evalrepo verify --records\n" in said


def test_what_is_kept_is_named_and_many_files_are_counted():
    files = tuple(f"files/{n}.txt" for n in range(11))
    said = explained_text(replace(BARE, files=files, redactions=2, asked_later=("judge/a.txt",), later="zz"), plain)
    assert "2 secrets of it redacted before it was kept\n" in said
    assert "files/7.txt and 3 more\n" in " ".join(said.split("kept beside")[1].split("  ")).replace("\n ", "")
    assert "kept in refs/evalrepo/runs/k7m2q9ab: judge/a.txt\n" in said
    assert "superseded by run zz, which counts instead\n" in said


def test_nothing_acts_and_no_line_is_longer_than_a_terminal():
    nasty = "\x1b]0;x\x07\u202e" + "word " * 60 + "x" * 200
    check = replace(CHECK, evidence=(RestsOn(nasty, "log.jsonl", 1, nasty),), asks="a" * (ASKS + 50))
    found = replace(
        BARE, title=nasty, why=nasty, notes=(nasty,), message=nasty, words=nasty,
        axes=(AxisSheet("A", "fail", True, ("c",), (check,)),),
        judged=(("check c", judged(vote("yes", nasty))),),
    )  # fmt: skip
    said = explained_text(found, plain)
    assert not set(said) & {"\x1b", "\x07", "\u202e"}
    assert max(map(width, said.splitlines())) <= 80
    assert "(all of it: --format json)" in said
    data = explained_json(found)
    assert not set(data) & {"\x1b", "\x07", "\u202e"}
    assert json.loads(data)["explained"]["axes"][0]["checks"][0]["asks"] == "a" * (ASKS + 50)
    assert json.loads(data)["explained"]["judged"][0]["of"] == "check c"
