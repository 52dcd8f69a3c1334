"""A stored rep judged again by what was kept of it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from evalrepo.formats.yaml import scenario_file
from evalrepo.records.config import Agent, Tier
from evalrepo.records.record import CheckResult, Outcome, Rep, StoredTranscript, Timing, Verdict
from evalrepo.running.opened import Before
from evalrepo.running.rescore import Again, Judged, rescore

FOLDER = "transcripts/S1/scripted-good/1-1/"
LOG = "\n".join(
    json.dumps(row)
    for row in (
        {"type": "session", "session": "one", "agent": "scripted", "version": "1", "cwd": "/srv/project"},
        {"type": "prompt", "text": "Fix it"},
        {"type": "tool_call", "id": "1", "tool": "edit", "args": {"path": "/srv/project/README.md"}},
        {"type": "tool_result", "id": "1", "ok": True, "text": "edited"},
        {"type": "assistant", "text": "Done."},
        {"type": "end", "reason": "done"},
    )
).encode()
OLD, NEW = b"hello\n", b"hallo\n"


def scenario(checks: str) -> Any:
    text = f"title: T\nsubject: style\nfixture: app\nturns: [{{prompt: Fix it}}]\nchecks:\n{checks}"
    return scenario_file(text.encode(), "scenarios/S1.yaml")


def state(data: bytes) -> dict[str, Any]:
    return {"mode": "100644", "size": len(data), "sha256": sha256(data).hexdigest()}


def kept(after: bytes = NEW, **more: bytes) -> dict[str, bytes]:
    about = {
        "before": {"README.md": state(OLD), "other.md": state(OLD)},
        "after": {"README.md": state(after), "other.md": state(OLD)},
        "fired": {},
        "kept": sorted(more),
    }
    return {"one.jsonl": LOG, "outcome.json": json.dumps(about).encode(), **more}


def rep(verdict: str = "PASS", log: bytes = LOG, **checks: str) -> Rep:
    """A recorded rep with the outcomes of its checks."""
    return Rep(
        rep=1,
        attempt=1,
        verdict=Verdict(verdict),
        checks=tuple(CheckResult(id=name, axis="A", outcome=Outcome(outcome)) for name, outcome in checks.items()),
        timing=Timing(start="2026-11-29T10:00:00Z", seconds=1.0),
        isolation="bwrap",
        transcript=StoredTranscript(sha256=sha256(log).hexdigest(), path=f"{FOLDER}one.jsonl", size=len(log)),
    )


def again(checks: str, recorded: Rep, files: dict[str, bytes], *, whole: bool = False) -> Again:
    agent = Agent(tiers={"good": Tier(script="good")})
    fixture = {"README.md": ("100644", OLD), "other.md": ("100644", OLD)}
    return rescore(Judged(scenario(checks), "scripted", agent, Before(fixture, whole=whole)), recorded, files)


CALLS = "  - {id: edits, axis: A, any_call: {tool: edit, path: README.md}}\n"
FIXED = "  - {id: fixed, axis: A, file: {path: README.md, matches: hallo}}\n"
UNTOUCHED = "  - {id: other, axis: A, file: {path: other.md, matches: hello}}\n"
COMMAND = "  - {id: built, axis: A, command: {run: make}}\n"


def test_what_was_recorded_comes_out_again():
    files = kept(**{"files/README.md": NEW})
    found = again(CALLS + FIXED + UNTOUCHED, rep(edits="pass", fixed="pass", other="pass"), files)
    assert found == Again(Verdict.PASS)


def test_a_changed_outcome_and_verdict_are_named():
    files = kept(OLD, **{"files/README.md": OLD})
    found = again(CALLS + FIXED, rep(edits="pass", fixed="pass"), files)
    assert found.verdict is Verdict.FAIL
    assert found.differs == (
        "check fixed: pass is recorded, fail comes out",
        "PASS is recorded, FAIL comes out",
    )


def test_a_check_that_needs_what_was_not_kept_says_so_and_its_result_stands():
    found = again(CALLS + FIXED + COMMAND, rep("FAIL", edits="pass", fixed="pass", built="fail"), kept())
    assert found.differs == ()
    assert found.beyond == {
        "fixed": "the content of README.md was not kept",
        "built": "a sandbox to run a command in was not kept",
    }


def test_a_file_that_redaction_changed_is_not_taken_for_the_agents():
    found = again(FIXED, rep(fixed="pass"), kept(**{"files/README.md": b"h*llo\n"}))
    assert found.beyond == {"fixed": "the content of README.md was not kept"}


def test_where_nothing_changed_the_fixture_is_what_there_was_if_nothing_else_was_put_there():
    files = {"one.jsonl": LOG}
    assert again(UNTOUCHED, rep(other="pass"), files, whole=True) == Again(Verdict.PASS)
    assert again(UNTOUCHED, rep(other="pass"), files).beyond == {"other": "which files there were was not kept"}


def test_another_transcript_than_the_recorded_one_is_a_difference():
    found = again(CALLS, rep(log=b"other", edits="pass"), kept())
    assert found.differs == ("the stored transcript is not the one that was recorded",)


def test_a_record_without_one_of_the_checks_is_a_difference():
    found = again(CALLS + UNTOUCHED, rep(edits="pass"), kept())
    assert "the record has no result of the check other" in found.differs


def test_a_check_that_follows_one_beyond_reach_keeps_its_result():
    follows = "  - {id: later, axis: A, needs: built, any_call: {tool: never}}\n"
    found = again(CALLS + COMMAND + follows, rep("FAIL", edits="pass", built="fail", later="skipped"), kept())
    assert found.differs == ()


@pytest.mark.parametrize(
    ("recorded", "files", "why"),
    [
        (rep(edits="pass"), {}, "its transcript is not in the reference of its run"),
        (rep(edits="pass").model_copy(update={"transcript": None}), kept(), "no transcript of it was kept"),
        (
            rep(edits="pass").model_copy(update={"verdict": Verdict.ERROR, "error": "idle"}),
            kept(),
            "an ERROR is the harness's, and not judged again",
        ),
    ],
)
def test_a_rep_that_cannot_be_judged_again_says_why(recorded: Rep, files: dict[str, bytes], why: str):
    found = again(CALLS, recorded, files)
    assert (found.asked, found.beyond[""], found.differs) == (False, why, ())
