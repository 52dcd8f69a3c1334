"""What so many reps can show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from evalrepo.comparing.statistics.special import bisected, normal_cdf, normal_quantile

Sizes = Iterable[tuple[int, int]]
"""Valid reps of each cell, before and after."""


def power_of_drop(sizes: Sizes, rate: float, drop: float, alpha: float = 0.05) -> float:
    """P(the exact stratified test sees, one-sided at alpha, every cell fall from `rate` by `drop`).

    By the first two moments of the test's null law given the totals, and of its statistic under the fall, with a
    continuity correction of half a rep; within ±.03 of simulation from six cells on.
    """
    after = max(0.0, rate - drop)
    shift, null, spread = 0.0, 0.0, 0.0
    for (na, nb), cells in Counter(sizes).items():
        if not na or not nb:
            continue
        n = na + nb
        total = na * rate + nb * after
        var = na * rate * (1 - rate) + nb * after * (1 - after)
        shift += cells * na * nb / n * (rate - after)
        null += cells * na * nb * (total * n - var - total**2) / (n * n * (n - 1))
        spread += cells * (na * nb / n) ** 2 * (rate * (1 - rate) / na + after * (1 - after) / nb)
    if null <= 0:
        return 0.0
    beyond = shift - normal_quantile(1 - alpha) * math.sqrt(null) - 0.5
    return normal_cdf(beyond / math.sqrt(spread)) if spread > 0 else float(beyond > 0)


def smallest_drop(sizes: Sizes, rate: float, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The smallest uniform fall from `rate` that these reps show with this power; None when not even a collapse is."""
    held = list(sizes)
    if power_of_drop(held, rate, rate, alpha) < power:
        return None
    return bisected(lambda d: power_of_drop(held, rate, d, alpha) >= power, 0.0, rate, steps=20)
