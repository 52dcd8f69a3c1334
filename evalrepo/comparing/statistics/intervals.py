"""Intervals of one pass rate, and of the difference of two. Never the normal approximation.

Bowyer, Aitchison and Ivanova 2025 (arXiv 2503.01747): the central limit theorem misleads below a few hundred points.
"""

from __future__ import annotations

import math

from evalrepo.comparing.statistics.special import beta_quantile, normal_quantile

Counts = tuple[int, int]
"""Passes, valid reps."""

Z95 = 1.959964
"""Two-sided 95 % quantile of the normal law."""


def wilson(passes: int, valid: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's interval of a pass rate, in [0, 1]; (0, 1) when nothing was measured. Wilson 1927, JASA 22."""
    if valid == 0:
        return (0.0, 1.0)
    rate = passes / valid
    scale = 1 + z**2 / valid
    centre = (rate + z**2 / (2 * valid)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / valid + z**2 / (4 * valid**2))
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return (0.0 if passes == 0 else low, 1.0 if passes == valid else high)


def clopper_pearson(passes: int, valid: int, confidence: float = 0.95) -> tuple[float, float]:
    """The two-sided exact interval; it covers at least `confidence`. Clopper and Pearson 1934, Biometrika 26."""
    tail = (1 - confidence) / 2
    return (at_least(passes, valid, 1 - tail), at_most(passes, valid, 1 - tail))


def at_least(passes: int, valid: int, confidence: float = 0.95) -> float:
    """The one-sided exact lower bound of a pass rate (Clopper and Pearson); 0 when nothing passed."""
    return 0.0 if passes == 0 else beta_quantile(1 - confidence, passes, valid - passes + 1)


def at_most(passes: int, valid: int, confidence: float = 0.95) -> float:
    """The one-sided exact upper bound; 1 when everything passed. For 0 of n it is 1 - (1 - confidence)^(1/n)."""
    return 1.0 if passes == valid else beta_quantile(confidence, passes + 1, valid - passes)


def jeffreys(passes: int, valid: int, confidence: float = 0.95) -> tuple[float, float]:
    """Equal tails of Beta(k + ½, n - k + ½), 0 or 1 at the ends. Brown, Cai and DasGupta 2001, Stat. Science 16."""
    tail = (1 - confidence) / 2
    a, b = passes + 0.5, valid - passes + 0.5
    low = 0.0 if passes == 0 else beta_quantile(tail, a, b)
    return (low, 1.0 if passes == valid else beta_quantile(1 - tail, a, b))


def newcombe(before: Counts, after: Counts, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of the rate after minus the rate before, from Wilson's two. Newcombe 1998, Stat. Med. 17."""
    z = normal_quantile(0.5 + confidence / 2)
    old, new = before[0] / before[1], after[0] / after[1]
    (old_low, old_high), (new_low, new_high) = wilson(*before, z), wilson(*after, z)
    down = math.hypot(new - new_low, old_high - old)
    up = math.hypot(new_high - new, old - old_low)
    return (new - old - down, new - old + up)
