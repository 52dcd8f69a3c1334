"""What `run` shows of a plan and of its end, and with which code it exits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from evalrepo.commands.counting import Counts
    from evalrepo.commands.measuring import Means
    from evalrepo.records.record import Record
    from evalrepo.render.running import EndLine
    from evalrepo.running.budget import Budget
    from evalrepo.running.keep import Landed
    from evalrepo.running.plan import Cell, Plan

SCHEMA = 1


def nothing_chosen(why: str, form: str, *, dry_run: bool) -> int:
    """No scenario at all."""
    if form == "text":
        click.echo(why)
    else:
        _json(_plan_data((), ()) if dry_run else _end_data((), (), (), Exit.YES))
    return Exit.YES


def show_plan(made: Plan, counts: Counts, jobs: int, form: str) -> int:
    """What would run, why, and what it would cost and take with so many jobs."""
    from evalrepo.commands.estimating import estimate
    from evalrepo.render.findings import counted
    from evalrepo.render.planning import estimate_text
    from evalrepo.render.running import plan_table, reasons_text, skipped_text

    found = estimate(made.cells, counts.rows)
    if form == "json":
        data = {"to_run": made.reps, "estimate": {**asdict(found.price), "jobs": jobs}}
        _json(_plan_data(found.lines, made.skipped) | data)
        return Exit.YES
    click.echo(plan_table(found.lines))
    click.echo("\n" + reasons_text(found.lines))
    for text in skipped_text(made.skipped):
        click.echo(text)
    if made.reps:
        click.echo("\n" + "\n".join(estimate_text(found.price, jobs)))
        click.echo(f"{counted(made.reps, 'rep')} would run; leave out --dry-run to run")
    else:
        click.echo("\n" + nothing(made))
    return Exit.YES


def nothing(made: Plan) -> str:
    """Why there is nothing to do, and what there is instead."""
    have = "every cell holds its reps" if made.cells else "no cell was chosen"
    return f"nothing to do: {have}; --reps N asks for more"


def show_nothing(made: Plan, counts: Counts, form: str) -> int:
    """Everything is recorded: the exit code is the one that the run had which recorded it."""
    from evalrepo.render.running import answer, end_table, next_step, skipped_text

    lines = _lines(made, counts, ())
    code = exit_of(lines, lines)
    if form == "json":
        _json(_end_data(lines, (), made.skipped, code))
        return code
    low = [line for line in lines if line.passes < line.needed]
    if low:
        click.echo(end_table(low) + "\n")
    for text in skipped_text(made.skipped):
        click.echo(text)
    click.echo(nothing(made))
    if low:
        click.echo(next_step(lines, first=_first(made, counts)) + "\n" + answer(lines, code))
    return code


def show_end(made: Plan, counts: Counts, landed: Sequence[Landed], means: Means) -> int:
    """The cells, what was recorded where, what was spent, the next step and the answer."""
    from evalrepo.render.running import answer, end_table, next_step, skipped_text

    lines = _lines(made, counts, landed, means.budget)
    code = exit_of(lines, lines)
    if means.format == "json":
        _json(_end_data(lines, landed, made.skipped, code) | {"spent": asdict(means.budget)})
        return code
    click.echo(end_table(lines))
    for text in skipped_text(made.skipped):
        click.echo(text)
    for one in landed:
        _say_landed(one)
    say_spent(means.budget)
    click.echo(next_step(lines, first=_first(made, counts)) + "\n" + answer(lines, code))
    return code


def _say_landed(one: Landed) -> None:
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import wrapped

    for note in one.notes:
        click.echo("\n".join(wrapped(f"note: {note}", then="  ")), err=True)
    where = f"committed {one.commit[:9]}" if one.commit else "not committed"
    click.echo(f"\nrun {one.run}: {where}, {counted(len(one.records), 'result file')}\ntranscripts: {one.ref}")


def say_spent(budget: Budget) -> None:
    """What a run with limits has spent, and which of them stopped it."""
    from evalrepo.render.running import spent_text

    if budget.limited:
        facts = (budget.max_usd, budget.max_reps, budget.attempts, budget.usd, budget.unpriced)
        click.echo("\n".join(spent_text(*facts, stopped=budget.stopped)))


def _first(made: Plan, counts: Counts) -> bool:
    return not any(counts.another_subject(cell.header) for cell in made.cells)


def _lines(made: Plan, counts: Counts, landed: Sequence[Landed], budget: Budget | None = None) -> list[EndLine]:
    """One line a cell: pooled scores, or for fresh reps what this run's record says."""
    records = {record.cell: record for one in landed for record in one.records.values()}
    return [line_of(cell, counts, records.get(cell.header.cell), budget) for cell in made.cells]


