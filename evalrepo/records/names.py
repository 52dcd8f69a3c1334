"""What a scenario names of the repository: fixture, rubrics, hidden files, check modules. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalrepo.records.checks import Condition
from evalrepo.records.scenario import Metric, Scenario


@dataclass(frozen=True, slots=True)
class Named:
    """Repository paths, sorted. `fixtures` are directories, everything else single files."""

    fixtures: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.fixtures, *self.rubrics, *self.hidden, *self.modules)


def fixture_path(name: str) -> str:
    """Where a fixture lies."""
    return f"fixtures/{name}"


def rubric_path(name: str) -> str:
    """Where a rubric lies."""
    return f"rubrics/{name}.md"


def conditions(scenario: Scenario) -> Iterator[Condition]:
    """Every question that the scenario asks, nested ones included."""
    for check in (*scenario.preconditions, *scenario.validity, *scenario.checks):
        yield from with_nested(check)


def with_nested(condition: Condition) -> Iterator[Condition]:
    """The condition and all that are nested in it."""
    yield condition
    for inner in condition.nested():
        yield from with_nested(inner)


def asks_a_judge(scenario: Scenario) -> bool:
    """Whether a check or a metric puts a question to a judge."""
    metrics = (m.judge for m in scenario.metrics.values() if isinstance(m, Metric))
    return any(metrics) or any(condition.judge for condition in conditions(scenario))


def named(scenario: Scenario) -> Named:
    """The files that the scenario names, with its sets' and subjects' defaults merged in before."""
    asked = tuple(conditions(scenario))
    rubrics = {m.judge.rubric for m in scenario.metrics.values() if isinstance(m, Metric) and m.judge}
    rubrics |= {c.judge.rubric for c in asked if c.judge} | ({scenario.rubric} if scenario.rubric else set())
    return Named(
        fixtures=(fixture_path(scenario.fixture),) if scenario.fixture else (),
        rubrics=tuple(sorted(map(rubric_path, rubrics))),
        hidden=tuple(sorted({p for c in asked if c.command for p in c.command.files.values()})),
        modules=tuple(sorted({c.python.path for c in asked if c.python})),
    )
