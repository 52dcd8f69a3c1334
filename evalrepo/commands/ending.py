"""What `run` shows of a plan and of its end, of one content or of two sides, and with which code it exits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from evalrepo.commands.canary import Looked
    from evalrepo.commands.counting import Counts
    from evalrepo.commands.estimating import Estimate
    from evalrepo.commands.measuring import Means
    from evalrepo.records.record import Record
    from evalrepo.render.canary import Sheet
    from evalrepo.render.running import EndLine
    from evalrepo.running.budget import Budget
    from evalrepo.running.keep import Landed
    from evalrepo.running.plan import Cell, Plan

SCHEMA = 1
TAKEN = "this look was taken before, and is recorded"


@dataclass(frozen=True)
class Part:
    """A content with its plan. `at`: its commit, "" for what is here; `heading` stands above its table; `look`: what is
    said of a look at the reserve."""

    plan: Plan
    at: str = ""
    heading: str = ""
    look: str = ""


def nothing_chosen(why: str, form: str, means: Callable[[], Means], *, dry_run: bool) -> int:
    """No scenario at all. `means` is asked for JSON only: to say it in text nothing heavy is loaded."""
    if form == "text":
        click.echo(why)
    elif dry_run:
        from evalrepo.commands.estimating import estimate

        _json(_plan_data((), estimate((), lambda _: ()), _jobs((), means())))
    else:
        _json(_end_data((), _End((), (), (), "", Exit.YES), (), means().budget))
    return Exit.YES


def show_plan(parts: Sequence[Part], counts: Counts, means: Means) -> int:
    """What would run, why, and what it would cost and take."""
    from evalrepo.commands.estimating import estimate
    from evalrepo.render.findings import counted
    from evalrepo.render.planning import estimate_text
    from evalrepo.render.running import plan_table, reasons_text

    found, jobs = estimate([part.plan for part in parts], counts.rows), _jobs(parts, means)
    if means.format == "json":
        _json(_plan_data(parts, found, jobs))
        return Exit.YES
    _say_look(parts)
    for part, own in zip(parts, found.lines, strict=True):
        click.echo(f"{part.heading}\n{plan_table(own)}\n" if part.heading else plan_table(own) + "\n")
    click.echo(reasons_text([line for own in found.lines for line in own]))
    _say_skipped(parts)
    reps = found.price.reps
    would = [*estimate_text(found.price, jobs), f"{counted(reps, 'rep')} would run; leave out --dry-run to run"]
    click.echo("\n" + ("\n".join(would) if reps else nothing(parts)))
    return Exit.YES


def _jobs(parts: Sequence[Part], means: Means) -> int:
    from evalrepo.commands.measuring import jobs_for

    return jobs_for([part.plan for part in parts], means)


def nothing(parts: Sequence[Part]) -> str:
    """Why there is nothing to do, and what there is instead."""
    have = "every cell holds its reps" if any(part.plan.cells for part in parts) else "no cell was chosen"
    return f"nothing to do: {have}; --reps N asks for more"


def show_nothing(
    parts: Sequence[Part], counts: Counts, means: Means, versus: str = "", looked: Looked | None = None
) -> int:
    """Everything is recorded: the exit code is the one that the run had which recorded it."""
    end = _end(parts, counts, (), means, looked)
    if means.format == "json":
        _json(_end_data(parts, end, (), means.budget))
        return end.code
    low = [line for line in end.deciding if (line.passes < line.needed or line.leaked) and not line.canary]
    shown = end.deciding if parts[0].look else low
    _say_tables(parts[:1], [shown] if shown else [])
    _say_skipped(parts)
    _say_sheets(end, looked)
    click.echo(f"{TAKEN}: nothing was run" if parts[0].look else nothing(parts))
    if parts[0].look or low or versus or end.sheets or end.alarm:
        _say_answer(parts, end, counts, versus)
    return end.code


def show_end(
    parts: Sequence[Part],
    counts: Counts,
    landed: Sequence[Landed],
    means: Means,
    versus: str = "",
    looked: Looked | None = None,
) -> int:
    """The cells, what was recorded where, what was spent, the next step and the answer.

    The bars of the first part decide; of the others only whether they have their reps. `versus`: the revision that the
    next diff names; `looked`: what the sheets of canaries are made of.
    """
    end = _end(parts, counts, landed, means, looked)
    if means.format == "json":
        _json(_end_data(parts, end, landed, means.budget))
        return end.code
    _say_tables(parts, end.lines)
    _say_skipped(parts)
    for one in landed:
        _say_landed(one)
    _say_spent(means.budget)
    if end.sheets:
        click.echo()
    _say_sheets(end, looked)
    _say_answer(parts, end, counts, versus)
    return end.code


@dataclass(frozen=True)
class _End:
    """What a run came to: a line a cell of each part, the canaries, and what makes the whole of it doubtful."""

    lines: Sequence[Sequence[EndLine]]
    deciding: Sequence[EndLine]
    sheets: Sequence[Sheet]
    alarm: str
    code: Exit


def _end(parts: Sequence[Part], counts: Counts, landed: Sequence[Landed], means: Means, looked: Looked | None) -> _End:
    from evalrepo.commands.canary import code_of

    lines = [_lines(part, counts, landed, means.budget) for part in parts]
    deciding = _deciding(lines)
    sheets = looked.sheets(counts, parts[0].plan) if looked is not None else []
    alarm = _alarm(parts[0].plan.cells, lines[0])
    return _End(lines, deciding, sheets, alarm, Exit.INVALID if alarm else code_of(sheets, _exit(deciding)))


def _alarm(cells: Sequence[Cell], lines: Sequence[EndLine]) -> str:
    from evalrepo.comparing.degenerate import Counted, degenerate

    controls = [cell.scenario.polarity == "negative" for cell in cells]
    return degenerate(
        Counted(x.scenario, control, x.passes, x.valid) for x, control in zip(lines, controls, strict=True)
    )


def _say_look(parts: Sequence[Part]) -> None:
    from evalrepo.render.safe import wrapped

    for part in parts:
        if part.look:
            click.echo("\n".join(wrapped(part.look, then="  ")))


def _say_tables(parts: Sequence[Part], lines: Sequence[Sequence[EndLine]]) -> None:
    from evalrepo.render.running import end_table

    _say_look(parts)
    for part, own in zip(parts, lines, strict=False):
        click.echo(f"{part.heading}\n{end_table(own)}\n" if part.heading else end_table(own) + "\n")


def _say_skipped(parts: Sequence[Part]) -> None:
    from evalrepo.render.running import skipped_text

    for text in skipped_text(list(dict.fromkeys(one for part in parts for one in part.plan.skipped))):
        click.echo(text)


def _say_sheets(end: _End, looked: Looked | None) -> None:
    from evalrepo.commands.canary import show_sheets

    if looked is not None and end.sheets:
        show_sheets(end.sheets, looked.words)


def _say_answer(parts: Sequence[Part], end: _End, counts: Counts, versus: str) -> None:
    from evalrepo.render.running import answer, next_step
    from evalrepo.render.safe import wrapped

    first = not any(counts.another_subject(cell.header) for part in parts for cell in part.plan.cells)
    step = next_step(end.deciding, first=first, versus=versus)
    for line in wrapped(f"ALARM  {end.alarm}", then="  ") if end.alarm else [step] if step else []:
        click.echo(line)
    waits = sum(sheet.waits for sheet in end.sheets)
    click.echo(answer(end.deciding, end.code, waits=waits, alarm=bool(end.alarm)))


def _say_landed(one: Landed) -> None:
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import wrapped

    for note in one.notes:
        click.echo("\n".join(wrapped(f"note: {note}", then="  ")), err=True)
    where = f"committed {one.commit[:9]}" if one.commit else "not committed"
    click.echo(f"run {one.run}: {where}, {counted(len(one.records), 'result file')}\ntranscripts: {one.ref}")


def _say_spent(budget: Budget) -> None:
    """What a run with limits has spent, and which of them stopped it."""
    from evalrepo.render.running import spent_text

    if budget.limited:
        facts = (budget.max_usd, budget.max_reps, budget.attempts, budget.usd, budget.unpriced)
        click.echo("\n".join(spent_text(*facts, stopped=budget.stopped)))
    if budget.judge_usd:
        click.echo(f"{'of it, ' * budget.limited}judges cost ${budget.judge_usd:.2f}")


def _lines(part: Part, counts: Counts, landed: Sequence[Landed], budget: Budget) -> list[EndLine]:
    """One line a cell: pooled scores, or for fresh reps what this run's record says."""
    records = {(record.cell, record.digests.subject): record for one in landed for record in one.records.values()}
    return [
        _end_line(cell, counts, records.get((cell.header.cell, cell.header.digests.subject)), budget)
        for cell in part.plan.cells
    ]


