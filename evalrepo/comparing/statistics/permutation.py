"""Exact permutation tests: what the two sides' reps would look like if nothing had changed.

Within a cell, which side a rep is on is then arbitrary, so that the side B's passes are hypergeometric given the cell's
total; over cells they add up independently, and their exact law is a convolution. For one cell this is Fisher's test,
for one rep a side McNemar's, in between the exact Cochran-Mantel-Haenszel test (Cox 1970, "The analysis of binary
data"; Agresti 2013, "Categorical data analysis", 7.3.5). The same holds for scores of 0-3 instead of passes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from evalrepo.comparing.statistics.intervals import Counts

if TYPE_CHECKING:
    from fractions import Fraction

Pair = tuple[Counts, Counts]
"""(passes, valid) before and after."""

NEGLIGIBLE = 1e-18
"""Probability that may be cut off at either end of a law."""

TIE = 1 + 1e-9
"""Two probabilities closer than this are equal."""


class Permuted(NamedTuple):
    """What an exact test says. `p_drop` and `p_rise` are one-sided, `p` two-sided (probabilities no larger than that of
    what was seen), `mid` the mid-p of a drop (Lancaster 1961); `informative` strata could have come out otherwise."""

    p: float
    p_drop: float
    p_rise: float
    mid: float
    informative: int


def stratified(pairs: Iterable[Pair]) -> Permuted:
    """The exact stratified test of pass counts; a pair with nothing measured on a side says nothing."""
    return _tested((_hypergeometric(a, na, b, nb), b) for (a, na), (b, nb) in pairs if na and nb)


def stratified_scores(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Permuted:
    """The same of whole-number scores of each cell's reps, before and after, with the sum of scores as statistic."""
    return _tested((_score_law(tuple(sorted((*a, *b))), len(b)), sum(b)) for a, b in pairs if a and b)


def sign_flip(differences: Iterable[float | Fraction]) -> Permuted:
    """Paired differences of scenarios: every sign as likely as the other if nothing changed. Fisher 1935.

    Exact for any number of differences that are fractions of small numbers, as means of a few reps are.
    """
    from fractions import Fraction

    exact = [Fraction(d).limit_denominator(5040) for d in differences]
    unit = math.lcm(*(d.denominator for d in exact))
    return _tested(_flipped(int(d * unit)) for d in exact)


def mcnemar(fell: int, rose: int) -> Permuted:
    """One rep a side: cells that passed only before, and only after. The stratified test, said shortly."""
    return stratified([((1, 1), (0, 1))] * fell + [((0, 1), (1, 1))] * rose)


Law = tuple[int, tuple[float, ...]]
"""A law of whole numbers: the lowest, and the probabilities from there on."""


def _flipped(difference: int) -> tuple[Law, int]:
    size = abs(difference)
    return ((-size, (0.5, *(0.0,) * (2 * size - 1), 0.5)) if size else (0, (1.0,))), difference


@lru_cache(maxsize=4096)
def _hypergeometric(a: int, na: int, b: int, nb: int) -> Law:
    """The passes after, given all passes of both sides."""
    total = a + b
    low, high = max(0, total - na), min(nb, total)
    ways = math.comb(na + nb, nb)
    return low, tuple(math.comb(total, k) * math.comb(na + nb - total, nb - k) / ways for k in range(low, high + 1))


@lru_cache(maxsize=4096)
def _score_law(scores: tuple[int, ...], taken: int) -> Law:
    """The sum of `taken` of these scores, all choices as likely."""
    ways: dict[tuple[int, int], int] = {(0, 0): 1}
    for score in scores:
        for (count, total), n in sorted(ways.items(), reverse=True):
            if count < taken:
                ways[count + 1, total + score] = ways.get((count + 1, total + score), 0) + n
    sums = {total: n for (count, total), n in ways.items() if count == taken}
    low, high, every = min(sums), max(sums), math.comb(len(scores), taken)
    return low, tuple(sums.get(s, 0) / every for s in range(low, high + 1))


def _tested(strata: Iterable[tuple[Law, int]]) -> Permuted:
    seen, laws = 0, Counter[Law]()
    for (low, law), observed in strata:
        if len(law) > 1:
            seen += observed
            laws[low, law] += 1
    low, law = convolved(laws)
    at = seen - low
    here = law[at] if 0 <= at < len(law) else 0.0
    drop, rise = sum(law[: max(0, at + 1)]), sum(law[max(0, at) :])
    both = sum(p for p in law if p <= here * TIE)
    return Permuted(min(1.0, both), min(1.0, drop), min(1.0, rise), min(1.0, drop - here / 2), sum(laws.values()))


def convolved(laws: Counter[Law]) -> Law:
    """The law of the sum of independent numbers, each law as often as it is counted."""
    low, out = 0, [1.0]
    for (start, law), times in laws.items():
        first, power = _power(law, times)
        low, out = _trimmed(low + start * times + first, _product(out, power))
    return low, tuple(out)


def _power(law: Sequence[float], times: int) -> tuple[int, list[float]]:
    """The law of `times` such numbers, by squaring."""
    low, out = 0, [1.0]
    start, square = 0, list(law)
    while times:
        if times & 1:
            low, out = _trimmed(low + start, _product(out, square))
        times >>= 1
        if times:
            start, square = _trimmed(2 * start, _product(square, square))
    return low, out


def _product(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """The coefficients of the product of two polynomials."""
    short, long = sorted((one, other), key=len)
    out = [0.0] * (len(one) + len(other) - 1)
    for shift, weight in enumerate(short):
        if weight:
            for i, value in enumerate(long, shift):
                out[i] += weight * value
    return out


def _trimmed(low: int, law: list[float]) -> tuple[int, list[float]]:
    """Without the ends that together weigh nothing."""
    first, gone = 0, law[0]
    while gone < NEGLIGIBLE and first < len(law) - 1:
        first += 1
        gone += law[first]
    last, gone = len(law), law[-1]
    while gone < NEGLIGIBLE and last > first + 1:
        last -= 1
        gone += law[last - 1]
    return low + first, law[first:last]
