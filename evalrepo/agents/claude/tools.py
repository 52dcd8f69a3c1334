"""Claude Code's tools and ours, in both directions: its calls as canonical ones, a script's steps as its calls."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from evalrepo.agents.canonical import relative_path
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.steps import Edit, RunStep, Search, SpawnStep, Step, Write

TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "Read": ("read", {"path": "file_path"}),
    "Edit": ("edit", {"path": "file_path", "old": "old_string", "new": "new_string"}),
    "MultiEdit": ("edit", {"path": "file_path"}),
    "NotebookEdit": ("edit", {"path": "notebook_path", "new": "new_source"}),
    "Write": ("write", {"path": "file_path", "content": "content"}),
    "Bash": ("shell", {"command": "command"}),
    "PowerShell": ("shell", {"command": "command"}),
    "Grep": ("search", {"pattern": "pattern", "path": "path"}),
    "Glob": ("search", {"pattern": "pattern", "path": "path"}),
    "LS": ("search", {"path": "path"}),
    "Agent": ("spawn", {"agent": "subagent_type", "task": "prompt", "model": "model"}),
    "Task": ("spawn", {"agent": "subagent_type", "task": "prompt", "model": "model"}),
    "Skill": ("skill", {"skill": "skill"}),
    "SlashCommand": ("skill", {"skill": "command"}),
}
"""The CLI's tool → canonical kind, and canonical argument → its own."""

GENERAL = "general-purpose"
"""The type of a sub-agent for which none is named."""

LAUNCHED = "Async agent launched"
"""How the result of a sub-agent begins that works in the background."""

_LAUNCHED_ID = re.compile(rf"{LAUNCHED}.*?\bagentId: (\w+)", re.DOTALL)
_REPORTED_ID = re.compile(r"<task-notification>\s*<task-id>(\w+)</task-id>")


def canonical(tool: str, args: Any, work: str, cwd: str) -> tuple[str, dict[str, Any]]:
    """Canonical kind ("" for a tool that has none) and arguments of a call; paths as `relative_path`."""
    kind, names = TOOLS.get(tool, ("", {}))
    if not names or type(args) is not dict:
        return kind, {}
    found = {name: args[own] for name, own in names.items() if args.get(own) is not None}
    path = found.get("path")
    if isinstance(path, str):
        inside = path.startswith(work + "/")
        found["path"] = relative_path(path[len(work) + 1 :] if inside else path, work, cwd="" if inside else cwd)
    if tool == "MultiEdit":
        found |= _edits(args.get("edits"))
    return kind, found


def _edits(edits: Any) -> dict[str, Any]:
    """The edits of one call as one: their old and their new texts, a line apart."""
    each = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    return {name: "\n".join(str(e.get(f"{name}_string", "")) for e in each) for name in ("old", "new")}


def uses(steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
    """See `Rehearsable.uses`.

    The CLI changes a file only after the agent has seen it; `cat` is enough, and leaves reads to the script.
    """
    step = steps[0]
    if step.spawn is not None:
        return [[_spawn(each.spawn) for each in steps if each.spawn is not None]]
    if step.call is not None:
        return [[Use(step.call.tool, dict(step.call.args))]]
    return _STEPS[step.kind](getattr(step, step.kind), scene)


def waiting(scene: Scene) -> bool:
    """See `Rehearsable.waiting`. A report comes as a message, or while there is other work within a result."""
    started = {ident for text in scene.answers for ident in _LAUNCHED_ID.findall(text)}
    return bool(started.difference(*map(_REPORTED_ID.findall, (*scene.told, *scene.answers))))


def _place(path: str, scene: Scene) -> str:
    if path.startswith("~/"):
        return scene.home + path[1:]
    return path if path.startswith("/") else f"{scene.work}/{path}".removesuffix("/.")


def _read(path: str, scene: Scene) -> list[list[Use]]:
    return [[Use("Read", {"file_path": _place(path, scene)})]]


def _seen(path: str, scene: Scene) -> list[list[Use]]:
    return [] if path in scene.known else [[Use("Bash", {"command": f"cat {shlex.quote(_place(path, scene))}"})]]


def _edit(step: Edit, scene: Scene) -> list[list[Use]]:
    args = {"file_path": _place(step.path, scene), "old_string": step.old, "new_string": step.new}
    return [*_seen(step.path, scene), [Use("Edit", args)]]


def _write(step: Write, scene: Scene) -> list[list[Use]]:
    args = {"file_path": _place(step.path, scene), "content": step.content}
    return [*_seen(step.path, scene), [Use("Write", args)]]


def _search(step: Search | str, scene: Scene) -> list[list[Use]]:
    asked = Search(pattern=step) if isinstance(step, str) else step
    place = _place(asked.path, scene)
    if "Grep" in scene.tools:
        return [[Use("Grep", {"pattern": asked.pattern, "path": place, "output_mode": "content"})]]
    return [[Use("Bash", {"command": f"grep -rnE -e {shlex.quote(asked.pattern)} -- {shlex.quote(place)}"})]]


def _run(step: RunStep | str, scene: Scene) -> list[list[Use]]:  # noqa: ARG001
    asked = RunStep(command=step) if isinstance(step, str) else step
    return [[Use("Bash", {"command": asked.command, "timeout": int(asked.timeout_s * 1000)})]]


def _skill(name: str, scene: Scene) -> list[list[Use]]:  # noqa: ARG001
    return [[Use("Skill", {"skill": name})]]


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
}