def line_of(cell: Cell, counts: Counts, record: Record | None, budget: Budget | None = None) -> EndLine:
    """The cell after a run: its pooled reps; of fresh reps what `record`, this run's, says. `budget`: of the run."""
    from evalrepo.commands.counting import of_record
    from evalrepo.records.config import Bar
    from evalrepo.records.record import Purpose
    from evalrepo.render.running import EndLine

    fresh = cell.header.purpose is Purpose.FRESH
    found = of_record(record) if fresh and record else None if fresh else counts.score(cell.header, cell.want)
    bar = Bar(passes=cell.header.bar.passes, of=cell.header.bar.of)
    valid = found.valid if found else 0
    started = len({rep.rep for rep in record.reps}) if record else 0
    left = min(cell.want - valid, cell.need - started) if budget is not None and budget.stopped else 0
    return EndLine(
        *cell.header.cell,
        passes=found.passes if found else 0,
        valid=valid,
        want=cell.want,
        needed=bar.needed(cell.want),
        errors=tuple(k for k, n in (found.errors_by_kind if found else {}).items() for _ in range(n)),
        strip=found.strip if found else "",
        left=max(0, left),
    )


def exit_of(lines: Sequence[EndLine], deciding: Sequence[EndLine]) -> Exit:
    """By all lines whether every cell has its reps, by the deciding ones whether it is at its bar."""
    if any(line.valid + line.left < line.want for line in lines):
        return Exit.INVALID
    if any(line.left for line in lines):
        return Exit.INCONCLUSIVE
    return Exit.NO if any(line.passes < line.needed for line in deciding) else Exit.YES


def _plan_data(lines: Sequence[Any], skipped: Sequence[Any]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "to_run": 0,
        "cells": [asdict(line) for line in lines],
        "skipped": [asdict(one) for one in skipped],
    }


def _end_data(lines: Sequence[EndLine], landed: Sequence[Landed], skipped: Sequence[Any], code: Exit) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "runs": [
            {
                "run": one.run,
                "commit": one.commit,
                "ref": one.ref,
                "files": sorted(one.records),
                "notes": list(one.notes),
                "reps": [rep for record in one.records.values() for rep in _reps(record)],
            }
            for one in landed
        ],
        "cells": [{**asdict(line), "state": line.state} for line in lines],
        "skipped": [asdict(one) for one in skipped],
        "exit": int(code),
    }


def _reps(record: Record) -> Iterator[dict[str, Any]]:
    """Every attempt, in short; `evalrepo show RUN --format json` has the whole records."""
    for rep in record.reps:
        yield {
            "scenario": record.scenario,
            "agent": record.agent,
            "tier": record.tier,
            "rep": rep.rep,
            "attempt": rep.attempt,
            "verdict": str(rep.verdict),
            "error": rep.error or "",
            "message": rep.message,
            "axes_failed": list(rep.axes_failed),
            "seconds": rep.timing.seconds,
        }


def _json(data: Any) -> None:
    from evalrepo.render.json import to_json

    click.echo(to_json(data), nl=False)
