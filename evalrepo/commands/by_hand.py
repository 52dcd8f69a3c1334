"""Results that people wrote in files of their own, as a diff and a gate take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.by_hand import Hand
    from evalrepo.errors import Finding
    from evalrepo.formats.scorecard import Card
    from evalrepo.records.hand import HandResult
    from evalrepo.records.inference import HandScore
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows


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
    from evalrepo.comparing.by_hand import Hand

    for one in results(repo, paths, [p for p in (candidate, base) if p is not None]):
        if one.scenario is not None and one.subject is not None and one.scores:
            yield Hand(one.scenario, one.day, one.path, one.subject, one.scores)


def results(repo: Repository, paths: Iterable[str], sides: Sequence[Place]) -> Iterator[HandResult]:
    """Every filled card of these files, as the first of the sides that has the file says; scenarios are those of the
    first side."""
    from evalrepo.commands.sides import place, subject_of
    from evalrepo.formats.scorecard import day_of, parse

    here = sides[0]
    added = _added(repo, paths)
    known: dict[str, Place] = {}
    for path in paths:
        side = next((p for p in sides if path in p.tree), None)
        day = day_of(path)
        if side is None or day is None:
            continue
        cards, findings = parse(side.tree.read(path).decode("utf-8-sig", "replace"), path)
        for card in filter(lambda card: card.filled, cards):
            scenario, commit = _scenario(here, card.scenario), added.get(path, "")
            if commit and commit not in known:
                known[commit] = place(repo, commit, lenient=True)
            subject = subject_of(known.get(commit, here), here.scenarios[scenario].subject) if scenario else None
            yield _result(path, day, card, scenario, commit, subject, findings)


def _result(
    path: str, day: str, card: Card, scenario: str | None, commit: str, subject: str | None, found: Sequence[Finding]
) -> HandResult:
    """Scores count that have evidence and are said once."""
    from evalrepo.records.hand import HandMark, HandResult

    bad = {finding.place.line for finding in found}
    taken = {name: mark for name, mark in card.marks.items() if mark.line not in bad}
    marks = {name: HandMark(m.score, m.evidence) for name, m in taken.items() if m.score is not None}
    status = card.status or ""
    return HandResult(
        path, day, card.scenario, scenario, card.by, commit, subject, status, marks, card.notes, tuple(sorted(found))
    )


def named(rows: Rows, words: Sequence[str]) -> list[str]:
    """Paths of the hand-written results that a word names: by path, by name, or by name without `.md`."""
    asked = {word.removesuffix(".md") for word in words}
    return [path for path in rows.by_hand if asked & {path[:-3], path.rpartition("/")[2][:-3]}]


def show(repo: Repository, paths: Sequence[str], form: str) -> int:
    """Print all that is taken of these results, and what is not. UsageError when they hold no filled card."""
    from evalrepo.commands.sides import place
    from evalrepo.render.by_hand import hand_text
    from evalrepo.render.json import to_json

    found = list(results(repo, paths, [place(repo, "WORKTREE", lenient=True)]))
    if not found:
        raise UsageError(f"{paths[0]} holds no filled card", hint="evalrepo lint says what cannot be read")
    if form == "json":
        click.echo(to_json({"schema": 1, "records": [], "by_hand": found}), nl=False)
    else:
        click.echo("\n".join(map(hand_text, found)), nl=False)
    return Exit.YES


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
