"""`gate --confirm`: fresh reps of what is open, on both commits in turns. They serve this one test, now and later."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from evalrepo.comparing.advice import plural
from evalrepo.comparing.confirm_plan import Need, fresh_of, needs, open_cells, within
from evalrepo.comparing.pool import Group, Identity, Pool, pool

if TYPE_CHECKING:
    from evalrepo.commands.measuring import Means
    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.cells import Planned
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.inference import Fresh
    from evalrepo.records.record import CellHeader
    from evalrepo.records.row import Row
    from evalrepo.records.verdict import CellResult
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.results import Rows
    from evalrepo.running.plan import Plan
    from evalrepo.running.session import Session


def recorded(rows: Rows, asked: Question, results: Sequence[CellResult]) -> list[Fresh]:
    """What fresh reps at hand say of the open cells of this very pair of contents."""
    open_now = {c.name: c for c in open_cells(results)}
    plans = {p.cell: p for p in asked.cells if _name(p) in open_now}
    held = rows.select(dict.fromkeys(plans, None)) if plans else {}
    return [_fresh(open_now[_name(p)], p, held[cell], asked.policy.confirm_reps) for cell, p in plans.items()]


def taken(rows: Rows, asked: Question, results: Sequence[CellResult]) -> list[Fresh]:
    """The same, of cells that have any."""
    return [fresh for fresh in recorded(rows, asked, results) if fresh.before[1] or fresh.after[1]]


def _name(planned: Planned) -> str:
    return f"{planned.scenario} · {planned.agent}/{planned.tier}"


def _fresh(result: CellResult, planned: Planned, rows: Sequence[Row], reps: int) -> Fresh:
    before, after = planned.before, planned.after
    pools = (_fresh_pool(rows, before, after), _fresh_pool(rows, after, before))
    return fresh_of(result, pools, _base(result, planned, rows), reps)


def _fresh_pool(rows: Sequence[Row], identity: Identity | None, other: Identity | None) -> Pool | None:
    """The reps that were taken to confirm this side against that one."""
    if identity is None or other is None:
        return None
    return pool(_confirming(rows, other.subject), identity)


def _confirming(rows: Sequence[Row], against: str) -> list[Row]:
    return [row._replace(purpose="measure") for row in rows if row.purpose == "confirm" and row.against == against]


def _base(result: CellResult, planned: Planned, rows: Sequence[Row]) -> Group | None:
    """All the base's reps of the group that decides."""
    if planned.before is None or result.before is None:
        return None
    mine = (result.before.apparatus, result.before.model)
    return next((g for g in pool(rows, planned.before).groups if (g.apparatus, g.model) == mine), None)


@dataclass(frozen=True)
class Sides:
    """The two commits that a gate compares, and the grid's cells."""

    repo: Repository
    base: Place
    candidate: Place
    asked: Question
    results: Sequence[CellResult]


def confirm(sides: Sides, rows: Rows, means: Means, budget: int, cancel: threading.Event) -> int:
    """Take the fresh reps that open cells lack, whole plans within the budget; the attempts that were made.

    Raises what a run's preflight refuses: consent (exit 2), a broken self-test, git at work.
    """
    spent, done, alpha = 0, set[str](), sides.asked.policy.alpha
    while True:
        fresh = recorded(rows, sides.asked, sides.results)
        found = [n for n in needs(open_cells(sides.results), fresh, alpha) if n.cell.name not in done]
        chosen, left = within(found, budget - spent)
        if not chosen:
            _say_left(left, budget)
            if not (left or spent):
                _say_none(fresh)
            return spent
        spent += _taken(sides, chosen, means, cancel, sound=spent > 0)
        before, rows = rows, _again(sides)
        done |= {n.cell.name for n in chosen if n.plan == "fixed"}
        done |= {n.cell.name for n in chosen if len(rows) == len(before)}


def _again(sides: Sides) -> Rows:
    from evalrepo.results import rows

    return rows(sides.repo, [sides.base.tree, sides.repo.tree("HEAD")])


def _say_left(left: Sequence[Need], budget: int) -> None:
    if left:
        names = ", ".join(f"{n.cell.name} ({plural(n.most, 'rep')})" for n in left)
        click.echo(
            f"the budget of {plural(budget, 'rep')} leaves unconfirmed: {names}; --budget N allows more", err=True
        )


def _say_none(fresh: Sequence[Fresh]) -> None:
    why = "the fresh reps of every open cell are recorded" if fresh else "no cell is suspect, and no golden one failed"
    click.echo(f"nothing is confirmed: {why}", err=True)


def _taken(sides: Sides, chosen: Sequence[Need], means: Means, cancel: threading.Event, *, sound: bool) -> int:
    """One round of runs, a side each; the attempts in it."""
    from evalrepo.commands.measuring import Wanted, announce, measured
    from evalrepo.records.record import Purpose
    from evalrepo.running.at import at
    from evalrepo.running.session import begin

    here = replace(begin(sides.repo, sides.candidate.tree, sides.candidate.loaded), purpose=Purpose.CONFIRM)
    there = at(here, sides.base.name, Purpose.CONFIRM)
    before = {_cell(n): n.before for n in chosen if n.before}
    after = {_cell(n): n.after for n in chosen}
    wanted = [Wanted(here, lambda: _plan(here, there, after, sides.candidate.tree))]
    if before:
        wanted.append(Wanted(there, lambda: _plan(there, here, before, sides.candidate.tree)))
    announce(here, means)
    landed = measured(here, wanted, means, cancel, sound=sound)
    return sum(len(record.reps) for one in landed for record in one.records.values())


def _cell(need: Need) -> Cell:
    return (need.cell.scenario, need.cell.agent, need.cell.tier)


def _plan(session: Session, other: Session, want: Mapping[Cell, int], tree: Tree) -> Plan:
    """The plan of these cells alone, each up to its own number of fresh reps."""
    from evalrepo.running.at import present
    from evalrepo.running.plan import Asked, Plan, plan
    from evalrepo.running.session import ground

    counts = FreshCounts(session.repo, tree)
    asked = Asked(
        {scenario: ("to be confirmed",) for scenario, _, _ in want},
        agents=tuple(dict.fromkeys(agent for _, agent, _ in want)),
        tiers=tuple(dict.fromkeys(tier for _, _, tier in want)),
    )
    made = plan(ground(session, counts.valid, other), asked)
    cells = tuple(replace(c, want=want[c.header.cell]) for c in made.cells if c.header.cell in want)
    return present(Plan(cells), session)


class FreshCounts:
    """Valid reps that were taken to confirm a side against another, at exactly its digests and requested model."""

    def __init__(self, repo: Repository, tree: Tree) -> None:
        from evalrepo.results import rows

        self._rows = rows(repo, [repo.tree("HEAD"), tree])

    def valid(self, header: CellHeader) -> int:
        """How many."""
        digests = header.digests
        held = self._rows.select({header.cell: None})[header.cell]
        mine = [r for r in _confirming(held, header.against) if r.requested == header.model]
        found = pool(mine, Identity(digests.subject, digests.stimulus, digests.instrument)).groups
        return max((g.valid for g in found if g.apparatus == digests.apparatus), default=0)
