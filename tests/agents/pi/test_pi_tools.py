"""pi's tools in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from evalrepo.agents import pi
from evalrepo.agents.pi.tools import canonical
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.script import resolve
from evalrepo.records.steps import Step

WORK = "/srv/project"
SKILLS = {"/home/dev/.pi/agent/skills/greet/SKILL.md": "greet"}
TOOLS = frozenset(("read", "bash", "edit", "write"))
SCENE = Scene(WORK, "/home/dev", tools=TOOLS | {"subagent"})


def uses(*steps: dict[str, Any], scene: Scene = SCENE) -> list[list[Use]]:
    plain = resolve([Step.model_validate(step) for step in steps], {})
    return [list(answer) for answer in pi.uses(plain, scene)]


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("read", {"path": "./src/../README.md", "limit": 3}, ("read", {"path": "README.md"})),
        ("read", {"path": f"@{WORK}/README.md"}, ("read", {"path": "README.md"})),
        ("read", {"path": "/home/dev/.pi/agent/skills/greet/SKILL.md"}, ("skill", {"skill": "greet", "path": "/home/dev/.pi/agent/skills/greet/SKILL.md"})),
        ("read", {"path": "~/.pi/agent/skills/greet/SKILL.md"}, ("skill", {"skill": "greet", "path": "~/.pi/agent/skills/greet/SKILL.md"})),
        ("read", {}, ("read", {})),
        ("write", {"path": "a", "content": "b"}, ("write", {"path": "a", "content": "b"})),
        ("edit", {"path": "a", "edits": [{"oldText": "x", "newText": "y"}, 7]}, ("edit", {"path": "a", "old": "x", "new": "y"})),
        ("edit", {"path": "a", "oldText": "x", "newText": "y"}, ("edit", {"path": "a", "old": "x", "new": "y"})),
        ("edit", "x", ("edit", {})),
        ("bash", {"command": "ls", "timeout": 3}, ("shell", {"command": "ls"})),
        ("grep", {"pattern": "x", "path": "src"}, ("search", {"pattern": "x", "path": "src"})),
        ("subagent", {"agent": "a", "task": "t", "model": "m"}, ("spawn", {"agent": "a", "task": "t", "model": "m"})),
        ("subagent", {"tasks": [{"agent": "a", "task": "t"}]}, ("spawn", {})),
        ("subagent", {"action": "status", "id": "x"}, ("", {})),
        ("mcp__x__y", {"path": "a"}, ("", {})),
    ],
)  # fmt: skip
def test_a_call_has_its_canonical_form(tool: str, args: Any, expected: tuple[str, dict[str, Any]]):
    assert canonical(tool, args, WORK, cwd=WORK, skills=SKILLS) == expected


@pytest.mark.parametrize(
    ("step", "use"),
    [
        ({"read": "README.md"}, Use("read", {"path": "README.md"})),
        ({"read": "~/x"}, Use("read", {"path": "/home/dev/x"})),
        ({"edit": {"path": "a", "old": "x", "new": "y"}}, Use("edit", {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]})),
        ({"write": {"path": "a", "content": "x"}}, Use("write", {"path": "a", "content": "x"})),
        ({"run": "make"}, Use("bash", {"command": "make", "timeout": 60.0})),
        ({"run": {"command": "make", "timeout_s": 5}}, Use("bash", {"command": "make", "timeout": 5.0})),
        ({"search": "it's"}, Use("bash", {"command": """grep -rnE --exclude-dir=.git -e 'it'"'"'s' -- . || [ $? -eq 1 ]"""})),
        ({"skill": "greet"}, Use("read", {"path": "/home/dev/.pi/agent/skills/greet/SKILL.md"})),
        ({"call": {"tool": "todo", "args": {"a": 1}}}, Use("todo", {"a": 1})),
        ({"spawn": {"task": "t", "model": "m"}}, Use("subagent", {"agent": "general", "task": "t", "model": "m"})),
        ({"spawn": {"task": "t", "agent": "a", "error": "no"}}, Use("subagent", {"agent": "no-such-agent", "task": "t"})),
    ],
)  # fmt: skip
def test_a_step_is_one_answer_with_one_call(step: dict[str, Any], use: Use):
    assert uses(step) == [[use]]


def test_a_search_is_grep_where_somebody_switched_it_on():
    scene = Scene(WORK, "/home/dev", tools=TOOLS | {"grep"})
    assert uses({"search": {"pattern": "x", "path": "src"}}, scene=scene) == [
        [Use("grep", {"pattern": "x", "path": "src"})]
    ]


def test_sub_agents_that_start_together_are_the_tasks_of_one_call():
    together = ({"spawn": {"task": "one", "background": True}}, {"spawn": {"task": "two", "agent": "b", "model": "m"}})
    tasks = [{"agent": "general", "task": "one"}, {"agent": "b", "task": "two", "model": "m"}]
    assert uses(*together) == [[Use("subagent", {"tasks": tasks})]]
    newer = Scene(WORK, "/home/dev", tools=TOOLS | {"subagent", "bg_wait"})
    assert uses(*together, scene=newer) == [[Use("subagent", {**task, "async": False}) for task in tasks]]


def test_without_a_tool_for_sub_agents_the_way_to_one_is_said():
    with pytest.raises(LookupError, match="extension: bundled:subagent"):
        uses({"spawn": {"task": "t"}}, scene=Scene(WORK, "/home/dev", tools=TOOLS))
    assert uses({"spawn": {"task": "t"}}, scene=Scene(WORK, "/home/dev")) == [
        [Use("subagent", {"agent": "general", "task": "t"})]
    ]


def test_it_never_waits_for_sub_agents():
    assert not pi.waiting(SCENE)
