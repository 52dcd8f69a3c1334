"""opencode's tools, in both directions: its calls in canonical form, and the steps of a script as its calls."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalrepo.agents.canonical import relative_path
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.steps import SpawnStep, Step

DEFAULT_AGENT = "general"
"""The sub-agent of a spawn that names none."""
UNKNOWN_AGENT = "no-such-agent"
"""Its type is one that no repository has, so that the tool refuses the call."""
LINE_TITLE = 40

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's canonical kind, and canonical argument → the tool's own name of it."""

    kind: str
    names: Mapping[str, str]


TOOLS: dict[str, Tool] = {
    "read": Tool("read", {"path": "filePath"}),
    "edit": Tool("edit", {"path": "filePath", "old": "oldString", "new": "newString"}),
    "write": Tool("write", {"path": "filePath", "content": "content"}),
    "bash": Tool("shell", {"command": "command"}),
    "grep": Tool("search", {"pattern": "pattern", "path": "path"}),
    "glob": Tool("search", {"pattern": "pattern", "path": "path"}),
    "list": Tool("search", {"path": "path"}),
    "task": Tool("spawn", {"agent": "subagent_type", "task": "prompt"}),
    "skill": Tool("skill", {"skill": "name"}),
    "apply_patch": Tool("edit", {}),
    "patch": Tool("edit", {}),
}
"""Every tool that stands for a canonical kind. `task` has no argument for a model; an extra one is ignored by it."""


def canonical(tool: str, args: Any, work: str, cwd: str = "", home: str = "") -> tuple[str, dict[str, Any]]:
    """Kind and canonical arguments of a call; ("", {}) for a tool that stands for none.

    `work` and `home` as the agent saw them, `cwd` where relative paths start. A patch's path is its first file.
    """
    known = TOOLS.get(tool)
    if known is None:
        return "", {}
    given = args if isinstance(args, dict) else {}
    found = {name: given[own] for name, own in known.names.items() if given.get(own) is not None}
    if not known.names and (patched := _PATCHED.search(str(given.get("patchText", "")))):
        found["path"] = patched[1].strip()
    if isinstance(found.get("path"), str):
        found["path"] = relative_path(found["path"], work, cwd=cwd, home=home)
    return known.kind, found


def uses(steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
    """The steps as one answer of the model, its calls in parallel; edits need no read before. LookupError."""
    return [[_use(step, scene) for step in steps]]


def waiting(scene: Scene) -> bool:  # noqa: ARG001
    """Never: `task` answers when the sub-agent is done."""
    return False


def _use(step: Step, scene: Scene) -> Use:
    make = _MAKERS.get(step.kind)
    if make is None:
        raise LookupError(f"opencode has no tool for a `{step.kind}` step")
    return make(step, scene)


def _native(tool: str, given: Mapping[str, Any], **more: Any) -> Use:
    """A call with its arguments under the tool's own names."""
    return Use(tool, {**{TOOLS[tool].names[name]: value for name, value in given.items()}, **more})


def _read(step: Step, scene: Scene) -> Use:
    return _native("read", {"path": _place(step.read or "", scene)})


def _edit(step: Step, scene: Scene) -> Use:
    assert step.edit is not None
    return _native("edit", {"path": _place(step.edit.path, scene), "old": step.edit.old, "new": step.edit.new})


def _write(step: Step, scene: Scene) -> Use:
    assert step.write is not None
    return _native("write", {"path": _place(step.write.path, scene), "content": step.write.content})


def _run(step: Step, scene: Scene) -> Use:  # noqa: ARG001
    run = step.run
    if run is None or isinstance(run, str):
        return _native("bash", {"command": run or ""}, description=_title(run or ""))
    return _native(
        "bash", {"command": run.command}, description=_title(run.command), timeout=round(run.timeout_s * 1000)
    )


def _search(step: Step, scene: Scene) -> Use:
    search = step.search
    if search is None or isinstance(search, str):
        return _native("grep", {"pattern": search or "", "path": scene.work})
    return _native("grep", {"pattern": search.pattern, "path": _place(search.path, scene)})


def _spawn(step: Step, scene: Scene) -> Use:  # noqa: ARG001
    spawn = step.spawn
    assert spawn is not None
    return _native("task", {"agent": _agent(spawn), "task": spawn.task}, description=_title(spawn.task))


def _agent(spawn: SpawnStep) -> str:
    return UNKNOWN_AGENT if spawn.error is not None else spawn.agent or DEFAULT_AGENT


def _skill(step: Step, scene: Scene) -> Use:  # noqa: ARG001
    return _native("skill", {"skill": step.skill})


def _call(step: Step, scene: Scene) -> Use:  # noqa: ARG001
    assert step.call is not None
    return Use(step.call.tool, dict(step.call.args))


_MAKERS: dict[str, Callable[[Step, Scene], Use]] = {
    "read": _read,
    "edit": _edit,
    "write": _write,
    "run": _run,
    "search": _search,
    "spawn": _spawn,
    "skill": _skill,
    "call": _call,
}


def _place(path: str, scene: Scene) -> str:
    """The absolute path that the model would give."""
    if path.startswith("~/"):
        return scene.home + path[1:]
    return posixpath.normpath(posixpath.join(scene.work, path))


def _title(text: str) -> str:
    """The short description that some tools ask for."""
    return " ".join(text.split())[:LINE_TITLE] or "Do it"
