"""How often a held-out set may be asked."""

from __future__ import annotations

import math


def alpha_per_look(alpha: float, looks: int) -> float:
    """The level at which each of so many planned looks is tested (Bonferroni)."""
    return alpha / looks


def deviation(items: int, looks: int, delta: float = 0.05) -> float:
    """How far the mean of `items` may be from the truth after so many adaptive yes-or-no answers, with P >= 1 - delta.

    The union bound over Hoeffding's inequality: sqrt((looks ln 2 + ln(2/delta)) / (2 items)).
    """
    return math.sqrt((looks * math.log(2) + math.log(2 / delta)) / (2 * items))
