"""What `diff`, `gate`, `status` and `log` ask of the repository: two sides, their grids, identities and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalrepo.comparing.cells import Planned
from evalrepo.comparing.pool import CLI, Cell, Identity
from evalrepo.errors import DataError, UsageError
from evalrepo.records.verdict import Side

if TYPE_CHECKING:
    from evalrepo.comparing.grid import Grid
    from evalrepo.records.config import Config
    from evalrepo.records.event import Event
    from evalrepo.records.record import Digests
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store import Loaded

WORKTREE = "WORKTREE"
CONFIG = "evalrepo.yaml"


@dataclass
class Place:
    """A revision, its files as far as somebody asked for them. `name`: as the person named it."""

    repo: Repository
    name: str
    tree: Tree
    lenient: bool = False
    """A base whose scenarios cannot be read still has a subject; its config must be readable."""
    digests: dict[Cell, Digests] = field(default_factory=dict)

    @cached_property
    def loaded(self) -> Loaded:
        """The files. DataError when they cannot be used."""
        from evalrepo.store import load, usable

        found = load(self.tree, self.repo)
        if not self.lenient:
            return usable(found)
        wrong = [f for f in found.findings if f.place.file == CONFIG and f.code != "CFG101" and not f.warning]
        if wrong:
            raise DataError(wrong, f"{CONFIG} at {self.name} cannot be used", hint="name another base")
        return found

    @property
    def config(self) -> Config:
        """`evalrepo.yaml`."""
        return self.loaded.config

    @property
    def has_config(self) -> bool:
        """Whether there is one at all."""
        return CONFIG in self.tree.under(CONFIG)

    @cached_property
    def scenarios(self) -> dict[str, Scenario]:
        """Id → scenario, run-set and reserve."""
        return {i: s.scenario for i, s in self.loaded.scenarios.items()}

    @cached_property
    def ledger(self) -> dict[str, Event]:
        """Path → event, oldest first, of those that can be read."""
        from evalrepo.store.loading import read_events

        return read_events(self.tree)[0]

    def thaws(self, scenario: str) -> tuple[tuple[str, str], ...]:
        """When what a scenario rests on was thawed, and the sentence about it, oldest first."""
        from evalrepo.store.closing import thaws

        return thaws(self.tree, self.loaded, self.ledger, scenario)

    def ids(self, patterns: Iterable[str], *, strict: bool = True) -> list[str]:
        """Run-set ids that the patterns name; with `strict` a pattern that names none is a UsageError."""
        from evalrepo.store import select_ids

        found: dict[str, None] = {}
        for pattern in patterns:
            try:
                found |= dict.fromkeys(select_ids(self.loaded, [pattern]))
            except UsageError:
                if strict:
                    raise
        return [i for i in self.scenarios if i in found]

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Scenario id → its statistical cluster."""
        from evalrepo.comparing.clusters import clusters

        return clusters(self.scenarios)

    def run_set(self) -> list[str]:
        """Every id of the run-set."""
        return list(self.loaded.of_set("run-set"))

    def side(self) -> Side:
        """The side as the verdict names it."""
        from evalrepo.repository.digests import subject_part

        subjects = {n: subject_part(self.tree, n, s)[0][:8] for n, s in self.config.subjects.items()}
        return Side(self.name, self.tree.commit or "", subjects)


def place(repo: Repository, rev: str, *, lenient: bool = False) -> Place:
    """A revision or WORKTREE."""
    return Place(repo, rev, repo.tree(rev), lenient)


def subject_of(place: Place, names: Sequence[str]) -> str | None:
    """The subject digest of these subjects at a place; None when it lacks one of them."""
    from evalrepo.repository.digests import MISSING, digest, subject_part

    found: list[str] = []
    for name in sorted(set(names)):
        if name not in place.config.subjects:
            return None
        value, parts = subject_part(place.tree, name, place.config.subjects[name])
        if parts["paths"] == MISSING:
            return None
        found.append(value)
    return found[0] if len(found) == 1 else digest(found)


def digests_of(place: Place, cell: Cell) -> Digests:
    """The digests of a cell at a place, CLI left out."""
    if cell not in place.digests:
        place.digests[cell] = _digests(place, cell)
    return place.digests[cell]


def _digests(place: Place, cell: Cell) -> Digests:
    from evalrepo.records.config import Tier
    from evalrepo.registry import module
    from evalrepo.registry import tier as tier_of
    from evalrepo.repository.digests import digests

    scenario_id, agent, tier = cell
    settings = place.config.agents[agent]
    known = tier_of(agent, settings, tier) or Tier(script=tier)
    description: Mapping[str, Any] = module(agent, settings).describe(settings, known)
    scenario = place.scenarios[scenario_id]
    return digests(place.tree, place.config, scenario, agent, tier, cli="", description=description)


def identity_of(place: Place, cell: Cell) -> Identity:
    """What a cell at a place must have been measured with."""
    found = digests_of(place, cell)
    apparatus = {k: v for k, v in found.parts["apparatus"].items() if k != CLI}
    return Identity(found.subject, found.stimulus, found.instrument, apparatus)


def planned(base: Place | None, candidate: Place, grids: tuple[Grid, Grid], golden: frozenset[str]) -> list[Planned]:
    """Every cell of both grids (base's, candidate's). Where the base's grid has the cell, its reps and bar decide."""
    from evalrepo.comparing.grid import model_free

    before, after = grids
    out: list[Planned] = []
    for cell in dict.fromkeys((*before, *after)):
        scenario, agent, tier = cell
        own = identity_of(candidate, cell) if cell in after else None
        held = before.get(cell) or after[cell]
        known = candidate if own is not None else base
        assert known is not None
        out.append(
            Planned(
                scenario=scenario,
                agent=agent,
                tier=tier,
                before=_of_base(base, candidate, cell, own),
                after=own,
                title=known.scenarios[scenario].title,
                set=known.loaded.scenarios[scenario].set,
                golden=scenario in golden,
                model_free=model_free(agent, tier),
                reps=held.reps,
                bar=held.bar,
                new=cell not in before,
                cluster=known.clusters[scenario],
                control=known.scenarios[scenario].polarity == "negative",
                thaws=candidate.thaws(scenario),
            )
        )
    return out


def _of_base(base: Place | None, candidate: Place, cell: Cell, own: Identity | None) -> Identity | None:
    """The base's subject by the candidate's other digests."""
    if base is None:
        return None
    if own is None:
        return _of_gone(base, cell)
    subject = subject_of(base, candidate.scenarios[cell[0]].subject)
    return None if subject is None else Identity(subject, own.stimulus, own.instrument, own.apparatus)


def _of_gone(base: Place, cell: Cell) -> Identity | None:
    """A cell that only the base has; None when its agent is not known any more."""
    try:
        return identity_of(base, cell)
    except UsageError:
        return None


def parts_of(candidate: Place, cells: Sequence[Planned]) -> list[Mapping[str, Mapping[str, str]]]:
    """The parts of the candidate's digests of each cell, nothing for one that it does not have."""
    return [digests_of(candidate, cell.cell).parts if cell.after is not None else {} for cell in cells]
