"""Exact numbers about few reps. Pure functions of counts; no third-party library."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

Z95 = 1.959964
"""Two-sided 95 % quantile of the normal law."""

SUSPECT = 0.95
"""A cell is called suspect from this P(worse) on; at three reps that is a fall of two or more."""

STEPS = 200
"""Points of the quadrature of `p_worse`; the integrand is a trigonometric polynomial, so few are plenty."""


def wilson(passes: int, valid: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a pass rate, in [0, 1]; (0, 1) when nothing was measured. Wilson 1927, JASA 22."""
    if valid == 0:
        return (0.0, 1.0)
    rate = passes / valid
    scale = 1 + Z95**2 / valid
    centre = (rate + Z95**2 / (2 * valid)) / scale
    half = Z95 / scale * math.sqrt(rate * (1 - rate) / valid + Z95**2 / (4 * valid**2))
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return (0.0 if passes == 0 else low, 1.0 if passes == valid else high)


@lru_cache(maxsize=4096)
def p_worse(before: tuple[int, int], after: tuple[int, int]) -> float:
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


def suspect(before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether (passes, valid) fell so far that it should be looked at. Not corrected for the number of cells."""
    return before[1] > 0 and after[1] > 0 and p_worse(before, after) >= SUSPECT


@lru_cache(maxsize=4096)
def p_false_suspect(rate: float, before: int, after: int) -> float:
    """P(a cell is called suspect although its pass rate stayed `rate`), by its numbers of valid reps a side."""
    return sum(
        _binomial(k, before, rate) * _binomial(j, after, rate)
        for k in range(before + 1)
        for j in range(after + 1)
        if suspect((k, before), (j, after))
    )


def _binomial(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def p_all_pass_bar(rate: float, needed: int, reps: int, cells: int) -> float:
    """P(every one of `cells` equal cells has at least `needed` of `reps` passes at pass rate `rate`)."""
    one = sum(_binomial(k, reps, rate) for k in range(needed, reps + 1))
    return one**cells


def middle(values: list[float]) -> float | None:
    """The median, None for no values."""
    ordered, half = sorted(values), len(values) // 2
    if not ordered:
        return None
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
