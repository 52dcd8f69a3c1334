"""One cell on two sides: which reps are compared, and what to call the difference. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from evalrepo.comparing.judges import unlike
from evalrepo.comparing.lacking import Differences, Explain, Known, best, split, unmeasured, unmeasured_base
from evalrepo.comparing.pool import Cell, Group, Identity, Pool, pool, score
from evalrepo.comparing.statistics import SUSPECT, p_worse
from evalrepo.records.row import Row
from evalrepo.records.verdict import CellResult, Excluded, Label, Moved, Score, bar_needed


class Planned(NamedTuple):
    """A cell of the grid. `reps`: N of the first N valid reps; `bar`: passes, of.

    `before` and `after` are what a side must have been measured with; None where the side has no such subject, or the
    candidate no such cell. `new`: the base's grid has no such cell, so that nobody need have measured it there.
    `thaws`: when what the scenario rests on was thawed, and the sentence about it, oldest first.
    `cluster`: scenarios that share it are one statistical unit, "" for a scenario by itself.
    """

    scenario: str
    agent: str
    tier: str
    before: Identity | None
    after: Identity | None
    title: str = ""
    set: str = "run-set"
    golden: bool = False
    model_free: bool = False
    reps: int = 3
    bar: tuple[int, int] = (2, 3)
    new: bool = False
    cluster: str = ""
    control: bool = False
    thaws: Sequence[tuple[str, str]] = ()

    @property
    def cell(self) -> Cell:
        """Scenario, agent, tier."""
        return (self.scenario, self.agent, self.tier)


def compare_cell(
    planned: Planned,
    rows: Sequence[Row],
    expected: Mapping[str, Mapping[str, str]] | None = None,
    parts: Explain | None = None,
) -> CellResult:
    """The cell on both sides. `rows`: all of this cell, `by_cell` order.

    `expected`: parts of the candidate's digests, and `parts` those of records; with both a difference can be named.
    """
    before = pool(rows, planned.before) if planned.before else None
    after = pool(rows, planned.after) if planned.after else None
    pair = _shared(before, after)
    if pair is not None:
        old, new = score(pair[0], planned.reps), score(pair[1], planned.reps)
        if why := unlike(old, new):
            return _result(planned, old, new, Label.NOT_COMPARABLE, why=why, excluded=_beside(before, after))
        return compared(planned, old, new, _beside(before, after))
    return _uncomparable(planned, (before, after), Differences(expected or {}, parts or {}, planned.thaws))


def unexplained(planned: Planned, rows: Sequence[Row]) -> list[Row]:
    """The records whose parts would say why the cell has no comparable scores; none when it has them."""
    before = pool(rows, planned.before) if planned.before else None
    after = pool(rows, planned.after) if planned.after else None
    if _shared(before, after) is not None:
        return []
    found = [row for p in (before, after) if p is not None for row in (p.other, p.stale) if row is not None]
    return list({row.oid: row for row in found}.values())


def _shared(before: Pool | None, after: Pool | None) -> tuple[Group, Group] | None:
    """The candidate's newest group that the base has as well: same apparatus, same resolved model."""
    if before is None or after is None:
        return None
    base = {(g.apparatus, g.model): g for g in before.groups if g.valid}
    for group in after.groups:
        if group.valid and (group.apparatus, group.model) in base:
            return base[group.apparatus, group.model], group
    return None


def _beside(*pools: Pool | None) -> tuple[Excluded, ...]:
    """Everything excluded on either side, once."""
    return tuple(dict.fromkeys(e for p in pools if p is not None for e in p.excluded))


def compared(planned: Planned, before: Score, after: Score, excluded: tuple[Excluded, ...] = ()) -> CellResult:
    """Two scores, each with a valid rep, that may be compared."""
    worse = p_worse(before.counts, after.counts)
    return _result(
        planned,
        before,
        after,
        _label(before, after, worse),
        p_worse=worse if min(before.valid, after.valid) > 1 else None,
        moved=_moved(before, after),
        excluded=excluded,
    )


def recounted(cell: CellResult) -> CellResult:
    """A compared cell as it would be if every ERROR attempt of the candidate had been a FAIL."""
    if not cell.comparable or cell.before is None or cell.after is None or not cell.after.attempts_lost:
        return cell
    passes, valid = cell.after.worst
    after = cell.after._replace(passes=passes, valid=valid, errors=0, retries=0)
    worse = p_worse(cell.before.counts, after.counts)
    label = _label(cell.before, after, worse)
    return cell._replace(after=after, label=label, p_worse=worse, needed=bar_needed(cell.bar, valid))


def _label(before: Score, after: Score, worse: float) -> Label:
    if worse >= SUSPECT:
        return Label.SUSPECT
    old, new = before.passes * after.valid, after.passes * before.valid
    if old == new:
        return Label.SAME
    return Label.WORSE if new < old else Label.BETTER


def _moved(before: Score, after: Score) -> tuple[Moved, ...]:
    """Where the share of failing reps differs."""
    out: list[Moved] = []
    for kind, old, new in (("axis", before.axes, after.axes), ("check", before.failed, after.failed)):
        for name in sorted({*old, *new}):
            was, now = old.get(name, 0), new.get(name, 0)
            if was * after.valid != now * before.valid:
                out.append(Moved("axis" if kind == "axis" else "check", name, was, now))
    return tuple(out)


def _uncomparable(planned: Planned, pools: tuple[Pool | None, Pool | None], named: Differences) -> CellResult:
    before, after = pools
    old, new = best(before, planned.reps), best(after, planned.reps)
    label, why = _lacking(planned, Known(before, old), Known(after, new), named)
    asked = (("after", new),) if planned.new or before is None else (("before", old), ("after", new))
    lacking = [name for name, s in asked if s is None or not s.valid]
    side: Literal["", "before", "after", "both"] = "both" if len(lacking) == 2 else ""
    if len(lacking) == 1:
        side = "before" if lacking == ["before"] else "after"
    return _result(planned, old, new, label, why=why, missing_side=side, excluded=_beside(before, after))


def _lacking(planned: Planned, before: Known, after: Known, named: Differences) -> tuple[Label, str]:
    if after.pool is None or planned.after is None:
        return Label.GONE, "the candidate has no such cell"
    if not after.valid:
        return unmeasured(after, planned.after, named)
    if before.valid and before.score and after.score:
        return Label.NOT_COMPARABLE, split(before.score, after.score)
    if planned.new or before.pool is None or planned.before is None:
        return Label.NEW, "the base has no such cell"
    return unmeasured_base(before, planned.before, planned.after, named)


def _result(
    planned: Planned,
    before: Score | None,
    after: Score | None,
    label: Label,
    *,
    why: str = "",
    missing_side: Literal["", "before", "after", "both"] = "",
    p_worse: float | None = None,
    moved: tuple[Moved, ...] = (),
    excluded: tuple[Excluded, ...] = (),
) -> CellResult:
    needed = bar_needed(planned.bar, after.valid) if after is not None and after.valid else None
    return CellResult(
        scenario=planned.scenario,
        agent=planned.agent,
        tier=planned.tier,
        title=planned.title,
        set=planned.set,
        golden=planned.golden,
        model_free=planned.model_free,
        reps=planned.reps,
        bar=planned.bar,
        before=before,
        after=after,
        label=label,
        why=why,
        missing_side=missing_side,
        p_worse=p_worse,
        needed=needed,
        moved=moved,
        excluded=excluded,
        cluster=planned.cluster or planned.scenario,
        control=planned.control,
    )
