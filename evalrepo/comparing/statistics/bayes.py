"""One cell by Bayes' rule with Jeffreys' prior: to rank suspects, never corrected for the number of cells."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

from evalrepo.comparing.statistics.intervals import Counts
from evalrepo.comparing.statistics.special import beta_cdf, binomial

SUSPECT = 0.95
"""A cell is called suspect from this P(worse) on; at three reps that is a fall of two or more."""

STEPS = 200
"""Points of the quadrature of `p_worse`; the integrand is a trigonometric polynomial, so few are plenty."""


@lru_cache(maxsize=4096)
def p_worse(before: Counts, after: Counts) -> float:
    """P(the pass rate after is below the one before), Jeffreys priors; (passes, valid) a side, 0.5 for no data.

    With x = sin²θ a Beta(k + ½, n - k + ½) density is sin²ᵏθ cos²⁽ⁿ⁻ᵏ⁾θ up to a constant, smooth on [0, π/2].
    """
    first, second = _density(*before), _density(*after)
    reached, worse = 0.0, 0.0
    for (left_b, right_b), (left_a, right_a) in zip(pairwise(first), pairwise(second), strict=True):
        step = (left_a + right_a) / 2
        worse += (left_b + right_b) / 2 * (reached + step / 2)
        reached += step
    return worse


@lru_cache(maxsize=4096)
def p_worse_by(before: Counts, after: Counts, drop: float) -> float:
    """P(the pass rate fell by more than `drop`), same priors."""
    heights = _density(*before)
    a, b = after[0] + 0.5, after[1] - after[0] + 0.5
    below = [beta_cdf(s - drop, a, b) for s, _ in _squares()]
    pairs = zip(pairwise(heights), pairwise(below), strict=True)
    return sum((left + right) / 2 * (low + high) / 2 for (left, right), (low, high) in pairs)


@lru_cache(maxsize=1)
def _squares() -> list[tuple[float, float]]:
    """sin² and cos² at the points of the quadrature."""
    angles = [math.pi / 2 * i / STEPS for i in range(STEPS + 1)]
    return [(math.sin(a) ** 2, math.cos(a) ** 2) for a in angles]


@lru_cache(maxsize=256)
def _density(passes: int, valid: int) -> list[float]:
    failed = valid - passes
    heights = [s**passes * c**failed for s, c in _squares()]
    area = sum((a + b) / 2 for a, b in pairwise(heights))
    return [h / area for h in heights]


def suspect(before: Counts, after: Counts) -> bool:
    """Whether (passes, valid) fell so far that it should be looked at. Not corrected for the number of cells."""
    return before[1] > 0 and after[1] > 0 and p_worse(before, after) >= SUSPECT


@lru_cache(maxsize=4096)
def p_false_suspect(rate: float, before: int, after: int) -> float:
    """P(a cell is called suspect although its pass rate stayed `rate`), by its numbers of valid reps a side."""
    return sum(
        binomial(k, before, rate) * binomial(j, after, rate)
        for k in range(before + 1)
        for j in range(after + 1)
        if suspect((k, before), (j, after))
    )
