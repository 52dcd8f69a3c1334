"""Several tests at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Adjusted p-values: P(any false one among those at most alpha) <= alpha, whatever depends on what.

    Holm 1979, Scand. J. Stat. 6, with his weights: a test of weight w gets w parts of alpha; by default all weigh 1.
    """
    held = list(weights) if weights is not None else [1.0] * len(ps)
    order = sorted(range(len(ps)), key=lambda i: ps[i] / held[i])
    out, largest, left = [0.0] * len(ps), 0.0, sum(held)
    for i in order:
        largest = max(largest, min(1.0, ps[i] / held[i] * left))
        out[i] = largest
        left -= held[i]
    return out


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Adjusted p-values: of those at most q, a share of q is expected to be false. Benjamini and Hochberg 1995."""
    return _step_up(ps, 1.0)


def benjamini_yekutieli(ps: Sequence[float]) -> list[float]:
    """The same whatever depends on what. Benjamini and Yekutieli 2001."""
    return _step_up(ps, sum(1 / i for i in range(1, len(ps) + 1)))


def _step_up(ps: Sequence[float], factor: float) -> list[float]:
    order = sorted(range(len(ps)), key=lambda i: ps[i], reverse=True)
    out, least = [0.0] * len(ps), 1.0
    for rank, i in enumerate(order):
        least = min(least, ps[i] * len(ps) * factor / (len(ps) - rank))
        out[i] = least
    return out


def any_false(alpha: float, tests: int) -> float:
    """P(at least one false alarm) of so many independent tests at alpha: what peeking at a fixed-n test costs."""
    return 1 - (1 - alpha) ** tests
