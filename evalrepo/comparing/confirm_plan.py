"""Which fresh reps a gate's open cells need, by a plan that is fixed before they are taken. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evalrepo.comparing.confirming import GOLDEN_REPS, golden_failed
from evalrepo.comparing.pool import Group, Pool, score
from evalrepo.comparing.statistics import sprt
from evalrepo.records.inference import Fresh
from evalrepo.records.verdict import CellResult, Label, Verdict

CAP = 20
"""Most reps of a sequential plan; then the cell stays open (statistics 2.11)."""
KNOWN = 20
"""Valid reps of the base at which its rate is known well enough for a sequential plan."""
GOOD = 0.9
"""The base's pass rate that a sequential plan assumes; a worse base is compared by a fixed plan."""


@dataclass(frozen=True, slots=True)
class Need:
    """Valid fresh reps that a cell must have on each side, and how many of them are lacking. `most`: what the whole
    plan may still cost."""

    cell: CellResult
    plan: Literal["fixed", "sprt"]
    before: int
    after: int
    lacking: int
    most: int


def open_cells(cells: Iterable[CellResult]) -> list[CellResult]:
    """Suspects and golden cells with a FAIL, the likeliest falls first; none of the reserve, which has its looks."""
    found = [c for c in cells if c.comparable and c.set != "reserve" and (c.label is Label.SUSPECT or golden_failed(c))]
    return sorted(found, key=lambda c: (not c.golden, -(c.p_worse or 0.0), c.name))


def fresh_of(cell: CellResult, pools: tuple[Pool | None, Pool | None], base: Group | None, reps: int) -> Fresh:
    """What the fresh reps at hand say of an open cell. `pools`: those reps alone, of both sides; `base`: the base's
    reps that decide, which choose the plan; `reps`: of a fixed plan.

    Of several apparatuses the newest that both sides have. The first reps of the plan count, a later one never.
    """
    before, after = _groups(*pools)
    if cell.label is not Label.SUSPECT:
        return Fresh(cell.name, (0, 0), _counts(after, GOLDEN_REPS), GOLDEN_REPS, "fixed", _strip(after, GOLDEN_REPS))
    reps = max(reps, GOLDEN_REPS) if golden_failed(cell) else reps
    if before is None and _well_known(base):
        return Fresh(cell.name, (0, 0), _counts(after, CAP), CAP, "sprt", _strip(after, CAP))
    return Fresh(cell.name, _counts(before, reps), _counts(after, reps), reps, "fixed", _strip(after, reps))


def _groups(before: Pool | None, after: Pool | None) -> tuple[Group | None, Group | None]:
    old = [g for g in before.groups if g.valid] if before is not None else []
    new = [g for g in after.groups if g.valid] if after is not None else []
    for group in new:
        for other in old:
            if (group.apparatus, group.model) == (other.apparatus, other.model):
                return other, group
    return next(iter(old), None), next(iter(new), None) if not old else None


def _well_known(base: Group | None) -> bool:
    """Whether the base passes as a sequential plan assumes, by enough reps."""
    if base is None or base.valid < KNOWN:
        return False
    return sum(rep.last.verdict == "PASS" for rep in base.reps) >= GOOD * base.valid


def _counts(group: Group | None, reps: int) -> tuple[int, int]:
    return score(group, reps).counts if group is not None else (0, 0)


def _strip(group: Group | None, reps: int) -> str:
    return score(group, reps).strip.replace("E", "") if group is not None else ""


def settled(verdict: Verdict) -> str:
    """Why fresh reps cannot change a gate's answer, "" when they can: they lift a golden FAIL, and no other block."""
    if verdict.answer == "invalid":
        return "the gate is invalid, which fresh reps cannot change"
    fixed = [r.text for r in verdict.reasons if r.kind == "block" and r.code != "golden"]
    return f"the gate blocks whatever fresh reps say: {fixed[0]}" if fixed else ""


def needs(cells: Sequence[CellResult], fresh: Sequence[Fresh], alpha: float) -> list[Need]:
    """What is lacking of the plans of open cells, in their order; cells whose fresh reps are there need nothing."""
    held = {f.cell: f for f in fresh}
    each = alpha / max(1, sum(c.label is Label.SUSPECT for c in cells))
    found = (_need(cell, held[cell.name], each) for cell in cells if cell.name in held)
    return [need for need in found if need.lacking]


def _need(cell: CellResult, fresh: Fresh, alpha: float) -> Need:
    have = fresh.after[1]
    if fresh.plan == "sprt":
        more = batch(fresh.strip, alpha)
        return Need(cell, "sprt", 0, have + more, more, CAP - have if more else 0)
    both = cell.label is Label.SUSPECT
    lacking = max(0, fresh.planned - have) + (max(0, fresh.planned - fresh.before[1]) if both else 0)
    return Need(cell, "fixed", fresh.planned if both else 0, fresh.planned, lacking, lacking)


def batch(strip: str, alpha: float) -> int:
    """How many reps a sequential plan can take next without passing a boundary unseen: 0 when it is decided."""
    if sprt([letter == "P" for letter in strip], alpha=alpha).state != "open":
        return 0
    most = max(0, CAP - len(strip))
    for more in range(1, most + 1):
        ends = (sprt([letter == "P" for letter in strip + kind * more], alpha=alpha).state for kind in "PF")
        if any(state != "open" for state in ends):
            return more
    return most


def within(found: Sequence[Need], budget: int) -> tuple[list[Need], list[Need]]:
    """Whole plans that fit the budget of reps, and those that do not: half a plan decides nothing."""
    chosen: list[Need] = []
    left: list[Need] = []
    for need in found:
        fits = sum(n.most for n in chosen) + need.most <= budget
        (chosen if fits else left).append(need)
    return chosen, left
