"""What is known of one commit in a walk over a range: its ledger, its lock, and what is not as it was said. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from evalrepo.discipline import freeze, history
from evalrepo.discipline.history import Gained, Said, last_said
from evalrepo.discipline.places import LEDGER, covered
from evalrepo.errors import Finding
from evalrepo.records.lock import Lock, LockLine


class Blob(NamedTuple):
    """A file as git stores it: mode of six octal digits, object id."""

    mode: str
    oid: str


class Change(NamedTuple):
    """A path that differs between a parent (`old`) and a commit (`new`); None where it is not there."""

    path: str
    old: Blob | None
    new: Blob | None


Key = tuple[str, str]
"""What is wrong: `file`, `line`, `event`, `gone` (lock or config), `root` or `lock`, and the path that it is about."""

Pair = tuple[LockLine | None, Blob | None]
"""What a path should be and what it is."""


class Wrong(NamedTuple):
    """Something that is not as it was said: what should be, what is, and the commit that did it ("": before)."""

    expected: object
    actual: object
    commit: str


class Traced(NamedTuple):
    """A finding with the commit that did it (a full id, "": before the range), and what it is about."""

    commit: str
    key: Key
    finding: Finding


@dataclass(frozen=True)
class Ledger:
    """The events of a commit: path → blob. `event` reads one by path and blob id."""

    files: Mapping[str, Blob]
    event: Callable[[str, str], Said | None] = field(compare=False)

    @cached_property
    def events(self) -> Mapping[str, Said]:
        """Path → event, oldest first; those that cannot be read are left out."""
        found = {path: self.event(path, self.files[path].oid) for path in sorted(self.files)}
        return {path: event for path, event in found.items() if event is not None}

    def after(self, changes: Iterable[Change]) -> Ledger:
        """The ledger with these changes; itself where they touch no event."""
        touched = [c for c in changes if is_event(c.path)]
        if not touched:
            return self
        files = {**self.files, **{c.path: c.new for c in touched if c.new is not None}}
        gone = {c.path for c in touched if c.new is None}
        return Ledger({path: file for path, file in files.items() if path not in gone}, self.event)

    def gained(self, before: Ledger) -> Gained:
        """What this one says that the other did not."""
        if before is self:
            return history.gained({})
        new = [path for path in self.files if path not in before.files]
        return history.gained({path: self.event(path, self.files[path].oid) for path in new})


@dataclass(frozen=True)
class Node:
    """Discipline at one commit. `lock` is the last one that could be read; `loose` are the files that differ from their
    line, open ones among them; `wrong` is everything that is not as the ledger says."""

    ledger: Ledger
    lock: Lock | None = None
    lock_oid: str | None = None
    loose: Mapping[str, Pair] = field(default_factory=dict)
    wrong: Mapping[Key, Wrong] = field(default_factory=dict)


class Ground(NamedTuple):
    """How a walk reads: the state of a commit before the range, a lock by its blob id (a finding when it cannot be
    read), an event by path and blob id, all files of a commit below some paths, and whether a blob is a pointer of
    git-lfs."""

    base: Callable[[str], Node]
    lock: Callable[[str], Lock | Finding]
    event: Callable[[str, str], Said | None]
    files: Callable[[str, Sequence[str]], Mapping[str, Blob]]
    pointer: Callable[[str], bool]


def believed(ledger: Ledger, lock: Lock | None, lock_oid: str | None, files: Mapping[str, Blob]) -> Node:
    """The state of a commit before the range: what differs from its lock there began before."""
    if lock is None:
        return Node(ledger)
    loose = differing(lock, files, {*files, *lock.by_path()})
    wrong = {("file", path): Wrong(*pair, "") for path, pair in loose.items() if not is_open(path, pair, ledger)}
    return Node(ledger, lock, lock_oid, loose, wrong)


def differing(lock: Lock, files: Mapping[str, Blob], paths: Iterable[str]) -> dict[str, Pair]:
    """Which of these paths are frozen and differ from their line; `files` holds those of them that are there."""
    lines, roots = lock.by_path(), frozenset(freeze.roots_of(lock))
    found: dict[str, Pair] = {}
    for path in paths:
        line, file = lines.get(path), files.get(path)
        if (line.mode, line.oid) == file if line is not None else file is None:
            continue
        if line is not None or covered(roots, path):
            found[path] = (line, file)
    return found


def is_open(path: str, pair: Pair, ledger: Ledger) -> bool:
    """Whether a file is thawed: it has no line, and the last thing said of it is a thaw."""
    return pair[0] is None and last_said(path, ledger.events) == "thaw"


def is_event(path: str) -> bool:
    """Whether the path is that of a ledger event."""
    return path.startswith(LEDGER + "/") and path.endswith(".yaml")


def named(lock: Lock | None, loose: Mapping[str, Pair], source: str) -> list[Finding]:
    """FRZ001-FRZ006 for files that differ from their line."""
    if lock is None or not loose:
        return []
    lines = tuple(line for line, _ in loose.values() if line is not None)
    files = {path: file for path, (_, file) in loose.items() if file is not None}
    return freeze.compare(Lock(lock.roots, lines, lock.object_format), files, source)
