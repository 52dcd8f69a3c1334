"""A range of commits of a repository, for `discipline.walk`: which commits, what each changed, what stood before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from evalrepo.discipline.freeze import roots_of
from evalrepo.discipline.nodes import Blob, Change, Ground, Ledger, Node, believed, is_event
from evalrepo.discipline.places import CONFIG, LEDGER, LOCK, outermost
from evalrepo.discipline.results_history import FOLDER
from evalrepo.discipline.walk import Walked, walk
from evalrepo.errors import DataError, Finding
from evalrepo.formats import lockfile
from evalrepo.records.lock import Lock
from evalrepo.repository import edges
from evalrepo.store.stored import Reader

if TYPE_CHECKING:
    from evalrepo.records.event import Event
    from evalrepo.repository.repo import Repository

OURS = (LOCK, CONFIG, LEDGER)


@dataclass(frozen=True)
class Range:
    """The commits that are reachable from `tip` and not from `known`, parents first; `start` is the commit before."""

    repo: Repository
    tip: str
    known: tuple[str, ...]
    start: str
    """A full commit id, "" where the range begins with the first commit."""

    @cached_property
    def commits(self) -> edges.Commits:
        """Full id and parents of each. GitError where a shallow clone ends inside."""
        return edges.commits(self.repo, [self.tip], self.known)

    @cached_property
    def plain(self) -> Mapping[str, Sequence[Change]]:
        """What each commit that is no merge changed, everywhere."""
        pairs = [(oid, parents[0] if parents else None) for oid, parents in self.commits if len(parents) < 2]
        found = edges.rows(self.repo, pairs)
        return {commit: _changes(rows) for (commit, _), rows in zip(pairs, found, strict=True)}

    @property
    def touched(self) -> Iterator[str]:
        """Every path that a commit of the range changed, merges' own changes of results among them."""
        yield from (change.path for changes in self.plain.values() for change in changes)
        yield from (c.path for edges_ in self.merges([FOLDER]).values() for changes in edges_ for c in changes)

    def merges(self, paths: Sequence[str]) -> Mapping[str, Sequence[Sequence[Change]]]:
        """What each merge changed against each of its parents, at and below these paths."""
        pairs = [(oid, parent) for oid, parents in self.commits if len(parents) > 1 for parent in parents]
        found: dict[str, list[Sequence[Change]]] = {}
        for (commit, _), rows in zip(pairs, edges.rows(self.repo, pairs, paths), strict=True):
            found.setdefault(commit, []).append(_changes(rows))
        return found


def _changes(rows: Sequence[edges.Row]) -> list[Change]:
    return [Change(path, old and Blob(*old), new and Blob(*new)) for path, old, new in rows]


def walked(span: Range) -> Walked:
    """What the range did to frozen files, lock and ledger."""
    reading = _Reading(span)
    return walk(span.commits, reading.edges, reading.ground, span.start)


class _Reading:
    """What a walk reads of one range; locks and events once each."""

    def __init__(self, span: Range) -> None:
        self._span, self._repo = span, span.repo
        self._locks: dict[str, Lock | Finding] = {}
        self._events: dict[str, Event | None] = {}
        self._texts: dict[str, bytes] = {}
        self._merges = self._merged()
        self.ground = Ground(self._base, self._lock, self._event, self._files, self._pointer)

    def edges(self, commit: str) -> Sequence[Sequence[Change]]:
        """The changes of a commit against each parent."""
        merge = self._merges.get(commit)
        return merge if merge is not None else [self._span.plain[commit]]

    def _merged(self) -> Mapping[str, Sequence[Sequence[Change]]]:
        """Merges where they can do harm: at our own files, and below every root that a lock has had."""
        locks = {c.new.oid for changes in self._span.plain.values() for c in changes if c.path == LOCK and c.new}
        if (first := self._lock_of(self._span.start)) is not None:
            locks.add(first)
        paths: tuple[str, ...] = ()
        found: Mapping[str, Sequence[Sequence[Change]]] = {}
        while True:
            read = (self._lock(oid) for oid in sorted(locks))
            roots = {root for lock in read if isinstance(lock, Lock) for root in lock.roots}
            asked = outermost({*OURS, *roots_of(None), *roots})
            if asked == paths:
                return found
            paths, found = asked, self._span.merges(asked)
            every = (c for edges_ in found.values() for changes in edges_ for c in changes)
            locks |= {c.new.oid for c in every if c.path == LOCK and c.new is not None}

    def _lock_of(self, commit: str) -> str | None:
        if not commit:
            return None
        lock = Reader(self._repo, commit, commit).files([LOCK]).get(LOCK)
        return lock.oid if lock is not None else None

    def _base(self, commit: str) -> Node:
        ours = self._files(commit, OURS)
        ledger = Ledger({path: file for path, file in ours.items() if is_event(path)}, self._event)
        read = self._lock(ours[LOCK].oid) if LOCK in ours else None
        lock = read if isinstance(read, Lock) else None
        files = self._files(commit, roots_of(lock)) if lock is not None else {}
        return believed(ledger, lock, ours[LOCK].oid if LOCK in ours else None, files)

    def _lock(self, oid: str) -> Lock | Finding:
        if oid not in self._locks:
            try:
                self._locks[oid] = lockfile.load(next(iter(self._repo.git.blobs([oid])))[1])
            except DataError as error:
                self._locks[oid] = error.findings[0]
        return self._locks[oid]

    def _files(self, commit: str, roots: Sequence[str]) -> Mapping[str, Blob]:
        found = Reader(self._repo, commit, commit).files(roots)
        return {path: Blob(file.mode, file.oid) for path, file in found.items()}

    def _pointer(self, oid: str) -> bool:
        return Reader(self._repo, self._span.tip, self._span.tip).is_pointer(oid)

    def _event(self, path: str, oid: str) -> Event | None:
        from evalrepo.formats.yaml import event_file

        if oid not in self._events:
            try:
                self._events[oid] = event_file(self._text(oid), path)
            except DataError:
                self._events[oid] = None
        return self._events[oid]

    def _text(self, oid: str) -> bytes:
        """A blob; the events that the range added are all read with the first of them."""
        if oid not in self._texts:
            self._texts.update(self._repo.git.blobs(dict.fromkeys([oid, *self._new_events()])))
        return self._texts[oid]

    def _new_events(self) -> Iterator[str]:
        if not self._texts:
            every = (changes for commit, _ in self._span.commits for changes in self.edges(commit))
            yield from (c.new.oid for changes in every for c in changes if c.new is not None and is_event(c.path))
