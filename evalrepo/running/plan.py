"""Which cells a run measures, how many reps each needs, and why; pure but for reading the tree's objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalrepo.errors import UsageError
from evalrepo.records.base import REHEARSAL
from evalrepo.records.config import Bar, Config, Suite, Tier
from evalrepo.records.record import BarRecord, CellHeader, Purpose
from evalrepo.records.script import find, names
from evalrepo.registry import module, rehearsed
from evalrepo.registry import tier as tier_of
from evalrepo.repository.digests import digests, subject_digest

if TYPE_CHECKING:
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.tree import Tree
    from evalrepo.store import Loaded, LoadedScenario


@dataclass(frozen=True)
class Asked:
    """What the person asked for: scenario id → reasons it was chosen, and who runs it how often."""

    scenarios: Mapping[str, tuple[str, ...]]
    suite: str | None = None
    agents: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    reps: int | None = None
    fresh: int | None = None
    canary: bool = False
    """One counted rep a cell, which a person looks at."""


@dataclass(frozen=True)
class Cell:
    """One cell of the plan. `have` reps that need no other are recorded at these digests, `want` are asked for."""

    header: CellHeader
    scenario: Scenario
    tier: Tier
    want: int
    have: int
    reasons: tuple[str, ...]
    memory: int = 1 << 30
    """Bytes that one rep may need."""

    @property
    def need(self) -> int:
        """Reps to run."""
        return max(0, self.want - self.have)

    @property
    def name(self) -> str:
        """`SCENARIO · AGENT/TIER`."""
        return f"{self.header.scenario} · {self.header.agent}/{self.header.tier}"


@dataclass(frozen=True)
class Skipped:
    """A scenario × agent × tier that makes no cell, and why."""

    scenario: str
    agent: str
    tier: str
    why: str


@dataclass(frozen=True)
class Plan:
    """All cells that were asked for, those with nothing to do included."""

    cells: tuple[Cell, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def reps(self) -> int:
        """Reps to run in all."""
        return sum(cell.need for cell in self.cells)


@dataclass(frozen=True)
class Ground:
    """What a plan stands on: the tree that is measured, its files, versions of the agents, isolation."""

    tree: Tree
    loaded: Loaded
    commit: str
    dirty: Callable[[tuple[str, ...]], bool]
    """Whether these subjects differ from the commit's."""
    version: Callable[[str], str]
    """CLI version of an agent."""
    isolation: str
    have: Callable[[CellHeader], int]
    """Reps recorded at the header's digests and requested model that need no other: valid ones, and leaked ones, which
    are never tried again."""
    purpose: Purpose = Purpose.MEASURE
    look: tuple[int, int] = (0, 0)
    """Which look at the reserve it is, and of how many."""
    other: tuple[Tree, Config] | None = None
    """The side that is measured at the same time."""
    waits: Callable[[CellHeader], bool] = lambda _: False
    """Whether a person must look at one rep of the cell before there are more."""


def plan(ground: Ground, asked: Asked) -> Plan:
    """Every cell of the scenarios asked for, in their order.

    Raises UsageError for an agent or a tier that nobody knows, and when nobody is named to run a scenario.
    """
    config = ground.loaded.config
    suite = config.suites[asked.suite] if asked.suite else None
    cells: list[Cell] = []
    skipped: list[Skipped] = []
    for scenario_id, reasons in asked.scenarios.items():
        loaded = ground.loaded.scenarios[scenario_id]
        for agent, tier_name, tier in _who(config, loaded.scenario, asked, suite, scenario_id):
            if (agent == "scripted" or rehearsed(tier_name)) and find(loaded.scenario, tier.script or "") is None:
                skipped.append(Skipped(scenario_id, agent, tier_name, f'it has no script "{tier.script}"'))
                continue
            cells.append(_cell(ground, asked, suite, loaded, (agent, tier_name, tier), reasons))
    if skipped and not cells:
        raise UsageError(
            f'none of the chosen scenarios has a script "{skipped[0].tier.removeprefix(REHEARSAL)}"',
            hint=f"scripts of {skipped[0].scenario}: {_scripts(ground, skipped[0].scenario)}",
        )
    return Plan(tuple(cells), tuple(skipped))


def _scripts(ground: Ground, scenario: str) -> str:
    return ", ".join(names(ground.loaded.scenarios[scenario].scenario)) or "none"


