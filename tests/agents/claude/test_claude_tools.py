"""A script's steps in Claude Code's own words."""

from __future__ import annotations

from typing import Any

import pytest

from evalrepo.agents import claude
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.steps import Step

SCENE = Scene("/srv/project", "/home/dev", tools=frozenset({"Bash", "Read"}))


def uses(*steps: dict[str, Any], scene: Scene = SCENE) -> list[list[Use]]:
    return [list(answer) for answer in claude.uses([Step.model_validate(step) for step in steps], scene)]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"read": "a/b.md"}, Use("Read", {"file_path": "/srv/project/a/b.md"})),
        ({"read": "~/x"}, Use("Read", {"file_path": "/home/dev/x"})),
        ({"read": "/etc/x"}, Use("Read", {"file_path": "/etc/x"})),
        ({"run": "ls"}, Use("Bash", {"command": "ls", "timeout": 60_000})),
        ({"run": {"command": "ls", "timeout_s": 1.5}}, Use("Bash", {"command": "ls", "timeout": 1500})),
        ({"skill": "plug:x"}, Use("Skill", {"skill": "plug:x"})),
        ({"call": {"tool": "WebFetch", "args": {"url": "u"}}}, Use("WebFetch", {"url": "u"})),
        (
            {"search": "a'b"},
            Use("Bash", {"command": "grep -rnE --exclude-dir=.git -e 'a'\"'\"'b' -- /srv/project || [ $? -eq 1 ]"}),
        ),
    ],
)
def test_a_step_is_one_call(step: dict, expected: Use):
    assert uses(step) == [[expected]]


def test_a_search_uses_the_tool_for_it_where_the_cli_offers_it():
    scene = Scene("/srv/project", "/home/dev", tools=frozenset({"Grep"}))
    args = {"pattern": "x", "path": "/srv/project/src", "output_mode": "content"}
    assert uses({"search": {"pattern": "x", "path": "src"}}, scene=scene) == [[Use("Grep", args)]]


@pytest.mark.parametrize(
    ("step", "tool", "args"),
    [
        ({"edit": {"path": "a b", "old": "x", "new": "y"}}, "Edit", {"old_string": "x", "new_string": "y"}),
        ({"write": {"path": "a b", "content": "x"}}, "Write", {"content": "x"}),
    ],
)
def test_a_file_that_was_not_seen_is_shown_first_without_a_read(step: dict, tool: str, args: dict):
    change = Use(tool, {"file_path": "/srv/project/a b", **args})
    assert uses(step) == [[Use("Bash", {"command": "cat '/srv/project/a b'"})], [change]]
    assert uses(step, scene=Scene("/srv/project", "/home/dev", known=frozenset({"a b"}))) == [[change]]


def test_sub_agents_that_start_together_are_one_answer():
    steps = [
        {"spawn": {"task": "one two three four five six", "background": True, "model": "haiku"}},
        {"spawn": {"task": "t", "agent": "rev"}},
    ]
    first = {
        "description": "one two three four five", "prompt": "one two three four five six", "subagent_type": "general-purpose",
        "run_in_background": True, "model": "haiku",
    }  # fmt: skip
    second = {"description": "t", "prompt": "t", "subagent_type": "rev", "run_in_background": False}
    assert uses(*steps) == [[Use("Agent", first), Use("Agent", second)]]


def test_a_sub_agent_that_shall_fail_is_asked_for_in_a_way_that_the_cli_refuses():
    ((made,),) = uses({"spawn": {"task": "t", "agent": "rev", "model": "haiku", "error": "no"}})
    assert (made.input["subagent_type"], made.input["model"], made.input["isolation"]) == ("rev", "haiku", "none")


LAUNCHED = "Async agent launched successfully. (This is internal.)\nagentId: {} (internal ID)"
REPORTED = "<task-notification>\n<task-id>{}</task-id>\n<result>agentId: zz</result>"


@pytest.mark.parametrize(
    ("answers", "told", "expected"),
    [
        ((), (), False),
        (("agentId: a1 (use SendMessage)",), (), False),
        ((LAUNCHED.format("a1"),), (), True),
        ((LAUNCHED.format("a1"), LAUNCHED.format("a2")), (REPORTED.format("a1"),), True),
        ((LAUNCHED.format("a1"), LAUNCHED.format("a2")), (REPORTED.format("a1") + REPORTED.format("a2"),), False),
        ((LAUNCHED.format("a1"), "out\n" + REPORTED.format("a1")), (), False),
    ],
)
def test_it_waits_for_sub_agents_that_have_not_reported(answers: tuple, told: tuple, expected: bool):
    assert claude.waiting(Scene("/w", "/h", answers=answers, told=told)) is expected
