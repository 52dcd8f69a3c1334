"""The first-parent history between two revisions, as the subjects that a scenario had in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo.comparing.bisect import Stand, collapse
from evalrepo.discipline.places import CONFIG
from evalrepo.errors import DataError, UsageError

if TYPE_CHECKING:
    from evalrepo.records.config import Subject
    from evalrepo.repository.history import CommitInfo
    from evalrepo.repository.repo import Repository


@dataclass(frozen=True)
class History:
    """`commits` from the bad one to the good one, newest first; `stands` are their subjects, `paths` where those lie
    or lay."""

    good: str
    bad: str
    commits: Mapping[str, CommitInfo]
    stands: tuple[Stand, ...]
    paths: tuple[str, ...]

    def diff(self, repo: Repository, older: int, newer: int) -> tuple[str, str]:
        """What changed in the subject from one stand to another, and the command that shows it."""
        ends = (self.stands[older].commits[0], self.stands[newer].commit)
        text = repo.git("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", *ends, "--",
                        *self.paths)  # fmt: skip
        command = f"git diff {ends[0][:9]} {ends[1][:9]} -- {' '.join(self.paths)}"
        return text.decode("utf-8", "replace"), command


def history(repo: Repository, good: str, bad: str, names: Sequence[str], skip: Iterable[str]) -> History:
    """The range of a bisect; `names` are the scenario's subjects, `skip` revisions that are not to be measured.

    UsageError when the good commit is no first-parent ancestor of the bad one, when both have the same subject, and
    for a skip that is an end or not in the range.
    """
    ends = (repo.resolve(good), repo.resolve(bad))
    commits = _chain(repo, good, bad, ends)
    paths = _paths(repo, commits, names)
    changing = {*_touching(repo, ends, paths), *ends}
    subjects: list[tuple[str, str, str]] = []
    known = ("", "")
    for commit in reversed(commits):
        if commit in changing:
            known = _subject(repo, commit, names)
        subjects.append((commit, *known))
    stands = collapse(reversed(subjects))
    _check_ends(stands, good, bad, names)
    return History(good, bad, commits, _skipped(repo, stands, skip), tuple(paths))


def _chain(repo: Repository, good: str, bad: str, ends: tuple[str, str]) -> dict[str, CommitInfo]:
    from evalrepo.repository.history import first_parents

    out = repo.git("rev-list", "--first-parent", f"{ends[0]}..{ends[1]}", "--").decode("ascii").split()
    if not out:
        said = "are the same commit" if ends[0] == ends[1] else "have nothing between them"
        raise UsageError(f"{good} and {bad} {said}", hint="--good names an older commit, --bad a newer one")
    found = {info.id: info for info in first_parents(repo, ends[1], len(out) + 1)}
    if ends[0] not in found:
        raise UsageError(
            f"{good} is not in the first-parent history of {bad}",
            hint=f"git log --first-parent --oneline {bad} shows what is; a shallow clone may end before it",
        )
    return found


def _paths(repo: Repository, commits: Iterable[str], names: Sequence[str]) -> list[str]:
    """Folders and files that hold these subjects, by every config that the range has."""
    from evalrepo.records.globs import base

    listed = [*commits]
    ends = (listed[-1], listed[0])
    found: dict[str, None] = {}
    for commit in dict.fromkeys((*ends, *_touching(repo, ends, [CONFIG]))):
        try:
            known = _subjects(repo, commit)
        except DataError:
            continue
        found |= {base(p) or ".": None for n in names if n in known for p in known[n].paths}
    return sorted(found) or ["."]


def _touching(repo: Repository, ends: tuple[str, str], paths: Sequence[str]) -> list[str]:
    out = repo.git("rev-list", "--first-parent", f"{ends[0]}..{ends[1]}", "--", *paths, CONFIG)
    return out.decode("ascii").split()


def _subjects(repo: Repository, commit: str) -> dict[str, Subject]:
    from evalrepo.running.at import subjects_of

    return subjects_of(repo, repo.tree(commit))


def _subject(repo: Repository, commit: str, names: Sequence[str]) -> tuple[str, str]:
    """The subject digest that a record of this commit would have; or "" and why it cannot be measured."""
    from evalrepo.repository.digests import MISSING, digest, subject_part

    try:
        known = _subjects(repo, commit)
    except DataError:
        return "", f"its {CONFIG} cannot be used"
    tree, found = repo.tree(commit), []
    for name in sorted(set(names)):
        value, parts = subject_part(tree, name, known[name]) if name in known else ("", {"paths": MISSING})
        if parts["paths"] == MISSING:
            return "", f"it has no subject {name}"
        found.append(value)
    return (found[0] if len(found) == 1 else digest(found)), ""


def _check_ends(stands: Sequence[Stand], good: str, bad: str, names: Sequence[str]) -> None:
    for stand, name in ((stands[-1], good), (stands[0], bad)):
        if stand.why:
            raise UsageError(f"{name} cannot be measured: {stand.why}", hint="name another end of the range")
    if stands[0].subject == stands[-1].subject:
        raise UsageError(
            f"{good} and {bad} have the same {' and '.join(sorted(set(names)))}, so no change of it explains a change",
            hint="compare what else differs: evalrepo diff, which names stimulus, instrument and apparatus",
        )


def _skipped(repo: Repository, stands: Sequence[Stand], skip: Iterable[str]) -> tuple[Stand, ...]:
    left = list(stands)
    for rev in skip:
        commit = repo.resolve(rev)
        i = next((n for n, stand in enumerate(left) if commit in stand.commits), None)
        if i is None or i in (0, len(left) - 1):
            what = "not in the range" if i is None else "an end of the range, or has the same subject as one"
            raise UsageError(f"--skip {rev} is {what}", hint="skip commits between the good and the bad one")
        left[i] = Stand(left[i].subject, left[i].commits, left[i].why or "skipped")
    return tuple(left)
