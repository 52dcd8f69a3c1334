"""Rows and sentences about what is inferred, which text and markdown share. Decides nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from evalrepo.records.inference import Bar, HandScore, InstrumentChange, MetricFall, MetricResult, Test, UsageMedian
from evalrepo.records.unset import score_word
from evalrepo.records.verdict import CellResult, Rate, Verdict
from evalrepo.render.findings import counted

Row = tuple[str, ...]
TEST_HEADS = ("exact test", "p", "p (drop)", "mid-p", "Holm", "95 % interval of the change")
METRIC_HEADS = ("metric 0-3", "cells", "before", "after", "change", "p", "p (drop)", "Holm")
FALL_HEADS = ("fell", "cell", "before", "after", "change", "by")
HAND_HEADS = ("by hand", "metric 0-3", "before", "after", "change")
USAGE_HEADS = ("median of cells", "cells", "before", "after", "change")


def p_text(p: float) -> str:
    """Three digits, and never zero."""
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def points(share: float) -> str:
    """`+3 points`, `-17 points`, `no change`."""
    whole = round(share * 100)
    return f"{whole:+d} point{'' if abs(whole) == 1 else 's'}" if whole else "no change"


def rates(verdict: Verdict) -> list[Rate]:
    """The overall rate, and the tiers when there are several."""
    tiers = verdict.tiers if len(verdict.tiers) > 1 else ()
    return [r for r in (verdict.overall, *tiers) if r is not None]


def test_rows(verdict: Verdict) -> list[Row]:
    """One for every rate that can be tested."""
    return [(r.name, *_test(r.test), interval_text(r)) for r in rates(verdict) if r.test is not None]


def _test(test: Test) -> tuple[str, str, str, str]:
    holm = "" if test.holm is None else p_text(test.holm)
    return (p_text(test.p), p_text(test.p_drop), p_text(test.mid), holm)


def interval_text(rate: Rate) -> str:
    """Student's interval in points, or why there is none."""
    if rate.interval is not None:
        return f"{rate.interval[0] * 100:+.0f} to {rate.interval[1] * 100:+.0f} points"
    return "too few for an interval" if rate.clusters < 20 else "no scenario differs"


def inference_lines(verdict: Verdict) -> Iterator[str]:
    """How many cells are below their bar, what these reps could have shown, what a gate's margin says; sentences."""
    overall = verdict.overall
    if overall is None:
        return
    if overall.test is None:
        yield "both sides are the same reps: there is nothing to test"
        return
    if verdict.bar is not None and verdict.bar.holm is not None:
        yield _bar(verdict.bar)
    if overall.detectable is None:
        yield "these reps would not show even a collapse of every cell 4 times in 5"
    else:
        least = math.ceil(overall.detectable * 100)
        yield f"these reps would show a drop of {least} points in every cell 4 times in 5, a smaller one less often"
    margin = verdict.margin
    if margin is not None and margin.shown and margin.margin < 1:
        most = max(0, math.ceil(-margin.bound * 100))
        how = "Student's" if margin.method == "t" else "exact"
        yield f"at most {most} points worse ({how} 95 % bound), within the margin of {margin.margin * 100:.0f}"


def _bar(bar: Bar) -> str:
    number = "no cell" if not bar.below else f"{bar.below} of {counted(bar.cells, 'cell')}"
    if not bar.below:
        return f"{number} of {bar.cells} is below its bar"
    ps = f"p {p_text(bar.p)}, Holm {p_text(bar.holm if bar.holm is not None else 1.0)}"
    return f"{number} below the bar, up to {bar.allowed} would be chance ({ps})"


def looked_text(verdict: Verdict, cell: CellResult) -> str:
    """What is added to the line of a reserve cell."""
    one = verdict.background.looked(cell.scenario) if cell.set == "reserve" else None
    return f", look {one.spent} of {one.allowed}" if one is not None else ""


def metric_rows(verdict: Verdict) -> list[Row]:
    """Every metric that both sides score."""
    return [_metric(m) for m in verdict.metrics]


def _metric(metric: MetricResult) -> Row:
    change = metric.after - metric.before
    shown = f"{change:+.2f}" if round(change, 2) else "0.00"
    test = metric.test
    p, drop, _, holm = _test(test) if test is not None else ("", "", "", "")
    return (metric.name, str(metric.cells), f"{metric.before:.2f}", f"{metric.after:.2f}", shown, p, drop, holm)


def falls(verdict: Verdict) -> tuple[Row, list[Row]]:
    """Heads, and every cell whose mean of a metric is lower than before, by metric, the furthest first."""
    rows = [_fall(metric.name, fall) for metric in verdict.metrics for fall in metric.fell]
    people = any(row[-1] for row in rows)
    return (FALL_HEADS, rows) if people else (FALL_HEADS[:-1], [row[:-1] for row in rows])


def _fall(metric: str, fall: MetricFall) -> Row:
    people = dict.fromkeys(filter(None, (fall.before_by, fall.after_by)))
    shown = (f"{fall.before:.2f}", f"{fall.after:.2f}", f"{fall.after - fall.before:+.2f}")
    return (metric, fall.cell, *(number.removesuffix(".00") for number in shown), " → ".join(people))


def unset_lines(verdict: Verdict) -> Iterator[str]:
    """Metrics that some reps lack, one sentence each."""
    for one in verdict.unset:
        more = f" and {len(one.cells) - 3} more" if len(one.cells) > 3 else ""
        sides = [(one.before, verdict.before), (one.after, verdict.after)]
        where = ", ".join(f"{counted(n, 'rep')} at {side.name}" for n, side in sides if n)
        yield f"{one.metric} is unset in {where}: {', '.join(one.cells[:3])}{more}"


def hand_rows(verdict: Verdict) -> list[Row]:
    """Every metric that a hand-written result scores on a side."""
    return [_hand(score) for score in verdict.background.by_hand]


def _hand(score: HandScore) -> Row:
    before, after = map(score_word, (score.before, score.after))
    change = "" if score.before is None or score.after is None else f"{score.after - score.before:+d}"
    return (score.scenario, score.metric, before, after, "0" if change == "+0" else change)


def usage_rows(verdict: Verdict) -> list[Row]:
    """Every kind of usage that both sides know."""
    return [_usage(u) for u in verdict.usage]


def _usage(usage: UsageMedian) -> Row:
    change = f"{(usage.after / usage.before - 1) * 100:+.0f} %" if usage.before else ""
    name = f"{usage.name}, {usage.unit}" if usage.unit else usage.name
    return (
        name,
        str(usage.cells),
        amount(usage.before),
        amount(usage.after),
        "no change" if change == "+0 %" else change,
    )


def amount(value: float) -> str:
    """Whole numbers with separators, small ones with what matters of them."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def instrument_lines(verdict: Verdict) -> list[str]:
    """What measures differently, one sentence each."""
    return [_instrument(i) for i in verdict.instrument]


def _instrument(change: InstrumentChange) -> str:
    more = f" and {len(change.cells) - 3} more" if len(change.cells) > 3 else ""
    return f"not behaviour: {change.what}: {', '.join(change.cells[:3])}{more}"


def evidence_lines(verdict: Verdict) -> Iterator[str]:
    """What ERRORs and looks leave open; one sentence each."""
    bounds = verdict.validity.bounds
    if bounds is not None:
        low, high = (f"{round(b * 100):+d}" if round(b * 100) else "0" for b in bounds)
        yield f"ERROR rates differ: had they been FAILs or PASSes, the change would be between {low} and {high} points"
    for one in verdict.background.looks:
        yield f"reserve of {one.subject}: {one.told}"
