"""Which events of the ledger waive a metric's drop, and why others do not. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from evalrepo.records.inference import Waiver

if TYPE_CHECKING:
    from evalrepo.records.event import Event

DAY = re.compile(r"\d{4}-\d\d-\d\d")


def waivers(events: Mapping[str, Event], at_base: Collection[str]) -> tuple[Waiver, ...]:
    """Every event that waives a metric; `at_base`: the ledger paths that the baseline holds already."""
    return tuple(
        Waiver(e.metric, e.by, e.why, e.until or "", _problem(e, inside=path not in at_base))
        for path, e in events.items()
        if e.event == "waive" and e.metric is not None
    )


def _problem(event: Event, *, inside: bool) -> str:
    if inside:
        return "it was made since the baseline, and counts from the next release"
    if not event.until or not DAY.match(event.until):
        return "it names no last day (until: YYYY-MM-DD)"
    return ""


def on(day: str, held: Iterable[Waiver]) -> tuple[Waiver, ...]:
    """The same on a day (YYYY-MM-DD): those whose last day has passed do not count."""
    return tuple(
        w._replace(problem=f"its last day was {w.until[:10]}") if not w.problem and w.until[:10] < day else w
        for w in held
    )
