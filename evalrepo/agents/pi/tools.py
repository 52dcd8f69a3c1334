"""pi's tools, in both directions: its calls in canonical form, and the steps of a script as its calls."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalrepo.agents.canonical import Tool, joined, located
from evalrepo.agents.pi.places import SKILLS
from evalrepo.agents.speech import Scene, Use, called, grep, made
from evalrepo.records.steps import Edit, RunStep, Search, SpawnStep, Step, Write

SUBAGENT = "subagent"
"""The tool for sub-agents of all extensions that are known; pi itself has none."""
DEFAULT_AGENT = "general"
"""The sub-agent of a spawn that names none."""
UNKNOWN_AGENT = "no-such-agent"
"""Its name is one that no repository has, so that the tool refuses the call."""
SKILL_FILE = "SKILL.md"

_TASKED = {"task", "tasks", "chain"}
"""Arguments that start a sub-agent, where pi-subagents also has an `action` to look after those that were started."""
_ASYNCHRONOUS = "bg_wait"
"""A tool that pi-subagents offers since it starts sub-agents in the background and knows no `tasks`."""


TOOLS: dict[str, Tool] = {
    "read": Tool("read", {"path": "path"}),
    "edit": Tool("edit", {"path": "path"}),
    "write": Tool("write", {"path": "path", "content": "content"}),
    "bash": Tool("shell", {"command": "command"}),
    "powershell": Tool("shell", {"command": "command"}),
    "grep": Tool("search", {"pattern": "pattern", "path": "path"}),
    "find": Tool("search", {"pattern": "pattern", "path": "path"}),
    "ls": Tool("search", {"path": "path"}),
    SUBAGENT: Tool("spawn", {"agent": "agent", "task": "task", "model": "model"}),
}
"""Every tool that stands for a canonical kind; `grep`, `find` and `ls` are off unless somebody asks for them."""


def canonical(
    tool: str, args: Any, work: str, *, cwd: str = "", skills: Mapping[str, str] | None = None
) -> tuple[str, dict[str, Any]]:
    """Kind and canonical arguments of a call; ("", {}) for a tool that stands for none.

    `work` as the agent saw it, `cwd` where relative paths start. `skills`: path → name of those that the system prompt
    offered; pi has no tool for them, reading one is using it.
    """
    known = TOOLS.get(tool)
    if known is None:
        return "", {}
    given = args if isinstance(args, dict) else {}
    if tool == SUBAGENT and given.get("action") and not _TASKED & set(given):
        return "", {}
    found = known.known(given)
    if known.kind == "edit":  # models also write the texts without a list
        edits = given.get("edits")
        found |= joined(edits if isinstance(edits, list) else [given], {"old": "oldText", "new": "newText"})
    if isinstance(path := found.get("path"), str):
        found["path"] = path = path.removeprefix("@")
        name = _skill_of(posixpath.join(cwd or work, path), path, skills or {})
        if known.kind == "read" and name:
            return "skill", located({"skill": name, "path": path}, work, cwd=cwd)
    return known.kind, located(found, work, cwd=cwd)


def _skill_of(full: str, path: str, skills: Mapping[str, str]) -> str:
    """The skill that lies there; what `~/` is, the log does not say."""
    if path.startswith("~/"):
        return next((name for place, name in skills.items() if place.endswith(path[1:])), "")
    return skills.get(posixpath.normpath(full), "")


def uses(steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
    """The steps as one answer of the model; sub-agents that start together are the `tasks` of one call. LookupError.

    A skill is read where a private HOME has it, `~/.pi/agent/skills/NAME`. `grep` is off in pi: a search is done by
    shell where it is.
    """
    if steps and steps[0].spawn is not None:
        return [_spawns([step.spawn for step in steps if step.spawn is not None], scene)]
    return [[made(step, _MAKERS, scene, "pi") for step in steps]]


def waiting(scene: Scene) -> bool:  # noqa: ARG001
    """Never: `subagent` answers when its sub-agents are done."""
    return False


def _read(path: str, scene: Scene) -> Use:
    return Use("read", {"path": scene.place(path)})


def _edit(step: Edit, scene: Scene) -> Use:
    edit = {"oldText": step.old, "newText": step.new}
    return Use("edit", {"path": scene.place(step.path), "edits": [edit]})


def _write(step: Write, scene: Scene) -> Use:
    return Use("write", {"path": scene.place(step.path), "content": step.content})


def _run(step: RunStep, scene: Scene) -> Use:  # noqa: ARG001
    return Use("bash", {"command": step.command, "timeout": step.timeout_s})


def _search(step: Search, scene: Scene) -> Use:
    place = scene.place(step.path)
    if "grep" in scene.tools:
        return Use("grep", {"pattern": step.pattern, "path": place})
    return Use("bash", {"command": grep(step.pattern, place)})


def _skill(name: str, scene: Scene) -> Use:
    return Use("read", {"path": f"{scene.home}/{SKILLS}/{name}/{SKILL_FILE}"})


_MAKERS: dict[str, Callable[[Any, Scene], Use]] = {
    "read": _read,
    "edit": _edit,
    "write": _write,
    "run": _run,
    "search": _search,
    "skill": _skill,
    "call": called,
}


def _spawns(spawns: Sequence[SpawnStep], scene: Scene) -> list[Use]:
    if scene.tools and SUBAGENT not in scene.tools:
        raise LookupError(
            "pi has no sub-agents of its own, and no extension that is loaded offers a tool `subagent`: "
            "`extension: bundled:subagent` in the tier's settings is one that comes with pi"
        )
    if _ASYNCHRONOUS in scene.tools:
        return [Use(SUBAGENT, {**_task(spawn), "async": False}) for spawn in spawns]
    if len(spawns) == 1:
        return [Use(SUBAGENT, _task(spawns[0]))]
    return [Use(SUBAGENT, {"tasks": [_task(spawn) for spawn in spawns]})]


def _task(spawn: SpawnStep) -> dict[str, Any]:
    agent = UNKNOWN_AGENT if spawn.error is not None else spawn.agent or DEFAULT_AGENT
    return {"agent": agent, "task": spawn.task, **({"model": spawn.model} if spawn.model else {})}
