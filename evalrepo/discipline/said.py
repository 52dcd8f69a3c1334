"""What the ledger says now: what is open, retired scenarios. Pure.

Ledgers are mappings of path → event, oldest first, as `store.loading.read_events` gives them.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalrepo.discipline.generations import generation
from evalrepo.discipline.history import thawed
from evalrepo.records.event import Event


def loops(events: Mapping[str, Event]) -> dict[str, Event]:
    """Name → the event that started it, of the tuning loops that are open."""
    open_: dict[str, Event] = {}
    for event in events.values():
        if event.event == "tune" and event.name is not None:
            if event.state == "start":
                open_[event.name] = event
            else:
                open_.pop(event.name, None)
    return open_


def standing(events: Mapping[str, Event]) -> list[str]:
    """Sentences about the generation of what is frozen, thaws that are open, and tuning loops."""
    if not events:
        return []
    last = next((e for e in reversed(list(events.values())) if e.event == "freeze"), None)
    lines = [f"frozen: generation {generation(events)}, of {last.at[:10]}"] if last else []
    lines += [f"open: {path} is thawed; evalrepo freeze closes it" for path in thawed(events)]
    lines += [
        f"open: tuning loop {name} on {event.subject} since {event.at[:10]}; evalrepo tune stop {name} --why REASON"
        for name, event in loops(events).items()
    ]
    return lines


def retired(events: Mapping[str, Event]) -> dict[str, Event]:
    """Reserve scenario → the event that retired it."""
    return {id_: event for event in events.values() if event.event == "retire" for id_ in event.scenarios}