def _who(
    config: Config, scenario: Scenario, asked: Asked, suite: Suite | None, scenario_id: str
) -> Iterator[tuple[str, str, Tier]]:
    agents = asked.agents or (suite.agents if suite else ()) or _of_subjects(config, scenario)
    if not agents:
        raise UsageError(
            f"nobody is named to run {scenario_id}",
            hint="give its subject `agents:` in evalrepo.yaml, or say --agent NAME",
        )
    wanted = asked.tiers or (suite.tiers if suite else ())
    found = [(a, name, tier) for a in agents for name, tier in _tiers(config, a, wanted)]
    if not found:
        known = ", ".join(f"{a}: {', '.join(config.agents[a].tiers)}" for a in agents)
        raise UsageError(f"no agent of {scenario_id} has the tier {', '.join(wanted)}", hint=f"tiers: {known}")
    yield from found


def _of_subjects(config: Config, scenario: Scenario) -> tuple[str, ...]:
    names = [a for s in scenario.subject if s in config.subjects for a in config.subjects[s].agents]
    return tuple(dict.fromkeys(names)) or (tuple(config.agents) if len(config.agents) == 1 else ())


def _tiers(config: Config, agent: str, wanted: Sequence[str]) -> list[tuple[str, Tier]]:
    if agent not in config.agents:
        raise UsageError(
            f"unknown agent {agent}", hint=f"agents in evalrepo.yaml: {', '.join(config.agents) or 'none'}"
        )
    settings = config.agents[agent]
    if not wanted:
        return list(settings.tiers.items())
    found = [(name, tier_of(agent, settings, name)) for name in wanted]
    return [(name, tier) for name, tier in found if tier is not None]


def _cell(
    ground: Ground,
    asked: Asked,
    suite: Suite | None,
    loaded: LoadedScenario,
    who: tuple[str, str, Tier],
    reasons: tuple[str, ...],
) -> Cell:
    config = ground.loaded.config
    header = cell_header(ground, loaded, who, bar=(suite.bar if suite else None) or config.bar)
    want = asked.reps or (suite.reps if suite else None) or config.reps
    settings = config.agents[who[0]]
    memory = module(who[0], settings).traits(settings).memory
    if asked.fresh:
        header = header.model_copy(update={"purpose": Purpose.FRESH})
        return Cell(header, loaded.scenario, who[2], asked.fresh, 0, reasons, memory)
    have = ground.have(header)
    if header.purpose is Purpose.MEASURE and (asked.canary or ground.waits(header)):
        header = header.model_copy(update={"purpose": Purpose.CANARY})
        return Cell(header, loaded.scenario, who[2], 1, have, (*reasons, "a canary, to be looked at"), memory)
    return Cell(header, loaded.scenario, who[2], want, have, reasons, memory)


def cell_header(
    ground: Ground,
    loaded: LoadedScenario,
    who: tuple[str, str, Tier],
    *,
    bar: Bar,
) -> CellHeader:
    """All that a record of this cell says beside its reps."""
    agent, tier_name, tier = who
    config = ground.loaded.config
    settings = config.agents[agent]
    played = module(agent, settings)
    traits = played.traits(settings)
    cli = ground.version(agent)
    return CellHeader(
        scenario=loaded.id,
        set=_set(loaded.set),
        title=loaded.scenario.title,
        agent=agent,
        tier=tier_name,
        subjects=tuple(loaded.scenario.subject),
        digests=digests(
            ground.tree, config, loaded.scenario, agent, tier_name, cli=cli, description=played.describe(settings, tier)
        ),
        commit=ground.commit,
        dirty=ground.dirty(tuple(loaded.scenario.subject)),
        cli_version=cli,
        model=tier.model or "",
        isolation=ground.isolation,
        model_free=traits.model_free or rehearsed(tier_name),
        network="rehearsal" if rehearsed(tier_name) else traits.network,
        bar=BarRecord(passes=bar.passes, of=bar.of),
        purpose=ground.purpose,
        look=ground.look[0],
        looks=ground.look[1],
        against=subject_digest(*ground.other, loaded.scenario) if ground.other is not None else "",
        checks=must_report(loaded.scenario),
    )


def _set(name: str) -> Literal["run-set", "reserve"]:
    return "reserve" if name == "reserve" else "run-set"


def must_report(scenario: Scenario) -> tuple[str, ...]:
    """Ids of the checks that must have a result in every rep that was scored."""
    trigger = ("trigger",) if scenario.trigger is not None else ()
    return (*trigger, *(check.id for check in scenario.checks))
