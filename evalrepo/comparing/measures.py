"""Metrics of 0-3, usage, and what measures on the two sides. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalrepo.comparing.rates import Pair, as_test, paired
from evalrepo.comparing.statistics import mean, middle, stratified_scores
from evalrepo.records.inference import InstrumentChange, MetricFall, MetricResult, Unset, UsageMedian
from evalrepo.records.verdict import CellResult, Label, Score

USAGE = (("tokens", ""), ("cost", "USD"), ("tool calls", ""), ("time", "s"))
"""Names and units, in the order of `Score.usage`."""


def metrics(cells: Sequence[CellResult], waived: Mapping[str, str]) -> tuple[MetricResult, ...]:
    """Every metric that both sides of a cell score. `waived`: metric → why its drop is waived."""
    pairs = paired(cells)
    names = sorted({name for _, b, a in pairs for name in b.scores if name in a.scores})
    return tuple(_metric(name, pairs, waived.get(name, "")) for name in names)


def _metric(name: str, pairs: Sequence[Pair], waiver: str) -> MetricResult:
    held = [p for p in pairs if p[1].scores.get(name) and p[2].scores.get(name)]
    moved = [(b.scores[name], a.scores[name]) for c, b, a in held if not c.same_reps]
    by_scenario: dict[str, list[tuple[float, float]]] = {}
    for cell, b, a in held:
        by_scenario.setdefault(cell.scenario, []).append((mean(b.scores[name]), mean(a.scores[name])))
    return MetricResult(
        name=name,
        cells=len(held),
        before=mean([mean([b for b, _ in found]) for found in by_scenario.values()]),
        after=mean([mean([a for _, a in found]) for found in by_scenario.values()]),
        scores=(sum(len(b.scores[name]) for _, b, _ in held), sum(len(a.scores[name]) for _, _, a in held)),
        test=as_test(stratified_scores(moved)) if moved else None,
        waiver=waiver,
        fell=_fell(name, held),
    )


def _fell(name: str, held: Sequence[Pair]) -> tuple[MetricFall, ...]:
    """The cells that fell, the furthest first."""
    found = [
        MetricFall(c.name, b.metrics[name], a.metrics[name], _people(b, name), _people(a, name))
        for c, b, a in held
        if a.metrics[name] < b.metrics[name]
    ]
    return tuple(sorted(found, key=lambda fall: (fall.after - fall.before, fall.cell)))


def _people(score: Score, metric: str) -> str:
    return ", ".join(score.raters.get(metric, ()))


def unset(cells: Sequence[CellResult]) -> tuple[Unset, ...]:
    """Metrics that some valid reps of a cell lack and others have; what is the same reps on both sides says nothing."""
    lacking: dict[str, list[tuple[str, int, int]]] = {}
    for cell, b, a in paired(cells):
        for name in {} if cell.same_reps else sorted({*b.scores, *a.scores}):
            before, after = (side.valid - len(side.scores.get(name, ())) for side in (b, a))
            if before or after:
                lacking.setdefault(name, []).append((cell.name, before, after))
    return tuple(
        Unset(name, sum(b for _, b, _ in held), sum(a for _, _, a in held), tuple(cell for cell, _, _ in held))
        for name, held in sorted(lacking.items())
    )


def usage(cells: Sequence[CellResult]) -> tuple[UsageMedian, ...]:
    """Medians over cells of each kind of usage that both sides know; what a script uses up says nothing."""
    found = []
    pairs = [pair for pair in paired(cells) if not pair[0].model_free]
    for place, (name, unit) in enumerate(USAGE):
        known = [
            (b.usage[place], a.usage[place])
            for _, b, a in pairs
            if b.usage[place] is not None and a.usage[place] is not None
        ]
        before, after = middle([b for b, _ in known if b is not None]), middle([a for _, a in known if a is not None])
        if before is not None and after is not None:
            found.append(UsageMedian(name, unit, len(known), before, after))
    return tuple(found)


def instrument(cells: Sequence[CellResult]) -> tuple[InstrumentChange, ...]:
    """What measures differently on the two sides: the reasons of cells that are not comparable, with the cells."""
    held: dict[str, list[str]] = {}
    for cell in cells:
        if cell.label is Label.NOT_COMPARABLE:
            held.setdefault(cell.why, []).append(cell.name)
    return tuple(InstrumentChange(what, tuple(names)) for what, names in sorted(held.items()))
