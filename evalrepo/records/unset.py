"""How people see a metric's score: one that is unset, or not known, is a dash; never 0, and no word of its own."""

from __future__ import annotations

UNSET = "–"


def score_word(score: float | None) -> str:
    """`2`, or `–`."""
    return UNSET if score is None else f"{score:g}"
