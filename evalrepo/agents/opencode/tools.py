"""opencode's tools, in both directions: its calls in canonical form, and the steps of a script as its calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalrepo.agents.canonical import Tool, located
from evalrepo.agents.speech import Scene, Use, called, made
from evalrepo.records.steps import Edit, RunStep, Search, SpawnStep, Step, Write

DEFAULT_AGENT = "general"
"""The sub-agent of a spawn that names none."""
UNKNOWN_AGENT = "no-such-agent"
"""Its type is one that no repository has, so that the tool refuses the call."""
LINE_TITLE = 40

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


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
    "apply_patch": Tool("edit", {"patch": "patchText"}),
    "patch": Tool("edit", {"patch": "patchText"}),
}
"""Every tool that stands for a canonical kind. `task` has no argument for a model; an extra one is ignored by it."""


def canonical(tool: str, args: Any, work: str, cwd: str = "", home: str = "") -> tuple[str, dict[str, Any]]:
    """Kind and canonical arguments of a call; ("", {}) for a tool that stands for none.

    `work` and `home` as the agent saw them, `cwd` where relative paths start. A patch's path is its first file.
    """
    known = TOOLS.get(tool)
    if known is None:
        return "", {}
    found = known.known(args)
    if "patch" in found:
        patched = _PATCHED.search(str(found.pop("patch")))
        found |= {"path": patched[1].strip()} if patched else {}
    return known.kind, located(found, work, cwd=cwd, home=home)


def uses(steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
    """The steps as one answer of the model, its calls in parallel; edits need no read before. LookupError."""
    return [[made(step, _MAKERS, scene, "opencode") for step in steps]]


def waiting(scene: Scene) -> bool:  # noqa: ARG001
    """Never: `task` answers when the sub-agent is done."""
    return False


def _native(tool: str, given: Mapping[str, Any], **more: Any) -> Use:
    """A call with its arguments under the tool's own names."""
    return Use(tool, {**{TOOLS[tool].names[name]: value for name, value in given.items()}, **more})


def _read(path: str, scene: Scene) -> Use:
    return _native("read", {"path": scene.absolute(path)})


def _edit(step: Edit, scene: Scene) -> Use:
    return _native("edit", {"path": scene.absolute(step.path), "old": step.old, "new": step.new})


def _write(step: Write, scene: Scene) -> Use:
    return _native("write", {"path": scene.absolute(step.path), "content": step.content})


def _run(step: RunStep, scene: Scene) -> Use:  # noqa: ARG001
    timeout = round(step.timeout_s * 1000)
    return _native("bash", {"command": step.command}, description=_title(step.command), timeout=timeout)


def _search(step: Search, scene: Scene) -> Use:
    return _native("grep", {"pattern": step.pattern, "path": scene.absolute(step.path)})


def _spawn(step: SpawnStep, scene: Scene) -> Use:  # noqa: ARG001
    agent = UNKNOWN_AGENT if step.error is not None else step.agent or DEFAULT_AGENT
    return _native("task", {"agent": agent, "task": step.task}, description=_title(step.task))


def _skill(name: str, scene: Scene) -> Use:  # noqa: ARG001
    return _native("skill", {"skill": name})


_MAKERS: dict[str, Callable[[Any, Scene], Use]] = {
    "read": _read,
    "edit": _edit,
    "write": _write,
    "run": _run,
    "search": _search,
    "spawn": _spawn,
    "skill": _skill,
    "call": called,
}


def _title(text: str) -> str:
    """The short description that some tools ask for."""
    return " ".join(text.split())[:LINE_TITLE] or "Do it"