def _end_line(cell: Cell, counts: Counts, record: Record | None, budget: Budget) -> EndLine:
    """The cell after a run: its pooled reps; of fresh reps what `record`, this run's, says."""
    from evalrepo.commands.counting import of_record
    from evalrepo.records.config import Bar
    from evalrepo.records.record import Purpose
    from evalrepo.render.running import EndLine

    fresh = cell.header.purpose is Purpose.FRESH
    found = of_record(record) if fresh and record else None if fresh else counts.score(cell.header, cell.want)
    bar = Bar(passes=cell.header.bar.passes, of=cell.header.bar.of)
    valid = found.valid if found else 0
    started = len({rep.rep for rep in record.reps}) if record else 0
    return EndLine(
        *cell.header.cell,
        passes=found.passes if found else 0,
        valid=valid,
        want=cell.want,
        needed=bar.needed(cell.want),
        errors=tuple(k for k, n in (found.errors_by_kind if found else {}).items() for _ in range(n)),
        strip=found.strip if found else "",
        left=max(0, min(cell.want - valid, cell.need - started)) if budget.stopped else 0,
        canary=cell.header.purpose is Purpose.CANARY,
    )


def _deciding(lines: Sequence[Sequence[EndLine]]) -> list[EndLine]:
    """The first side's cells, and those of the others that lack reps."""
    return [*(lines[0] if lines else ()), *(x for own in lines[1:] for x in own if x.valid < x.want)]


