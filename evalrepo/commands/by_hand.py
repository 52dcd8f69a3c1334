"""Results that people wrote in files of their own, as a diff and a gate take them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.by_hand import Hand
    from evalrepo.records.inference import HandScore
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)_")


def by_hand(repo: Repository, rows: Rows, base: Place | None, candidate: Place) -> tuple[HandScore, ...]:
    """What they score, by the subject of the commit that added each file; a file that no commit holds yet is about the
    candidate's. Nothing is read where there is no such file."""
    if not rows.by_hand:
        return ()
    from evalrepo.comparing.by_hand import hand_scores

    found = list(_found(repo, rows.by_hand, base, candidate))
    scenarios = {hand.scenario for hand in found}
    sides = [_subjects(side, candidate, scenarios) if side is not None else {} for side in (base, candidate)]
    return hand_scores(found, sides[0], sides[1])


def _found(repo: Repository, paths: Iterable[str], base: Place | None, candidate: Place) -> Iterator[Hand]:
    from evalrepo.commands.sides import place, subject_of
    from evalrepo.comparing.by_hand import Hand
    from evalrepo.formats.scorecard import parse

    added = _added(repo, paths)
    known: dict[str, Place] = {}
    for path in paths:
        side = next((p for p in (candidate, base) if p is not None and path in p.tree), None)
        day = _DAY.match(path.rpartition("/")[2])
        if side is None or day is None:
            continue
        cards, _ = parse(side.tree.read(path).decode("utf-8", "replace"), path)
        for card in cards:
            scenario = _scenario(candidate, card.scenario)
            if not card.filled or scenario is None:
                continue
            commit = added.get(path)
            if commit is not None and commit not in known:
                known[commit] = place(repo, commit, lenient=True)
            where = known[commit] if commit is not None else candidate
            subject = subject_of(where, candidate.scenarios[scenario].subject)
            scores = {name: mark.score for name, mark in card.marks.items() if mark.score is not None}
            if subject is not None:
                yield Hand(scenario, day[1], path, subject, scores)


def _scenario(candidate: Place, name: str) -> str | None:
    """The one scenario that a card means, by id or alias."""
    try:
        found = candidate.ids([name], strict=False)
    except UsageError:
        return None
    return found[0] if len(found) == 1 else None


def _subjects(side: Place, candidate: Place, scenarios: Iterable[str]) -> dict[str, str]:
    """Scenario → the digest of its subject at this side."""
    from evalrepo.commands.sides import subject_of

    found = {name: subject_of(side, candidate.scenarios[name].subject) for name in scenarios}
    return {name: subject for name, subject in found.items() if subject is not None}


def _added(repo: Repository, paths: Iterable[str]) -> Mapping[str, str]:
    """Path → the newest commit that added it."""
    if repo.head() is None:
        return {}
    command = ("log", "--diff-filter=A", "--no-renames", "--format=%x01%H", "--name-only", "-z", "HEAD", "--")
    told = repo.git(*command, *paths).decode("utf-8", "surrogateescape")
    out: dict[str, str] = {}
    for block in told.split("\x01")[1:]:
        commit, *names = block.replace("\n", "\0").split("\0")
        for name in filter(None, names):
            out.setdefault(name, commit)
    return out
