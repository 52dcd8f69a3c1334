"""The two special functions that everything else needs, without a third-party library."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

TINY = 1e-300
MOST = 500
"""Steps of the continued fraction; it converges in about the square root of the larger parameter."""


def beta_cdf(x: float, a: float, b: float) -> float:
    """P(Beta(a, b) <= x), the regularised incomplete beta function I_x(a, b). DLMF 8.17.22, Lentz's method."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    log_front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(log_front) / a / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of DLMF 8.17.22, from its first partial numerator on."""
    f, c, d = 1.0, 1.0, 0.0
    for step in range(1, MOST):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d or TINY)
        c = 1 + term / c or TINY
        f *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return f


def beta_quantile(p: float, a: float, b: float) -> float:
    """x with P(Beta(a, b) <= x) = p, to 1e-12."""
    return bisected(lambda x: beta_cdf(x, a, b) >= p, 0.0, 1.0)


def t_quantile(p: float, df: float) -> float:
    """t with P(T <= t) = p for Student's t with `df` > 0 degrees of freedom. DLMF 8.17: the tail is I_x(df/2, ½)."""
    if p < 0.5:
        return -t_quantile(1 - p, df)
    x = beta_quantile(2 * (1 - p), df / 2, 0.5)
    return math.sqrt(df * (1 - x) / x) if x > 0 else math.inf


def bisected(holds: Callable[[float], bool], low: float, high: float, steps: int = 60) -> float:
    """The smallest number in (low, high] from which `holds` is true; `high` itself is taken to hold."""
    for _ in range(steps):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def normal_cdf(x: float) -> float:
    """P(Z <= x) for a standard normal Z. The standard library's own costs every start-up ten milliseconds."""
    return math.erfc(-x / math.sqrt(2)) / 2


@lru_cache(maxsize=64)
def normal_quantile(p: float) -> float:
    """x with P(Z <= x) = p, to 1e-12."""
    return bisected(lambda x: normal_cdf(x) >= p, -40.0, 40.0, steps=80)


def binomial(k: int, n: int, p: float) -> float:
    """P(k of n) at rate p."""
    return math.comb(n, k) * p**k * (1 - p) ** (n - k) if 0 <= k <= n else 0.0


def binomial_law(n: int, p: float) -> list[float]:
    """P(0 of n) … P(n of n) at rate p, by ratios of neighbours from the likeliest number on, so nothing underflows."""
    if p <= 0 or p >= 1:
        return [float(k == (n if p >= 1 else 0)) for k in range(n + 1)]
    top, odds = min(n, int((n + 1) * p)), p / (1 - p)
    ways = math.lgamma(n + 1) - math.lgamma(top + 1) - math.lgamma(n - top + 1)
    out = [0.0] * (n + 1)
    out[top] = here = math.exp(ways + top * math.log(p) + (n - top) * math.log1p(-p))
    for k in range(top + 1, n + 1):
        here *= (n - k + 1) / k * odds
        out[k] = here
    here = out[top]
    for k in range(top, 0, -1):
        here *= k / ((n - k + 1) * odds)
        out[k - 1] = here
    return out
