"""Means over scenarios and their standard errors. A rep is no question of its own: it is inside its scenario's mean.

Miller 2024, "Adding error bars to evals" (arXiv 2411.00640).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from evalrepo.comparing.statistics.special import normal_quantile, t_quantile

ENOUGH = 20
"""Clusters from which Student's t is trusted."""


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of at least one value."""
    return sum(values) / len(values)


def middle(values: Sequence[float]) -> float | None:
    """The median, None for no values."""
    ordered, half = sorted(values), len(values) // 2
    if not ordered:
        return None
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def standard_error(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float | None:
    """Of the mean of scenarios' values; `clusters` names each value's cluster. None below two values.

    SE² = Σ(s - s̄)² / (m(m - 1)), and with clusters + Σ over clusters of Σ_{i≠j}(s_i - s̄)(s_j - s̄) / m², never below
    zero. Miller 2024, equations 2 and 4.
    """
    m = len(values)
    if m < 2:
        return None
    centre = mean(values)
    off = [v - centre for v in values]
    square = sum(d * d for d in off) / (m * (m - 1))
    if clusters is not None:
        sums: dict[Hashable, float] = {}
        for name, d in zip(clusters, off, strict=True):
            sums[name] = sums.get(name, 0.0) + d
        square += (sum(s * s for s in sums.values()) - sum(d * d for d in off)) / m**2
    return math.sqrt(max(0.0, square))


def t_interval(centre: float, error: float, df: int, confidence: float = 0.95) -> tuple[float, float]:
    """Student's two-sided interval around a mean. Use it from `ENOUGH` clusters on."""
    half = t_quantile(0.5 + confidence / 2, df) * error
    return (centre - half, centre + half)


def t_bound(centre: float, error: float, df: int, confidence: float = 0.95) -> float:
    """Student's one-sided lower bound of a mean."""
    return centre - t_quantile(confidence, df) * error


def planned_error(scenarios: int, between: float, within: float, reps: int) -> float:
    """Standard error to expect of a suite mean: variance between scenarios, within one, reps of each. Miller 2024."""
    return math.sqrt((between + within / reps) / scenarios)


def planned_scenarios(drop: float, between: float, within: tuple[float, float] = (0.0, 0.0), reps: int = 1) -> int:
    """Scenarios for power .8 at two-sided 5 % against a paired mean difference `drop`; `between`: its variance."""
    spread = between + sum(within) / reps
    return math.ceil(_z_sum() ** 2 * spread / drop**2)


def planned_drop(scenarios: int, between: float, within: tuple[float, float] = (0.0, 0.0), reps: int = 1) -> float:
    """The difference that so many scenarios show with power .8 at two-sided 5 %."""
    return _z_sum() * math.sqrt((between + sum(within) / reps) / scenarios)


def _z_sum() -> float:
    """For power .8 at two-sided 5 %."""
    return normal_quantile(0.975) + normal_quantile(0.8)
