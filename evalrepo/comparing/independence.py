"""Reps that are copies of one another are fewer observations than they seem. Pure."""

from __future__ import annotations

from evalrepo.comparing.advice import names, plural
from evalrepo.records.verdict import CellResult, Reason, Verdict


def copies(bare: Verdict) -> list[Reason]:
    """A note on the cells whose valid reps of a live model said and did the very same as an earlier one."""
    found = [cell for cell in bare.cells if _repeats(cell)]
    if not found:
        return []
    reps = sum(_repeats(cell) for cell in found)
    text = (
        f"reps are not independent: {plural(reps, 'rep')} of {plural(len(found), 'cell')} say and do the very same as "
        f"another, so every p value here is smaller than it should be: {names(found)}"
    )
    return [Reason("note", "copies", text).on(found)]


def _repeats(cell: CellResult) -> int:
    return sum(side.repeats for side in (cell.before, cell.after) if side is not None) if not cell.model_free else 0
