"""A script's steps in codex's own words, and its patches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrepo.agents import codex
from evalrepo.agents.codex import patches
from evalrepo.agents.codex.patches import Change
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.steps import Step

PLAIN = frozenset(("exec_command", "apply_patch", "tool_search"))
CODE = frozenset(("functions.exec", "functions.wait", "collaboration.spawn_agent", "collaboration.wait_agent"))
APP = "Chunk ID: 1\nWall time: 0.1 seconds\nOutput:\ndef add(a, b):\n    return a - b\n"


def scene(**more: Any) -> Scene:
    return Scene("/srv/project", "/home/dev", **{"tools": PLAIN, **more})


def spoken(step: dict[str, Any], where: Scene | None = None) -> list[list[Use]]:
    return [list(answer) for answer in codex.uses([Step.model_validate(step)], where or scene())]


def shell(command: str, wait_ms: int = 30_000) -> Use:
    return Use("exec_command", {"cmd": command, "yield_time_ms": wait_ms})


@pytest.mark.parametrize(
    ("step", "use"),
    [
        ({"read": "docs/a b.md"}, shell("cat 'docs/a b.md'")),
        ({"read": "-x"}, shell("cat -- -x")),
        ({"read": "~/notes.md"}, shell("cat /home/dev/notes.md")),
        ({"search": {"pattern": "it's", "path": "src"}}, shell("rg -n -e 'it'\"'\"'s' src")),
        ({"run": "ls -la"}, shell("ls -la")),
        ({"run": {"command": "make", "timeout_s": 2}}, shell("make", 2000)),
        ({"run": {"command": "make", "timeout_s": 0.01}}, shell("make", 250)),
        ({"write": {"path": "a.md", "content": "one\n\ntwo"}},
         Use("apply_patch", "*** Begin Patch\n*** Add File: a.md\n+one\n+\n+two\n*** End Patch\n")),
        ({"call": {"tool": "view_image", "args": {"path": "a.png"}}}, Use("view_image", {"path": "a.png"})),
        ({"call": {"tool": "collaboration.list_agents"}}, Use("list_agents", {}, "collaboration")),
        ({"call": {"tool": "apply_patch", "args": {"input": "nonsense"}}}, Use("apply_patch", "nonsense")),
        ({"call": {"tool": "exec", "args": {"input": "text(1);"}}}, Use("exec", "text(1);", "functions")),
    ],
)  # fmt: skip
def test_a_step_is_one_call(step: dict[str, Any], use: Use):
    assert spoken(step) == [[use]]


def test_in_code_mode_a_script_makes_the_call():
    [[use]] = spoken({"run": 'echo "hi"'}, scene(tools=CODE))
    assert (use.name, use.namespace) == ("exec", "functions")
    assert use.input == (
        '// @exec: {"yield_time_ms": 30000}\n'
        'const r = await tools.exec_command({"cmd": "echo \\"hi\\"", "yield_time_ms": 30000}); text(r);'
    )


EDIT = {"edit": {"path": "src/app.py", "old": "a - b", "new": "a + b"}}
PATCH = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-    return a - b\n+    return a + b\n*** End Patch\n"


@pytest.mark.parametrize(
    "seen", [APP, 'Script completed\nWall time 0.1 seconds\nOutput:\n\n{"output":"x\\n    return a - b\\n"}']
)
def test_an_edit_reads_the_file_and_patches_the_whole_lines_that_it_saw(seen: str):
    assert spoken(EDIT, scene(answers=(seen,))) == [[shell("cat src/app.py")], [Use("apply_patch", PATCH)]]


def test_an_edit_of_a_file_that_is_known_reads_it_no_more():
    assert spoken(EDIT, scene(answers=(APP,), known=frozenset(("src/app.py",)))) == [[Use("apply_patch", PATCH)]]


ONE, TWO = (f"01a22a06-b195-7982-898a-00000000000{n}" for n in (1, 2))
GROUP = [
    {"spawn": {"task": "One.", "background": True}},
    {"spawn": {"task": "Two.", "agent": "Re-viewer", "model": "m"}},
]


def together(where: Scene) -> list[list[Use]]:
    return [list(answer) for answer in codex.uses([Step.model_validate(step) for step in GROUP], where)]


def test_sub_agents_start_together_and_each_is_waited_for():
    ids = tuple(f'{{"agent_id":"{ident}","nickname":"N"}}' for ident in (ONE, TWO))
    first, second = together(scene(answers=('{"agent_id":"01a22a06-b195-7982-898a-000000000000"}', *ids)))
    asked = {"message": "Two.", "agent_type": "Re-viewer", "model": "m"}
    assert first == [
        Use("spawn_agent", {"message": "One."}, "multi_agent_v1"),
        Use("spawn_agent", asked, "multi_agent_v1"),
    ]
    assert [use.input["targets"] for use in second if not isinstance(use.input, str)] == [[ONE], [TWO]]


def test_the_other_way_to_talk_waits_only_for_those_that_have_not_reported():
    begun = ('{"task_name":"/root/task"}', '{"task_name":"/root/re_viewer_2"}')
    news = "Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/task\nPayload:\nOne."
    answers = together(scene(tools=CODE))
    assert [use.input["task_name"] for use in answers[0] if not isinstance(use.input, str)] == ["task", "re_viewer_2"]
    assert len(answers) == 3
    waits = together(scene(tools=CODE, answers=begun, told=(news,)))[1:]
    assert [[use.name for use in answer] for answer in waits] == [["wait_agent"], ["wait_agent"]]
    over = together(scene(tools=CODE, answers=begun, told=(news, news)))[1:]
    assert [[use.name for use in answer] for answer in over] == [["list_agents"], ["list_agents"]]


@pytest.mark.parametrize("tools", [PLAIN, CODE])
def test_a_spawn_that_shall_fail_is_one_that_the_cli_refuses(tools: frozenset[str]):
    [[use]] = spoken({"spawn": {"task": "Fail.", "error": "there is none"}}, scene(tools=tools))
    assert not isinstance(use.input, str)
    assert use.input["reasoning_effort"] == "unheard-of"


@pytest.mark.parametrize("tools", [PLAIN, CODE, frozenset[str]()])
@pytest.mark.parametrize("answers", [(), (f'{{"agent_id":"{ONE}"}}',), ('{"task_name":"/root/task"}', "x")])
def test_the_number_of_answers_does_not_depend_on_what_came_back(tools: frozenset[str], answers: tuple[str, ...]):
    blank = [len(codex.uses([Step.model_validate(s) for s in group], scene(tools=tools))) for group in (GROUP, [EDIT])]
    where = scene(tools=tools, answers=answers)
    assert [len(codex.uses([Step.model_validate(s) for s in group], where)) for group in (GROUP, [EDIT])] == blank
    assert codex.waiting(where) is False


def test_a_patch_is_taken_apart_into_one_change_a_file():
    text = (
        "*** Begin Patch\n*** Add File: new/a.md\n+one\n+two\n*** Update File: b.py\n@@ def f():\n x\n-old\n+new\n+er\n"
        "*** Delete File: gone.txt\n*** Update File: c.py\n*** Move to: d.py\n@@\n-c\n+d\n*** End Patch\n"
    )
    assert patches.changes_of_patch(text) == [
        Change("new/a.md", "write", new="one\ntwo\n"),
        Change("b.py", "edit", "old\n", "new\ner\n"),
        Change("gone.txt", "edit", new=""),
        Change("c.py", "edit", "c\n", "d\n"),
    ]
    assert patches.changes_of_patch("garbage") == []


def test_what_was_applied_is_taken_apart_the_same_way():
    assert patches.changes_of_item({
        "/srv/project/a.md": {"type": "add", "content": "one\n"},
        "/srv/project/b.md": {"type": "update", "unified_diff": "@@ -1,2 +1,2 @@\n x\n--- dash\n+++ plus\n", "move_path": None},
        "/srv/project/c.md": {"type": "delete", "content": "gone\n"},
        "/srv/project/d.md": None,
    }) == [
        Change("/srv/project/a.md", "write", new="one\n"),
        Change("/srv/project/b.md", "edit", "-- dash\n", "++ plus\n"),
        Change("/srv/project/c.md", "edit", "gone\n", ""),
    ]  # fmt: skip


LINES = st.text(alphabet="ab \n", min_size=1, max_size=30).map(lambda text: f"{text}\n")


@given(text=LINES, new=st.text(alphabet="xy \n", max_size=8), places=st.tuples(st.integers(0, 40), st.integers(1, 10)))
def test_a_patch_of_whole_lines_does_what_a_replacement_does(text: str, new: str, places: tuple[int, int]):
    start, length = places
    old = text[start % len(text) :][:length]
    [change] = patches.changes_of_patch(patches.replacing("f", old, new, [text]))
    wanted = text.replace(old, new, 1)
    assert _applied(text, change) == wanted + ("" if wanted.endswith("\n") or not wanted else "\n")


def _applied(text: str, change: Change) -> str:
    """As the tool does it: the first run of lines that are the old ones."""
    lines, old = text.removesuffix("\n").split("\n"), (change.old or "").removesuffix("\n").split("\n")
    place = next(n for n in range(len(lines)) if lines[n : n + len(old)] == old)
    new = (change.new or "").removesuffix("\n").split("\n") if change.new else []
    changed = [*lines[:place], *new, *lines[place + len(old) :]]
    return "".join(f"{line}\n" for line in changed)
