"""The lock and the ledger against their own past: what may change, and what must have been said for it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from evalrepo.discipline.freeze import Files
from evalrepo.discipline.places import CONFIG, LOCK, covered
from evalrepo.errors import Finding, Place
from evalrepo.records.lock import Lock, LockLine


class Said(Protocol):
    """The part of a ledger event that the lock's past is checked by."""

    @property
    def event(self) -> str: ...
    @property
    def paths(self) -> tuple[str, ...]: ...
    @property
    def opens(self) -> tuple[str, ...]: ...
    @property
    def closes(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class State:
    """Lock, config and ledger at one revision or in the index. `read` turns a ledger file's path into its event."""

    name: str
    lock: Lock | None
    lock_oid: str | None
    config: bool
    ledger: Files
    read: Callable[[str], Said | None] = field(compare=False)

    @cached_property
    def events(self) -> Mapping[str, Said]:
        """Ledger path → event, oldest first (names are ULIDs); files that cannot be read are left out."""
        found = {path: self.read(path) for path in sorted(self.ledger)}
        return {path: event for path, event in found.items() if event is not None}


@dataclass(frozen=True)
class Gained:
    """Paths that newly gained events name."""

    thawed: frozenset[str]
    frozen: frozenset[str]


def gained(now: State, base: State) -> Gained:
    """What the ledger of `now` says that the ledger of `base` did not."""
    new = [now.read(path) for path in now.ledger if path not in base.ledger]
    return Gained(
        thawed=frozenset(p for e in new if e for p in e.opens),
        frozen=frozenset(p for e in new if e for p in e.closes),
    )


def check(now: State, bases: Sequence[State]) -> list[Finding]:
    """FRZ007-FRZ010 and FRZ014 of `now` against each base: HEAD for what is staged, every parent of a commit."""
    found: set[Finding] = set()
    for base in bases:
        found.update(_missing(now, base))
        found.update(_ledger(now, base))
        if now.lock is not None and now.lock_oid != base.lock_oid:
            found.update(_lines(now.lock, base.lock or Lock(), gained(now, base), base.name))
    return sorted(found)


def _missing(now: State, base: State) -> list[Finding]:
    found = []
    if base.lock_oid is not None and now.lock_oid is None:
        hint = f"git restore --source={base.name} --staged --worktree {LOCK}"
        found.append(Finding(Place(LOCK), "FRZ007", f"was removed; it is there at {base.name}", hint))
    if base.config and not now.config:
        hint = f"git restore --source={base.name} --staged --worktree {CONFIG}"
        found.append(Finding(Place(CONFIG), "FRZ008", f"was removed; it is there at {base.name}", hint))
    return found


def _ledger(now: State, base: State) -> list[Finding]:
    found = []
    for path, old in base.ledger.items():
        new = now.ledger.get(path)
        if new is not None and (new.mode, new.oid) == (old.mode, old.oid):
            continue
        what = "was removed" if new is None else "was changed"
        hint = f"git restore --source={base.name} --staged --worktree {path}; say something new with a new event"
        found.append(Finding(Place(path), "FRZ010", f"{what}; an event that is at {base.name} stays as it is", hint))
    return found


def _lines(now: Lock, base: Lock, said: Gained, name: str) -> list[Finding]:
    old, new = base.by_path(), now.by_path()
    found = []
    for path in sorted(old.keys() | new.keys()):
        wants = _wants(old.get(path), new.get(path), said)
        if wants:
            found.append(_unsaid(path, path in old, path in new, wants, name))
    roots, named = frozenset(now.roots), said.frozen | said.thawed
    for root in base.roots:
        if not covered(roots, root) and not covered(named, root):
            hint = f"evalrepo thaw {root} --why REASON, then evalrepo freeze"
            found.append(Finding(Place(LOCK), "FRZ014", f"no longer names the root {root}, and no event says so", hint))
    return found


def _wants(old: LockLine | None, new: LockLine | None, said: Gained) -> list[str]:
    """Kinds of events that a changed line lacks."""
    if old == new:
        return []
    line = old or new
    assert line is not None
    path = line.path
    wants = []
    if old is not None and not covered(said.thawed, path):
        wants.append("thaw")
    if new is not None and not covered(said.frozen, path):
        wants.append("freeze")
    return wants


def _unsaid(path: str, before: bool, after: bool, wants: list[str], name: str) -> Finding:
    what = "changed" if before and after else "was removed" if before else "was added"
    restore = f"git restore --source={name} --staged --worktree {LOCK}"
    hint = f"{restore}, then evalrepo thaw {path} --why REASON and evalrepo freeze"
    if not before:
        hint = "write it with evalrepo freeze, which leaves the event beside it"
    message = f"the line of {path} {what} since {name}, and the ledger gained no {' and no '.join(wants)} of it"
    return Finding(Place(LOCK), "FRZ009", message, hint)


def last_said(path: str, events: Mapping[str, Said]) -> str | None:
    """The newest freeze or thaw that covers the path: `freeze`, `thaw`, None."""
    for event in reversed(list(events.values())):
        if event.event in ("freeze", "thaw") and covered(frozenset(event.paths), path):
            return event.event
    return None


def thawed(events: Mapping[str, Said]) -> tuple[str, ...]:
    """Paths of thaw events that no later freeze covers: while there are any, the reserve is not measured."""
    open_: dict[str, None] = {}
    for event in events.values():
        if event.event == "thaw":
            open_.update(dict.fromkeys(event.paths))
        elif event.event == "freeze":
            closed = frozenset(event.paths)
            open_ = {path: None for path in open_ if not covered(closed, path)}
    return tuple(sorted(open_))
