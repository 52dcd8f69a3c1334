"""The same script gives the same verdict, whichever real CLI plays it.

What a CLI does not allow no script can make it do: Claude Code edits no file that it has not read.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import stage

AGENTS = ("claude", "opencode", "pi", "codex")
TIERS = {"pi": {"extension": "bundled:subagent"}}
CHECKS = [
    {"id": "asks-first", "axis": "A", "order": {"first": {"tool": "spawn", "ok": True}, "before": {"tool": "edit"}}},
    {"id": "mended", "axis": "B", "file": {"path": "src/app.py", "matches": r"a \+ b"}},
    {"id": "nothing-else", "axis": "C", "changes": {"only": ["src/app.py"]}},
    {"id": "tests-fail", "axis": "D", "any_call": {"tool": "shell", "command": {"pattern": "exit 3"}, "ok": False}},
    {"id": "one-helper", "axis": "E", "spawns": {"exactly": 1}},
    {"id": "blocked", "axis": "F", "status": "BLOCKED"},
]  # fmt: skip
GOOD = [
    {"say": "A look first."},
    {"read": "src/app.py"},
    {"spawn": {"task": "Read README.md and say what the project is for.", "steps": [{"read": "README.md"}], "reports": "A greeting."}},
    {"edit": {"path": "src/app.py", "old": "a - b", "new": "a + b"}},
    {"run": "echo out; exit 3"},
    {"say": "The tests fail. Status: BLOCKED"},
]  # fmt: skip
WRONG = {
    "A": [GOOD[1], GOOD[3], GOOD[2], *GOOD[4:]],
    "B": [GOOD[1], GOOD[2], {"edit": {"path": "src/app.py", "old": "a - b", "new": "a * b"}}, *GOOD[4:]],
    "C": [GOOD[1], GOOD[2], GOOD[3], {"write": {"path": "NOTES.md", "content": "done\n"}}, *GOOD[4:]],
    "D": [*GOOD[1:4], {"run": "echo out"}, GOOD[5]],
    "E": [GOOD[1], GOOD[2], {"spawn": {"task": "Read src/app.py.", "reports": "It subtracts."}}, *GOOD[3:]],
    "F": [*GOOD[:5], {"say": "All is well. Status: COMPLETE"}],
}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_good_rep_passes(tmp_path: Path, agent: str):
    seen = stage.play(tmp_path, agent, [GOOD], checks=CHECKS, tier=TIERS.get(agent))
    assert (seen.rep.verdict, seen.rep.message, seen.rep.axes_failed) == ("PASS", "", ())
    assert seen.rep.usage.input_tokens is not None


@pytest.mark.parametrize("axis", WRONG)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_bad_rep_fails_on_its_axis_alone(tmp_path: Path, agent: str, axis: str):
    seen = stage.play(tmp_path, agent, [WRONG[axis]], checks=CHECKS, tier=TIERS.get(agent))
    assert (seen.rep.verdict, seen.rep.message, seen.rep.axes_failed) == ("FAIL", "", (axis,))


@pytest.mark.parametrize("agent", AGENTS)
def test_an_empty_script_says_nothing_and_the_rep_is_an_error_that_is_not_tried_again(tmp_path: Path, agent: str):
    seen = stage.play(tmp_path, agent, [[]], checks=[{"id": "any", "axis": "A", "text": {"must_not": ["sorry"]}}])
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "empty")
    assert seen.rep.message == "the agent said nothing and called nothing"
    assert seen.transcript is not None
    assert seen.transcript.empty
