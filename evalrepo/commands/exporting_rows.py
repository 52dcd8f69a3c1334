"""`evalrepo export` as rows: TSV, CSV and JSON lines of recorded reps, on standard output or into a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.records.record import Record
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows

AT_ONCE = 200
"""Records that are read together."""


def export_rows(repo: Repository, what: Sequence[str], form: str, output: Path | None) -> int:
    """Write them; words as for `show`, without any everything that is recorded."""
    from evalrepo.commands.finding_records import at_hand, named

    rows = at_hand(repo)
    found = (
        named(rows, what)
        if what
        else [row for held in rows.select(dict.fromkeys(rows.cells())).values() for row in held]
    )
    if not found:
        raise UsageError("nothing is recorded yet", hint="evalrepo run measures")
    lines = _lines(rows, found, form)
    if output is None:
        for line in lines:
            click.echo(line, nl=False)
        return Exit.YES
    path = repo.world.cwd / output
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.writelines(lines)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}", hint="--output FILE names another") from None
    click.echo(f"{len(found)} records in {output}", err=True)
    return Exit.YES


def _lines(rows: Rows, found: Sequence[Row], form: str) -> Iterator[str]:
    """TSV leaves out what was superseded; the others say by what."""
    from evalrepo.commands.finding_records import superseded
    from evalrepo.render.rows import csv_lines, jsonl, rows_of, tsv

    later = superseded(rows, found)
    if form == "tsv":
        standing = [row for row in found if not later[row.oid]]
        return tsv(record for _, record in _records(rows, standing))
    made = (line for row, record in _records(rows, found) for line in rows_of(record, later[row.oid]))
    return csv_lines(made) if form == "csv" else jsonl(made)


def _records(rows: Rows, found: Sequence[Row]) -> Iterator[tuple[Row, Record]]:
    from evalrepo.results import records

    for at in range(0, len(found), AT_ONCE):
        some = found[at : at + AT_ONCE]
        yield from zip(some, records(rows.git, some), strict=True)
