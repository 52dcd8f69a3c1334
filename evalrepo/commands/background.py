"""What the ledger and the history add to a verdict: looks at the reserve, waivers, versions measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalrepo.records.inference import Background

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.cells import Planned
    from evalrepo.records.event import Event
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows

LEDGER = "evalrepo.ledger"


def background(base: Place | None, candidate: Place) -> Background:
    """Looks and waivers by the candidate's ledger. An event that cannot be read waives nothing; `verify` names it."""
    from evalrepo.comparing.waivers import waivers
    from evalrepo.store.loading import read_events

    events, _ = read_events(candidate.tree)
    known = base.tree.under(LEDGER) if base is not None else {}
    return Background(looks=_looks(candidate, list(events.values())), waivers=waivers(events, known))


def _looks(candidate: Place, events: Sequence[Event]) -> tuple[int, int] | None:
    """Spent, and allowed: by the config, and by events that raised the budget."""
    spent = sum(e.event == "look" for e in events)
    if not spent and not candidate.loaded.of_set("reserve"):
        return None
    return (spent, candidate.config.reserve.looks + sum(e.amount or 0 for e in events if e.event == "budget"))


def today(repo: Repository, held: Background) -> Background:
    """With waivers as they count today."""
    from evalrepo.comparing.waivers import on

    return held._replace(waivers=on(repo.world.timestamp()[:10], held.waivers)) if held.waivers else held


def since(repo: Repository, rows: Rows, asked: Question) -> int | None:
    """How many versions of the subjects were measured since the baseline's commit, the baseline's own left out."""
    if not asked.before.commit:
        return None
    date = repo.commit(asked.before.commit).date
    found = rows.measured_since([c.cell for c in asked.cells], date)
    return len(found - _subjects(asked.cells))


def _subjects(cells: Sequence[Planned]) -> set[str]:
    return {c.before.subject for c in cells if c.before is not None}
