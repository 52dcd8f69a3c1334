"""What of the reserve must stand nowhere else: its texts, one a passage, and which files are its own. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalrepo.discipline.places import CONFIG, RESERVE
from evalrepo.records.names import Named, named
from evalrepo.records.rubric import Rubric
from evalrepo.records.scenario import Scenario

NAMES = frozenset({"id", "name", "axis", "needs", "tool", "agent", "model", "resolves", "serves", "rubric", "question"})
"""Keys whose values are names. They say nothing of the task."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that belongs to the reserve: of which scenario, what it is (`a prompt`), the file that holds it."""

    scenario: str
    kind: str
    path: str
    text: bytes


@dataclass(frozen=True)
class Held:
    """What a tree's reserve consists of.

    `shared`: reserve scenario → paths that it has in common with the run-set by design (its twin's file, what that one
    names, the config). `home`: paths where reserve text belongs. `wires`: tripwire → files that may hold it.
    `twins`: reserve scenario → its twin's file.
    """

    passages: tuple[Passage, ...]
    wires: Mapping[str, tuple[str, ...]]
    home: tuple[str, ...]
    shared: Mapping[str, tuple[str, ...]]
    twins: Mapping[str, str]


def held(
    reserve: Mapping[str, tuple[str, Scenario]],
    run_set: Mapping[str, tuple[str, Scenario]],
    rubrics: Mapping[str, Rubric],
    read: Callable[[str], bytes | None],
) -> Held:
    """All that is held out. Scenarios by id as (path, scenario); `read`: a file's content, None when there is none."""
    names = {id_: named(one) for id_, (_, one) in reserve.items()}
    known = {path for _, one in run_set.values() for path in named(one).paths}
    own = {path for name in names.values() for path in name.paths if path not in known}
    found = [p for id_, (path, one) in reserve.items() for p in _passages(id_, path, one)]
    found += [p for id_, name in names.items() for p in _files(id_, name, own, read)]
    twins = {id_: twin for id_, (_, one) in reserve.items() if (twin := _twin(one, run_set))}
    return Held(
        passages=tuple(dict.fromkeys(found)),
        wires=_wires(reserve, rubrics),
        home=tuple(sorted({RESERVE, *own})),
        shared={id_: _shared(names[id_], own, one.twin, run_set, twins.get(id_)) for id_, (_, one) in reserve.items()},
        twins=twins,
    )


def _wires(reserve: Mapping[str, tuple[str, Scenario]], rubrics: Mapping[str, Rubric]) -> dict[str, tuple[str, ...]]:
    held_in: dict[str, list[str]] = {}
    for path, one in reserve.values():
        if one.tripwire:
            held_in.setdefault(one.tripwire, []).append(path)
    for name, rubric in rubrics.items():
        if rubric.head.tripwire:
            held_in.setdefault(rubric.head.tripwire, []).append(f"rubrics/{name}.md")
    return {wire: tuple(dict.fromkeys(paths)) for wire, paths in held_in.items()}


def _twin(one: Scenario, run_set: Mapping[str, tuple[str, Scenario]]) -> str | None:
    """The file of the run-set twin. One that cannot be read still is what it was copied from."""
    if one.twin is None:
        return None
    return run_set[one.twin][0] if one.twin in run_set else f"scenarios/{one.twin.partition('/')[0]}.yaml"


def _shared(
    names: Named, own: set[str], twin: str | None, run_set: Mapping[str, tuple[str, Scenario]], file: str | None
) -> tuple[str, ...]:
    beside = named(run_set[twin][1]).paths if twin is not None and twin in run_set else ()
    paths = {CONFIG, *beside, *(path for path in names.paths if path not in own), *([file] if file else [])}
    return tuple(sorted(paths))


def _passages(id_: str, path: str, one: Scenario) -> Iterator[Passage]:
    """The texts that stand in the scenario itself. Its title is no secret: results bear it."""
    for turn in one.turns:
        yield Passage(id_, "a prompt", path, turn.prompt.encode("utf-8", "replace"))
    for text in (*one.expect, *one.watch_for):
        yield Passage(id_, "an expectation", path, text.encode("utf-8", "replace"))
    groups: tuple[tuple[str, Any], ...] = (
        ("a check", (*one.preconditions, *one.validity, *one.checks, *((one.trigger,) if one.trigger else ()))),
        ("setup", (*one.setup, *one.faults)),
        ("a script", (*(one.conformance or ()), *one.behaviours)),
    )
    for kind, models in groups:
        for model in models:
            for text in _texts(model.model_dump(mode="json", by_alias=True, exclude_unset=True)):
                yield Passage(id_, kind, path, text.encode("utf-8", "replace"))


def _texts(value: Any) -> Iterator[str]:
    """Every text in it but names, paths, and the words of a subject that a script asks for with `when`."""
    if isinstance(value, str):
        if not value.isascii() or len(value.split()) > 1:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "when" and not (key in NAMES and isinstance(item, str)):
                yield from _texts(item)


def _files(id_: str, names: Named, own: set[str], read: Callable[[str], bytes | None]) -> Iterator[Passage]:
    """Whole files that only the reserve names. What the agent sees (fixtures) is not compared."""
    kinds = (("a hidden file", names.hidden), ("a check module", names.modules), ("a rubric", names.rubrics))
    for kind, paths in kinds:
        for path in paths:
            data = read(path) if path in own else None
            if data is not None:
                yield Passage(id_, kind, path, data)
