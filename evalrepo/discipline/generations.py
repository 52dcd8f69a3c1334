"""Generations of what is frozen: the freezes that made them, the thaws in between, and what these allow. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from evalrepo.discipline.places import covered, covers
from evalrepo.records.event import Event
from evalrepo.records.lock import Lock

Answer = Literal["yes", "stale", "unknown"]
_TO = {"loosen": "to loosen it", "tighten": "to tighten it", "repair": "to repair it"}


@dataclass(frozen=True, slots=True)
class Rejudged:
    """Whether old transcripts may be judged by today's instrument; `why` is a sentence without a subject or "".

    `yes`: nothing was said against it. `stale`: the question was made harder since. `unknown`: the ledger cannot say.
    """

    answer: Answer
    why: str = ""


def may_rejudge(events: Mapping[str, Event], scenario: str, paths: Collection[str], old: str, new: str) -> Rejudged:
    """May records of a scenario with instrument digest `old` be judged again by the instrument `new`?

    `events`: the ledger, oldest first, as `store.loading.events` gives it. `paths`: the scenario's own file and what
    it rests on (`closure.of_scenario`). After *repair* and *loosen* they may; after *tighten* they are stale, since an
    agent that was asked less would be failed for it; a thaw without a kind counts as *tighten*.
    """
    if old == new:
        return Rejudged("yes")
    between = _between(list(events.values()), scenario, old, new)
    if between is None:
        return Rejudged("unknown", f"the ledger names no freeze from which {new[:8]} followed {old[:8]}")
    thaws = [e for e in between if e.event == "thaw" and touches(e, paths)]
    hard = [e for e in thaws if e.kind in (None, "tighten")]
    if hard:
        return Rejudged("stale", thawed(hard[-1]))
    return Rejudged("yes", thawed(thaws[-1]) if thaws else "")


def _between(events: Sequence[Event], scenario: str, old: str, new: str) -> Sequence[Event] | None:
    """Events after the last freeze that said `old` up to the first that said `new`; None when there is no such way.

    A digest before the first that any freeze says may be any older one, and then every event up to `new` counts.
    """
    said = [(at, e.instrument(scenario)) for at, e in enumerate(events) if e.instrument(scenario)]
    if not said:
        return events if any(e.event == "thaw" for e in events) else ()
    starts = [at for at, digest in said if digest == old]
    start = starts[-1] if starts else -1
    end = next((at for at, digest in said if at > start and digest == new), None)
    return events[start + 1 : end] if end is not None else None


def touches(event: Event, paths: Collection[str]) -> bool:
    """Whether an event's paths cover one of these, or lie below one."""
    roots = frozenset(event.paths)
    return any(covered(roots, path) or any(covers(path, root) for root in roots) for path in paths)


def thawed(event: Event) -> str:
    """`was thawed to tighten it on 2026-11-30 (the prompt gave the answer away)`."""
    how = _TO[event.kind] if event.kind else "without saying how it changes"
    return f"was thawed {how} on {event.at[:10]} ({event.why})"


def generation(events: Mapping[str, Event]) -> int:
    """The number of the newest generation: 0 before the first freeze. Freezes that say no number count one each."""
    number = 0
    for event in events.values():
        if event.event == "freeze":
            number = max(number + 1 if event.generation is None else event.generation, number)
    return number


def instruments(events: Mapping[str, Event]) -> dict[str, str]:
    """Reserve scenario → the instrument digest that the newest freeze of it said."""
    found: dict[str, str] = {}
    for event in events.values():
        found |= dict(line.split(" ", 1) for line in event.instruments)
    return found


def lines_digest(lock: Lock | None, paths: Collection[str]) -> str | None:
    """SHA-256 (hex) of the lock's lines that these paths cover; None when there are none."""
    roots = frozenset(paths)
    lines = [line for line in (lock.lines if lock else ()) if covered(roots, line.path)]
    if not lines:
        return None
    text = "".join(f"{line.mode} {line.oid} {line.sha256} {line.path}\n" for line in lines)
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
