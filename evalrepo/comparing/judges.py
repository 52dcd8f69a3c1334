"""Judges in verdicts that are compared: as free to decide on either side, and told where uncalibrated. Pure."""

from __future__ import annotations

from evalrepo.comparing.advice import names, plural
from evalrepo.records.verdict import CellResult, Reason, Score, Verdict


def unlike(before: Score, after: Score) -> str:
    """Why two scores are not comparable: a judge decides a check in some of the reps and not in others, or others
    answered; "" if alike."""
    both = {*before.deciding, *after.deciding} & {*before.advisory, *after.advisory}
    if both:
        return f"a judge decides {', '.join(sorted(both))} in some of these reps and is advisory in others"
    if not before.deciding and not after.deciding:
        return ""
    for question, judges in before.judges.items():
        others = after.judges.get(question, judges)
        if judges != others:
            return f"{question} judged by {', '.join(judges)} → {', '.join(others)}"
    return ""


def uncalibrated(bare: Verdict) -> list[Reason]:
    """A note on the cells in which a judge decided that nobody calibrated."""
    found = [cell for cell in bare.cells if _reps(cell)]
    if not found:
        return []
    reps = plural(sum(_reps(cell) for cell in found), "rep")
    text = f"an uncalibrated judge decided checks of {reps}, as its rubric allows: {names(found)}"
    return [Reason("note", "uncalibrated", text, "evalrepo calibrate RUBRIC").on(found)]


def _reps(cell: CellResult) -> int:
    return sum(side.uncalibrated for side in (cell.before, cell.after) if side is not None)
