"""Both sides of a diff judged by its candidate's instrument, in memory: rows beside the recorded ones."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalrepo.commands.question import Question
    from evalrepo.commands.rejudging_parts import Made, Outcome
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.cells import Planned
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.running.rejudge import Doors


def rejudged(repo: Repository, rows: Rows, candidate: Place, asked: Question) -> dict[Cell, list[Row]]:
    """Cell → rows of its reps by the candidate's instrument, where only the instrument of a record is another one.

    Says on standard error how many reps were judged, and which could not be.
    """
    from evalrepo.commands.rejudging import Rejudging
    from evalrepo.commands.rejudging_parts import Outcome

    wanted = {p.cell: [i.subject for i in (p.before, p.after) if i is not None] for p in asked.cells if p.after}
    held = rows.select(wanted, others=False)
    out = Outcome()
    with contextlib.ExitStack() as benches:
        judging = Rejudging(repo, rows, candidate, lambda: _doors(repo, candidate, benches))
        for cell in asked.cells:
            if cell.after is not None:
                tasks = judging.plan(cell.cell, held[cell.cell], out, _others(cell, held[cell.cell]))
                for _, found in judging.judged(task for task in tasks if not task.again):
                    out.add(found)
    _say(out)
    again: dict[Cell, list[Row]] = {}
    for made in out.made:
        again.setdefault(made.row.cell, []).append(_row(made))
    return again


def _others(cell: Planned, rows: list[Row]) -> list[Row]:
    """The records of the same task that another instrument judged."""
    after = cell.after
    assert after is not None
    return [row for row in rows if row.stimulus == after.stimulus and row.instrument != after.instrument]


def _doors(repo: Repository, candidate: Place, benches: contextlib.ExitStack) -> Doors:
    from evalrepo.commands.rescore import doors
    from evalrepo.running.session import begin
    from evalrepo.running.words import Leave

    return doors(begin(repo, candidate.tree, candidate.loaded), benches, Leave())()


def _row(made: Made) -> Row:
    """The row of the record that `rescore` would make."""
    from evalrepo.records.row import from_record

    header = {name: getattr(made.header, name) for name in type(made.header).model_fields}
    record = made.old.model_copy(update={**header, "reps": made.reps, "rescored_from": made.row.executed})
    return from_record(record.model_dump(mode="json", by_alias=True), made.row.path, made.row.oid)


def _say(out: Outcome) -> None:
    from evalrepo.commands.rescored import left_lines
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import wrapped

    reps = sum(len(made.reps) for made in out.made)
    changed = sum(made.changed for made in out.made)
    if reps:
        said = f"{counted(reps, 'recorded rep')} judged again by today's checks, {changed} with another verdict"
        click.echo(f"{said}; nothing is recorded", err=True)
    for line in left_lines(out.left):
        click.echo("\n".join(wrapped(line, then="  ", cut=False)), err=True)
