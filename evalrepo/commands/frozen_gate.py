"""What a gate asks of the commits since its baseline: frozen files, lock and ledger, and goals that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalrepo.records.verdict import Reason

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.repository.repo import Repository

GOAL, OPEN, REWRITTEN = "FRZ019", "FRZ013", "FRZ018"


class History(NamedTuple):
    """`wrong`: a sentence for each finding that makes the answer invalid; `notes`: what is only said."""

    wrong: list[str]
    notes: list[Reason]


def history(repo: Repository, base: Place | None) -> History:
    """Every commit from the baseline (None: from the first one) to HEAD, each against each of its parents.

    What is thawed at HEAD counts too, and what the reserve names there and the lock does not hold. GitError where the
    history is too short to tell.
    """
    from evalrepo.repository.repo import BEGINNING
    from evalrepo.store.closing import of_head
    from evalrepo.store.since import since

    found = since(repo, base.name if base is not None else BEGINNING)
    wrong = [one.finding for one in found.told if not one.finding.warning or one.finding.code == OPEN]
    if not any(f.code.startswith("LCK") for f in wrong):
        wrong += of_head(repo)
    notes = []
    for one in found.told:
        if one.finding.warning and one.finding.code not in (OPEN, REWRITTEN):
            code = "moved-goal" if one.finding.code == GOAL and not one.told.event else "acknowledged"
            notes.append(Reason("note", code, f"{one.finding.place}: {one.finding.message}", one.finding.hint))
    return History([f"{f.place}: {f.code} {f.message}" for f in sorted(wrong)], notes)