def _exit(deciding: Sequence[EndLine]) -> Exit:
    if any(line.valid + line.left < line.want for line in deciding):
        return Exit.INVALID
    if any(line.left for line in deciding):
        return Exit.INCONCLUSIVE
    return Exit.NO if any(line.passes < line.needed and not line.canary for line in deciding) else Exit.YES


def _plan_data(parts: Sequence[Part], found: Estimate, jobs: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "to_run": found.price.reps,
        "estimate": {**asdict(found.price), "jobs": jobs},
        "cells": [{**asdict(x), "at": p.at} for p, own in zip(parts, found.lines, strict=True) for x in own],
        "skipped": _skipped(parts),
    }


def _skipped(parts: Sequence[Part]) -> list[dict[str, Any]]:
    return [asdict(one) for one in dict.fromkeys(one for part in parts for one in part.plan.skipped)]


def _end_data(parts: Sequence[Part], end: _End, landed: Sequence[Landed], budget: Budget) -> dict[str, Any]:
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
        "cells": [
            {**asdict(x), "state": x.state, "at": p.at} for p, own in zip(parts, end.lines, strict=True) for x in own
        ],
        "skipped": _skipped(parts),
        "look": next((part.look for part in parts), ""),
        "canaries": [asdict(sheet) for sheet in end.sheets],
        "alarm": end.alarm,
        "spent": asdict(budget),
        "exit": int(end.code),
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
