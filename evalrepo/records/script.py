"""Scripts as data: found by the name a tier gives, made plain, written as canonical JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalrepo.records.scenario import Scenario
from evalrepo.records.steps import RunStep, Script, Search, SpawnStep, Step


def find(scenario: Scenario, name: str) -> Script | None:
    """The scenario's script of this name, behaviours first; None when it has none."""
    for script in (*scenario.behaviours, *(scenario.conformance or ())):
        if script.name == name:
            return script
    return None


def names(scenario: Scenario) -> tuple[str, ...]:
    """The names that `find` knows, in order."""
    scripts = (*scenario.behaviours, *(scenario.conformance or ()))
    return tuple(dict.fromkeys(script.name for script in scripts))


def steps_of_turn(script: Script, turn: int, files: Mapping[str, bytes]) -> tuple[Step, ...]:
    """Plain steps of a turn (from 1) of the script; none for a turn that it does not have."""
    turns = script.by_turn()
    return resolve(turns[turn - 1], files) if turn <= len(turns) else ()


def resolve(steps: Sequence[Step], files: Mapping[str, bytes]) -> tuple[Step, ...]:
    """The steps with every `when` replaced by its `then` or `else`, in sub-agents too.

    `files` are the subject's, by path relative to the subject. Words are looked for with every run of white space
    taken as one space, so a line break in the subject does not matter; a file that is not there has no words.
    """
    plain: list[Step] = []
    for step in steps:
        if step.when is not None:
            text = files.get(step.when.subject, b"").decode("utf-8", "replace")
            met = _squeezed(step.when.contains) in _squeezed(text)
            plain.extend(resolve((step.then if met else step.else_) or (), files))
        elif step.spawn is not None:
            inner = resolve(step.spawn.steps, files)
            plain.append(step.model_copy(update={"spawn": step.spawn.model_copy(update={"steps": inner})}))
        else:
            plain.append(step)
    return tuple(plain)


def conditions(steps: Sequence[Step]) -> Iterator[str]:
    """Paths of the subject's files that the steps' `when`s look at, nested ones included."""
    for step in steps:
        if step.when is not None:
            yield step.when.subject
        yield from conditions((*(step.then or ()), *(step.else_ or ()), *(step.spawn.steps if step.spawn else ())))


def dump(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Plain steps as JSON data: one `{kind: arguments}` each, every default filled in."""
    return [{step.kind: _arguments(step)} for step in steps]


def _arguments(step: Step) -> Any:
    value = getattr(step, step.kind)
    if step.kind == "search" and isinstance(value, str):
        value = Search(pattern=value)
    if step.kind == "run" and isinstance(value, str):
        value = RunStep(command=value)
    if isinstance(value, SpawnStep):
        return {**value.model_dump(mode="json", exclude={"steps"}), "steps": dump(value.steps)}
    return value if isinstance(value, str | float) else value.model_dump(mode="json")


def _squeezed(text: str) -> str:
    return " ".join(text.split())
