"""What blocks a release: golden scenarios, bars, drops, confirmed suspects, metrics that block. Pure."""

from __future__ import annotations

from evalrepo.comparing.advice import look_at, names, plural
from evalrepo.comparing.confirming import GOLDEN_REPS, golden_failed
from evalrepo.comparing.diff import bar_text, drops, small
from evalrepo.comparing.statistics import allowed, p_at_least, p_so_many
from evalrepo.records.inference import Confirmation, MetricResult
from evalrepo.records.verdict import CellResult, Label, Policy, Reason, Verdict

ASSUMED_RATE = 0.9
"""Pass rate at which bars are judged where no base says another."""


def blocking(bare: Verdict) -> list[Reason]:
    """All of them, the plainest first."""
    every = bare.policy.bar == "every-cell"
    bars = _every_bar(bare) if every else [*_count_bar(bare), *new_bar(bare)]
    return [*_golden(bare), *bars, *drops(bare, "block"), *_confirmed(bare), *_metrics(bare)]


def outcome(bare: Verdict, cell: CellResult, of: str) -> Confirmation | None:
    """What fresh reps say of a cell."""
    return next((c for c in bare.confirmations if c.cell == cell.name and c.of == of), None)


def _golden(bare: Verdict) -> list[Reason]:
    out = []
    for cell in filter(golden_failed, bare.cells):
        found = outcome(bare, cell, "golden")
        if cell.after is None or (found is not None and found.outcome == "cleared"):
            continue
        text = f"golden {cell.name}: {cell.after.valid - cell.after.passes} of {cell.after.valid} failed"
        if found is not None:
            again = f"{found.after[1] - found.after[0]} of {found.after[1]} fresh reps failed"
            more = f"; {GOLDEN_REPS} must pass to clear it" if found.outcome == "open" else " again"
            text += f", and {again}{more}"
        out.append(Reason("block", "golden", text, look_at(cell)).on([cell]))
    return out


def _every_bar(bare: Verdict) -> list[Reason]:
    return [
        Reason("block", "below-bar", bar_text(c) + _before_too(c), look_at(c)).on([c])
        for c in bare.cells
        if c.below_bar and not c.golden
    ]


def _before_too(cell: CellResult) -> str:
    if not cell.comparable or cell.before is None:
        return ""
    return "" if cell.fell_below_bar else f" (the base has {cell.before.passes} of {cell.before.valid})"


def _count_bar(bare: Verdict) -> list[Reason]:
    bar = bare.bar
    if bar is None or bar.holm is None or bar.holm > bare.policy.alpha:
        return []
    below = [c for c in bare.cells if c.comparable and not c.same_reps and c.below_bar]
    text = (
        f"{plural(bar.below, 'cell')} of {bar.cells} below the bar; chance alone would leave {bar.allowed} at most "
        f"(p {small(bar.p)}, Holm {small(bar.holm)}): {names(below)}"
    )
    return [Reason("block", "below-bar", text, look_at(below[0])).on(below)]


def new_bar(bare: Verdict) -> list[Reason]:
    """Cells without a base are held to a count bar at the assumed pass rate."""
    new = [c for c in bare.cells if c.label is Label.NEW and c.needed is not None and c.after is not None]
    misses = [1 - p_at_least(c.needed or 0, c.after.valid, ASSUMED_RATE) for c in new if c.after is not None]
    below = [c for c in new if c.below_bar]
    p = p_so_many(misses, len(below))
    if not below or p > bare.policy.alpha:
        return []
    text = (
        f"{plural(len(below), 'cell')} of {len(new)} without a base below the bar; at a rate of {ASSUMED_RATE:.0%} "
        f"chance would leave {allowed(misses, bare.policy.alpha)} at most (p {small(p)}): {names(below)}"
    )
    return [Reason("block", "below-bar", text, look_at(below[0])).on(below)]


def _confirmed(bare: Verdict) -> list[Reason]:
    return [
        Reason("block", "confirmed", confirmed_text(found), look_at(cell)).on([cell])
        for cell in bare.cells
        if (found := outcome(bare, cell, "suspect")) and found.outcome == "confirmed"
    ]


def confirmed_text(found: Confirmation) -> str:
    """The numbers of fresh reps, and what they say."""
    (a, n_a), (b, n_b) = found.before, found.after
    by = f"Fisher p {small(found.p)} after Holm" if found.p is not None else "sequential test"
    said = {"confirmed": "the fall is confirmed", "cleared": "the fall is not confirmed", "open": "not yet decided"}
    base = f"{a}/{n_a} at the base, " if n_a else ""
    return f"{found.cell}: fresh reps {base}{b}/{n_b} here ({by}): {said[found.outcome]}"


def _metrics(bare: Verdict) -> list[Reason]:
    if bare.policy.metric_drop != "block":
        return []
    base = bare.before.commit[:12] or bare.before.name
    return [
        Reason("block", "metric", metric_text(m), f"evalrepo diff {base}").on(scored(bare, m))
        for m in bare.metrics
        if metric_dropped(m, bare.policy) and not m.waiver
    ]


def metric_dropped(metric: MetricResult, policy: Policy) -> bool:
    """Whether its drop stands after Holm, or where the policy says so, whether its mean fell at all."""
    if metric.test is None:
        return False
    if policy.metric_when == "any":
        return metric.after < metric.before
    return metric.test.holm is not None and metric.test.holm <= policy.alpha


def scored(bare: Verdict, metric: MetricResult) -> list[CellResult]:
    """The cells that a metric's result is over."""
    both = [(c, c.before, c.after) for c in bare.cells if c.comparable]
    return [c for c, b, a in both if b and a and metric.name in b.metrics and metric.name in a.metrics]


def metric_text(metric: MetricResult) -> str:
    """The numbers of a metric that dropped."""
    assert metric.test is not None
    return (
        f"metric {metric.name} fell from {metric.before:.2f} to {metric.after:.2f} over {plural(metric.cells, 'cell')} "
        f"(exact p {small(metric.test.p_drop)}, Holm {small(metric.test.holm or 0.0)})"
    )
