"""What a reader of results has to know beside the numbers, as sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from evalrepo.records.record import Record, Rep
from evalrepo.scoring.sameness import repeated


def remarks(reps: Iterable[Rep]) -> list[str]:
    """Of one record's reps: copies of each other, and judges that nobody calibrated."""
    held = list(reps)
    return [said for said in (repeated(held), uncalibrated(held)) if said]


def remarked(records: Iterable[Record]) -> list[str]:
    """`remarks` of each record, with its cell."""
    return [f"{r.scenario} · {r.agent}/{r.tier}: {said}" for r in records for said in remarks(r.reps)]


def uncalibrated(reps: Iterable[Rep]) -> str:
    """A sentence where a judge that nobody calibrated decided a check, as its rubric allows; "" where none did."""
    found = [{f"{j.rubric}/{j.question}" for j in rep.judged if j.uncalibrated and j.answer} for rep in reps]
    asked = sorted(set().union(*found))
    if not asked:
        return ""
    count = sum(map(bool, found))
    which = "1 rep has" if count == 1 else f"{count} reps have"
    return f"{which} a check that an uncalibrated judge decided, as its rubric allows: {', '.join(asked)}"
