"""The releases of a history: its tags, and what is here; and the versions of subjects along it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo.errors import DataError

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell
    from evalrepo.comparing.statistics import Counts
    from evalrepo.comparing.trend import Release, Slide
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository

WORKTREE = "WORKTREE"
TAGS = 12
"""Newest tags that are looked at."""

Names = tuple[str, ...]


@dataclass(frozen=True)
class Version:
    """What the groups of subjects were (names → digest, None where one is not there), and the newest commit so."""

    commit: str
    date: str
    line: str
    subjects: Mapping[Names, str | None]


def versions(repo: Repository, here: Place) -> Iterator[Version]:
    """Every version of this history, newest first, the work tree's before all where it differs from HEAD's."""
    from evalrepo.commands.diff import touching
    from evalrepo.commands.sides import place

    groups = groups_of(here)
    seen: list[Mapping[Names, str | None]] = []
    head = _at(place(repo, "HEAD", lenient=True), groups) if repo.head() else None
    if _at(here, groups) != head:
        seen.append(_at(here, groups))
        yield Version(WORKTREE, "", "not committed", seen[0])
    for commit in touching(repo, here):
        try:
            found = _at(place(repo, commit, lenient=True), groups)
        except DataError:
            continue
        if found not in seen:
            seen.append(found)
            info = repo.commit(commit)
            yield Version(commit, info.date, info.subject, found)


def groups_of(here: Place) -> tuple[Names, ...]:
    """Subjects as scenarios combine them."""
    return tuple(dict.fromkeys(tuple(sorted(set(s.subject))) for s in here.scenarios.values()))


def _at(place: Place, groups: Sequence[Names]) -> dict[Names, str | None]:
    from evalrepo.commands.sides import subject_of

    return {names: subject_of(place, names) for names in groups}


def slide_of(
    repo: Repository, here: Place, counts: Callable[[Mapping[Names, str | None]], Release | None]
) -> Slide | None:
    """The slide that what is here ends. `counts` makes a release of the subjects at a place, None when it is not
    measured; releases with the subjects of the one before are passed over."""
    from dataclasses import replace

    from evalrepo.commands.sides import place
    from evalrepo.comparing.trend import slide

    groups = groups_of(here)
    found: list[Release] = []
    last: Mapping[Names, str | None] | None = None
    for name in (*_tags(repo), WORKTREE):
        try:
            at = _at(here if name == WORKTREE else place(repo, name, lenient=True), groups)
        except DataError:
            continue
        release = counts(at) if at != last else None
        last = at
        if release is not None:
            found.append(replace(release, name="here" if name == WORKTREE else name.removeprefix("refs/tags/")))
    return slide(found)


def _tags(repo: Repository) -> list[str]:
    """The newest tags of the first-parent history, oldest first."""
    if repo.head() is None:
        return []
    out = repo.git("rev-list", "--first-parent", "HEAD", "--").decode("ascii").split()
    age = {commit: n for n, commit in enumerate(out)}
    tags = {name: age[commit] for name, commit in repo.refs("refs/tags/").items() if commit in age}
    return sorted(tags, key=lambda name: (-tags[name], name))[-TAGS:]


def counts_of(here: Place, cell: Cell, rows: Sequence[Row], subject: str | None) -> Counts | None:
    """Passes and valid reps of a cell by a subject and today's other digests, of the newest CLI and model."""

    from evalrepo.commands.sides import identity_of
    from evalrepo.comparing.pool import pool

    groups = pool(rows, identity_of(here, cell)._replace(subject=subject)).groups if subject else ()
    if not groups or not groups[0].valid:
        return None
    return sum(r.last.verdict == "PASS" for r in groups[0].reps), groups[0].valid
