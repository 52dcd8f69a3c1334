"""Looks at the reserve: which there were, how many are left, and whether one is the same as before. Pure.

A look is one campaign on a subject's whole reserve at one digest of the subject and of the reserve, by one choice of
agents and tiers. It is spent when it starts. Asked again it is the same look. The budget of a subject outlives thaws,
branches, clones and rewritten history: a look counts as long as any of the twins that it saw, or a copy of one, is in
the reserve. What was added to a budget goes with the twins that it was added for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from evalrepo.records.event import Event


class Look(NamedTuple):
    """One look. `digest`: the subject's; `reserve`: that of all twins; `twins`: scenario → digest of what it asks;
    `cells`: AGENT/TIER; `at`, `by`, `why` as the ledger says.

    `event`: its path in the ledger, "" for a look that only its traces tell of, which `commit` was measured on. `lost`:
    how it is brought back, where no branch here has its event; "" for one that is there.
    """

    subject: str
    digest: str
    reserve: str
    cells: tuple[str, ...]
    twins: Mapping[str, str]
    at: str = ""
    by: str = ""
    why: str = ""
    event: str = ""
    commit: str = ""
    lost: str = ""

    @property
    def key(self) -> tuple[str, str, str, tuple[str, ...]]:
        """What makes it the same look."""
        return (self.subject, self.digest, self.reserve, self.cells)

    def same(self, other: Look) -> bool:
        """Whether this is that look. One that only its traces tell of knows neither its reserve nor all its cells."""
        if self.reserve:
            return self.key == other.key
        mine = (self.subject, self.digest) == (other.subject, other.digest)
        return mine and set(self.cells) <= set(other.cells) and self.twins.items() <= dict(other.twins).items()

    def saw(self, twins: Mapping[str, str]) -> bool:
        """Whether any of these twins was in it, by its id or by what it asks."""
        return bool(set(self.twins) & set(twins) or set(self.twins.values()) & set(twins.values()))


class Trace(NamedTuple):
    """What a record, a journal or a claim says of one cell of a look. `subjects`: name → digest, "" where it is not
    said; `whole`: the digest of all of them together; `cell`: AGENT/TIER; `commit`: what was checked out, "" when
    unknown; `lost`: how the look is brought back.
    """

    subjects: Mapping[str, str]
    whole: str
    scenario: str
    stimulus: str
    cell: str
    at: str
    commit: str
    lost: str


class Copy(NamedTuple):
    """A twin of today that repeats one of an earlier look: their ids, and which share of three-word runs of the prompts
    of one stand in those of the other; None where the history is too short to tell."""

    new: str
    old: str
    share: float | None

    @property
    def told(self) -> str:
        """Why the looks at the old one count."""
        if self.share is None:
            return f"whether {self.new} is new cannot be told without the history ({FETCH})"
        return f"{self.new} repeats {self.old} ({self.share:.0%} of its prompt), so the looks at that count"


class Budget(NamedTuple):
    """A subject's looks that count today, oldest first, and how many are allowed. `opened`: twins whose transcripts
    somebody unsealed, which later looks know. `copies`: twins by which earlier looks still count."""

    subject: str
    spent: tuple[Look, ...]
    allowed: int
    opened: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()

    @property
    def left(self) -> int:
        """Looks that may still be taken."""
        return max(0, self.allowed - len(self.spent))

    def number(self, look: Look) -> int:
        """Which look it is, from 1: its own place when it was taken, else the next."""
        return next((n for n, one in enumerate(self.spent, 1) if one.same(look)), len(self.spent) + 1)

    def taken(self, look: Look) -> Look | None:
        """The same look, when it was taken."""
        return next((one for one in self.spent if one.same(look)), None)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person has to know of how looks were counted: those that are in no branch, and copies."""
        lost = [
            f"look {number}{f' of {one.at[:10]}' if one.at else ''} counts, and is in no branch here ({one.lost})"
            for number, one in enumerate(self.spent, 1)
            if one.lost
        ]
        return (*lost, *(copy.told for copy in self.copies))


