"""The lock and the ledger against their own past: what may change, and what must have been said for it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    @property
    def commits(self) -> tuple[str, ...]: ...
    @property
    def codes(self) -> tuple[str, ...]: ...


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
    """Newly gained thaw and freeze events: file → the paths that it names."""

    thaws: Mapping[str, frozenset[str]]
    freezes: Mapping[str, frozenset[str]]

    @cached_property
    def thawed(self) -> frozenset[str]:
        """Every path that a thaw names."""
        return frozenset().union(*self.thaws.values())

    @cached_property
    def frozen(self) -> frozenset[str]:
        """Every path that a freeze names."""
        return frozenset().union(*self.freezes.values())

    def lacks(self, path: str, old: LockLine | None, new: LockLine | None) -> list[str]:
        """Kinds of events that the change of a line wants and that are not there."""
        if old == new:
            return []
        wants = ["thaw"] if old is not None and not covered(self.thawed, path) else []
        return wants + (["freeze"] if new is not None and not covered(self.frozen, path) else [])


def gained(events: Mapping[str, Said | None]) -> Gained:
    """What these new events open and close; None is one that cannot be read."""
    return Gained(
        {path: frozenset(e.opens) for path, e in events.items() if e is not None and e.opens},
        {path: frozenset(e.closes) for path, e in events.items() if e is not None and e.closes},
    )


def own(said: Sequence[Gained]) -> Gained:
    """What is new against every parent: said in the commit itself."""
    first, *rest = said
    return Gained(
        {path: names for path, names in first.thaws.items() if all(path in other.thaws for other in rest)},
        {path: names for path, names in first.freezes.items() if all(path in other.freezes for other in rest)},
    )


def lacking(
    path: str, new: LockLine | None, olds: Sequence[LockLine | None], said: Sequence[Gained], fresh: Gained
) -> tuple[int, list[str]] | None:
    """The first parent against which a line changed without the events that it wants, and their kinds.

    A line that one of the parents has may come with what that parent's side said; one that none of them has needs
    events of the commit itself (`fresh`), or a merge could give a file any content where only one side was opened.
    """
    taken = new in olds
    for number, (old, events) in enumerate(zip(olds, said, strict=True)):
        wants = (events if taken else fresh).lacks(path, old, new)
        if wants:
            return number, wants
    return None


def check(now: State, bases: Sequence[State]) -> list[Finding]:
    """FRZ007-FRZ010 and FRZ014 of `now` against all bases: HEAD for what is staged, every parent of a commit."""
    found: set[Finding] = set()
    for base in bases:
        found.update(_missing(now, base))
        found.update(_ledger(now, base))
    if now.lock is not None and any(now.lock_oid != base.lock_oid for base in bases):
        said = [gained({p: now.read(p) for p in now.ledger if p not in base.ledger}) for base in bases]
        found.update(_lines(now.lock, bases, said))
        for base, events in zip(bases, said, strict=True):
            roots = (base.lock or Lock()).roots
            found.update(lost_root(root) for root in lost_roots(now.lock, roots, events))
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


def _lines(now: Lock, bases: Sequence[State], said: Sequence[Gained]) -> list[Finding]:
    new, olds = now.by_path(), [(base.lock or Lock()).by_path() for base in bases]
    fresh = own(said)
    found = []
    for path in sorted({*new}.union(*olds)):
        lines = [old.get(path) for old in olds]
        wants = lacking(path, new.get(path), lines, said, fresh)
        if wants is not None:
            number, kinds = wants
            found.append(unsaid(path, lines[number], new.get(path), kinds, bases[number].name))
    return found


def lost_roots(now: Lock, roots: Iterable[str], said: Gained) -> list[str]:
    """Roots of a parent that the lock does not cover any more, and of which no new event speaks."""
    there, named = frozenset(now.roots), said.frozen | said.thawed
    return [root for root in roots if not covered(there, root) and not covered(named, root)]


def lost_root(root: str) -> Finding:
    """FRZ014."""
    hint = f"evalrepo thaw {root} --why REASON, then evalrepo freeze"
    return Finding(Place(LOCK), "FRZ014", f"no longer names the root {root}, and no event says so", hint)


def unsaid(path: str, old: LockLine | None, new: LockLine | None, wants: Sequence[str], name: str) -> Finding:
    """FRZ009: the line changed against the revision that is called `name`, and events of the kinds `wants` lack."""
    what = "changed" if old and new else "was removed" if old else "was added"
    restore = f"git restore --source={name} --staged --worktree {LOCK}"
    hint = f"{restore}, then evalrepo thaw {path} --why REASON and evalrepo freeze"
    if not old:
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
