"""`run --at` and `run --against`: the subject of another commit, alone or in turns with the one here."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.commands.counting import Counts
    from evalrepo.commands.ending import Part
    from evalrepo.commands.measuring import Means, Wanted
    from evalrepo.running.plan import Asked, Plan
    from evalrepo.running.session import Session


@dataclass(frozen=True)
class Revisions:
    """Whose subject is measured: `at`'s or the one here, and with `against` that one's too."""

    at: str | None
    against: str | None
    dry_run: bool = False


def measure_sides(
    here: Session, counts: Counts, asked: Asked, revisions: Revisions, means: Means, cancel: threading.Event
) -> int:
    """Bring the cells of every side to their reps; the exit code of `run`."""
    from evalrepo.commands.ending import show_end, show_nothing, show_plan
    from evalrepo.commands.measuring import announce, measured

    wanted = sides_of(here, counts, asked, revisions)
    parts = _once([_part(want.session, want.replan()) for want in wanted])
    if revisions.dry_run:
        return show_plan(parts, counts, means)
    versus = revisions.against or revisions.at or ""
    if not any(part.plan.reps for part in parts):
        return show_nothing(parts, counts, means, versus)
    announce(here, means)
    landed = measured(here, wanted, means, cancel)
    return show_end(parts, counts.again(), landed, means, versus)


def _part(session: Session, made: Plan) -> Part:
    """UsageError when the revision has the subject of none of the cells."""
    from evalrepo.commands.ending import Part
    from evalrepo.render.safe import safe

    if session.at and not made.cells and made.skipped:
        first = made.skipped[0]
        raise UsageError(f"{first.scenario}: {first.why}", hint="name a commit that has it, or other scenarios")
    where = f"the subject of {safe(session.at_name)} ({session.at[:9]}):" if session.at else "the subject here:"
    return Part(made, session.at, where)


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
        return elsewhere.present(plan(ground(session, counts.again().settled, other), asked), session)

    wanted = [Wanted(first, lambda: replanned(first, second))]
    if second is not None:
        wanted.append(Wanted(second, lambda: replanned(second, first)))
    return wanted


def _once(parts: Sequence[Part]) -> Sequence[Part]:
    """What both sides have alike is the first's, and said; a second side that has nothing else is none."""
    from evalrepo.running.plan import Plan

    first, *others = parts
    mine = {(c.header.cell, c.header.digests.subject) for c in first.plan.cells}
    out, alike = [first], []
    for part in others:
        kept = tuple(c for c in part.plan.cells if (c.header.cell, c.header.digests.subject) not in mine)
        alike += [c.header.scenario for c in part.plan.cells if c not in kept]
        if kept:
            out.append(replace(part, plan=Plan(kept, part.plan.skipped)))
    if alike:
        click.echo(f"note: the same subject on both sides, measured once: {', '.join(dict.fromkeys(alike))}", err=True)
    return out
