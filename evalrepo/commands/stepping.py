"""What a bisect asks of the repository: which reps of each subject are recorded, and new ones of one of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.commands.measuring import Means
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell, Group
    from evalrepo.repository.repo import Repository
    from evalrepo.running.session import Session


def one_cell(place: Place, scenario: str, agent: str | None, tier: str | None) -> Cell:
    """The one cell of the run-set that is meant. UsageError with the choice when there are several."""
    from evalrepo.comparing.grid import open_grid
    from evalrepo.records.config import Suite

    ids = place.ids([scenario])
    if len(ids) > 1:
        raise UsageError(f"{scenario} names {len(ids)} scenarios, a bisect follows one", hint=", ".join(ids[:9]))
    agents = (agent,) if agent else ()
    tiers = (tier,) if tier else ()
    grid = open_grid(place.config, place.scenarios, ids, Suite(scenarios=(scenario,), agents=agents, tiers=tiers))
    if len(grid) == 1:
        return next(iter(grid))
    if not grid:
        raise UsageError(f"nobody runs {ids[0]} so", hint="evalrepo list shows agents and tiers")
    listed = ", ".join(f"{a}/{t}" for _, a, t in grid)
    raise UsageError(f"{ids[0]} has {len(grid)} cells, a bisect follows one", hint=f"--agent, --tier: {listed}")


@dataclass
class Records:
    """Recorded reps of one cell by subject, under today's stimulus, instrument and apparatus, CLI and requested model
    included."""

    repo: Repository
    place: Place
    cell: Cell
    axis: str = ""
    groups: dict[str, Group | None] = field(default_factory=dict)

    @cached_property
    def cli(self) -> str:
        """The version that is here, as far as it counts."""
        from evalrepo.registry import module
        from evalrepo.repository.digests import comparable

        settings = self.place.config.agents[self.cell[1]]
        version = module(self.cell[1], settings).version(settings, self.repo.world)
        return comparable(version, settings.comparable.get("cli", "exact"))

    def read(self, subjects: Sequence[str]) -> None:
        """Read what is recorded by now."""
        from evalrepo.commands.finding_records import at_hand
        from evalrepo.commands.sides import identity_of
        from evalrepo.comparing.pool import CLI, Identity, pool

        today = identity_of(self.place, self.cell)
        tier = self.place.config.agents[self.cell[1]].tiers.get(self.cell[2])
        model = (tier.model if tier else None) or ""
        rows = [r for r in at_hand(self.repo).select({self.cell: None})[self.cell] if r.requested == model]
        for subject in dict.fromkeys(subjects):
            found = pool(rows, Identity(subject, today.stimulus, today.instrument, today.apparatus)).groups
            self.groups[subject] = next((g for g in found if g.parts.get(CLI) == self.cli), None)

    def seen(self) -> dict[str, tuple[int, int]]:
        """Subject → reps that failed, and valid reps."""
        return {s: (self._fails(g), g.valid) for s, g in self.groups.items() if g is not None}

    def _fails(self, group: Group) -> int:
        valid = [rep.last for rep in group.reps if rep.valid]
        return sum(self.axis in rep.axes if self.axis else rep.verdict == "FAIL" for rep in valid)

    def errors(self, subject: str) -> int:
        """Reps that ended as ERROR."""
        group = self.groups.get(subject)
        return len(group.reps) - group.valid if group is not None else 0


def more(
    here: Session, cell: Cell, commit: str, reps: int, means: Means, cancel: threading.Event, *, sound: bool
) -> int:
    """Bring a commit's subject up to `reps` valid reps, of purpose bisect; the attempts that were made.

    `here` is the session of the work tree, whose scenario, checks and agent measure the commit; `sound`: an earlier
    step has seen that its files are.
    """
    from evalrepo.commands.counting import Counts
    from evalrepo.commands.measuring import Wanted, measured
    from evalrepo.records.record import Purpose
    from evalrepo.running.at import at
    from evalrepo.running.plan import Asked, plan
    from evalrepo.running.session import ground

    session = at(here, commit, Purpose.BISECT)
    asked = Asked({cell[0]: ("bisect",)}, agents=(cell[1],), tiers=(cell[2],), reps=reps)
    counts = Counts(here.repo, here.tree)
    wanted = Wanted(session, lambda: plan(ground(session, counts.again().valid), asked))
    landed = measured(here, [wanted], means, cancel, sound=sound)
    return sum(len(record.reps) for one in landed for record in one.records.values())
