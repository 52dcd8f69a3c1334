"""The commit of result files: on the branch that the run began on, the user's own work untouched at every moment.

Order: blobs and commit are stored; `index.lock` is ours; the files stand in the work tree; the new index lies in the
lock; the commit id is told; the reference is moved by compare-and-swap; the lock becomes the index. A crash between
any two leaves either nothing, or a lock that keeps everybody from committing until `settle` has finished the index.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalrepo.errors import GitError
from evalrepo.repository import indexlock, stale
from evalrepo.repository.durable import clock, make_directory
from evalrepo.repository.indexlock import IndexLock, Tell
from evalrepo.repository.objects import Entry, object_id
from evalrepo.repository.placing import Placing, take_away, taken
from evalrepo.repository.scratch import Scratch
from evalrepo.repository.stale import Died
from evalrepo.repository.worktrees import holder

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository

TRIES = 5


@dataclass(frozen=True)
class Landing:
    """Where results go. `name` (the run id) names the landing's private files; `branch` is the reference recorded when
    the run began, None for a detached HEAD; `tell` is called before each step that cannot be undone.
    """

    name: str
    branch: str | None
    tell: Tell
    wait_s: float = indexlock.WAIT_S


@dataclass(frozen=True)
class _Site:
    """A reference to move (`HEAD` when detached), and the repository whose index and files follow it, if any."""

    ref: str
    work: Repository | None


def land(repo: Repository, files: Mapping[str, bytes], message: str, *, on: Landing) -> str:
    """Commit these files (repository path → bytes) and return the commit that holds them.

    Files that the branch holds already make no new commit; the index and the work tree get what they lack of them. A
    branch that is gone, or a HEAD that is no longer detached, gives way to what is checked out now. Raises GitError,
    with nothing moved, when git is busy (a merge, a rebase), when the index is held for ten seconds, when something
    else stands where a file has to go, before the first commit, and when the branch moves five times in a row.
    """
    if not files:
        raise ValueError("nothing to land")
    try:
        blobs = store(repo, files)
        for _ in range(TRIES):
            site = _site(repo, on)
            _not_busy(site)
            commit = _Attempt(repo, site, files, blobs, message, on).run()
            if commit is not None and (site.work is not None or _site(repo, on).work is None):
                return commit
    except OSError as error:
        raise GitError(f"{error.filename or repo.git_dir}: {error.strerror}; the results are kept") from error
    finally:
        folder = indexlock.private(repo.home, on.name)
        if not indexlock.proof(folder).exists():
            shutil.rmtree(folder, ignore_errors=True)
    raise GitError("the branch moved again and again while results were to land on it", hint="run again")


def store(repo: Repository, files: Mapping[str, bytes]) -> dict[str, str]:
    """Store every file in few processes, durably, and read each back; name → blob id."""
    ids = {name: object_id("blob", data, repo.object_format) for name, data in files.items()}
    whole = _whole(repo, ids.values())
    missing = [data for name, data in files.items() if ids[name] not in whole]
    if len(missing) > 1:
        with Scratch(repo.home) as scratch:
            places = [scratch.path / str(number) for number in range(len(missing))]
            for place, data in zip(places, missing, strict=True):
                place.write_bytes(data)
            feed = b"".join(os.fsencode(place) + b"\n" for place in places)
            repo.git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=feed)
        whole = _whole(repo, ids.values())
    for name, data in files.items():
        if ids[name] not in whole:
            repo.write_blob(data)
    return ids


def _whole(repo: Repository, oids: Iterable[str]) -> set[str]:
    """Those that can be read back: an object that git has may still be empty after a power cut."""
    there = [oid for oid, size in repo.git.sizes(oids).items() if size is not None]
    try:
        return {oid for oid, data in repo.git.blobs(there) if object_id("blob", data, repo.object_format) == oid}
    except GitError:
        return set()


def _site(repo: Repository, on: Landing) -> _Site:
    now = repo.branch()
    if on.branch is not None and on.branch != now and on.branch in repo.refs(on.branch):
        return _Site(on.branch, holder(repo, on.branch))
    return _Site(now or "HEAD", repo)


def _not_busy(site: _Site) -> None:
    if (what := site.work.busy() if site.work else None) is not None:
        raise GitError(
            f"git is in the middle of a {what}; the results are kept and nothing was moved",
            hint=f"finish or abort the {what}, then run again",
        )


def _tip(repo: Repository, ref: str) -> str:
    code, out, _ = repo.git.code("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if code:
        raise GitError("results cannot land before the first commit", hint="commit something first: git commit")
    return out.decode("ascii").strip()


@dataclass(frozen=True)
class _Attempt:
    repo: Repository
    site: _Site
    files: Mapping[str, bytes]
    blobs: Mapping[str, str]
    message: str
    on: Landing

    @property
    def folder(self) -> Path:
        return indexlock.private(self.repo.home, self.on.name)

    def run(self) -> str | None:
        """The commit that holds the files; None when what the attempt stands on changed under it."""
        tip = _tip(self.repo_there, self.site.ref)
        commit = self.commit_on(tip)
        if self.site.work is None:
            return commit if commit == tip else self.moved(tip, commit, {})
        work = self.site.work
        with IndexLock(work, self.folder, self.tell, self.on.wait_s) as lock, Placing(work.top, self.folder) as placing:
            if work.branch() != (None if self.site.ref == "HEAD" else self.site.ref) or work.busy():
                return None
            return self.under_lock(lock, placing, tip, commit)

    def under_lock(self, lock: IndexLock, placing: Placing, tip: str, commit: str) -> str | None:
        """With the index held: place, fill the lock, move the reference, finish the index."""
        lacking = indexlock.absent(lock.repo, self.blobs)
        placing.put({path: self.files[path] for path in lacking})
        if lacking:
            lock.write(lacking)
        for _ in range(TRIES):
            if (now := _tip(self.repo_there, self.site.ref)) != tip:
                tip, commit = now, self.commit_on(now)
            if self.swapped(lock, placing, tip, commit):
                return commit
        return None

    def swapped(self, lock: IndexLock, placing: Placing, tip: str, commit: str) -> bool:
        """Move the reference and finish the index, or neither; whatever happens, they go together.

        While it is open whether the reference moved, lock and files stay: should this process die in between, the
        lock keeps everybody from committing without the results.
        """
        lock.held = placing.kept = True
        try:
            done = commit == tip or self.moved(tip, commit, {"index": lock.sha256}) is not None
        except BaseException:
            done = _tip(self.repo_there, self.site.ref) == commit
            if done:
                lock.finish()
            lock.held = placing.kept = done
            raise
        if done:
            lock.finish()
        lock.held = placing.kept = done
        return done

    @property
    def repo_there(self) -> Repository:
        return self.site.work or self.repo

    def commit_on(self, tip: str) -> str:
        """A commit with the files on top of `tip`; `tip` itself when it holds them all."""
        wanted = {path: Entry("100644", oid) for path, oid in self.blobs.items()}
        tree = self.repo.write_tree(wanted, base=tip)
        changes = self.repo.git("diff-tree", "-r", "-z", "--no-renames", "--name-status", tip, tree).split(b"\0")[:-1]
        for status, path in zip(changes[::2], changes[1::2], strict=True):
            if status != b"A":
                raise taken(os.fsdecode(path))
        return self.repo.write_commit(tree, [tip], self.message) if changes else tip

    def moved(self, tip: str, commit: str, facts: Mapping[str, Any]) -> str | None:
        """Compare and swap; None for a lost race. A reference that is locked for a moment is tried again."""
        self.tell("committing", {"commit": commit, "ref": self.site.ref, **facts})
        subject = self.message.partition("\n")[0]
        for pause in (0.02, 0.1, 0.5, 0.0):
            began = clock(make_directory(self.repo.home))
            try:
                self.repo_there.move_ref(self.site.ref, commit, tip, subject)
            except GitError:
                there = self.repo_there
                stale.clear(there, Died((), (self.site.ref,), (commit,), (there.git_dir,), began, began))
                now = _tip(there, self.site.ref)
                if now == commit:
                    return commit
                if now != tip:
                    return None
                if not pause:
                    raise
                time.sleep(pause)
            else:
                return commit
        return None

    def tell(self, step: str, facts: Mapping[str, Any]) -> None:
        """With the work tree that is touched."""
        self.on.tell(step, {**facts, "top": str(self.site.work.top) if self.site.work else ""})


def settle(repo: Repository, files: Mapping[str, bytes], on: Landing, told: Sequence[Mapping[str, Any]]) -> str:
    """After a crash, bring a landing to rest by what its journal was told: finish the index if the reference had
    moved, else take lock and files away. Returns what could not be put right, "" when nothing is left.

    `told` are the facts of `locking` and `committing` in order, each with its step as `line`. `land` comes after it.
    """
    folder = indexlock.private(repo.home, on.name)
    steps = [t for t in told if t["line"] == "locking"]
    trouble = ""
    if steps:
        last = steps[-1]
        after = [t for t in told[told.index(last) :] if t["line"] == "committing"]
        moved = any(holds(repo, t) for t in after)
        if not indexlock.settle(last, folder, after[-1] if after else None, moved=moved):
            trouble = f"{last['lock']} is there and is not ours"
        elif not moved:
            _take_away(repo, Path(last["top"]), files)
    shutil.rmtree(folder, ignore_errors=True)
    return trouble


def holds(repo: Repository, told: Mapping[str, Any]) -> bool:
    """Whether the reference of a `committing` step has that step's commit."""
    at = repo if told["ref"] != "HEAD" else (_open(repo, Path(told["top"])) or repo)
    with suppress(GitError):
        return at.is_ancestor(told["commit"], told["ref"])
    return False


def _open(repo: Repository, top: Path) -> Repository | None:
    with suppress(GitError, OSError):
        return type(repo).open(replace(repo.world, cwd=top))
    return None


def _take_away(repo: Repository, top: Path, files: Mapping[str, bytes]) -> None:
    """Files of a landing that never happened, where the index does not know them."""
    work = repo if top == repo.top else _open(repo, top)
    if work is None:
        return
    blobs = {path: object_id("blob", data, work.object_format) for path, data in files.items()}
    with suppress(GitError):
        for path in indexlock.absent(work, blobs):
            take_away(work.top, path, files[path])
