"""Directories of sandboxes are leased by the process that fills them; the next run removes what a dead one left."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from evalrepo.errors import HarnessError
from evalrepo.processes.tree import end_strays
from evalrepo.repository.repo import Repository
from evalrepo.sandbox import trees


@contextlib.contextmanager
def leased(home: Path, place: Path) -> Iterator[None]:
    """Make `place`, an absolute directory that is this process's alone, and hold it; it is removed at the end.

    The lease is a locked file below `home/boxes/` that names the place, there before it; a crash frees the lock and
    leaves the file.
    """
    lease = home / "boxes" / place.name
    try:
        held = _signed(lease, place)
        place.mkdir(mode=0o700)
    except OSError as error:
        lease.unlink(missing_ok=True)
        raise HarnessError(
            f"{error.filename or lease}: no sandboxes can be made: {error.strerror}", hint="make room, or set TMPDIR"
        ) from None
    try:
        yield
    finally:
        trees.remove(place)
        lease.unlink(missing_ok=True)
        os.close(held)


def _signed(lease: Path, place: Path) -> int:
    """The lease's descriptor; its file is locked and whole before it can be seen under its name."""
    lease.parent.mkdir(parents=True, exist_ok=True)
    hidden = lease.with_name(f".{lease.name}")
    for last in (False, False, True):
        held = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            os.write(held, os.fsencode(place))
            hidden.rename(lease)
        except BaseException as error:
            os.close(held)
            hidden.unlink(missing_ok=True)
            if last or not isinstance(error, FileNotFoundError):  # swept before it was locked
                raise
        else:
            return held
    raise AssertionError


def sweep(repo: Repository) -> None:
    """End what runs in the places of dead processes, and remove them; never one that holds the repository."""
    for lease in (repo.home / "boxes").glob("*"):
        with contextlib.suppress(OSError):
            _sweep_one(repo, lease)


def _sweep_one(repo: Repository, lease: Path) -> None:
    held = os.open(lease, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        place = Path(os.fsdecode(os.read(held, 4096)))
        if _ours_alone(repo, place):
            end_strays(place)
            trees.remove(place)
        lease.unlink(missing_ok=True)
    finally:
        os.close(held)


def _ours_alone(repo: Repository, place: Path) -> bool:
    apart = place.is_absolute() and len(place.parts) > 2 and place.is_dir() and not place.is_symlink()
    return apart and not any(ours.is_relative_to(place) for ours in (repo.top, repo.common_dir))
