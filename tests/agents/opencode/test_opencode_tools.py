"""opencode's tools in canonical form, and a script's steps as its tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalrepo.agents import opencode
from evalrepo.agents.opencode.tools import canonical
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.steps import Step

SCENE = Scene(work="/srv/project", home="/home/dev")


def uses(*raw: Mapping[str, Any]) -> list[list[Use]]:
    return [list(answer) for answer in opencode.uses([Step.model_validate(step) for step in raw], SCENE)]


STEPS: dict[str, tuple[dict[str, Any], Use]] = {
    "read": ({"read": "src/app.py"}, Use("read", {"filePath": "/srv/project/src/app.py"})),
    "read at home": ({"read": "~/notes.md"}, Use("read", {"filePath": "/home/dev/notes.md"})),
    "edit": (
        {"edit": {"path": "a.py", "old": "x", "new": "y"}},
        Use("edit", {"filePath": "/srv/project/a.py", "oldString": "x", "newString": "y"}),
    ),
    "write": (
        {"write": {"path": "a.py", "content": "x\n"}},
        Use("write", {"filePath": "/srv/project/a.py", "content": "x\n"}),
    ),
    "run": ({"run": "make test"}, Use("bash", {"command": "make test", "description": "make test", "timeout": 60_000})),
    "run with a limit": (
        {"run": {"command": "make", "timeout_s": 1.5}},
        Use("bash", {"command": "make", "description": "make", "timeout": 1500}),
    ),
    "search": ({"search": "TODO"}, Use("grep", {"pattern": "TODO", "path": "/srv/project"})),
    "search below": (
        {"search": {"pattern": "x+", "path": "src"}},
        Use("grep", {"pattern": "x+", "path": "/srv/project/src"}),
    ),
    "skill": ({"skill": "greet"}, Use("skill", {"name": "greet"})),
    "spawn": (
        {"spawn": {"task": "Look.", "agent": "reviewer", "model": "haiku"}},
        Use("task", {"subagent_type": "reviewer", "prompt": "Look.", "description": "Look."}),
    ),
    "spawn of nobody": (
        {"spawn": {"task": "Look."}},
        Use("task", {"subagent_type": "general", "prompt": "Look.", "description": "Look."}),
    ),
    "refused spawn": (
        {"spawn": {"task": "Look.", "agent": "reviewer", "error": "no"}},
        Use("task", {"subagent_type": "no-such-agent", "prompt": "Look.", "description": "Look."}),
    ),
    "call": ({"call": {"tool": "todowrite", "args": {"todos": []}}}, Use("todowrite", {"todos": []})),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_one_call_of_a_tool_of_its_own(name: str):
    step, use = STEPS[name]
    assert uses(step) == [[use]]


def test_sub_agents_that_start_together_are_one_answer():
    found = uses({"spawn": {"task": "One.", "background": True}}, {"spawn": {"task": "Two."}})
    assert [[use.input["prompt"] for use in answer] for answer in found] == [["One.", "Two."]]  # type: ignore[index]


def test_no_sub_agent_is_waited_for_since_a_call_ends_with_it():
    assert not opencode.waiting(SCENE)


def test_a_step_without_a_tool_says_so():
    with pytest.raises(LookupError, match="opencode has no tool for a `sleep` step"):
        uses({"sleep": 1})


@pytest.mark.parametrize("name", [name for name in STEPS if name != "call"])
def test_what_the_model_calls_reads_back_as_the_step(name: str):
    step, use = STEPS[name]
    kind, known = canonical(use.name, use.input, "/srv/project")
    step_kind = {"run": "shell", "search": "search"}.get(next(iter(step)), next(iter(step)))
    assert kind == step_kind
    given = next(iter(step.values()))
    written = {"command": given, "pattern": given, "skill": given, "path": given} if isinstance(given, str) else given
    same = {key for key, value in known.items() if written.get(key) == value}
    assert same or name in ("read at home", "refused spawn")


@pytest.mark.parametrize(
    ("tool", "args", "kind", "known"),
    [
        ("read", {"filePath": "sub/a.py"}, "read", {"path": "sub/a.py"}),
        ("read", {"filePath": "/etc/passwd"}, "read", {"path": "/etc/passwd"}),
        ("glob", {"pattern": "*.py", "path": "/srv/project"}, "search", {"pattern": "*.py", "path": "."}),
        ("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: src/a.py\n@@\n"}, "edit", {"path": "src/a.py"}),
        ("apply_patch", {"patchText": 7}, "edit", {}),
        ("task", {"prompt": "Go.", "model": "x/y"}, "spawn", {"task": "Go."}),
        ("webfetch", {"url": "http://x"}, "", {}),
        ("read", "nonsense", "read", {}),
    ],
)  # fmt: skip
def test_native_arguments_become_canonical_ones(tool: str, args: Any, kind: str, known: dict[str, Any]):
    assert canonical(tool, args, "/srv/project") == (kind, known)
