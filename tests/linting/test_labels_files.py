"""Files of labels and votes: whatever is wrong in them is told by `lint`, all at once, with its line and next step."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_linting_wrong_files import lint
from wrong_files import RUBRIC, Content, Swap, write

from evalrepo.codes import CODES
from evalrepo.formats.yaml import rubric_file

LABELS, VOTES = "rubrics/tone.labels.yaml", "rubrics/tone.votes.yaml"
ONE = {"question": "kind", "transcript": "a" * 64, "run": "00000001", "scenario": "S1-note", "rep": 1, "by": "Ann"}
LABEL = {**ONE, "answer": "yes", "evidence": "“done” is said"}
NOW = rubric_file(RUBRIC.encode(), "x")
VOTE = {"question": "kind", "transcript": "a" * 64, "rubric": NOW.sha256, "judge": "m-1", "answer": "yes"}


def file(kind: str, *entries: dict[str, Any]) -> str:
    return f"{kind}:\n" + "".join(f"  - {json.dumps(entry)}\n" for entry in entries)


def labels(*changes: dict[str, Any]) -> str:
    return file("labels", *({**LABEL, **change} for change in changes))


def votes(*changes: dict[str, Any]) -> str:
    return file("votes", *({**VOTE, **change} for change in changes))


OTHER = {"transcript": "b" * 64}
WRONG = {
    "no yaml": (LABELS, "labels: [\n", "YML007", 2),
    "unknown field": (LABELS, labels({}, {**OTHER, "sure": True}), "RUB001", 3),
    "missing field": (LABELS, file("labels", ONE | {"answer": "yes"}), "RUB002", 2),
    "rep that is none": (LABELS, labels({"rep": 0}), "RUB004", 2),
    "transcript that is no hash": (VOTES, votes({"transcript": "abc"}), "RUB004", 2),
    "label without evidence": (LABELS, labels({"evidence": ""}), "RUB004", 2),
    "labels of no rubric": ("rubrics/tune.labels.yaml", labels({}), "RUB108", 1),
    "votes of no rubric": ("rubrics/tune.votes.yaml", votes({}), "RUB108", 1),
    "label of no question": (LABELS, labels({}, {**OTHER, "question": "kid"}), "RUB109", 3),
    "vote on no question": (VOTES, votes({"question": "kid"}), "RUB109", 2),
    "answer that is not offered": (LABELS, labels({"answer": "maybe"}), "RUB109", 2),
    "score out of the scale": (LABELS, labels({"question": "M4", "answer": "4"}), "RUB109", 2),
    "vote for what is not offered": (VOTES, votes({"answer": "maybe", "votes": ["maybe"]}), "RUB109", 2),
    "label given twice": (LABELS, labels({}, OTHER, {"answer": "no"}), "RUB110", 4),
    "vote counted twice": (VOTES, votes({}, {"answer": "no"}), "RUB110", 3),
    "answer that is not its votes'": (VOTES, votes({"votes": ["no", "no", "yes"]}), "RUB111", 2),
    "answer without a majority": (VOTES, votes({"votes": ["no", "", "yes"]}), "RUB111", 2),
}


@pytest.mark.parametrize("name", WRONG)
def test_lint_finds_what_is_wrong_in_labels_and_votes(name, sound, environ):
    path, text, code, line = WRONG[name]
    write(sound, {path: text})
    exit_code, findings = lint(sound, environ)
    (own,) = (f for f in findings if f["file"] == path)
    assert (exit_code, own["code"], own["line"], own["severity"]) == (1, code, line, "error")
    assert own["hint"]
    assert code in CODES


def test_files_that_fit_their_rubric_say_nothing(sound, environ):
    question = NOW.head.asked["kind"].wording
    write(sound, {LABELS: labels({}, {**OTHER, "by": "Bob", "wording": question}), VOTES: votes({}, {"judge": "m-2"})})
    code, findings = lint(sound, environ)
    assert code == 0
    assert [f for f in findings if f["file"] in (LABELS, VOTES)] == []


STALE: dict[str, tuple[dict[str, Content], str, int, str]] = {
    "labels of another wording": (
        {LABELS: labels({}, {**OTHER, "wording": "c" * 64, "answer": "perhaps"})},
        "RUB112",
        3,
        '1 label of "kind" as it was worded before: they count for nothing',
    ),
    "votes by another text": (
        {VOTES: votes({"rubric": "d" * 64}, {"rubric": "d" * 64, **OTHER, "answer": "maybe"})},
        "RUB113",
        2,
        '2 votes on "kind" by another text of the rubric',
    ),
    "votes of another model": (
        {
            VOTES: votes({"whom": "anthropic:old"}),
            "evalrepo.yaml": Swap("version: 1", "version: 1\njudge: {model: anthropic:new}"),
        },
        "RUB113",
        2,
        'the votes on "kind" are by anthropic:old, and evalrepo.yaml asks anthropic:new',
    ),
}


@pytest.mark.parametrize("name", STALE)
def test_what_is_stale_is_a_warning_with_its_next_step(name, sound, environ):
    files, code, line, message = STALE[name]
    write(sound, files)
    exit_code, findings = lint(sound, environ)
    (own,) = (f for f in findings if f["file"] in (LABELS, VOTES))
    assert (exit_code, own["code"], own["line"], own["severity"]) == (0, code, line, "warning")
    assert own["message"] == message
    assert "tone" in str(own["hint"])


@pytest.mark.parametrize("path", ["rubrics/tone.labels.yml", "rubrics/tone.label.yaml", "rubrics/old/tone.votes.yaml"])
def test_a_file_beside_a_rubric_that_nobody_reads_is_told(path, sound, environ):
    write(sound, {path: labels({})})
    _, findings = lint(sound, environ)
    assert [(f["file"], f["code"]) for f in findings if f["file"] == path] == [(path, "RUB114")]


def test_everything_that_is_wrong_is_told_at_once(sound, environ):
    write(sound, {LABELS: labels({"answer": "maybe"}, {"question": "kid"}), VOTES: "votes: 3\n"})
    _, findings = lint(sound, environ)
    found = [(f["file"], f["code"], f["line"]) for f in findings if f["file"] in (LABELS, VOTES)]
    assert found == [(LABELS, "RUB109", 2), (LABELS, "RUB109", 3), (VOTES, "RUB003", 1)]
