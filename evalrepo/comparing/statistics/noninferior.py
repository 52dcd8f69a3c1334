"""How much worse the candidate can still be: an exact lower bound of the difference of two pass rates.

Chan and Zhang 1999 (Biometrics 55): order all outcomes by the score statistic of Miettinen and Nurminen 1985 (Stat. in
Medicine 4), and take the largest probability over the nuisance rate. Unlike estimate ± z·SE it is never of zero width:
18 of 18 on both sides leave 15 points open. The reps of all cells are pooled, which errs on the safe side: passes of
cells with unequal rates vary less than the binomial law with their mean (Hoeffding 1956, Ann. Math. Stat. 27).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate

from evalrepo.comparing.statistics.intervals import Counts
from evalrepo.comparing.statistics.special import binomial_law, bisected

NUISANCE = 40
"""Rates of the base at which the largest probability is looked for."""

STEPS = 12
"""Halvings of the interval in which the bound is looked for: a quarter of a tenth of a point."""


@lru_cache(maxsize=4096)
def exact_bound(before: Counts, after: Counts, alpha: float = 0.05) -> float:
    """The one-sided exact 1 - alpha lower bound of the rate after minus the rate before; -1 when nothing is known."""
    if not before[1] or not after[1]:
        return -1.0
    return -bisected(lambda drop: p_worse_than(before, after, drop) <= alpha, _seen(before, after), 1.0, STEPS)


def _seen(before: Counts, after: Counts) -> float:
    return min(1.0, max(-1.0, before[0] / before[1] - after[0] / after[1]))


def attainable(before: int, after: int, alpha: float = 0.05) -> float:
    """The smallest margin that so many reps can show, when all of them pass."""
    return -exact_bound((before, before), (after, after), alpha)


def p_worse_than(before: Counts, after: Counts, drop: float) -> float:
    """The exact p of "the candidate is worse by `drop` or more"; small: it is not."""
    n_before, n_after = before[1], after[1]
    seen = _score(before, after, drop) - 1e-9
    first = _thresholds(n_before, n_after, drop, seen)
    low, high = max(0.0, drop), min(1.0, 1.0 + drop)
    rates = [low + (high - low) * i / NUISANCE for i in range(NUISANCE + 1)]
    return max(_probability(first, n_before, n_after, rate, rate - drop) for rate in rates)


def _thresholds(n_before: int, n_after: int, drop: float, seen: float) -> list[int]:
    """For each number of passes before, the fewest after that speak as strongly as what was seen."""
    out, b = [], 0
    for a in range(n_before + 1):
        while b <= n_after and _score((a, n_before), (b, n_after), drop) < seen:
            b += 1
        out.append(b)
    return out


def _probability(first: list[int], n_before: int, n_after: int, rate: float, other: float) -> float:
    after = binomial_law(n_after, min(1.0, max(0.0, other)))
    tail = [*accumulate(reversed(after), initial=0.0)][::-1]
    before = binomial_law(n_before, min(1.0, max(0.0, rate)))
    return sum(p * tail[b] for p, b in zip(before, first, strict=True))


def _score(before: Counts, after: Counts, drop: float) -> float:
    """(p̂ after - p̂ before + drop) over its standard error at the likeliest rates that differ by `drop`."""
    (a, na), (b, nb) = before, after
    gap = b / nb - a / na + drop
    rate = _likeliest(a, na, b, nb, drop)
    other = rate - drop
    square = rate * (1 - rate) / na + other * (1 - other) / nb
    if square <= 1e-15:
        return 0.0 if abs(gap) < 1e-12 else math.copysign(math.inf, gap)
    return gap / math.sqrt(square)


def _likeliest(a: int, na: int, b: int, nb: int, drop: float) -> float:
    """The base's likeliest rate when the candidate's is `drop` below: a cubic (Farrington and Manning 1990)."""
    theta = nb / na
    old, new = a / na, b / nb
    c3 = 1 + theta
    c2 = -(1 + theta + old + theta * new + drop * (theta + 2))
    c1 = drop**2 + drop * (2 * old + theta + 1) + old + theta * new
    c0 = -old * drop * (1 + drop)
    v = c2**3 / (3 * c3) ** 3 - c1 * c2 / (6 * c3**2) + c0 / (2 * c3)
    u = math.copysign(math.sqrt(max(0.0, c2**2 / (3 * c3) ** 2 - c1 / (3 * c3))), v)
    w = (math.pi + math.acos(max(-1.0, min(1.0, v / u**3))) if u else math.pi) / 3
    return min(1.0, 1.0 + drop, max(0.0, drop, 2 * u * math.cos(w) - c2 / (3 * c3)))
