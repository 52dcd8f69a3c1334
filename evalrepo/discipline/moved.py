"""The goal that moved with the ball: a subject and what measures it changed in one commit, or in one range. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from evalrepo.discipline.nodes import Change, Traced
from evalrepo.errors import Finding, Place

HINT = "measure the old wording by the new question (evalrepo run --against {base}), or change one of them at a time"


class Goals(NamedTuple):
    """What is known of the range: subjects of a path, subjects that it measures, and whether it stood at the base."""

    subjects: Callable[[str], Collection[str]]
    measures: Callable[[str], Collection[str]]
    stood: Callable[[str], bool]


def moved(changes: Mapping[str, Sequence[Change]], goals: Goals, base: str) -> list[Traced]:
    """FRZ019 for each commit that changed what measures a subject which the range changed too.

    `changes`: commit (full id, oldest first; no merges) → what it changed. Files that did not stand at the base are
    new, and a new question is no moved goal.
    """
    balls: dict[str, dict[str, str]] = {}
    moves: dict[tuple[str, str], list[str]] = {}
    for commit, each in changes.items():
        for change in each:
            owners = goals.subjects(change.path)
            for name in owners:
                balls.setdefault(name, {}).setdefault(commit, change.path)
            if not owners and change.old is not None and goals.stood(change.path):
                for name in goals.measures(change.path):
                    moves.setdefault((commit, name), []).append(change.path)
    return [
        Traced(commit, ("goal", paths[0]), _finding(commit, name, paths, balls[name], base))
        for (commit, name), paths in moves.items()
        if name in balls
    ]


def _finding(commit: str, name: str, paths: Sequence[str], balls: Mapping[str, str], base: str) -> Finding:
    also = f" and {len(paths) - 1} more files" if len(paths) > 2 else f" and {paths[1]}" if len(paths) > 1 else ""
    other = commit if commit in balls else next(iter(balls))
    where = "in the same commit" if commit in balls else f"in the same range (commit {other[:12]})"
    text = f"measures the subject {name}, and was changed{also} {where} as {balls[other]}"
    return Finding(Place(paths[0]), "FRZ019", text, HINT.format(base=base[:12]))
