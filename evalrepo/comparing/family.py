"""The one family of tests of a verdict: overall, tiers, the count bar, and metrics that block. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evalrepo.comparing.rates import tested
from evalrepo.comparing.statistics import allowed, benjamini_hochberg, boschloo, holm, p_below_again, p_so_many
from evalrepo.records.inference import Bar, MetricResult, Test
from evalrepo.records.verdict import CellResult, Policy, Rate

FEW = 5
"""Valid reps a side below which no cell is given a q: at three not even a collapse survives seven cells."""

BAR_WEIGHT = 0.25
"""Of the bar beside tests that weigh 1: it sees little that the overall test does not, and must not blunt it."""


class Family(NamedTuple):
    """What is tested together. Tiers are members when there are several."""

    overall: Rate | None
    tiers: tuple[Rate, ...]
    bar: Bar | None
    metrics: tuple[MetricResult, ...]


def corrected(family: Family, policy: Policy) -> Family:
    """The same with Holm's correction of the drop's p on every member.

    Metrics that are only to be investigated are a family of their own: they block nothing.
    """
    bar = family.bar if policy.bar == "count" else None
    tiers = family.tiers if len(family.tiers) > 1 else ()
    rates = [r for r in (family.overall, *tiers) if r is not None and r.test is not None]
    blocking = policy.metric_drop == "block"
    metrics = [m for m in family.metrics if m.test is not None]
    ps = [_drop(r.test) for r in rates]
    ps += [bar.p] if bar is not None else []
    ps_blocking = [_drop(m.test) for m in metrics] if blocking else []
    weights = [1.0] * len(rates) + ([BAR_WEIGHT] if bar is not None else []) + [1.0] * len(ps_blocking)
    together = holm(ps + ps_blocking, weights)
    of_metrics = together[len(ps) :] if blocking else holm([_drop(m.test) for m in metrics])
    found = dict(zip([r.name for r in rates], together, strict=False))
    return Family(
        overall=_rate(family.overall, found),
        tiers=tuple([r for t in family.tiers if (r := _rate(t, found))]),
        bar=bar._replace(holm=together[len(rates)]) if bar is not None else family.bar,
        metrics=_metrics(family.metrics, dict(zip([m.name for m in metrics], of_metrics, strict=True))),
    )


def _drop(test: Test | None) -> float:
    return test.p_drop if test is not None else 1.0


def _rate(rate: Rate | None, found: dict[str, float]) -> Rate | None:
    if rate is None or rate.test is None or rate.name not in found:
        return rate
    return rate._replace(test=rate.test._replace(holm=found[rate.name]))


def _metrics(metrics: Sequence[MetricResult], found: dict[str, float]) -> tuple[MetricResult, ...]:
    return tuple(m._replace(test=m.test._replace(holm=found[m.name])) if m.test is not None else m for m in metrics)


def bar(cells: Sequence[CellResult], policy: Policy) -> Bar | None:
    """How many compared cells are below their bar, against what chance alone makes of both sides' passes.

    If nothing changed, which of a cell's reps are the candidate's is arbitrary; the chance that those it got miss the
    bar is then known exactly, whatever the true pass rate is.
    """
    pairs = [(c, b, a) for c, b, a in tested(cells) if c.needed is not None]
    if not pairs:
        return None
    misses = [p_below_again(b.passes + a.passes, b.valid + a.valid, a.valid, c.needed or 0) for c, b, a in pairs]
    below = sum(c.below_bar for c, _, _ in pairs)
    return Bar(below, len(pairs), allowed(misses, policy.alpha), p_so_many(misses, below))


def with_q(cells: Sequence[CellResult]) -> tuple[CellResult, ...]:
    """The cells with q where both sides have enough reps."""
    places = [
        (n, b, a)
        for n, (c, b, a) in ((n, (c, c.before, c.after)) for n, c in enumerate(cells))
        if c.comparable and not c.same_reps and b is not None and a is not None and min(b.valid, a.valid) >= FEW
    ]
    out = list(cells)
    qs = benjamini_hochberg([boschloo(b.counts, a.counts) for _, b, a in places])
    for (n, _, _), q in zip(places, qs, strict=True):
        out[n] = out[n]._replace(q=q)
    return tuple(out)
