"""The rules of a diff: what is a finding, and what is only said. Pure.

Exit 0: comparable, and nothing worse than noise. 1: a suspect, a cell that fell below its bar, a drop overall or in a
tier that noise does not explain, or a degenerate suite. 2: nothing comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalrepo.comparing.advice import look_at, measure, measure_base, names, plural
from evalrepo.comparing.by_hand import by_hand
from evalrepo.comparing.degenerate import alarms
from evalrepo.comparing.independence import copies
from evalrepo.comparing.judges import uncalibrated
from evalrepo.comparing.verdict import verdict
from evalrepo.records.inference import Background, MovedGoal
from evalrepo.records.verdict import Answer, CellResult, Label, Policy, Rate, Reason, Side, Verdict


def diff(
    before: Side,
    after: Side,
    cells: Iterable[CellResult],
    policy: Policy,
    *,
    background: Background | None = None,
) -> Verdict:
    """The verdict of a diff."""
    return verdict("diff", (before, after), cells, policy, rules=rules, background=background)


def rules(bare: Verdict) -> tuple[Sequence[Reason], Answer]:
    """Findings first, then what is not known."""
    reasons = [*alarms(bare, "finding"), *drops(bare, "finding"), *_suspects(bare), *_fallen(bare)]
    reasons += [*by_hand(bare, "note"), *unmeasured(bare, "note"), *copies(bare), *uncalibrated(bare), *_moved(bare)]
    if not bare.validity.comparable:
        reasons.append(_nothing(bare))
        return reasons, "unknown"
    return reasons, "finding" if any(r.kind == "finding" for r in reasons) else "same"


def _moved(bare: Verdict) -> list[Reason]:
    """Subjects that changed together with what measures them: the easier question may be the better score."""
    return [Reason("note", "moved-goal", _moved_text(bare, one), _against(bare)) for one in bare.background.moved]


def _moved_text(bare: Verdict, one: MovedGoal) -> str:
    more = f" and {plural(len(one.goals) - 1, 'more file')}" if len(one.goals) > 1 else ""
    return (
        f"the goal moved with the ball: since {bare.before.name} the subject {one.subject} changed ({one.ball}), and "
        f"so did what measures it ({one.goals[0]}{more})"
    )


def _against(bare: Verdict) -> str:
    base = bare.before.commit[:12] or bare.before.name
    return f"evalrepo run --against {base}" if bare.before.commit else f"evalrepo diff {base}"


def _nothing(bare: Verdict) -> Reason:
    if not bare.cells:
        return Reason("unknown", "no-cells", "no scenario fits, so there is no cell to compare", "evalrepo list")
    text = f"none of {plural(len(bare.cells), 'cell')} has comparable scores on both sides"
    return Reason("unknown", "nothing-comparable", text, "evalrepo status")


def _suspects(bare: Verdict) -> list[Reason]:
    return [
        Reason("finding", "suspect", suspect_text(c), look_at(c)).on([c])
        for c in bare.cells
        if c.label is Label.SUSPECT
    ]


def suspect_text(cell: CellResult) -> str:
    """The numbers of a suspect."""
    assert cell.before is not None
    assert cell.after is not None
    old, new = cell.before, cell.after
    worse = f"P(worse) {min(cell.p_worse or 0.0, 0.999):.3f}"
    return f"{cell.name} fell from {old.passes}/{old.valid} to {new.passes}/{new.valid} ({worse}): suspect, not proven"


def drops(bare: Verdict, kind: str) -> list[Reason]:
    """The rates whose drop stands after Holm: the overall one, with the tiers that it comes from; or the tiers."""
    overall = [bare.overall] if bare.overall is not None and _dropped(bare.overall, bare.policy.alpha) else []
    tiers = [t for t in bare.tiers if len(bare.tiers) > 1 and _dropped(t, bare.policy.alpha)]
    fallen = [c for c in bare.cells if c.label in (Label.WORSE, Label.SUSPECT)]
    if not overall:
        return [Reason(kind, "drop", drop_text(r), look_at(_worst(fallen, r))).on(_over(bare, r)) for r in tiers]
    text = "; ".join([drop_text(overall[0]), *(f"{t.name} from {t.before:.0%} to {t.after:.0%}" for t in tiers)])
    return [Reason(kind, "drop", text, look_at(_worst(fallen, overall[0]))).on(_over(bare, overall[0]))]


def _over(bare: Verdict, rate: Rate) -> list[CellResult]:
    """The cells that a rate is over."""
    return [c for c in bare.cells if c.comparable and rate.name in ("all", f"{c.agent}/{c.tier}")]


def _dropped(rate: Rate, alpha: float) -> bool:
    return rate.test is not None and rate.test.holm is not None and rate.test.holm <= alpha


def _worst(fallen: Sequence[CellResult], rate: Rate) -> CellResult:
    """The cell of this rate that most probably fell; there is one, or the rate had not dropped."""
    held = [c for c in fallen if rate.name in ("all", f"{c.agent}/{c.tier}")]
    return max(held, key=lambda c: c.p_worse or 0.0)


def drop_text(rate: Rate) -> str:
    """The numbers of a rate that dropped."""
    assert rate.test is not None
    where = "the overall pass rate" if rate.name == "all" else f"the pass rate of {rate.name}"
    return (
        f"{where} fell from {rate.before:.0%} to {rate.after:.0%} over {plural(rate.cells, 'cell')} "
        f"(exact p {small(rate.test.p_drop)}, Holm {small(rate.test.holm or 0.0)})"
    )


def small(p: float) -> str:
    """A probability that is never said to be zero."""
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def _fallen(bare: Verdict) -> list[Reason]:
    return [
        Reason("finding", "fell-below-bar", bar_text(c), look_at(c)).on([c])
        for c in bare.cells
        if c.fell_below_bar and c.p_worse is not None and c.label is not Label.SUSPECT
    ]


def bar_text(cell: CellResult) -> str:
    """The numbers of a cell below its bar."""
    assert cell.after is not None
    return f"{cell.name}: {cell.after.passes} of {cell.after.valid} passed, its bar asks {cell.needed}"


_SENTENCES = {
    Label.MISSING: "without a valid rep",
    Label.STALE: "with stale scores only",
    Label.NOT_COMPARABLE: "not comparable",
    Label.GONE: "gone: the candidate's grid does not hold what the base's does",
}


def unmeasured(bare: Verdict, kind: str) -> list[Reason]:
    """One reason for each way in which cells have no comparable score."""
    found: dict[tuple[Label, str, bool], list[CellResult]] = {}
    for cell in bare.cells:
        if cell.label in _SENTENCES:
            side = "" if cell.label is Label.GONE else cell.missing_side
            found.setdefault((cell.label, side, cell.set == "reserve"), []).append(cell)
    return [_unmeasured(bare, kind, cells) for _, cells in sorted(found.items())]


def _unmeasured(bare: Verdict, kind: str, cells: list[CellResult]) -> Reason:
    first = cells[0]
    if first.label is Label.GONE:
        text = f"{plural(len(cells), 'cell')} {_SENTENCES[first.label]}: {names(cells)}"
        return Reason(kind, "gone", text).on(cells)
    where = {"after": f" at {bare.after.name}", "before": f" at {bare.before.name}"}.get(first.missing_side, "")
    why = f" ({first.why})" if len(cells) == 1 and first.why else ""
    text = f"{plural(len(cells), 'cell')} {_SENTENCES[first.label]}{where}: {names(cells)}{why}"
    here = first.missing_side == "after"
    command = measure(cells, bare.after) if here else measure_base(cells, bare.before, bare.after)
    return Reason(kind, str(first.label), text, command).on(cells)
