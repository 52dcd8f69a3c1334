"""How often a held-out set may be asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable


def alpha_per_look(alpha: float, looks: int) -> float:
    """The level at which each of so many planned looks is tested (Bonferroni)."""
    return alpha / looks


def deviation(items: int, looks: int, delta: float = 0.05) -> float:
    """How far the mean of `items` may be from the truth after so many adaptive yes-or-no answers, with P >= 1 - delta.

    The union bound over Hoeffding's inequality: sqrt((looks ln 2 + ln(2/delta)) / (2 items)).
    """
    return math.sqrt((looks * math.log(2) + math.log(2 / delta)) / (2 * items))


def ladder(losses: Iterable[float], step: float) -> list[float]:
    """What is told of a row of losses on a held-out set: the best so far, rounded, when it beats the last by a step.

    Blum and Hardt 2015 (arXiv 1502.04585). Losses and step are shares of 0 to 1.
    """
    told: list[float] = []
    best = math.inf
    for loss in losses:
        if loss < best - step + 1e-12:
            best = round(loss / step) * step
        told.append(best)
    return told


def thresholdout(
    pairs: Iterable[tuple[float, float]], threshold: float, budget: int, noise: Callable[[], float], scale: float = 0.0
) -> list[float | None]:
    """Means that are told of adaptive questions, given (tuned, held-out) means; None when the budget is spent.

    Dwork and others 2015 (arXiv 1506.02629, figure 1). `noise` draws from Laplace(1); with scale 0 none is added.
    """
    told: list[float | None] = []
    limit = threshold + 2 * scale * noise()
    for tuned, held in pairs:
        if budget < 1:
            told.append(None)
        elif abs(held - tuned) > limit + 4 * scale * noise():
            budget -= 1
            limit = threshold + 2 * scale * noise()
            told.append(held + scale * noise())
        else:
            told.append(tuned)
    return told
