"""One cell on two sides: Fisher's test, and Boschloo's, which is never weaker. For a fall from before to after."""

from __future__ import annotations

import math
from functools import lru_cache

from evalrepo.comparing.statistics.intervals import Counts
from evalrepo.comparing.statistics.permutation import TIE, stratified
from evalrepo.comparing.statistics.special import binomial_law

GRID = 400
"""Pass rates at which Boschloo's largest probability is looked for, before it is refined."""


def fisher(before: Counts, after: Counts) -> float:
    """P(so few passes after, or fewer) given all passes of both sides, one-sided. Fisher 1934."""
    return stratified([(before, after)]).p_drop


def fisher_two_sided(before: Counts, after: Counts) -> float:
    """The sum of the probabilities no larger than that of what was seen."""
    return stratified([(before, after)]).p


@lru_cache(maxsize=4096)
def boschloo(before: Counts, after: Counts) -> float:
    """Fisher's one-sided p as statistic of an unconditional test: its largest probability over the common pass rate.

    Boschloo 1970, Statistica Neerlandica 24. The probability is a polynomial in the rate; its maximum is found on a
    grid and refined, to about 1e-6.
    """
    n_before, n_after = before[1], after[1]
    seen = fisher(before, after) * TIE
    weights = [0] * (n_before + n_after + 1)
    for a in range(n_before + 1):
        for b in range(n_after + 1):
            if fisher((a, n_before), (b, n_after)) <= seen:
                weights[a + b] += math.comb(n_before, a) * math.comb(n_after, b)
    return min(1.0, _largest(weights))


def _largest(weights: list[int]) -> float:
    n = len(weights) - 1

    def at(rate: float) -> float:
        return sum(w * rate**t * (1 - rate) ** (n - t) for t, w in enumerate(weights) if w)

    best = max((i / GRID for i in range(GRID + 1)), key=at)
    step = 1 / GRID
    while step > 1e-9:
        best = max((max(0.0, best - step), best, min(1.0, best + step)), key=at)
        step /= 2
    return at(best)


@lru_cache(maxsize=1024)
def fisher_power(before: float, after: float, reps: int, alpha: float = 0.05) -> float:
    """P(Fisher's one-sided test at `alpha` sees the fall) with `reps` reps a side at these true pass rates."""
    old, new = binomial_law(reps, before), binomial_law(reps, after)
    return sum(
        old[a] * new[b] for a in range(reps + 1) for b in range(reps + 1) if fisher((a, reps), (b, reps)) <= alpha
    )
