"""The freeze check of a repository: the index or a commit, against the lock and against its own past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo.discipline import history
from evalrepo.discipline.freeze import Files, as_pointer, compare, deep, roots_of
from evalrepo.errors import DataError, Finding, GitError, Place
from evalrepo.store.stored import Reader, hashes

if TYPE_CHECKING:
    from evalrepo.discipline.history import State
    from evalrepo.records.lock import Lock
    from evalrepo.repository.repo import Repository


@dataclass(frozen=True)
class Verified:
    """The answer of the freeze check: findings (warnings among them), how many files are locked, what is thawed."""

    findings: tuple[Finding, ...]
    locked: int
    thawed: tuple[str, ...] = ()

    @property
    def intact(self) -> bool:
        """Whether nothing is wrong; something thawed is not wrong."""
        return all(f.warning for f in self.findings)


def verify(repo: Repository, *, rev: str | None = None, deeply: bool = False) -> Verified:
    """The index against HEAD (and what is being merged), or a commit against each of its parents.

    `deeply`: the SHA-256 of every locked blob too. Raises GitError where the past cannot be seen (a shallow clone).
    """
    commit = repo.resolve(rev) if rev is not None else None
    now = Reader(repo, commit, rev if rev is not None else "the index")
    bases = _heads(repo) if commit is None else _parents(repo, commit)
    try:
        state = now.state()
    except DataError as error:
        return Verified((*error.findings, *now.merge_findings()), 0)
    past = [Reader(repo, base, name).state(of=state) for name, base in bases]
    found, lock, thawed = _judged(now, state, past)
    if deeply and lock is not None:
        found += deep(lock, hashes(repo, (line.oid for line in lock.lines)))
    return Verified(tuple(sorted({*found, *now.merge_findings()})), len(lock.lines) if lock else 0, thawed)


def _judged(now: Reader, state: State, past: Sequence[State]) -> tuple[list[Finding], Lock | None, tuple[str, ...]]:
    findings = history.check(state, past)
    lock = state.lock or next((base.lock for base in past if base.lock), None)
    if lock is None:
        return findings, None, ()
    files = now.files(roots_of(lock))
    there, thawed = without_thawed(files, lock, state)
    found = [_exactly(now, f, there) for f in compare(lock, there, now.before)]
    findings += [*found, *now.bit_findings(lock.by_path())]
    return [*findings, *map(_is_thawed, thawed)], lock, thawed


def _exactly(now: Reader, finding: Finding, files: Files) -> Finding:
    """What content alone tells (a pointer of git-lfs), and what only the index knows (an entry without content)."""
    path = finding.place.file
    if finding.code == "FRZ001" and now.is_pointer(files[path].oid):
        return as_pointer(finding)
    if finding.code == "FRZ003" and path in now.intended:
        return finding._replace(message="is frozen, and was deleted; git add -N only says that it is to come")
    return finding


def without_thawed(files: Files, lock: Lock, state: State) -> tuple[Files, tuple[str, ...]]:
    """The files that are not thawed, and the paths whose thaw is still open where such a file lies.

    A thawed file has no lock line, and the last thing said of it is a thaw. Events are read only when a file has
    no line.
    """
    lines = lock.by_path()
    loose = [path for path in files if path not in lines]
    if not loose:
        return files, ()
    open_ = {path for path in loose if history.last_said(path, state.events) == "thaw"}
    return {path: file for path, file in files.items() if path not in open_}, history.thawed(state.events)


def _is_thawed(path: str) -> Finding:
    hint = "while it is open the reserve is not measured; evalrepo freeze closes it"
    return Finding(Place(path), "FRZ013", "is thawed", hint, warning=True)


def _heads(repo: Repository) -> list[tuple[str, str]]:
    """(name, commit) of HEAD and of every commit that is being merged."""
    head = repo.head()
    found = [("HEAD", head)] if head else []
    merging = repo.git_dir / "MERGE_HEAD"
    if merging.is_file():
        found += [("MERGE_HEAD", commit) for commit in merging.read_text().split()]
    return found


def _parents(repo: Repository, commit: str) -> list[tuple[str, str]]:
    cut = repo.common_dir / "shallow"
    if repo.shallow and cut.is_file() and commit in cut.read_text().split():
        raise GitError(
            f"the parents of {commit[:12]} are not in this shallow clone, so the lock's past cannot be checked",
            hint="git fetch --unshallow; in CI: fetch-depth: 0",
        )
    parents = repo.git("rev-parse", f"{commit}^@").decode().split()
    return [(parent[:12], parent) for parent in parents]
