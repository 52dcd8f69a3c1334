"""A labelled rep as a run shows it to a judge: its transcript, and the files as far as they were kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalrepo.checks.view import View
    from evalrepo.commands.sheets import Sheet
    from evalrepo.commands.sides import Place
    from evalrepo.repository.repo import Repository


def view_of(repo: Repository, place: Place, sheet: Sheet) -> View:
    """The rep of a sheet whose transcript is at hand. Where its scenario is no more, or how the sandbox stood is not
    known, the transcript alone. `place`: the files of today."""
    from evalrepo.checks.view import View
    from evalrepo.commands.rescoring import before_of
    from evalrepo.results import RUNS
    from evalrepo.running.opened import Seen, files_below, seen
    from evalrepo.running.stored import settings_of

    assert sheet.transcript is not None
    record, ref = sheet.record, RUNS + sheet.record.executed
    scenario = place.scenarios.get(record.scenario)
    if scenario is None:
        return View(sheet.transcript)
    tree = repo.tree(repo.refs(ref)[ref])
    agent = settings_of(tree, record.agent, place.config.agents)
    before = before_of(place, record, tree)
    found = seen(record.agent, agent, sheet.rep, files_below(tree, sheet.rep), scenario.faults, before)
    return found.view if isinstance(found, Seen) else View(sheet.transcript)