FETCH = "git fetch --unshallow"


def digest_of(twins: Mapping[str, str]) -> str:
    """One digest (64 hex) of a reserve's scenarios and their digests."""
    return sha256("".join(f"{name} {digest}\n" for name, digest in sorted(twins.items())).encode()).hexdigest()


def budget(
    events: Mapping[str, Event],
    subject: str,
    twins: Mapping[str, str],
    allowed: int,
    *,
    lost: Iterable[Look] = (),
    copies: Mapping[str, Copy] = MappingProxyType({}),
) -> Budget:
    """The looks that count for the reserve of today. `events`: by ledger path; `allowed`: by the config, raised by
    `budget` events; `lost`: looks whose events no branch has; `copies`: digest of what an earlier twin asked → the twin
    of today that repeats it."""
    spent: dict[tuple[str, str, str, tuple[str, ...]], Look] = {}
    for look in (*of_subject(events, subject), *lost):
        if look.saw(twins) or not look.twins or not copies.keys().isdisjoint(look.twins.values()):
            spent.setdefault(look.key, look)
    ordered = sorted(spent.values(), key=lambda look: look.at)
    used = dict.fromkeys(
        copies[d] for look in ordered if not look.saw(twins) for d in look.twins.values() if d in copies
    )
    more = sum(e.amount or 0 for e in events.values() if _adds(e, subject, twins, copies))
    opened = {name for e in events.values() if e.event == "unseal" for name in e.scenarios if name in twins}
    return Budget(subject, tuple(ordered), allowed + more, tuple(sorted(opened)), tuple(used))


def _adds(event: Event, subject: str, twins: Mapping[str, str], copies: Mapping[str, Copy]) -> bool:
    """Whether a `budget` event raises the budget of these twins: until all that it was written for are replaced."""
    if event.event != "budget" or event.subject != subject:
        return False
    look = of_event(event)
    return look.saw(twins) or not look.twins or not copies.keys().isdisjoint(look.twins.values())


def of_subject(events: Mapping[str, Event], subject: str) -> list[Look]:
    """All looks at a subject's reserve that these events say, in their order."""
    return [of_event(e, path) for path, e in events.items() if e.event == "look" and e.subject == subject]


def of_event(event: Event, path: str = "", lost: str = "") -> Look:
    """The look that an event says."""
    return Look(
        event.subject or "", event.digest or "", event.reserve or "", tuple(event.cells), pairs(event.twins),
        event.at, event.by, event.why, path, lost=lost,
    )  # fmt: skip


def pairs(lines: Iterable[str]) -> dict[str, str]:
    """`ID DIGEST` lines of an event, as a mapping."""
    return dict(line.split(" ", 1) for line in lines)


def untold(traces: Iterable[Trace], looks: Mapping[str, Sequence[Look]], subject: str) -> list[Look]:
    """Looks at a subject's reserve that have left traces, and that none of these looks (by subject) is. One for each
    digest of the subject: which runs make one look only its event says."""
    found: dict[str, Look] = {}
    for trace in sorted(traces, key=lambda t: t.at):
        if subject not in trace.subjects or any(
            _told_by(trace, one) for name in trace.subjects for one in looks.get(name, ())
        ):
            continue
        digest = trace.subjects[subject] or trace.whole
        one = found.get(digest) or Look(subject, digest, "", (), {}, trace.at, commit=trace.commit, lost=trace.lost)
        cells = tuple(sorted({*one.cells, trace.cell}))
        found[digest] = one._replace(cells=cells, twins={**one.twins, trace.scenario: trace.stimulus})
    return list(found.values())


def _told_by(trace: Trace, look: Look) -> bool:
    digest = trace.subjects.get(look.subject) or trace.whole
    asked = look.twins.get(trace.scenario)
    exactly = digest == look.digest or (len(trace.subjects) > 1 and not trace.subjects.get(look.subject))
    return exactly and trace.cell in look.cells and (asked == trace.stimulus or not look.twins)


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
