"""Is the instrument proven? What can be said without playing the scripts; `selftest` plays them."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.errors import Finding
from evalrepo.linting.ground import Called, Ground, near
from evalrepo.records.scenario import Scenario, moot
from evalrepo.records.steps import Conformance, ExpectFail
from evalrepo.store.loading import LoadedScenario

TRIGGER = "trigger"
"""The axis of the check that `should_trigger` switches."""


def proven(ground: Ground) -> Iterator[Finding]:
    """A scenario has scripts: one that passes, one that fails on each axis alone, an empty one that does not pass."""
    for one in ground.scenarios:
        scripts = one.scenario.conformance
        if not scripts:
            hint = "add a script that passes, one that fails for each axis, and an empty one: evalrepo new shows how"
            yield Finding(ground.of(one, "conformance"), "SCN121", "no script proves its checks", hint)
            continue
        yield from _gaps(ground, one, scripts)


def _gaps(ground: Ground, one: LoadedScenario, scripts: tuple[Conformance, ...]) -> Iterator[Finding]:
    place = ground.of(one, "conformance")
    if not any(s.expect == "PASS" for s in scripts):
        yield Finding(place, "SCN122", "no script is expected to pass", "add one that does what the checks ask for")
    alone = {s.expect.FAIL[0] for s in scripts if isinstance(s.expect, ExpectFail) and len(s.expect.FAIL) == 1}
    for axis in sorted(deciding(one.scenario) - alone):
        hint = f"add a script with expect: {{FAIL: [{axis}]}}"
        yield Finding(place, "SCN123", f"no script is expected to fail on axis {axis} alone", hint)
    if not any(_empty(s) and s.expect != "PASS" for s in scripts):
        hint = "add {name: says-nothing, expect: {ERROR: empty}, script: []}"
        yield Finding(place, "SCN124", "no empty script is there that does not pass", hint)


def deciding(scenario: Scenario) -> set[str]:
    """Axes of gating checks that are not a judge's, and not moot."""
    silent = moot(scenario)
    axes = {c.axis for c in scenario.checks if c.gating and c.judge is None and c.id not in silent}
    return axes | ({TRIGGER} if scenario.trigger else set())


def _empty(script: Conformance) -> bool:
    return not any(script.by_turn())


def scripts(ground: Ground) -> Iterator[Finding]:
    """Scripts have names of their own, fit the turns, and expect axes that are there."""
    for one in ground.scenarios:
        axes = {c.axis for c in one.scenario.checks if c.gating} | ({TRIGGER} if one.scenario.trigger else set())
        seen: set[str] = set()
        for key, group in (("conformance", one.scenario.conformance or ()), ("behaviours", one.scenario.behaviours)):
            for script in group:
                place = ground.of(one, key, Called(script.name))
                if script.name in seen:
                    yield Finding(place, "SCN128", f'two scripts are called "{script.name}"', "rename one of the two")
                seen.add(script.name)
                played, there = len(script.by_turn()), len(one.scenario.turns)
                if played > there:
                    message = f"plays {played} turns, and there {'is' if there == 1 else 'are'} {there}"
                    yield Finding(place, "SCN126", message, "one list of steps for each turn")
        for script in one.scenario.conformance or ():
            wrong = set(script.expect.FAIL) - axes if isinstance(script.expect, ExpectFail) else set()
            for axis in sorted(wrong):
                place = ground.of(one, "conformance", Called(script.name), "expect")
                yield Finding(place, "SCN125", f'no gating check has the axis "{axis}"', near(axis, sorted(axes)))


RULES = (proven, scripts)
