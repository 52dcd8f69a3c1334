"""Which events of the ledger waive a metric's drop, and why others do not. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from evalrepo.records.inference import Waiver

if TYPE_CHECKING:
    from evalrepo.records.event import Event

_NEW = "it was made since the baseline, and counts from the next release"


def waivers(events: Mapping[str, Event], at_base: Collection[str]) -> tuple[Waiver, ...]:
    """Every event that waives a metric; `at_base`: the ledger paths that the baseline holds already."""
    return tuple(
        Waiver(e.metric, e.by, e.why, e.until or "", "" if path in at_base else _NEW)
        for path, e in events.items()
        if e.event == "waive" and e.metric is not None
    )


def on(day: str, held: Iterable[Waiver]) -> tuple[Waiver, ...]:
    """The same on a day (YYYY-MM-DD): those whose last day has passed do not count."""
    return tuple(
        w._replace(problem=f"its last day was {w.until[:10]}") if not w.problem and w.until[:10] < day else w
        for w in held
    )
