"""Subjects that changed between two sides together with what measures them, for `diff`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from evalrepo.discipline.places import CONFIG
from evalrepo.errors import DataError
from evalrepo.records.inference import MovedGoal

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.store import Index


def moved_goals(base: Place, candidate: Place) -> tuple[MovedGoal, ...]:
    """By the net change between the sides. Files that did not stand at the base are new questions, no moved goal."""
    from evalrepo.store.indexing import measured_by, owners_of

    changed = _changed(base, candidate)
    held = _index(base, candidate) if changed else None
    if held is None:
        return ()
    owners = owners_of(held, changed)
    measured = measured_by(held, [path for path in changed if path not in owners and path in base.tree])
    if CONFIG in changed:
        measured[CONFIG] = _redefined(base, candidate)
    found = []
    for name in dict.fromkeys(name for names in owners.values() for name in names):
        goals = [path for path in changed if name in measured.get(path, ())]
        if goals:
            found.append(MovedGoal(name, next(path for path in changed if name in owners.get(path, ())), tuple(goals)))
    return tuple(found)


def _changed(base: Place, candidate: Place) -> list[str]:
    """Paths that differ, results and the ledger left out."""
    one, other = base.tree, candidate.tree
    if one.commit and other.commit:
        every = candidate.repo.changed(one.commit, other.commit)
    else:
        old, new = one.entries(), other.entries()
        every = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
    return [path for path in every if not path.startswith(("AgentsReport/evaluation/", "evalrepo.l"))]


def _index(base: Place, candidate: Place) -> Index | None:
    """Subjects and scenarios at the base, or at the candidate where the base's cannot be read."""
    from evalrepo.store.indexing import index

    for place in (base, candidate):
        with suppress(DataError):
            return index(place.tree, place.repo)
    return None


def _redefined(base: Place, candidate: Place) -> set[str]:
    """Subjects whose defaults, checks among them, the config changed."""
    before, after = base.config.subjects, candidate.config.subjects
    return {name for name in before.keys() & after.keys() if before[name].defaults != after[name].defaults}
