"""A range of commits against its own past: what each commit did to frozen files, lock and ledger. Pure.

Every commit is held against each of its parents. What is wrong is carried from commit to commit, so that it is told
once, where it began, and it is known whether it still stands at the end or was put right. Putting right is no second
wrong: a revert may bring back what the last thaw and freeze said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evalrepo.discipline import freeze, history
from evalrepo.discipline.history import Gained
from evalrepo.discipline.nodes import (
    Blob,
    Change,
    Ground,
    Key,
    Ledger,
    Node,
    Pair,
    Traced,
    Wrong,
    differing,
    is_event,
    is_open,
    named,
)
from evalrepo.discipline.places import CONFIG, LOCK, covered
from evalrepo.errors import Finding, Place
from evalrepo.records.lock import Lock, LockLine


@dataclass(frozen=True)
class Walked:
    """What a range did, oldest commit first, and how it ends."""

    traced: tuple[Traced, ...]
    last: Node

    def stands(self, traced: Traced) -> bool:
        """Whether it is still so at the end of the range."""
        wrong = self.last.wrong.get(traced.key)
        return wrong is not None and wrong.commit == traced.commit


def walk(
    commits: Iterable[tuple[str, tuple[str, ...]]],
    edges: Callable[[str], Sequence[Sequence[Change]]],
    ground: Ground,
    start: str,
) -> Walked:
    """Commits with their parents, parents first, and for each the changes against each parent (against nothing for a
    first commit). `start`: the commit before the range, with whose state an empty one ends; "" for none."""
    nodes: dict[str, Node] = {}
    found: list[Traced] = []
    empty = Node(Ledger({}, ground.event))
    last = start
    for commit, parents in commits:
        nodes.update((p, ground.base(p)) for p in parents if p not in nodes)
        step = Step(commit, parents, [nodes[p] for p in parents] or [empty], edges(commit), ground)
        found += step.judged()
        nodes[commit] = step.node()
        last = commit
    end = nodes[last] if last in nodes else ground.base(last) if last else empty
    return Walked((*_from_before(end), *found), end)


def _from_before(end: Node) -> list[Traced]:
    """What began before the range and stands at its end."""
    old = {path: end.loose[path] for (kind, path), w in end.wrong.items() if kind == "file" and not w.commit}
    return [Traced("", ("file", f.place.file), f) for f in named(end.lock, old, "HEAD")]


class Step:
    """One commit against its parents."""

    def __init__(
        self,
        commit: str,
        names: Sequence[str],
        parents: Sequence[Node],
        edges: Sequence[Sequence[Change]],
        ground: Ground,
    ) -> None:
        self.commit, self.parents, self.edges, self.ground = commit, parents, edges, ground
        self.names = [name[:12] for name in names] or ["nothing"]
        self.found: list[Traced] = []
        self.wrong: dict[Key, Wrong] = {}
        self.changes = {c.path: c for c in edges[0]}
        self.ledger = parents[0].ledger.after(edges[0])
        self.lock_oid = self._lock_oid()
        self.lock = self._lock()
        self.loose = self._loose()

    def node(self) -> Node:
        """The state after it."""
        return Node(self.ledger, self.lock, self.lock_oid, self.loose, self.wrong)

    def judged(self) -> list[Traced]:
        """What it did that nothing said."""
        self._files()
        self._kept()
        if self.lock is not None:
            self._lines(self.lock)
            self._roots(self.lock)
        return self.found

    def _lock_oid(self) -> str | None:
        if LOCK not in self.changes:
            return self.parents[0].lock_oid
        new = self.changes[LOCK].new
        return new.oid if new is not None else None

    def _lock(self) -> Lock | None:
        """The lock of the commit, or the last one before it that could be read."""
        last = next((p.lock for p in self.parents if p.lock is not None), None)
        for parent in self.parents:
            if self.lock_oid is not None and parent.lock_oid == self.lock_oid:
                self.wrong.update((key, wrong) for key, wrong in parent.wrong.items() if key[0] == "lock")
                return parent.lock
        read = self.ground.lock(self.lock_oid) if self.lock_oid is not None else last
        if isinstance(read, Finding):
            self._say(("lock", LOCK), read, Wrong(None, self.lock_oid, self.commit))
            return last
        return read

    def _loose(self) -> Mapping[str, Pair]:
        first, lock = self.parents[0], self.lock
        if lock is None:
            return {}
        if first.lock is lock and all(path.startswith("evalrepo.") for path in self.changes):
            return first.loose
        if first.lock is None or first.lock.roots != lock.roots:
            files = self.ground.files(self.commit, freeze.roots_of(lock))
            return differing(lock, files, {*files, *lock.by_path()})
        asked = {*first.loose, *self.changes}
        if first.lock is not lock:
            asked |= _moved(first.lock, lock)
        old = first.lock.by_path()
        files = {path: file for path in asked if (file := self._file(path, first, old)) is not None}
        return differing(lock, files, asked)

    def _file(self, path: str, first: Node, old: Mapping[str, LockLine]) -> Blob | None:
        if path in self.changes:
            return self.changes[path].new
        if path in first.loose:
            return first.loose[path][1]
        line = old.get(path)
        return Blob(line.mode, line.oid) if line is not None else None

    def _say(self, key: Key, finding: Finding, wrong: Wrong) -> None:
        self.wrong[key] = wrong
        self.found.append(Traced(self.commit, key, finding))

    def _files(self) -> None:
        fresh: dict[str, Pair] = {}
        for path, pair in self.loose.items():
            if is_open(path, pair, self.ledger):
                continue
            before = [p.wrong[key] for p in self.parents if (key := ("file", path)) in p.wrong]
            same = next((wrong for wrong in before if wrong.actual == pair[1]), None)
            self.wrong["file", path] = same or Wrong(*pair, self.commit)
            if same is None:
                fresh[path] = pair
        for finding in named(self.lock, fresh, self.names[0]):
            file = fresh.get(finding.place.file, (None, None))[1]
            exact = freeze.as_pointer(finding) if self._points(finding, file) else finding
            self.found.append(Traced(self.commit, ("file", finding.place.file), exact))

    def _points(self, finding: Finding, file: Blob | None) -> bool:
        return finding.code == "FRZ001" and file is not None and self.ground.pointer(file.oid)

    def _kept(self) -> None:
        """Events of every parent as they were; lock and config still there."""
        back = {change.path for changes in self.edges for change in changes if change.new is not None}
        for parent in self.parents:
            for key, wrong in parent.wrong.items():
                kind, path = key
                stays = self.ledger.files.get(path) != wrong.expected if kind == "event" else path not in back
                if kind in ("event", "gone") and stays:
                    self.wrong.setdefault(key, wrong)
        for name, parent, changes in zip(self.names, self.parents, self.edges, strict=False):
            for change in changes:
                if change.old is not None and (is_event(change.path) or change.path in (LOCK, CONFIG)):
                    self._lost(name, parent, change)

    def _lost(self, name: str, parent: Node, change: Change) -> None:
        path, new = change.path, change.new
        key = ("event" if is_event(path) else "gone", path)
        known = parent.wrong.get(key)
        if key in self.wrong or (known is not None and known.expected == new) or (key[0] == "gone" and new):
            return
        what = "was removed" if new is None else "was changed"
        hint = f"git restore --source={name} --staged --worktree {path}"
        code, also = "FRZ010", f"; an event that is at {name} stays as it is"
        if key[0] == "event":
            hint += "; say something new with a new event"
        else:
            code, also = "FRZ007" if path == LOCK else "FRZ008", f"; it is there at {name}"
        self._say(key, Finding(Place(path), code, what + also, hint), Wrong(change.old, new, self.commit))

    @cached_property
    def _said(self) -> list[Gained]:
        return [self.ledger.gained(parent.ledger) for parent in self.parents]

    def _lines(self, lock: Lock) -> None:
        asked: set[str] = set()
        for parent in self.parents:
            asked |= {path for kind, path in parent.wrong if kind == "line"}
            if parent.lock is not lock:
                asked |= _moved(parent.lock, lock)
        if not asked:
            return
        new, olds = lock.by_path(), [p.lock.by_path() if p.lock is not None else {} for p in self.parents]
        fresh = history.own(self._said)
        for path in sorted(asked):
            self._line(path, new.get(path), [old.get(path) for old in olds], fresh)

    def _line(self, path: str, now: LockLine | None, olds: list[LockLine | None], fresh: Gained) -> None:
        key = ("line", path)
        if covered(fresh.thawed, path) and (now is None or covered(fresh.frozen, path)):
            return
        carried = [parent.wrong.get(key) for parent in self.parents]
        taken = [wrong for wrong, old in zip(carried, olds, strict=True) if old == now]
        if taken and all(taken):
            self.wrong[key] = next(wrong for wrong in taken if wrong is not None)
            return
        right = [
            old if wrong is None or old == now else _line(wrong.expected)
            for wrong, old in zip(carried, olds, strict=True)
        ]
        lacks = history.lacking(path, now, right, self._said, fresh)
        if lacks is not None:
            number, wants = lacks
            finding = history.unsaid(path, olds[number], now, wants, self.names[number])
            self._say(key, finding, Wrong(right[number], now, self.commit))

    def _roots(self, lock: Lock) -> None:
        there = frozenset(lock.roots)
        for parent in self.parents:
            for key, wrong in parent.wrong.items():
                if key[0] == "root" and not covered(there, key[1]):
                    self.wrong.setdefault(key, wrong)
        for number, parent in enumerate(self.parents):
            if parent.lock is None or parent.lock.roots == lock.roots:
                continue
            for root in history.lost_roots(lock, parent.lock.roots, self._said[number]):
                if ("root", root) not in self.wrong:
                    self._say(("root", root), history.lost_root(root), Wrong(root, None, self.commit))


def _line(line: object) -> LockLine | None:
    return line if isinstance(line, LockLine) else None


def _moved(old: Lock | None, new: Lock) -> set[str]:
    """Paths whose line differs."""
    before = set(old.lines) if old is not None else set()
    return {line.path for line in before.symmetric_difference(new.lines)}
