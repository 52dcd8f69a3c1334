"""Looks at the reserve: which there were, how many are left, and whether one is the same as before. Pure.

A look is one campaign on a subject's whole reserve at one digest of the subject and of the reserve, by one choice of
agents and tiers. It is spent when it starts. Asked again it is the same look. The budget of a subject outlives thaws,
branches and clones: a look counts as long as any of the twins that it saw is still in the reserve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

from evalrepo.records.event import Event


class Look(NamedTuple):
    """One look. `digest`: the subject's; `reserve`: that of all twins; `twins`: scenario → digest of what it asks;
    `cells`: AGENT/TIER; `at`, `by`, `why` as the ledger says.
    """

    subject: str
    digest: str
    reserve: str
    cells: tuple[str, ...]
    twins: Mapping[str, str]
    at: str = ""
    by: str = ""
    why: str = ""

    @property
    def key(self) -> tuple[str, str, str, tuple[str, ...]]:
        """What makes it the same look."""
        return (self.subject, self.digest, self.reserve, self.cells)

    def saw(self, twins: Mapping[str, str]) -> bool:
        """Whether any of these twins was in it, by its id or by what it asks."""
        return bool(set(self.twins) & set(twins) or set(self.twins.values()) & set(twins.values()))


class Budget(NamedTuple):
    """A subject's looks that count today, oldest first, and how many are allowed. `opened`: twins whose transcripts
    somebody unsealed, which later looks know."""

    subject: str
    spent: tuple[Look, ...]
    allowed: int
    opened: tuple[str, ...] = ()

    @property
    def left(self) -> int:
        """Looks that may still be taken."""
        return max(0, self.allowed - len(self.spent))

    def number(self, look: Look) -> int:
        """Which look it is, from 1: its own place when it was taken, else the next."""
        keys = [one.key for one in self.spent]
        return keys.index(look.key) + 1 if look.key in keys else len(keys) + 1

    def taken(self, look: Look) -> Look | None:
        """The same look, when it was taken."""
        return next((one for one in self.spent if one.key == look.key), None)


def digest_of(twins: Mapping[str, str]) -> str:
    """One digest (64 hex) of a reserve's scenarios and their digests."""
    return sha256("".join(f"{name} {digest}\n" for name, digest in sorted(twins.items())).encode()).hexdigest()


def budget(events: Iterable[Event], subject: str, twins: Mapping[str, str], allowed: int) -> Budget:
    """The looks that count for the reserve of today. `allowed`: by the config, raised by `budget` events."""
    held = list(events)
    spent: dict[tuple[str, str, str, tuple[str, ...]], Look] = {}
    for event in held:
        if event.event == "look" and event.subject == subject:
            look = of_event(event)
            if look.saw(twins) or not look.twins:
                spent.setdefault(look.key, look)
    more = sum(e.amount or 0 for e in held if e.event == "budget" and e.subject == subject)
    opened = {name for e in held if e.event == "unseal" for name in e.scenarios if name in twins}
    return Budget(subject, tuple(spent.values()), allowed + more, tuple(sorted(opened)))


def of_event(event: Event) -> Look:
    """The look that an event says."""
    twins = dict(line.split(" ", 1) for line in event.twins)
    return Look(
        event.subject or "", event.digest or "", event.reserve or "", tuple(event.cells), twins,
        event.at, event.by, event.why,
    )  # fmt: skip


def opened(events: Iterable[Event]) -> tuple[frozenset[str], frozenset[str]]:
    """Scenarios and runs whose transcripts may be read: unsealed with a reason, or retired from the reserve."""
    scenarios: set[str] = set()
    runs: set[str] = set()
    for event in events:
        if event.event in ("unseal", "retire"):
            scenarios |= set(event.scenarios)
            runs |= {event.run} if event.run and not event.scenarios else set()
    return frozenset(scenarios), frozenset(runs)


def rotation(subject: str, twins: Iterable[str]) -> tuple[str, ...]:
    """The commands by which a spent reserve is replaced."""
    names = " ".join(sorted(twins))
    return (
        f"evalrepo retire {names} --why REASON",
        "evalrepo new ID-new --reserve-of ID   for each of them: other words, another fixture, another name",
        "git add scenarios scenarios-reserve && evalrepo freeze && git commit",
        f"or, with a reason that a reviewer will read: evalrepo budget {subject} --add 1 --why REASON",
    )
