"""Reps that were executed before, recorded again: with scores of people, or judged by other checks.

The new records are numbered, land and are recovered as those of any run; their reps keep the numbers, and their
transcripts the place, of the run that executed them. The records before them never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo import __version__
from evalrepo.formats.ids import run_id
from evalrepo.records.record import CellHeader, Record, Rep
from evalrepo.running.journal import Header, Journal, Planned
from evalrepo.running.keep import Landed, clone_id, finish
from evalrepo.running.story import Origin

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository


@dataclass(frozen=True)
class Restated:
    """A record as it shall be: `header` and `reps` in place of those of `old`. `supersedes`: whether it replaces `old`
    where reps are pooled."""

    old: Record
    header: CellHeader
    reps: tuple[Rep, ...]
    reason: str
    supersedes: bool = True

    @property
    def origin(self) -> Origin:
        """The run that executed the reps, and what the new record replaces."""
        old = self.old
        return Origin(old.executed, old.run if self.supersedes else "", self.reason)


def header_of(record: Record) -> CellHeader:
    """The part of a record that is known before its reps."""
    return CellHeader(**{name: getattr(record, name) for name in CellHeader.model_fields})


def restate(repo: Repository, found: Sequence[Restated], *, commit: bool = True) -> list[Landed]:
    """Record them; two of one cell in a run each. Raises GitError, HarnessError as the end of a run does."""
    landed = []
    rest = list(found)
    while rest:
        cells: dict[tuple[str, str, str], Restated] = {}
        for one in rest:
            cells.setdefault(one.header.cell, one)
        taken = list(cells.values())
        landed.append(_land(repo, taken, commit=commit))
        rest = [one for one in rest if all(one is not other for other in taken)]
    return landed


def _land(repo: Repository, found: Sequence[Restated], *, commit: bool) -> Landed:
    world = repo.world
    header = Header(
        run=run_id(world.random(8)),
        start=world.timestamp(),
        evalrepo=__version__,
        clone=clone_id(repo, world),
        branch=repo.branch(),
        commit=commit,
        cells=tuple(Planned(one.header, len(one.old.last_attempts()), one.origin) for one in found),
    )
    journal = Journal.create(repo.home, header)
    try:
        for cell, one in enumerate(found):
            for rep in one.reps:
                journal.start(cell, rep.rep, rep.attempt, rep.timing.start)
                journal.end(cell, rep, {})
        return finish(repo, world, journal, commit=commit)
    finally:
        journal.close()
