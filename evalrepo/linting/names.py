"""Scenarios' ids, aliases, subjects and twins."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.discipline.places import RESERVE
from evalrepo.errors import Finding, Place
from evalrepo.linting.ground import Ground, near
from evalrepo.store.choose import alias, stem
from evalrepo.store.loading import LoadedScenario


def case_of_letters(ground: Ground) -> Iterator[Finding]:
    """Ids differ by more than the case of letters: some file systems cannot hold both."""
    seen: dict[str, str] = {}
    for one in ground.scenarios:
        other = seen.setdefault(one.id.lower(), one.id)
        if other != one.id:
            message = f'the id "{one.id}" differs from "{other}" only in the case of letters'
            yield Finding(_file(one), "SCN106", message, "rename one of the two")


def aliases(ground: Ground) -> Iterator[Finding]:
    """No alias is the whole id of another scenario."""
    for which in ("run-set", "reserve"):
        own = ground.loaded.of_set(which)
        stems = {stem(id_) for id_ in own}
        for one in own.values():
            short = alias(one.id)
            if short != stem(one.id) and short in stems:
                message = f'its alias "{short}" is the id of another scenario, so it has none'
                hint = "rename one of the two; an alias is the text before the first -"
                yield Finding(_file(one), "SCN107", message, hint, True)


def subjects(ground: Ground) -> Iterator[Finding]:
    """Every subject is one of the config's."""
    known = ground.config.subjects
    if "evalrepo.yaml" in ground.broken:
        return
    for one in ground.scenarios:
        for name in one.scenario.subject:
            if name not in known:
                hint = near(name, list(known), "add it to `subjects:` in evalrepo.yaml")
                yield Finding(ground.of(one, "subject"), "SCN108", f'there is no subject "{name}"', hint)


def twins(ground: Ground) -> Iterator[Finding]:
    """A twin is there, in the other set, and points back."""
    for one in ground.scenarios:
        twin = one.scenario.twin
        if twin is None:
            if one.set == "reserve":
                hint = "twin: ID of the run-set scenario that asks the same of the agent"
                yield Finding(_file(one), "SCN133", "a reserve scenario names its run-set twin", hint, True)
            continue
        place = ground.of(one, "twin")
        other = ground.loaded.scenarios.get(twin)
        if other is None:
            yield from _absent(ground, one, twin, place)
        elif other.set == one.set:
            message = f'the twin "{twin}" is in the {one.set} too'
            yield Finding(place, "SCN111", message, f"one of a pair is in scenarios/, the other in {RESERVE}/")
        elif other.scenario.twin != one.id:
            back = f'names "{other.scenario.twin}"' if other.scenario.twin else "names no twin"
            yield Finding(place, "SCN110", f'the twin "{twin}" {back}', f"in {other.path}: twin: {one.id}")


def _absent(ground: Ground, one: LoadedScenario, twin: str, place: Place) -> Iterator[Finding]:
    folder = RESERVE if one.set == "run-set" else "scenarios"
    if f"{folder}/{stem(twin)}.yaml" in ground.broken:
        return
    others = [i for i, other in ground.loaded.scenarios.items() if other.set != one.set]
    hint = near(twin, others, f"write {folder}/{stem(twin)}.yaml, or remove the key")
    yield Finding(place, "SCN109", f'there is no scenario "{twin}"', hint)


def _file(one: LoadedScenario) -> Place:
    return Place(one.path, 1, 1)


RULES = (case_of_letters, aliases, subjects, twins)
