"""The one function from scores to a verdict. What the question is (a diff or a gate) is the `rules` it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from evalrepo.comparing.statistics import p_false_suspect
from evalrepo.records.verdict import (
    SEVERITY,
    Answer,
    CellResult,
    Errors,
    Excluded,
    Label,
    Policy,
    Rate,
    Reason,
    Score,
    Side,
    Validity,
    Verdict,
)

Rules = Callable[[Verdict], tuple[Sequence[Reason], Answer]]
"""From a verdict without reasons to its reasons and its answer."""


def verdict(
    question: Literal["diff", "gate"],
    sides: tuple[Side, Side],
    cells: Iterable[CellResult],
    policy: Policy,
    *,
    rules: Rules,
    frozen: Sequence[str] = (),
) -> Verdict:
    """The verdict on these cells. Pure: the same cells, policy and rules give the same object."""
    ordered = tuple(sorted(cells, key=lambda c: (c.scenario, c.agent, c.tier)))
    comparable = [c for c in ordered if c.comparable]
    bare = Verdict(
        question=question,
        before=sides[0],
        after=sides[1],
        policy=policy,
        validity=_validity(ordered),
        overall=rate("all", comparable),
        tiers=_tiers(comparable),
        cells=ordered,
        suspects=tuple(c.name for c in ordered if c.label is Label.SUSPECT),
        expected_false_suspects=expected_false_suspects(comparable),
        frozen=tuple(frozen),
        reasons=(),
        answer="unknown",
    )
    reasons, answer = rules(bare)
    gravest = sorted(reasons, key=lambda r: SEVERITY.index(r.kind))
    return replace(bare, reasons=tuple(gravest), answer=answer)


def expected_false_suspects(cells: Sequence[CellResult]) -> float:
    """How many of these cells would be called suspect if nothing had changed, at the pass rate of both sides."""
    scores = [(c.before, c.after) for c in cells if c.before is not None and c.after is not None]
    valid = sum(b.valid + a.valid for b, a in scores)
    if not valid:
        return 0.0
    rate = sum(b.passes + a.passes for b, a in scores) / valid
    return sum(p_false_suspect(rate, b.valid, a.valid) for b, a in scores)


def rate(name: str, cells: Sequence[CellResult]) -> Rate | None:
    """The rate of both sides: the mean over scenarios of the mean over their cells. None without a cell."""
    pairs = [(c.scenario, c.before, c.after) for c in cells if c.before is not None and c.after is not None]
    by_scenario: dict[str, list[tuple[Score, Score]]] = {}
    for scenario, before, after in pairs:
        by_scenario.setdefault(scenario, []).append((before, after))
    if not pairs:
        return None
    return Rate(
        name=name,
        scenarios=len(by_scenario),
        cells=len(pairs),
        before=_mean([_mean([b.passes / b.valid for b, _ in held]) for held in by_scenario.values()]),
        after=_mean([_mean([a.passes / a.valid for _, a in held]) for held in by_scenario.values()]),
        before_counts=(sum(b.passes for _, b, _ in pairs), sum(b.valid for _, b, _ in pairs)),
        after_counts=(sum(a.passes for _, _, a in pairs), sum(a.valid for _, _, a in pairs)),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _tiers(cells: Sequence[CellResult]) -> tuple[Rate, ...]:
    names = sorted({(c.agent, c.tier) for c in cells})
    rates = [rate(f"{a}/{t}", [c for c in cells if (c.agent, c.tier) == (a, t)]) for a, t in names]
    return tuple(r for r in rates if r is not None)


def _validity(cells: Sequence[CellResult]) -> Validity:
    labels: dict[str, int] = {}
    for cell in cells:
        labels[cell.label] = labels.get(cell.label, 0) + 1
    concurrent, gap = _concurrent(cells)
    return Validity(
        comparable=sum(c.comparable for c in cells),
        labels=dict(sorted(labels.items())),
        before=_errors([c.before for c in cells]),
        after=_errors([c.after for c in cells]),
        concurrent=concurrent,
        gap=gap,
        excluded=_excluded(cells),
    )


def _errors(scores: Iterable[Score | None]) -> Errors:
    held = [s for s in scores if s is not None]
    kinds: dict[str, int] = {}
    for one in held:
        for kind, n in one.errors_by_kind.items():
            kinds[kind] = kinds.get(kind, 0) + n
    return Errors(
        errors=sum(s.errors for s in held),
        reps=sum(s.valid + s.beyond + s.errors for s in held),
        retries=sum(s.retries for s in held),
        kinds=dict(sorted(kinds.items())),
    )


def _concurrent(cells: Sequence[CellResult]) -> tuple[bool, str]:
    """Whether the two sides' reps of every compared cell overlap in time, and else the times."""
    apart = [
        (b, a)
        for c in cells
        if c.comparable and (b := c.before) is not None and (a := c.after) is not None
        if b.last < a.first or a.last < b.first
    ]
    if not apart:
        return True, ""
    first, last = min(b.first for b, _ in apart), max(b.last for b, _ in apart)
    return False, f"{span(first, last)} and {span(min(a.first for _, a in apart), max(a.last for _, a in apart))}"


def span(first: str, last: str) -> str:
    """Two RFC 3339 times as a person writes a span."""
    return _minute(first) if first[:16] == last[:16] else f"{_minute(first)} to {_minute(last)}"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _excluded(cells: Iterable[CellResult]) -> tuple[Excluded, ...]:
    found: dict[str, int] = {}
    for cell in cells:
        for excluded in cell.excluded:
            found[excluded.why] = found.get(excluded.why, 0) + excluded.reps
    return tuple(Excluded(why, reps) for why, reps in sorted(found.items()))
