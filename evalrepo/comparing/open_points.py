"""What leaves a gate open: too few reps, unresolved suspects, a margin not shown, metrics to be investigated. Pure."""

from __future__ import annotations

import math
import shlex

from evalrepo.comparing.advice import look_at, measure, measure_base, names, plural
from evalrepo.comparing.blocking import metric_dropped, metric_text, outcome, scored
from evalrepo.comparing.by_hand import by_hand
from evalrepo.comparing.diff import suspect_text
from evalrepo.records.inference import Confirmation
from evalrepo.records.verdict import CellResult, Label, Reason, Verdict

CONFIRM = "evalrepo gate --confirm"


def unresolved(bare: Verdict) -> list[Reason]:
    """All of them."""
    return [*_few(bare), *_suspects(bare), *_metrics(bare), *_unset(bare), *_by_hand(bare), *_margin(bare)]


def _few(bare: Verdict) -> list[Reason]:
    out = []
    for side in ("after", "before"):
        short = [
            c for c in bare.cells if (c.comparable or (c.label is Label.NEW and side == "after")) and _short(c, side)
        ]
        if short:
            where = bare.after.name if side == "after" else bare.before.name
            few = f"{plural(len(short), 'cell')} with too few valid reps at {where}"
            text = f"{few} ({_have(short[0], side)}): {names(short)}"
            here = side == "after"
            command = measure(short, bare.after) if here else measure_base(short, bare.before, bare.after)
            out.append(Reason("inconclusive", "few-reps", text, command).on(short))
    return out


def _short(cell: CellResult, side: str) -> bool:
    score = cell.after if side == "after" else cell.before
    return score is not None and score.valid < cell.reps


def _have(cell: CellResult, side: str) -> str:
    score = cell.after if side == "after" else cell.before
    return f"{score.valid if score else 0} of {cell.reps}"


def _suspects(bare: Verdict) -> list[Reason]:
    out = []
    for cell in bare.cells:
        found = outcome(bare, cell, "suspect")
        if cell.label is not Label.SUSPECT or (found is not None and found.outcome != "open"):
            continue
        spent = found is not None and found.plan == "sprt" and found.after[1] >= found.planned
        text = f"{suspect_text(cell)}; unresolved{_so_far(found)}"
        command = look_at(cell) if spent or cell.set == "reserve" else CONFIRM
        out.append(Reason("inconclusive", "suspect", text, command).on([cell]))
    return out


def _so_far(found: Confirmation | None) -> str:
    if found is None:
        return ""
    if found.plan == "sprt":
        passes, reps = found.after
        return f"; {passes} of {plural(reps, 'fresh rep')} passed, the sequential test ends after {found.planned}"
    return f"; {min(found.before[1], found.after[1])} of {plural(found.planned, 'fresh rep')} a side taken"


def _metrics(bare: Verdict) -> list[Reason]:
    if bare.policy.metric_drop != "investigate":
        return []
    base = bare.before.commit[:12] or bare.before.name
    return [
        Reason("inconclusive", "metric", f"{metric_text(m)}: investigate it, or waive it", f"evalrepo diff {base}").on(
            scored(bare, m)
        )
        for m in bare.metrics
        if metric_dropped(m, bare.policy) and not m.waiver
    ]


def _unset(bare: Verdict) -> list[Reason]:
    """Where every fall matters, a score that is lacking could be one."""
    if bare.policy.metric_when != "any":
        return []
    waived = {w.metric for w in bare.background.waivers if not w.problem}
    runs = {c.name: c.after.runs[-1] for c in bare.cells if c.after is not None}
    return [
        Reason(
            "inconclusive",
            "unset",
            f"metric {one.metric} may have fallen: {plural(one.after, 'rep')} of cells that the base scores lack it",
            f"evalrepo score {runs[one.cells[0]]}",
        ).on(c for c in bare.cells if c.name in one.cells)
        for one in bare.unset
        if one.after and one.metric not in waived
    ]


def _by_hand(bare: Verdict) -> list[Reason]:
    return by_hand(bare, "inconclusive") if bare.policy.by_hand == "investigate" else []


def _margin(bare: Verdict) -> list[Reason]:
    found = bare.margin
    if found is None or found.shown or found.margin >= 1:
        return []
    how = "Student's" if found.method == "t" else "exact"
    text = (
        f"a drop of more than {_points(found.margin)} is not excluded: the overall pass rate may have fallen by "
        f"{_points(-found.bound)} ({how} one-sided {1 - bare.policy.alpha:.0%} bound, from {found.reps[0]} and "
        f"{found.reps[1]} reps)"
    )
    if found.attainable >= found.margin:
        text += f"; so few reps exclude {_points(found.attainable)} at best, even if all pass"
    one = bare.policy.suites if len(bare.policy.suites) == 1 else ()
    compared = [c for c in bare.cells if c.comparable]
    return [Reason("inconclusive", "margin", text, shlex.join(["evalrepo", "plan", *one])).on(compared)]


def _points(share: float) -> str:
    """Rounded up: a bound is never said to be better than it is."""
    return plural(math.ceil(share * 100 - 1e-9), "point")
