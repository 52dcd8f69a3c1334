"""Which cells there are: scenarios × agents × tiers, for a suite or by what subjects say. Pure over records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalrepo.comparing.pool import Cell
from evalrepo.records.base import REHEARSAL
from evalrepo.records.config import Config, Suite
from evalrepo.records.scenario import Scenario

MODEL_FREE_AGENT = "scripted"


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of a grid: N valid reps decide, its bar is (passes, of), and these suites hold it."""

    reps: int
    bar: tuple[int, int]
    suites: tuple[str, ...] = ()


Grid = Mapping[Cell, Place]


def model_free(agent: str, tier: str) -> bool:
    """Whether no model answers in this cell."""
    return agent == MODEL_FREE_AGENT or tier.startswith(REHEARSAL)


def agents_of(config: Config, scenario: Scenario) -> tuple[str, ...]:
    """Who runs a scenario when nobody says: its subjects' agents, or the only agent there is."""
    names = [a for s in scenario.subject if s in config.subjects for a in config.subjects[s].agents]
    return tuple(dict.fromkeys(names)) or (tuple(config.agents) if len(config.agents) == 1 else ())


def open_grid(
    config: Config, scenarios: Mapping[str, Scenario], ids: Iterable[str], suite: Suite | None = None
) -> Grid:
    """Cells of these scenarios by a suite's agents and tiers, or by those of their subjects."""
    bar = (suite.bar if suite else None) or config.bar
    place = Place((suite.reps if suite else None) or config.reps, (bar.passes, bar.of))
    return {cell: place for i in ids for cell in _cells(config, i, scenarios[i], suite)}


def _cells(config: Config, scenario_id: str, scenario: Scenario, suite: Suite | None) -> Iterator[Cell]:
    agents = (suite.agents if suite else ()) or agents_of(config, scenario)
    wanted = suite.tiers if suite else ()
    for agent in agents:
        if agent in config.agents:
            for tier in _tiers(config, agent, wanted):
                if _plays(config, scenario, agent, tier):
                    yield (scenario_id, agent, tier)


def _tiers(config: Config, agent: str, wanted: Sequence[str]) -> list[str]:
    known = config.agents[agent].tiers
    return [t for t in wanted if t in known or agent == MODEL_FREE_AGENT] if wanted else list(known)


def _plays(config: Config, scenario: Scenario, agent: str, tier: str) -> bool:
    """A scripted tier has a cell only where the scenario has its script."""
    if agent != MODEL_FREE_AGENT:
        return True
    known = config.agents[agent].tiers.get(tier)
    script = known.script if known is not None else tier
    return any(s.name == script for s in (*(scenario.conformance or ()), *scenario.behaviours))


def gate_grid(config: Config, scenarios: Mapping[str, Scenario], suites: Mapping[str, Sequence[str]]) -> Grid:
    """The gate's cells: suite name → its scenario ids, as this side's files resolve them. Without suites: everything.

    A model-free cell counts only in a suite that lists its agent or tier. Where several suites hold a cell, it takes
    the largest `reps` and the strictest bar.
    """
    if not suites:
        return _paid(open_grid(config, scenarios, scenarios), None)
    grid: dict[Cell, Place] = {}
    for name, ids in suites.items():
        suite = config.suites[name]
        for cell, place in _paid(open_grid(config, scenarios, ids, suite), suite).items():
            grid[cell] = joined(grid.get(cell), replace(place, suites=(name,)))
    return grid


def _paid(grid: Grid, suite: Suite | None) -> Grid:
    def counts(cell: Cell) -> bool:
        listed = suite is not None and (cell[1] in suite.agents or cell[2] in suite.tiers)
        return listed or not model_free(cell[1], cell[2])

    return {cell: place for cell, place in grid.items() if counts(cell)}


def joined(one: Place | None, other: Place) -> Place:
    """What two suites, or two sides, ask of one cell together."""
    if one is None:
        return other
    strict = max((one.bar, other.bar), key=lambda bar: bar[0] / bar[1])
    suites = tuple(dict.fromkeys((*one.suites, *other.suites)))
    return Place(max(one.reps, other.reps), strict, suites)
