"""How a scenario puts a rubric's question to a judge. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from evalrepo.records.checks import Check, ValidityCheck
from evalrepo.records.kinds import Asked
from evalrepo.records.names import with_nested
from evalrepo.records.scenario import Metric, Scenario


class Put(NamedTuple):
    """A question as a check or a metric asks it, about which part of the rep."""

    asked: Asked
    scope: Literal["main", "all"] = "main"
    turn: int | None = None


def puts(scenario: Scenario) -> Iterator[Put]:
    """Every question that the scenario's checks and metrics ask, in their order."""
    checks: tuple[ValidityCheck | Check, ...] = (*scenario.validity, *scenario.checks)
    for check in checks:
        for condition in with_nested(check):
            if condition.judge is not None:
                yield Put(condition.judge, check.scope, check.turn)
    for metric in scenario.metrics.values():
        if isinstance(metric, Metric) and metric.judge is not None:
            yield Put(metric.judge)


def as_asked(scenario: Scenario | None, rubric: str, question: str) -> Put:
    """As the scenario asks it first; as a check without more words asks where it does not."""
    found = puts(scenario) if scenario is not None else iter(())
    mine = (one for one in found if (one.asked.rubric, one.asked.question) == (rubric, question))
    return next(mine, Put(Asked(rubric=rubric, question=question)))
