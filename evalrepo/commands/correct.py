"""`evalrepo correct`: declare reps bad that the harness spoilt, in a new record that names the old one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands import option
from evalrepo.commands.entering import WHY
from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.records.record import Record, Rep
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.running.keep import Landed
    from evalrepo.world import World


@dataclass(frozen=True)
class Options:
    """The command line of `correct`."""

    what: tuple[str, ...]
    rep: int
    why: str
    commit: bool
    format: str


@click.command("correct")
@click.argument("what", nargs=-1, required=True, metavar="RUN [ID]|PATH")
@click.option("--rep", type=click.IntRange(min=1), required=True, metavar="N", help="The rep of this number.")
@WHY
@option.no_commit
@option.text_or_json
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Declare a rep bad because the harness, not the agent, spoilt it: it becomes ERROR(defect).

    The record of the run never changes. A new one supersedes it, with the reason and who gave it; both are shown, the
    rep stands in every table as an ERROR beside the rate, and the next run brings the cell up to its reps again. No
    rep becomes a PASS or a FAIL this way: a check that is wrong is mended, then `evalrepo rescore`.

    Exit 0: recorded. Exit 2: no such rep, one that is an ERROR already, a record that another supersedes, no reason.
    """
    from evalrepo.repository.repo import Repository

    options = Options(**given)
    repo = Repository.open(world)
    landed, path = _corrected(repo, options)
    if options.format == "json":
        from evalrepo.render.json import to_json

        said = {"schema": 1, "run": landed.run, "commit": landed.commit, "ref": landed.ref, "supersedes": path}
        click.echo(to_json({**said, "files": sorted(landed.records)}), nl=False)
    else:
        from evalrepo.render.safe import wrapped

        where = f"committed {landed.commit[:9]}" if landed.commit else "not committed"
        click.echo(f"run {landed.run}: {where}; rep {options.rep} is ERROR(defect)")
        click.echo("\n".join(wrapped(f"supersedes {path}, which stays", then="  ", cut=False)))
    return Exit.YES


def _corrected(repo: Repository, options: Options) -> tuple[Landed, str]:
    """The new record, and the path of the one that it supersedes."""
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.records.reason import hollow
    from evalrepo.results import records
    from evalrepo.running import preflight
    from evalrepo.running.restate import Restated, header_of, restate
    from evalrepo.store.ledger import person

    if wrong := hollow(options.why):
        raise UsageError(f"a correction needs a reason: {wrong}", hint='--why "what spoilt it, and how it is known"')
    preflight.git_at_rest(repo)
    rows = at_hand(repo)
    row = _row(rows, options)
    (old,) = records(rows.git, [row])
    by = person(repo)
    reason = f"rep {options.rep} was declared bad by {by}: {options.why.strip()}"
    reps = tuple(_defect(rep, options.why) if rep is _asked(old, options.rep) else rep for rep in old.reps)
    (landed,) = restate(repo, [Restated(old, header_of(old), reps, reason)], commit=options.commit)
    return landed, row.path


def _row(rows: Rows, options: Options) -> Row:
    """The one record that the words mean, which stands."""
    from evalrepo.commands.finding_records import named

    found = named(rows, options.what)
    if len(found) > 1:
        names = "; ".join(f"{row.run} {row.scenario} {row.agent}/{row.tier}" for row in found[:4])
        raise UsageError(
            f"{' '.join(options.what)} means {len(found)} records: {names}", hint="name the run and the scenario"
        )
    (row,) = found
    later = [one.run for one in rows.select({row.cell: None})[row.cell] if one.supersedes == row.run]
    if later:
        raise UsageError(f"run {row.run} is superseded by {later[-1]}", hint=f"evalrepo show {later[-1]}")
    return row


def _asked(record: Record, number: int) -> Rep:
    """The last attempt of the rep. UsageError when there is none, or it is an ERROR."""
    rep = next((rep for rep in record.last_attempts() if rep.rep == number), None)
    if rep is None:
        there = ", ".join(str(rep.rep) for rep in record.last_attempts())
        raise UsageError(f"run {record.run} has no rep {number} of {record.scenario}", hint=f"it has {there}")
    if not rep.valid:
        raise UsageError(f"rep {number} is ERROR({rep.error}) already", hint=f"evalrepo show {record.run}")
    return rep


def _defect(rep: Rep, why: str) -> Rep:
    from evalrepo.records.record import ErrorKind, Verdict

    note = f"{rep.verdict} was recorded first"
    change = {"verdict": Verdict.ERROR, "error": ErrorKind.DEFECT.value, "message": why.strip()}
    return rep.model_copy(update={**change, "notes": (*rep.notes, note)})
