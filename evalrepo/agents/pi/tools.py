"""pi's tools, in both directions: its calls in canonical form, and the steps of a script as its calls."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalrepo.agents.canonical import relative_path
from evalrepo.agents.pi.places import SKILLS
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.steps import RunStep, Search, SpawnStep, Step

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


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's canonical kind, and canonical argument → the tool's own name of it."""

    kind: str
    names: Mapping[str, str]


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
    found = {name: given[own] for name, own in known.names.items() if given.get(own) is not None}
    if known.kind == "edit":
        found |= _edits(given)
    if isinstance(path := found.get("path"), str):
        path = path.removeprefix("@")
        found["path"] = relative_path(path, work, cwd=cwd)
        name = _skill_of(posixpath.join(cwd or work, path), path, skills or {})
        if known.kind == "read" and name:
            return "skill", {"skill": name, "path": found["path"]}
    return known.kind, found


def _skill_of(full: str, path: str, skills: Mapping[str, str]) -> str:
    """The skill that lies there; what `~/` is, the log does not say."""
    if path.startswith("~/"):
        return next((name for place, name in skills.items() if place.endswith(path[1:])), "")
    return skills.get(posixpath.normpath(full), "")


def _edits(given: Mapping[str, Any]) -> dict[str, Any]:
    """Old and new text, of several replacements one below the other; models also write them without a list."""
    edits = given.get("edits")
    blocks = [e for e in edits if isinstance(e, dict)] if isinstance(edits, list) else [given]
    found = {}
    for name, own in (("old", "oldText"), ("new", "newText")):
        texts = [block[own] for block in blocks if isinstance(block.get(own), str)]
        if texts:
            found[name] = "\n".join(texts)
    return found


def uses(steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
    """The steps as one answer of the model; sub-agents that start together are the `tasks` of one call. LookupError.

    A skill is read where a private HOME has it, `~/.pi/agent/skills/NAME`. `grep` is off in pi: a search is done by
    shell where it is.
    """
    if steps and steps[0].spawn is not None:
        return [_spawns([step.spawn for step in steps if step.spawn is not None], scene)]
    return [[_use(step, scene) for step in steps]]


def waiting(scene: Scene) -> bool:  # noqa: ARG001
    """Never: `subagent` answers when its sub-agents are done."""
    return False


def _use(step: Step, scene: Scene) -> Use:
    make = _MAKERS.get(step.kind)
    if make is None:
        raise LookupError(f"pi has no tool for a `{step.kind}` step")
    return make(step, scene)


def _read(step: Step, scene: Scene) -> Use:
    return Use("read", {"path": _place(step.read or "", scene)})


def _edit(step: Step, scene: Scene) -> Use:
    assert step.edit is not None
    edit = {"oldText": step.edit.old, "newText": step.edit.new}
    return Use("edit", {"path": _place(step.edit.path, scene), "edits": [edit]})


def _write(step: Step, scene: Scene) -> Use:
    assert step.write is not None
    return Use("write", {"path": _place(step.write.path, scene), "content": step.write.content})


def _run(step: Step, scene: Scene) -> Use:  # noqa: ARG001
    if isinstance(step.run, RunStep):
        return Use("bash", {"command": step.run.command, "timeout": step.run.timeout_s})
    return Use("bash", {"command": step.run or ""})


def _search(step: Step, scene: Scene) -> Use:
    search = step.search if isinstance(step.search, Search) else Search(pattern=step.search or "")
    if "grep" in scene.tools:
        return Use("grep", {"pattern": search.pattern, "path": _place(search.path, scene)})
    words = f"grep -rnE --exclude-dir=.git -e {shlex.quote(search.pattern)} -- {shlex.quote(search.path)}"
    return Use("bash", {"command": f"{words} || [ $? -eq 1 ]"})


def _skill(step: Step, scene: Scene) -> Use:
    return Use("read", {"path": f"{scene.home}/{SKILLS}/{step.skill}/{SKILL_FILE}"})


def _call(step: Step, scene: Scene) -> Use:  # noqa: ARG001
    assert step.call is not None
    return Use(step.call.tool, dict(step.call.args))


_MAKERS: dict[str, Callable[[Step, Scene], Use]] = {
    "read": _read,
    "edit": _edit,
    "write": _write,
    "run": _run,
    "search": _search,
    "skill": _skill,
    "call": _call,
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


def _place(path: str, scene: Scene) -> str:
    """The path as a model writes it here: relative to the work directory, absolute below HOME."""
    return scene.home + path[1:] if path.startswith("~/") else path
