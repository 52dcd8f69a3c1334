"""An event that is committed by itself is told to a file first, so that a crash in the middle is put right later.

`home/ledger/ULID.jsonl` holds the event, then each step of its landing before the step is taken; it is locked while its
process lives, and removed when the landing is done.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalrepo.errors import GitError
from evalrepo.repository import commit, stale
from evalrepo.repository.commit import Landing
from evalrepo.repository.durable import clock, is_named, make_directory, sync, sync_directory, write_all

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository


def land(repo: Repository, path: str, data: bytes, message: str) -> str:
    """Commit one event on what is checked out; the commit. Raises GitError, with nothing moved."""
    settle(repo)
    name = path.rpartition("/")[2].removesuffix(".yaml").lower()
    file = make_directory(repo.home / "ledger") / f"{name}.jsonl"
    with _told(file) as descriptor:
        branch = repo.branch()
        _tell(descriptor, {"path": path, "text": data.decode(), "branch": branch, "clock": clock(file.parent)})
        sync_directory(file.parent)

        def tell(step: str, facts: Mapping[str, Any]) -> None:
            _tell(descriptor, {"line": step, **facts})

        return commit.land(repo, {path: data}, message, on=Landing(name, branch, tell))


@contextlib.contextmanager
def _told(file: Path) -> Iterator[int]:
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:  # a landing that was refused has put everything back by itself
        file.unlink(missing_ok=True)
        os.close(descriptor)


def _tell(descriptor: int, row: Mapping[str, Any]) -> None:
    write_all(descriptor, json.dumps(row).encode() + b"\n")
    sync(descriptor)


def settle(repo: Repository) -> None:
    """Bring landings of events whose process died to rest: the index follows a branch that had moved, and nothing of
    the others is left. One that cannot follow now (a merge in progress) waits for the next time. GitError where
    something is in the way that is not ours."""
    for file in sorted((repo.home / "ledger").glob("*.jsonl")):
        descriptor = _free(file)
        if descriptor is None:
            continue
        try:
            if _settle(repo, file, _rows(file)):
                file.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _free(file: Path) -> int | None:
    """A descriptor with the lock of a file whose process died; None for one that lives or is done."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return None
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_named(descriptor, file):
            return descriptor
    os.close(descriptor)
    return None


def _rows(file: Path) -> list[dict[str, Any]]:
    """What was told; a last line that is torn told of a step that was not taken."""
    found = []
    for line in file.read_bytes().splitlines(keepends=True):
        try:
            row = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            row = None
        if not isinstance(row, dict):
            break
        found.append(row)
    return found


def _settle(repo: Repository, file: Path, rows: list[dict[str, Any]]) -> bool:
    """Whether nothing is left to do."""
    told = rows[1:]
    if not told:
        return True
    first, moves = rows[0], [row for row in told if row["line"] == "committing"]
    stale.clear(repo, _died(repo, first, told, file.stat().st_mtime))
    on = Landing(file.stem, first["branch"], lambda _step, _facts: None)
    files = {first["path"]: first["text"].encode()}
    trouble = commit.settle(repo, files, on, told)
    if trouble:
        raise GitError(trouble, hint="when no git is at work here, remove it; then again")
    if not any(commit.holds(repo, row) for row in moves):
        return True
    try:  # a commit that a person made after removing our lock by hand may have dropped it
        commit.land(repo, files, f"evalrepo: {file.stem} again", on=on)
    except GitError:
        return False
    return True


def _died(repo: Repository, first: Mapping[str, Any], told: list[dict[str, Any]], last: float) -> stale.Died:
    moves = [row for row in told if row["line"] == "committing"]
    dirs = [repo.git_dir]
    for top in dict.fromkeys(row["top"] for row in told if row["top"] not in ("", str(repo.top))):
        with contextlib.suppress(GitError, OSError):
            dirs.append(type(repo).open(replace(repo.world, cwd=Path(top))).git_dir)
    refs = tuple(dict.fromkeys(row["ref"] for row in moves))
    return stale.Died((), refs, tuple(row["commit"] for row in moves), tuple(dict.fromkeys(dirs)), first["clock"], last)
