"""Reps that were executed before, recorded again: with scores of people, or judged by other checks.

The new records are numbered, land and are recovered as those of any run; their reps keep the numbers, and their
transcripts the place, of the run that executed them. The records before them never change.

A run has one record a cell, so what several runs measured of one cell becomes as many runs; all land by one commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from evalrepo import __version__
from evalrepo.formats.ids import run_id
from evalrepo.records.record import CellHeader, Record, Rep
from evalrepo.running.journal import Header, Journal, Planned
from evalrepo.running.keep import Landed, clone_id, finish_all, held
from evalrepo.running.story import Origin

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.writer import BlobWriter

AT_ONCE = 100
"""Runs that are open at a time; more land by another commit."""


@dataclass(frozen=True)
class Wanted:
    """A record as it shall be, but for its reps: `header` in place of that of `old`. `supersedes`: whether it replaces
    `old` where reps are pooled."""

    old: Record
    header: CellHeader
    reason: str
    supersedes: bool = True

    @property
    def origin(self) -> Origin:
        """The run that executed the reps, and what the new record replaces."""
        old = self.old
        return Origin(old.executed, old.run if self.supersedes else "", self.reason)


@dataclass(frozen=True)
class Restated:
    """A whole record as it shall be, see `Wanted`."""

    old: Record
    header: CellHeader
    reps: tuple[Rep, ...]
    reason: str
    supersedes: bool = True


def header_of(record: Record) -> CellHeader:
    """The part of a record that is known before its reps."""
    return CellHeader(**{name: getattr(record, name) for name in CellHeader.model_fields})


def restate(repo: Repository, found: Sequence[Restated], *, commit: bool = True) -> list[Landed]:
    """Record them. Raises GitError, HarnessError as the end of a run does."""
    wanted = [Wanted(one.old, one.header, one.reason, one.supersedes) for one in found]
    with Restating(repo, wanted, commit=commit) as restating:
        for number in restating.order:
            restating.put(number, found[number].reps)
        return restating.land()


@dataclass(frozen=True)
class _Open:
    """A run that is being made; the place of each record in it."""

    journal: Journal
    blobs: BlobWriter
    cells: Mapping[int, int]


class Restating:
    """Records that are made again rep by rep: what was put is kept, whatever happens before it landed."""

    def __init__(self, repo: Repository, wanted: Sequence[Wanted], *, commit: bool = True) -> None:
        self._repo, self._wanted, self._commit = repo, wanted, commit
        self._layers = _layers(wanted)
        self._open: dict[int, _Open] = {}
        self._landed: list[Landed] = []

    @property
    def order(self) -> list[int]:
        """The records' numbers in the order in which few runs are open at a time."""
        return sorted(range(len(self._wanted)), key=lambda number: (self._layers[number], number))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Runs that did not land are finished by whoever runs next."""
        for one in self._open.values():
            one.journal.close()
        self._open.clear()

    def put(self, number: int, reps: Sequence[Rep], files: Mapping[str, bytes] | None = None) -> None:
        """Reps of the record of this number, and files for its run's reference (path → content). On the medium when it
        returns. HarnessError, GitError."""
        run = self._run(self._layers[number])
        stored = {path: run.blobs.write(data) for path, data in (files or {}).items()}
        for rep in reps:
            run.journal.start(run.cells[number], rep.rep, rep.attempt, rep.timing.start)
            run.journal.end(run.cells[number], rep, stored)

    def land(self) -> list[Landed]:
        """All that was put, by one commit. GitError, HarnessError."""
        if self._open:
            runs = [one.journal for one in self._open.values()]
            self._landed += finish_all(self._repo, self._repo.world, runs, commit=self._commit)
        for one in self._open.values():
            one.journal.close()
        self._open.clear()
        return self._landed

    def _run(self, layer: int) -> _Open:
        if layer not in self._open:
            if len(self._open) >= AT_ONCE:
                self.land()
            self._open[layer] = self._begin([n for n, at in enumerate(self._layers) if at == layer])
        return self._open[layer]

    def _begin(self, numbers: Sequence[int]) -> _Open:
        repo, world = self._repo, self._repo.world
        wanted = [self._wanted[number] for number in numbers]
        header = Header(
            run=run_id(world.random(8)),
            start=world.timestamp(),
            evalrepo=__version__,
            clone=clone_id(repo, world),
            branch=repo.branch(),
            commit=self._commit,
            cells=tuple(Planned(one.header, len(one.old.last_attempts()), one.origin) for one in wanted),
        )
        journal = Journal.create(repo.home, header)
        blobs = repo.blob_writer(held(repo, journal.run))
        return _Open(journal, blobs, {number: cell for cell, number in enumerate(numbers)})


def _layers(wanted: Sequence[Wanted]) -> list[int]:
    """Of each record the how-manieth of its cell it is."""
    seen: dict[tuple[str, str, str], int] = {}
    out = []
    for one in wanted:
        out.append(seen.get(one.header.cell, 0))
        seen[one.header.cell] = out[-1] + 1
    return out
