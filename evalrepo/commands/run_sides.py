"""`run --at` and `run --against`: the subject of another commit, alone or in turns with the one here."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.counting import Counts
    from evalrepo.commands.measuring import Means, Wanted
    from evalrepo.render.running import PlanLine
    from evalrepo.running.keep import Landed
    from evalrepo.running.plan import Asked, Plan
    from evalrepo.running.session import Session


@dataclass(frozen=True)
class Revisions:
    """Whose subject is measured: `at`'s or the one here, and with `against` that one's too."""

    at: str | None
    against: str | None
    dry_run: bool = False


@dataclass(frozen=True)
class Side:
    """A content with its plan."""

    session: Session
    plan: Plan

    @property
    def heading(self) -> str:
        """Whose subject it is."""
        from evalrepo.render.safe import safe

        at = self.session.at
        return f"the subject of {safe(self.session.at_name)} ({at[:9]}):" if at else "the subject here:"


def measure_sides(
    here: Session, counts: Counts, asked: Asked, revisions: Revisions, means: Means, cancel: threading.Event
) -> int:
    """Bring the cells of every side to their reps; the exit code of `run`."""
    from evalrepo.commands.measuring import announce, measured

    wanted = sides_of(here, counts, asked, revisions)
    sides = [Side(want.session, want.replan()) for want in wanted]
    for side in sides:
        _has_cells(side)
    if revisions.dry_run or not any(side.plan.reps for side in sides):
        _show_plan(sides, counts, means, dry_run=revisions.dry_run)
        return Exit.YES if revisions.dry_run else _stands(sides, counts)
    _same(sides)
    announce(here, means)
    landed = measured(here, wanted, means, cancel)
    return _show_end(sides, counts.again(), landed, means)


def sides_of(here: Session, counts: Counts, asked: Asked, revisions: Revisions) -> list[Wanted]:
    """What is measured, the candidate first."""
    from evalrepo.commands.measuring import Wanted
    from evalrepo.records.record import Purpose
    from evalrepo.running import at as elsewhere
    from evalrepo.running.plan import plan
    from evalrepo.running.session import ground

    first = elsewhere.at(here, revisions.at) if revisions.at else here
    second = elsewhere.at(here, revisions.against, Purpose.AGAINST) if revisions.against else None

    def replanned(session: Session, other: Session | None) -> Plan:
        return elsewhere.present(plan(ground(session, counts.again().valid, other), asked), session)

    wanted = [Wanted(first, lambda: replanned(first, second))]
    if second is not None:
        wanted.append(Wanted(second, lambda: replanned(second, first)))
    return wanted


def _has_cells(side: Side) -> None:
    """UsageError when the revision has the subject of none of the cells."""
    if side.session.at and not side.plan.cells and side.plan.skipped:
        first = side.plan.skipped[0]
        raise UsageError(f"{first.scenario}: {first.why}", hint="name a commit that has it, or other scenarios")


def _same(sides: Sequence[Side]) -> None:
    """Say of which scenarios only one side is measured, since both are one content."""
    if len(sides) < 2:
        return
    first = {(c.header.cell, c.header.digests.subject) for c in sides[0].plan.cells}
    alike = [c.header.scenario for c in sides[1].plan.cells if (c.header.cell, c.header.digests.subject) in first]
    if alike:
        click.echo(f"note: the same subject on both sides, measured once: {', '.join(dict.fromkeys(alike))}", err=True)


def _show_plan(sides: Sequence[Side], counts: Counts, means: Means, *, dry_run: bool) -> None:
    from evalrepo.commands.estimating import estimate
    from evalrepo.commands.measuring import jobs_for
    from evalrepo.render.planning import estimate_text

    found = estimate([cell for side in sides for cell in side.plan.cells], counts.rows)
    jobs = jobs_for([side.plan for side in sides], means)
    each = iter(found.lines)
    lines = [[next(each) for _ in side.plan.cells] for side in sides]
    reps = sum(side.plan.reps for side in sides)
    skipped = list(dict.fromkeys(s for side in sides for s in side.plan.skipped))
    if means.format == "json":
        cells = [{**asdict(x), "at": side.session.at} for side, own in zip(sides, lines, strict=True) for x in own]
        price = {**asdict(found.price), "jobs": jobs}
        _json({"to_run": reps, "estimate": price, "cells": cells, "skipped": [asdict(s) for s in skipped]})
        return
    if dry_run:
        _show_lines(sides, lines)
    for one in skipped:
        click.echo(f"skipped: {one.scenario} · {one.agent}/{one.tier}: {one.why}")
    if reps:
        click.echo("\n" + "\n".join(estimate_text(found.price, jobs)))
        click.echo(f"{reps} reps would run; leave out --dry-run to run them")
    else:
        click.echo("nothing to do: every cell holds its reps; --reps N asks for more, evalrepo diff compares")


def _stands(sides: Sequence[Side], counts: Counts) -> Exit:
    """The exit code where nothing is to be run."""
    from evalrepo.commands.ending import exit_of, line_of

    lines = [[line_of(cell, counts, None) for cell in side.plan.cells] for side in sides]
    return exit_of([line for own in lines for line in own], lines[0])


def _show_lines(sides: Sequence[Side], lines: Sequence[Sequence[PlanLine]]) -> None:
    from evalrepo.render.running import plan_table, reasons_text

    for side, own in zip(sides, lines, strict=True):
        click.echo(f"{side.heading}\n{plan_table(own)}\n")
    click.echo(reasons_text([line for own in lines for line in own]))


def _show_end(sides: Sequence[Side], counts: Counts, landed: Sequence[Landed], means: Means) -> int:
    """Tables, runs, the next step; the exit code: bars of a side that is measured against decide nothing."""
    from evalrepo.commands.ending import exit_of, line_of, say_spent
    from evalrepo.render.running import end_table

    records = {(r.cell, r.digests.subject): r for one in landed for r in one.records.values()}
    lines = [
        [
            line_of(cell, counts, records.get((cell.header.cell, cell.header.digests.subject)), means.budget)
            for cell in side.plan.cells
        ]
        for side in sides
    ]
    code = exit_of([line for own in lines for line in own], lines[0])
    if means.format == "json":
        cells = [(side, line) for side, own in zip(sides, lines, strict=True) for line in own]
        data = [{**asdict(line), "state": line.state, "at": side.session.at} for side, line in cells]
        spent = asdict(means.budget)
        _json({"runs": [_run(one) for one in landed], "cells": data, "spent": spent, "exit": int(code)})
        return code
    for side, own in zip(sides, lines, strict=True):
        click.echo(f"{side.heading}\n{end_table(own)}\n")
    for one in landed:
        _show_landed(one)
    say_spent(means.budget)
    rev = sides[-1].session.at_name
    click.echo(
        f"evalrepo diff {rev} compares" if len(sides) > 1 else f"evalrepo diff {rev} compares it with what is here"
    )
    return code


def _show_landed(one: Landed) -> None:
    for note in one.notes:
        click.echo(f"note: {note}", err=True)
    where = f"committed {one.commit[:9]}" if one.commit else "not committed"
    files = "1 result file" if len(one.records) == 1 else f"{len(one.records)} result files"
    click.echo(f"run {one.run}: {where}, {files}\ntranscripts: {one.ref}")


def _run(one: Landed) -> dict[str, Any]:
    return {"run": one.run, "commit": one.commit, "ref": one.ref, "files": sorted(one.records)}


def _json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))
