"""Bars: how many cells below their bar are too many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from evalrepo.comparing.statistics.permutation import convolved
from evalrepo.comparing.statistics.special import binomial


def p_at_least(needed: int, reps: int, rate: float) -> float:
    """P(a cell has at least `needed` of `reps` passes at this pass rate)."""
    return sum(binomial(k, reps, rate) for k in range(needed, reps + 1))


def p_all_pass_bar(rate: float, needed: int, reps: int, cells: int) -> float:
    """P(every one of `cells` equal cells has at least `needed` of `reps` passes at pass rate `rate`)."""
    return p_at_least(needed, reps, rate) ** cells


@lru_cache(maxsize=4096)
def p_below_again(passes: int, valid: int, reps: int, needed: int) -> float:
    """P(`reps` of these `valid` reps, drawn by chance, hold fewer than `needed` of the `passes`)."""
    ways = math.comb(valid, reps)
    return sum(math.comb(passes, k) * math.comb(valid - passes, reps - k) for k in range(min(needed, reps + 1))) / ways


def p_so_many(misses: Sequence[float], seen: int) -> float:
    """P(at least `seen` cells below their bar) when cell i is with probability `misses[i]` (Poisson's binomial)."""
    low, law = convolved(Counter((0, (1 - q, q)) for q in misses if q))
    return min(1.0, sum(law[max(0, seen - low) :])) if seen else 1.0


def allowed(misses: Sequence[float], alpha: float = 0.05) -> int:
    """The count bar: the smallest number of misses that more than so many exceed with probability at most alpha."""
    return next(c for c in range(len(misses) + 1) if p_so_many(misses, c + 1) <= alpha)
