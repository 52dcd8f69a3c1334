"""The one function from scores to a verdict. What the question is (a diff or a gate) is the `rules` it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from evalrepo.comparing.confirming import confirmations
from evalrepo.comparing.family import Family, bar, corrected, with_q
from evalrepo.comparing.measures import instrument, metrics, unset, usage
from evalrepo.comparing.rates import margin, rate
from evalrepo.comparing.statistics import p_false_suspect
from evalrepo.comparing.validity import validity
from evalrepo.records.inference import Background, Fresh
from evalrepo.records.verdict import SEVERITY, Answer, CellResult, Label, Policy, Rate, Reason, Side, Verdict

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
    confirmed: Sequence[Fresh] = (),
    background: Background | None = None,
) -> Verdict:
    """The verdict on these cells. Pure: the same arguments give the same object, in whatever order the cells come."""
    bare = _bare(question, sides, cells, policy, confirmed, background or Background())
    bare = bare._replace(frozen=tuple(frozen))
    reasons, answer = rules(bare)
    gravest = sorted(reasons, key=lambda r: SEVERITY.index(r.kind))
    return bare._replace(reasons=tuple(_looked(reason, bare.background) for reason in gravest), answer=answer)


def _looked(reason: Reason, background: Background) -> Reason:
    """A reason that rests on the reserve says how many looks preceded it."""
    said = [one for one in background.looks if set(one.scenarios) & set(reason.scenarios)]
    text = "; ".join(f"reserve of {one.subject}: {one.told}" for one in said if one.told not in reason.text)
    return reason._replace(text=f"{reason.text} [{text}]") if text else reason


def _bare(
    question: Literal["diff", "gate"],
    sides: tuple[Side, Side],
    cells: Iterable[CellResult],
    policy: Policy,
    confirmed: Sequence[Fresh],
    background: Background,
) -> Verdict:
    ordered = with_q(sorted(cells, key=lambda c: (c.scenario, c.agent, c.tier)))
    comparable = [c for c in ordered if c.comparable]
    waived = {w.metric: f"{w.why} ({w.by}, until {w.until})" for w in background.waivers if not w.problem}
    overall = rate("all", comparable, policy.alpha)
    family = Family(
        overall, _tiers(comparable, overall, policy.alpha), bar(comparable, policy), metrics(comparable, waived)
    )
    family = corrected(family, policy)
    return Verdict(
        question=question,
        before=sides[0],
        after=sides[1],
        policy=policy,
        validity=validity(ordered),
        overall=family.overall,
        tiers=family.tiers,
        cells=ordered,
        suspects=tuple(c.name for c in ordered if c.label is Label.SUSPECT),
        expected_false_suspects=expected_false_suspects(comparable),
        frozen=(),
        reasons=(),
        answer="unknown",
        metrics=family.metrics,
        usage=usage(comparable),
        instrument=instrument(ordered),
        bar=family.bar,
        margin=margin(overall, comparable, policy) if question == "gate" else None,
        confirmations=confirmations(ordered, confirmed, policy.alpha),
        background=background,
        unset=unset(comparable),
    )


def expected_false_suspects(cells: Sequence[CellResult]) -> float:
    """How many of these cells would be called suspect if nothing had changed, at the pass rate of both sides."""
    scores = [(c.before, c.after) for c in cells if c.before is not None and c.after is not None and not c.same_reps]
    valid = sum(b.valid + a.valid for b, a in scores)
    if not valid:
        return 0.0
    passed = sum(b.passes + a.passes for b, a in scores) / valid
    return sum(p_false_suspect(passed, b.valid, a.valid) for b, a in scores)


def _tiers(cells: Sequence[CellResult], overall: Rate | None, alpha: float) -> tuple[Rate, ...]:
    names = sorted({(c.agent, c.tier) for c in cells})
    if len(names) == 1 and overall is not None:
        return (overall._replace(name="/".join(names[0])),)
    rates = [rate(f"{a}/{t}", [c for c in cells if (c.agent, c.tier) == (a, t)], alpha) for a, t in names]
    return tuple(r for r in rates if r is not None)
