"""A scenario by itself: ids of checks and who names them, axes, turns, environment, tripwires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalrepo.errors import Finding
from evalrepo.linting import environment
from evalrepo.linting.conformance import TRIGGER
from evalrepo.linting.ground import Called, Ground, near
from evalrepo.records.names import with_nested
from evalrepo.records.scenario import Metric
from evalrepo.repository.digests import subject_files
from evalrepo.store.loading import LoadedScenario


def check_ids(ground: Ground) -> Iterator[Finding]:
    """Each check has an id of its own, the trigger's among them."""
    for one in ground.scenarios:
        lists = (("preconditions", one.scenario.preconditions), ("validity", one.scenario.validity))
        seen: set[str] = {"trigger"} if one.scenario.trigger else set()
        for key, checks in (*lists, ("checks", one.scenario.checks)):
            for check in checks:
                if check.id in seen:
                    message = f'two checks have the id "{check.id}" (defaults of the set and the subject count too)'
                    yield Finding(ground.of(one, key, Called(check.id)), "SCN116", message, "rename one of the two")
                seen.add(check.id)


def needs(ground: Ground) -> Iterator[Finding]:
    """`needs` names another check of the scenario, its trigger among them, and no check waits for itself."""
    for one in ground.scenarios:
        needed = {c.id: c.needs for c in one.scenario.checks} | ({TRIGGER: None} if one.scenario.trigger else {})
        for check in one.scenario.checks:
            if check.needs is None:
                continue
            place = ground.of(one, "checks", Called(check.id), "needs")
            if check.needs not in needed:
                yield Finding(place, "SCN112", f'there is no check "{check.needs}"', near(check.needs, list(needed)))
            elif _waits_for_itself(check.id, needed):
                hint = "let one of the checks in the circle need nothing"
                yield Finding(place, "SCN113", f'the check "{check.id}" waits for itself', hint)


def _waits_for_itself(start: str, needs: Mapping[str, str | None]) -> bool:
    seen, at = {start}, needs.get(start)
    while at is not None and at not in seen:
        seen.add(at)
        at = needs.get(at)
    return at == start


def ladders(ground: Ground) -> Iterator[Finding]:
    """A ladder's rungs name checks of the scenario."""
    for one in ground.scenarios:
        known = [c.id for c in one.scenario.checks]
        for name, metric in one.scenario.metrics.items():
            rungs = metric.ladder or () if isinstance(metric, Metric) else ()
            for at, rung in enumerate(rungs):
                for check in rung.if_:
                    if check not in known:
                        place = ground.of(one, "metrics", name, "ladder", at)
                        yield Finding(place, "SCN114", f'there is no check "{check}"', near(check, known))


def resolves(ground: Ground) -> Iterator[Finding]:
    """A judge that decides an ambiguous check names one that can be ambiguous."""
    for one in ground.scenarios:
        checks = {c.id: c for c in one.scenario.checks}
        for check in one.scenario.checks:
            target = check.judge.resolves if check.judge else None
            if target is None:
                continue
            place = ground.of(one, "checks", Called(check.id))
            if target not in checks:
                yield Finding(place, "SCN115", f'there is no check "{target}" to resolve', near(target, list(checks)))
            elif not any(c.text and c.text.ambiguous for c in with_nested(checks[target])):
                hint = f"give {target} a text with `ambiguous:` patterns, or take `resolves` away"
                yield Finding(place, "SCN115", f'the check "{target}" is never ambiguous', hint)


def turns(ground: Ground) -> Iterator[Finding]:
    """A check of a turn, and scripts by turn, fit the turns that there are."""
    for one in ground.scenarios:
        count = len(one.scenario.turns)
        for key, checks in (("validity", one.scenario.validity), ("checks", one.scenario.checks)):
            for check in checks:
                if check.turn is not None and check.turn > count:
                    place = ground.of(one, key, Called(check.id), "turn")
                    message = f"asks about turn {check.turn}, and there {'is' if count == 1 else 'are'} {count}"
                    yield Finding(place, "SCN126", message, f"turn: {count}, or add the turn")


def environments(ground: Ground) -> Iterator[Finding]:
    """Variables that a scenario sets are its own to set."""
    for one in ground.scenarios:
        for variable in one.scenario.env:
            why = environment.fault(variable)
            if why:
                place = ground.of(one, "env", variable)
                yield Finding(place, "SCN117", f"{variable} {why}", "choose another name, or leave it out")


def decides(ground: Ground) -> Iterator[Finding]:
    """Something decides: a gating check, or a trigger."""
    for one in ground.scenarios:
        if one.scenario.trigger is None and not any(c.gating for c in one.scenario.checks):
            hint = "add a check without gating: false"
            yield Finding(ground.of(one, "checks"), "SCN127", "no check decides: every rep would pass", hint)


def tripwires(ground: Ground) -> Iterator[Finding]:
    """Every reserve file holds a GUID of its own."""
    seen: dict[str, LoadedScenario] = {}
    for one in ground.loaded.of_set("reserve").values():
        wire = one.scenario.tripwire
        if wire is None:
            hint = f"tripwire: {_example(one.id)}"
            yield Finding(ground.of(one), "SCN129", "a reserve file has a tripwire that must appear nowhere else", hint)
        elif wire in seen and seen[wire].path != one.path:
            place = ground.of(one, "tripwire")
            message = f"the tripwire is also that of {seen[wire].path}"
            yield Finding(place, "SCN130", message, f"tripwire: {_example(one.id)}")
        seen.setdefault(wire or "", one)


def _example(seed: str) -> str:
    """A GUID to copy, the same for the same id, so that lint says the same twice."""
    from uuid import NAMESPACE_URL, uuid5

    return str(uuid5(NAMESPACE_URL, f"evalrepo:tripwire:{seed}"))


def subject_words(ground: Ground) -> Iterator[Finding]:
    """A script that depends on a subject's wording names a file of the subject."""
    for one in ground.scenarios:
        files = {
            path
            for name in one.scenario.subject
            if name in ground.config.subjects
            for path in subject_files(ground.tree, ground.config.subjects[name])
        }
        if not files:
            continue
        for key, scripts in (("conformance", one.scenario.conformance or ()), ("behaviours", one.scenario.behaviours)):
            for script in scripts:
                steps = (step for turn in script.by_turn() for step in turn)
                for path in {s.when.subject for s in steps if s.when} - files:
                    place = ground.of(one, key, Called(script.name))
                    yield Finding(place, "SCN132", f'the subject holds no "{path}"', near(path, sorted(files)))


RULES = (
    check_ids,
    needs,
    ladders,
    resolves,
    turns,
    environments,
    decides,
    tripwires,
    subject_words,
)
