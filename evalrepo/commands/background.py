"""What the ledger and the history add to a verdict: looks at the reserve, waivers, versions measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalrepo.records.inference import Background, Looked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalrepo.commands.known_looks import Known
    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.cells import Planned
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows

LEDGER = "evalrepo.ledger"


def background(base: Place | None, candidate: Place) -> Background:
    """Looks and waivers by the candidate's ledger. An event that cannot be read waives nothing; `verify` names it."""
    from evalrepo.commands.known_looks import Known
    from evalrepo.comparing.waivers import waivers
    from evalrepo.store.loading import read_events

    events, _ = read_events(candidate.tree)
    known = base.tree.under(LEDGER) if base is not None else {}
    return Background(looks=tuple(looks(candidate, Known(events))), waivers=waivers(events, known))


def looks(here: Place, held: Known) -> Iterator[Looked]:
    """Each subject's reserve at a place, with the looks that are known."""
    from evalrepo.repository.digests import stimulus_digest

    reserve = here.loaded.of_set("reserve")
    for subject in dict.fromkeys(name for one in reserve.values() for name in one.scenario.subject):
        mine = [i for i, one in reserve.items() if subject in one.scenario.subject]
        twins = {i: stimulus_digest(here.tree, reserve[i].scenario) for i in mine}
        now = {i: reserve[i].scenario for i in mine}
        found = held.budget(here.repo, subject, twins, now, here.config.reserve.looks)
        spent = len(found.spent)
        yield Looked(subject, spent, found.allowed, tuple(mine), opened=found.opened, remarks=found.remarks)


def with_masks(rows: Rows, asked: Question, held: Background) -> Background:
    """With what the records of reserve cells say of isolation."""
    cells = [cell.cell for cell in asked.cells if cell.set == "reserve"]
    if not cells:
        return held
    found = rows.select(dict.fromkeys(cells))
    masks: dict[str, bool] = {}
    for cell in cells:
        for row in found[cell]:
            masks[cell[0]] = masks.get(cell[0], True) and row.isolation != "none"
    return held._replace(looks=tuple(_with_mask(one, masks) for one in held.looks))


def _with_mask(one: Looked, masks: Mapping[str, bool]) -> Looked:
    mine = [masks[name] for name in one.scenarios if name in masks]
    return one._replace(masked=all(mine)) if mine else one


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
