"""What fresh reps say of suspects and of golden cells that failed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evalrepo.comparing.statistics import confirm, sprt
from evalrepo.records.inference import Confirmation, Fresh
from evalrepo.records.verdict import CellResult, Label

GOLDEN_REPS = 5
"""Fresh reps of a golden cell, all of which must pass to clear a FAIL."""

Outcome = Literal["confirmed", "cleared", "open"]


def golden_failed(cell: CellResult) -> bool:
    """A golden cell with a FAIL among the reps that decide."""
    return cell.golden and cell.after is not None and cell.after.passes < cell.after.valid


def confirmations(cells: Sequence[CellResult], fresh: Sequence[Fresh], alpha: float) -> tuple[Confirmation, ...]:
    """One for every suspect and every failed golden cell that has fresh reps; fresh reps of other cells say nothing.

    A suspect by a fixed plan is confirmed when Fisher's test of the fresh reps alone, with Holm over all suspects, is
    at most alpha, and cleared when the planned reps are there and it is not. By a sequential plan the boundary decides,
    at alpha over the number of suspects (Bonferroni).
    """
    suspects = [c.name for c in cells if c.label is Label.SUSPECT]
    held = {f.cell: f for f in fresh}
    fixed = [held[name] for name in suspects if name in held and held[name].plan == "fixed"]
    ps = confirm([(f.before, f.after) for f in fixed], len(suspects))
    out = [_of(f, "suspect", _fixed(f, p, alpha), p) for f, p in zip(fixed, ps, strict=True)]
    walked = [f for n in suspects if (f := held.get(n)) and f.plan == "sprt"]
    out += [_of(f, "suspect", _sequential(f, alpha / len(suspects)), None) for f in walked]
    out += [_of(f, "golden", _golden(f), None) for c in cells if golden_failed(c) and (f := held.get(c.name))]
    return tuple(sorted(out, key=lambda c: (c.cell, c.of)))


def _of(fresh: Fresh, of: Literal["suspect", "golden"], outcome: Outcome, p: float | None) -> Confirmation:
    return Confirmation(fresh.cell, of, outcome, fresh.before, fresh.after, fresh.planned, fresh.plan, p)


def _fixed(fresh: Fresh, p: float, alpha: float) -> Outcome:
    """Not looked at before the planned reps are there on both sides."""
    if min(fresh.before[1], fresh.after[1]) < fresh.planned:
        return "open"
    return "confirmed" if p <= alpha else "cleared"


def _sequential(fresh: Fresh, alpha: float) -> Outcome:
    outcomes: dict[str, Outcome] = {"drop": "confirmed", "same": "cleared", "open": "open"}
    return outcomes[sprt([letter == "P" for letter in fresh.strip], alpha=alpha).state]


def _golden(fresh: Fresh) -> Outcome:
    if fresh.after[0] < fresh.after[1]:
        return "confirmed"
    return "cleared" if fresh.after[1] >= GOLDEN_REPS else "open"
