"""What a git of ours leaves when it is killed: locks of references, and temporary files in the object store.

git gives them no owner. One is taken for ours when it fits what the run's journal was about to do, and no git is at
work in the repository: a lock or temporary file without a process is of use to nobody.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository

PATIENCE_S = 2.0
"""How long a git at work is waited for."""
AFTER_S = 10.0
"""Longest time between a run's last journal line and the start of the git that died with it."""


@dataclass(frozen=True, slots=True)
class Died:
    """What is known of a dead run, or of a git of ours that was killed: references that are nobody else's, references
    that it was moving and to which commits, and its life by the file system's clock, in seconds since the epoch.
    """

    own: tuple[str, ...]
    moving: tuple[str, ...]
    commits: tuple[str, ...]
    git_dirs: tuple[Path, ...]
    began: float
    last: float


def clear(repo: Repository, died: Died) -> list[Path]:
    """Remove what the dead run's gits left; what was removed. Leaves everything when a git stays at work."""
    removed = [lock for ref in died.own if _unlink(lock := repo.common_dir / f"{ref}.lock")]
    until = time.monotonic() + PATIENCE_S
    while found := [*_ref_locks(repo, died), *_temporary(repo, died)]:  # listed first: their makers are seen then
        if not at_work(repo):
            return removed + [path for path in found if _unlink(path)]
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    return removed


def _ref_locks(repo: Repository, died: Died) -> Iterable[Path]:
    """Locks of the references that were being moved, and of the HEADs that log it: empty, or holding our commit."""
    names = [repo.common_dir / ref for ref in died.moving if ref != "HEAD"]
    heads = [git_dir / "HEAD" for git_dir in died.git_dirs] if died.moving else []
    contents = {b"", *(f"{commit}\n".encode() for commit in died.commits)}
    for path in (*names, *heads):
        lock = path.with_name(f"{path.name}.lock")
        if _within(lock, died.last - 1, died.last + AFTER_S) and _content(lock) in contents:
            yield lock


def _temporary(repo: Repository, died: Died) -> Iterable[Path]:
    patterns = ((repo.objects_dir, "[0-9a-f][0-9a-f]/tmp_obj_*"), *((d, "sharedindex_??????") for d in died.git_dirs))
    for folder, pattern in patterns:
        for path in folder.glob(pattern):
            if _within(path, died.began - 2, math.inf):
                yield path


def _within(path: Path, first: float, last: float) -> bool:
    try:
        return first <= path.stat(follow_symlinks=False).st_mtime <= last
    except FileNotFoundError:
        return False


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def at_work(repo: Repository) -> bool:
    """Whether a git process stands in this repository; yes where processes cannot be listed, or one cannot be asked."""
    try:
        entries = [e for e in Path("/proc").iterdir() if e.name.isdigit()]
    except OSError:
        return True
    places = (repo.top, repo.git_dir, repo.common_dir)
    return any(_stands(entry, places) for entry in entries)


def _stands(entry: Path, places: Iterable[Path]) -> bool:
    try:
        name = (entry / "comm").read_bytes().strip()
        if name != b"git" and (not name.startswith(b"git-") or name == b"git-daemon"):
            return False
        if (entry / "stat").read_bytes().rpartition(b") ")[2][:1] in (b"Z", b"X"):
            return False
        cwd = (entry / "cwd").readlink()
    except PermissionError:
        return True
    except OSError:
        return False
    return any(cwd.is_relative_to(place) for place in places)
