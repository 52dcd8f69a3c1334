"""Claude Code's tools and ours, in both directions: its calls as canonical ones, a script's steps as its calls."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from evalrepo.agents.canonical import Tool, joined, located
from evalrepo.agents.speech import Scene, Use, called, grep, made
from evalrepo.records.steps import CallStep, Edit, RunStep, Search, SpawnStep, Step, Write

TOOLS: dict[str, Tool] = {
    "Read": Tool("read", {"path": "file_path"}),
    "Edit": Tool("edit", {"path": "file_path", "old": "old_string", "new": "new_string"}),
    "MultiEdit": Tool("edit", {"path": "file_path"}),
    "NotebookEdit": Tool("edit", {"path": "notebook_path", "new": "new_source"}),
    "Write": Tool("write", {"path": "file_path", "content": "content"}),
    "Bash": Tool("shell", {"command": "command"}),
    "PowerShell": Tool("shell", {"command": "command"}),
    "Grep": Tool("search", {"pattern": "pattern", "path": "path"}),
    "Glob": Tool("search", {"pattern": "pattern", "path": "path"}),
    "LS": Tool("search", {"path": "path"}),
    "Agent": Tool("spawn", {"agent": "subagent_type", "task": "prompt", "model": "model"}),
    "Task": Tool("spawn", {"agent": "subagent_type", "task": "prompt", "model": "model"}),
    "Skill": Tool("skill", {"skill": "skill"}),
    "SlashCommand": Tool("skill", {"skill": "command"}),
}
"""Every tool that stands for a canonical kind."""

GENERAL = "general-purpose"
"""The type of a sub-agent for which none is named."""

LAUNCHED = "Async agent launched"
"""How the result of a sub-agent begins that works in the background."""

_LAUNCHED_ID = re.compile(rf"{LAUNCHED}.*?\bagentId: (\w+)", re.DOTALL)
_REPORTED_ID = re.compile(r"<task-notification>\s*<task-id>(\w+)</task-id>")


def canonical(tool: str, args: Any, work: str, cwd: str) -> tuple[str, dict[str, Any]]:
    """Canonical kind ("" for a tool that has none) and arguments of a call; paths as `relative_path`."""
    known = TOOLS.get(tool)
    if known is None:
        return "", {}
    found = known.known(args)
    if tool == "MultiEdit" and found:
        found |= joined(args.get("edits"), {"old": "old_string", "new": "new_string"})
    return known.kind, located(found, work, cwd=cwd)


def uses(steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
    """See `Rehearsable.uses`.

    The CLI changes a file only after the agent has seen it; `cat` is enough, and leaves reads to the script.
    """
    step = steps[0]
    if step.spawn is not None:
        return [[_spawn(each.spawn) for each in steps if each.spawn is not None]]
    return made(step, _STEPS, scene, "Claude Code")


def waiting(scene: Scene) -> bool:
    """See `Rehearsable.waiting`. A report comes as a message, or while there is other work within a result."""
    started = {ident for text in scene.answers for ident in _LAUNCHED_ID.findall(text)}
    return bool(started.difference(*map(_REPORTED_ID.findall, (*scene.told, *scene.answers))))


def _read(path: str, scene: Scene) -> list[list[Use]]:
    return [[Use("Read", {"file_path": scene.absolute(path)})]]


def _seen(path: str, scene: Scene) -> list[list[Use]]:
    return [] if path in scene.known else [[Use("Bash", {"command": f"cat {shlex.quote(scene.absolute(path))}"})]]


def _edit(step: Edit, scene: Scene) -> list[list[Use]]:
    args = {"file_path": scene.absolute(step.path), "old_string": step.old, "new_string": step.new}
    return [*_seen(step.path, scene), [Use("Edit", args)]]


def _write(step: Write, scene: Scene) -> list[list[Use]]:
    args = {"file_path": scene.absolute(step.path), "content": step.content}
    return [*_seen(step.path, scene), [Use("Write", args)]]


def _search(step: Search, scene: Scene) -> list[list[Use]]:
    place = scene.absolute(step.path)
    if "Grep" in scene.tools:
        return [[Use("Grep", {"pattern": step.pattern, "path": place, "output_mode": "content"})]]
    return [[Use("Bash", {"command": grep(step.pattern, place)})]]


def _run(step: RunStep, scene: Scene) -> list[list[Use]]:  # noqa: ARG001
    return [[Use("Bash", {"command": step.command, "timeout": int(step.timeout_s * 1000)})]]


def _skill(name: str, scene: Scene) -> list[list[Use]]:  # noqa: ARG001
    return [[Use("Skill", {"skill": name})]]


def _call(step: CallStep, scene: Scene) -> list[list[Use]]:
    return [[called(step, scene)]]


def _spawn(step: SpawnStep) -> Use:
    """One that shall fail asks for a kind of isolation that there is not, so that the rest stays as the script says."""
    args: dict[str, Any] = {
        "description": " ".join(step.task.split()[:5]),
        "prompt": step.task,
        "subagent_type": step.agent or GENERAL,
        "run_in_background": step.background,
    }
    if step.model is not None:
        args["model"] = step.model
    return Use("Agent", args if step.error is None else args | {"isolation": "none"})


_STEPS: dict[str, Callable[[Any, Scene], list[list[Use]]]] = {
    "read": _read,
    "edit": _edit,
    "write": _write,
    "search": _search,
    "run": _run,
    "skill": _skill,
    "call": _call,
}
