"""What a reader of results has to know beside the numbers, as sentences. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evalrepo.records.judgement import Judgement
from evalrepo.records.record import Record, Rep
from evalrepo.scoring.sameness import repeated


def remarks(reps: Iterable[Rep]) -> list[str]:
    """Of one record's reps: copies of each other, and judges that nobody calibrated."""
    held = list(reps)
    return [said for said in (repeated(held), uncalibrated(held)) if said]


def remarked(records: Iterable[Record]) -> list[str]:
    """What holds of single cells, each with its cell, and of the judges of all of them."""
    held = list(records)
    copies = [f"{r.scenario} · {r.agent}/{r.tier}: {said}" for r in held if (said := repeated(r.reps))]
    reps = [rep for record in held for rep in record.reps]
    return [*copies, *filter(None, [uncalibrated(reps), advisory(reps)])]


def uncalibrated(reps: Iterable[Rep]) -> str:
    """A sentence where a judge that nobody calibrated decided a check, as its rubric allows; "" where none did."""
    count, asked = _asked(reps, lambda one: one.uncalibrated)
    if not count:
        return ""
    which = "1 rep has" if count == 1 else f"{count} reps have"
    return f"{which} a check that an uncalibrated judge decided, as its rubric allows: {', '.join(asked)}"


def advisory(reps: Iterable[Rep]) -> str:
    """A sentence where a judge's answers are in no verdict, with the way to change that; "" where there are none."""
    count, asked = _asked(reps, lambda one: one.advisory)
    if not count:
        return ""
    why = "; ".join(f"{question}: {reason}" for question, reason in asked.items())
    rubric = next(iter(asked)).partition("/")[0]
    which = "1 rep has" if count == 1 else f"{count} reps have"
    return f"{which} answers of an advisory judge, in no verdict ({why}): evalrepo calibrate {rubric}"


def _asked(reps: Iterable[Rep], of: Callable[[Judgement], str]) -> tuple[int, dict[str, str]]:
    """In how many reps, and which questions ("RUBRIC/QUESTION") with the reason."""
    found = [{f"{j.rubric}/{j.question}": of(j) for j in rep.judged if of(j) and j.answer} for rep in reps]
    return sum(map(bool, found)), {name: why for one in found for name, why in sorted(one.items())}
