"""`run --canary`: one counted rep a cell, each verdict beside what it rests on; `--accept`: a person has looked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from shlex import join
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.counting import Counts
    from evalrepo.comparing.pool import Counted, Group
    from evalrepo.records.event import Event
    from evalrepo.records.record import Record, Rep
    from evalrepo.render.canary import Sheet
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.running.plan import Asked, Cell, Plan
    from evalrepo.running.session import Session

WHY = "canary looked at: each verdict agrees with the lines of the transcript that it rests on"


def canaries(plan: Plan) -> list[Cell]:
    """The cells of which a person is to look at one rep."""
    from evalrepo.records.record import Purpose

    return [cell for cell in plan.cells if cell.header.purpose is Purpose.CANARY]


def sheets(repo: Repository, tree: Tree, counts: Counts, cells: Iterable[Cell]) -> list[Sheet]:
    """One a cell: its first valid rep, else the last that was tried, with the rows of its transcript."""
    from evalrepo.running.canary import accepted

    seen = accepted(tree)
    return [_sheet(repo, counts, cell, seen) for cell in cells]


def _sheet(repo: Repository, counts: Counts, cell: Cell, seen: dict[str, Event]) -> Sheet:
    from evalrepo.render.canary import Sheet
    from evalrepo.running.canary import mark_of

    header, mark = cell.header, mark_of(cell.header)
    by = seen.get(mark)
    bare = Sheet(
        *header.cell,
        cli=header.cli_version or "version unknown",
        mark=mark,
        accepted=f"{by.by}, {by.at[:16].replace('T', ' ')} UTC" if by else "",
    )
    counted = _looked_at(counts.group(header))
    if counted is None:
        return bare
    record = counts.record(header.cell, counted.run)
    rep = next((r for r in record.last_attempts() if r.rep == counted.rep), None) if record else None
    return bare if record is None or rep is None else _filled(repo, bare, record, rep)


def _looked_at(group: Group | None) -> Counted | None:
    if group is None or not group.reps:
        return None
    return next((rep for rep in group.reps if rep.valid), group.reps[-1])


def _filled(repo: Repository, bare: Sheet, record: Record, rep: Rep) -> Sheet:
    from evalrepo.commands.resting import of_check
    from evalrepo.running.quoting import quotes

    found = quotes(repo, record, rep)
    lacking = found.lacking
    return replace(
        bare,
        run=record.run,
        rep=rep.rep,
        verdict=str(rep.verdict),
        error=rep.error,
        message="" if found.sealed else rep.message,
        checks=tuple(of_check(check, found) for check in rep.checks),
        why=": ".join(filter(None, (lacking.why, lacking.how))) if lacking is not None else "",
        place=found.place,
    )


@dataclass(frozen=True)
class Looked:
    """What sheets are made of; `words`: how a person asks for the same cells again."""

    session: Session
    words: Sequence[str]

    def sheets(self, counts: Counts, plan: Plan) -> list[Sheet]:
        """One for each cell of which a person is to look at one rep."""
        return sheets(self.session.repo, self.session.tree, counts, canaries(plan))


def words(ids: Sequence[str], options: Iterable[tuple[str, str | int | None]], *, live: bool) -> list[str]:
    """The command line of a run after `evalrepo run`."""
    said = [str(x) for name, value in options if value is not None for x in (f"--{name}", value)]
    return [*ids, *said, *(["--live"] if live else [])]


def show_sheets(found: Sequence[Sheet], command: Sequence[str]) -> None:
    """Every sheet, and what is left to do."""
    from evalrepo.render.canary import canary_text, look_text
    from evalrepo.render.text import plain

    for sheet in found:
        click.echo(canary_text(sheet, plain) + "\n")
    for line in look_text(found, command):
        click.echo(line)


def code_of(found: Sequence[Sheet], code: Exit) -> Exit:
    """A run whose canaries wait for a look is open, whatever its cells say."""
    if code in (Exit.YES, Exit.NO) and any(sheet.waits for sheet in found):
        return Exit.INCONCLUSIVE
    return code


def accept(session: Session, counts: Counts, asked: Asked, command: Sequence[str], form: str) -> tuple[Session, Asked]:
    """A person looked at the canaries of the cells asked for: the ledger keeps it, and the grid may go on.

    What was looked at is shown once more. One `acknowledge` event for each run whose canaries are new, staged.
    Raises UsageError before anything is written, when a canary is missing or was an ERROR.
    """
    from evalrepo.render.safe import wrapped
    from evalrepo.running.plan import plan
    from evalrepo.running.session import ground

    looked = Looked(session, command)
    found = looked.sheets(counts, plan(ground(session, counts.valid), asked))
    _refuse(found, command)
    if form == "text":
        show_sheets([replace(sheet, accepted=sheet.accepted or "you, now") for sheet in found], command)
    paths = _record(session.repo, [sheet for sheet in found if sheet.waits])
    said = _said(len({sheet.mark for sheet in found if sheet.waits}), paths)
    click.echo("\n".join(wrapped(said, then="  ", cut=False)), err=True)
    return replace(session, tree=session.repo.tree("WORKTREE")), replace(asked, canary=False)


def _refuse(found: Sequence[Sheet], command: Sequence[str]) -> None:
    again = join(["evalrepo", "run", *command, "--canary"])
    for sheet in found:
        if not sheet.rep:
            raise UsageError(f"{sheet.name} has no canary yet: there is nothing to look at", hint=again)
        if not sheet.valid:
            raise UsageError(f"the canary of {sheet.name} was ERROR({sheet.error}): it shows no verdict", hint=again)


def _record(repo: Repository, waits: Sequence[Sheet]) -> list[str]:
    from evalrepo.store.ledger import append, signed

    paths = []
    for run in dict.fromkeys(sheet.run for sheet in waits):
        mine = [sheet for sheet in waits if sheet.run == run]
        scenarios = tuple(dict.fromkeys(sheet.scenario for sheet in mine))
        marks = tuple(sorted({sheet.mark for sheet in mine}))
        paths.append(append(repo, signed(repo, "acknowledge", WHY, scenarios=scenarios, run=run, hashes=marks)))
    return paths


def _said(marks: int, paths: Sequence[str]) -> str:
    if not marks:
        return "every canary was accepted before"
    many = "one canary is" if marks == 1 else f"{marks} canaries are"
    return f"{many} accepted; staged, to be committed: {', '.join(paths)}"
