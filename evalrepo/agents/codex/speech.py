"""A script's steps as codex's own tool calls, for rehearsals.

codex reads and searches by shell commands and changes files by patches. Models in code mode are offered one tool,
`exec`, and call the others in JavaScript. A sub-agent ends with its parent's turn, so that its parent always waits for
it; of the two ways to talk to sub-agents, a model is offered one (`collaboration`) or, unseen at first, the other.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalrepo.agents.codex import patches, tools
from evalrepo.agents.codex.outputs import mapping
from evalrepo.agents.codex.reports import FINAL
from evalrepo.agents.speech import Scene, Use, made
from evalrepo.records.steps import CallStep, Edit, RunStep, Search, SpawnStep, Step, Write

_FIRST, _SECOND = "multi_agent_v1", "collaboration"
_WAIT_MS = 3_600_000
_LONGEST_MS = 30_000
"""The longest that a command can be waited for in one call."""

_NO_SUCH = "unheard-of"
"""An effort of reasoning that no model has: the CLI refuses the spawn."""

_ID = re.compile(r'"agent_id\\*":\s*\\*"([0-9a-f-]{36})')
_STARTED = re.compile(r'"task_name\\*":\s*\\*"/')

Answers = list[list[Use]]


def uses(steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
    """See `Rehearsable.uses`. A file that is not known is read before it is edited, for a patch is of whole lines."""
    step = steps[0]
    if step.spawn is not None:
        return _spawns([each.spawn for each in steps if each.spawn is not None], scene)
    return [[_offered(use, scene) for use in answer] for answer in made(step, _STEPS, scene, "codex")]


def waiting(scene: Scene) -> bool:  # noqa: ARG001
    """See `Rehearsable.waiting`: a parent has always waited."""
    return False


def _offered(use: Use, scene: Scene) -> Use:
    """The use, or in code mode the script that makes it."""
    if f"functions.{tools.WRAPPER}" not in scene.tools or use.namespace or use.name == tools.WRAPPER:
        return use
    given = json.dumps(use.input if isinstance(use.input, str) else dict(use.input))
    script = f"const r = await tools.{use.name}({given}); text(r);"
    return Use(tools.WRAPPER, f'// @exec: {{"yield_time_ms": {_LONGEST_MS}}}\n{script}', "functions")


def _shell(command: str, wait_ms: int = _LONGEST_MS) -> Use:
    return Use("exec_command", {"cmd": command, "yield_time_ms": wait_ms})


def _read(path: str, scene: Scene) -> Answers:
    place = scene.place(path)
    return [[_shell(f"cat {'-- ' if place.startswith('-') else ''}{shlex.quote(place)}")]]


def _search(step: Search, scene: Scene) -> Answers:
    return [[_shell(f"rg -n -e {shlex.quote(step.pattern)} {shlex.quote(scene.place(step.path))}")]]


def _run(step: RunStep, scene: Scene) -> Answers:  # noqa: ARG001
    return [[_shell(step.command, min(_LONGEST_MS, max(250, int(step.timeout_s * 1000))))]]


def _write(step: Write, scene: Scene) -> Answers:
    return [[Use(tools.PATCH, patches.adding(scene.place(step.path), step.content))]]


def _edit(step: Edit, scene: Scene) -> Answers:
    patch = patches.replacing(scene.place(step.path), step.old, step.new, [_seen(text) for text in scene.answers])
    look = [] if step.path in scene.known else _read(step.path, scene)
    return [*look, [Use(tools.PATCH, patch)]]


def _seen(answer: str) -> str:
    """What a command printed, in the answer of the tool or of a script."""
    for line in answer.split("\n"):
        if line.startswith("{") and isinstance(output := mapping(line).get("output"), str):
            return output
    return answer.partition("Output:\n")[2] or answer


def _skill(name: str, scene: Scene) -> Answers:  # noqa: ARG001
    file = shlex.quote(f"skills/{name}/SKILL.md")
    return [[_shell(f'cat "$(ls -d .*/{file} ~/.*/{file} 2>/dev/null | head -n 1)"')]]


def _call(step: CallStep, scene: Scene) -> Answers:  # noqa: ARG001
    """A tool by name, `namespace.name` where it has one; the one argument `input` of a tool that takes free text."""
    space, _, name = step.tool.rpartition(".")
    free = name in (tools.PATCH, tools.WRAPPER) and isinstance(step.args.get("input"), str)
    given: Mapping[str, Any] | str = str(step.args["input"]) if free else dict(step.args)
    return [[Use(name, given, space or ("functions" if name == tools.WRAPPER else ""))]]


_STEPS: dict[str, Callable[[Any, Scene], Answers]] = {
    "read": _read,
    "search": _search,
    "edit": _edit,
    "write": _write,
    "run": _run,
    "skill": _skill,
    "call": _call,
}


def _spawns(spawns: Sequence[SpawnStep], scene: Scene) -> Answers:
    begun = sum(spawn.error is None for spawn in spawns)
    if f"{_SECOND}.{tools.SPAWN}" in scene.tools:
        calls = [Use(tools.SPAWN, _named(spawn, n, scene), _SECOND) for n, spawn in enumerate(spawns)]
        return [calls, *([_next(scene)] for _ in range(begun))]
    calls = [Use(tools.SPAWN, _asked(spawn), _FIRST) for spawn in spawns]
    return [calls, _all(begun, scene)] if begun else [calls]


def _asked(spawn: SpawnStep) -> dict[str, Any]:
    asked = {"message": spawn.task, "agent_type": spawn.agent, "model": spawn.model or ""}
    asked["reasoning_effort"] = _NO_SUCH if spawn.error is not None else ""
    return {name: text for name, text in asked.items() if text}


def _named(spawn: SpawnStep, number: int, scene: Scene) -> dict[str, Any]:
    """In the second way each sub-agent has a name of its own; it is told nothing of what was said before."""
    before = sum(_STARTED.search(text) is not None for text in scene.answers) + number
    base = re.sub(r"[^a-z0-9_]", "_", spawn.agent.lower()) or "task"
    return {"task_name": f"{base}_{before + 1}" if before else base, "fork_turns": "none", **_asked(spawn)}


def _all(begun: int, scene: Scene) -> list[Use]:
    """One wait for each of the last sub-agents, for a wait ends with the first report."""
    known = [ident for text in scene.answers for ident in _ID.findall(text)][-begun:]
    targets = [[ident] for ident in known] or [[]]
    return [Use("wait_agent", {"targets": one, "timeout_ms": _WAIT_MS}, _FIRST) for one in targets]


def _next(scene: Scene) -> Use:
    """A wait ends with any news since the last one; where all have reported there would be none."""
    started = sum(_STARTED.search(text) is not None for text in scene.answers)
    reported = sum(f"Message Type: {FINAL}" in text for text in scene.told)
    if started <= reported:
        return Use("list_agents", {}, _SECOND)
    return Use("wait_agent", {"timeout_ms": _WAIT_MS}, _SECOND)
