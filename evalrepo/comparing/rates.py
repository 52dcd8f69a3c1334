"""Pass rates over many cells: the exact test, the interval, and the smallest drop that could have been seen. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from evalrepo.comparing.statistics import (
    ENOUGH,
    Permuted,
    exact_bound,
    mean,
    smallest_drop,
    standard_error,
    stratified,
    t_bound,
    t_interval,
)
from evalrepo.comparing.statistics.noninferior import attainable
from evalrepo.records.inference import Margin, Test
from evalrepo.records.verdict import CellResult, Policy, Rate, Score

Pair = tuple[CellResult, Score, Score]
"""A comparable cell and its two scores."""


def paired(cells: Sequence[CellResult]) -> list[Pair]:
    """The cells that have both scores."""
    return [(c, c.before, c.after) for c in cells if c.before is not None and c.after is not None]


def tested(cells: Sequence[CellResult]) -> list[Pair]:
    """Those whose reps are not the same on both sides."""
    return [pair for pair in paired(cells) if not pair[0].same_reps]


def rate(name: str, cells: Sequence[CellResult], alpha: float) -> Rate | None:
    """The rate of both sides: the mean over scenarios of the mean over their cells. None without a cell."""
    pairs = paired(cells)
    if not pairs:
        return None
    scenarios = _by_scenario(pairs)
    before = [mean([b.passes / b.valid for _, b, _ in held]) for held in scenarios.values()]
    after = [mean([a.passes / a.valid for _, _, a in held]) for held in scenarios.values()]
    clusters = [held[0][0].cluster for held in scenarios.values()]
    changes = [a - b for b, a in zip(before, after, strict=True)]
    error = standard_error(changes, clusters)
    moved = tested(cells)
    return Rate(
        name=name,
        scenarios=len(scenarios),
        cells=len(pairs),
        before=mean(before),
        after=mean(after),
        before_counts=(sum(b.passes for _, b, _ in pairs), sum(b.valid for _, b, _ in pairs)),
        after_counts=(sum(a.passes for _, _, a in pairs), sum(a.valid for _, _, a in pairs)),
        clusters=len(set(clusters)),
        error=error,
        interval=_interval(changes, clusters, error),
        test=as_test(stratified([(b.counts, a.counts) for _, b, a in moved])) if moved else None,
        detectable=_detectable(moved, alpha),
    )


def _by_scenario(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair[0].scenario, []).append(pair)
    return found


def _interval(changes: Sequence[float], clusters: Sequence[str], error: float | None) -> tuple[float, float] | None:
    """Student's; None below enough clusters, and where no scenario differs: an interval of no width is no knowledge."""
    number = len(set(clusters))
    return t_interval(mean(changes), error, number - 1) if number >= ENOUGH and error else None


def as_test(found: Permuted) -> Test:
    """The record of an exact test, not yet corrected for its family."""
    return Test(found.p, found.p_drop, found.mid, found.informative)


def _detectable(pairs: Sequence[Pair], alpha: float) -> float | None:
    """By the base's pass rate over these cells (half a pass and half a fail added, so that it is never 0 or 1)."""
    valid = sum(b.valid for _, b, _ in pairs)
    if not valid:
        return None
    base = (sum(b.passes for _, b, _ in pairs) + 0.5) / (valid + 1)
    return smallest_drop([(b.valid, a.valid) for _, b, a in pairs], base, alpha)


def margin(overall: Rate | None, cells: Sequence[CellResult], policy: Policy) -> Margin | None:
    """How much worse the candidate can still be, over the cells that were measured anew; None without such a cell.

    Student's bound from 20 clusters on when scenarios differ at all; the exact bound on reps otherwise.
    """
    pairs = tested(cells)
    if overall is None or not pairs:
        return None
    reps = (sum(b.valid for _, b, _ in pairs), sum(a.valid for _, _, a in pairs))
    least = attainable(*reps, policy.alpha)
    if overall.interval is not None and overall.error is not None:
        bound = t_bound(overall.difference, overall.error, overall.clusters - 1, 1 - policy.alpha)
        return Margin(policy.margin, bound, "t", reps, least)
    counts = (sum(b.passes for _, b, _ in pairs), reps[0]), (sum(a.passes for _, _, a in pairs), reps[1])
    return Margin(policy.margin, exact_bound(*counts, policy.alpha), "exact", reps, least)


def error_bounds(cells: Sequence[CellResult]) -> tuple[float, float]:
    """The overall difference if every ERROR attempt had told against the candidate, and for it."""
    held = _by_scenario(paired(cells))
    low = mean([mean([_rate(a.worst) - _rate(b.best) for _, b, a in pairs]) for pairs in held.values()])
    high = mean([mean([_rate(a.best) - _rate(b.worst) for _, b, a in pairs]) for pairs in held.values()])
    return (low, high)


def _rate(counts: tuple[int, int]) -> float:
    return counts[0] / counts[1] if counts[1] else 0.0
