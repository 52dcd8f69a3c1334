"""The clone's own count of records: who it is, and which numbers were given to which run. None is skipped or repeated.

`home/sequence` holds a sealed line for each run that was given numbers. Whoever gives some holds its lock; a run that
died after its line was written finds its numbers there again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from evalrepo.errors import HarnessError
from evalrepo.repository.durable import make_directory, publish, sync, sync_directory, write_all, write_new
from evalrepo.repository.repo import Repository
from evalrepo.running import lines
from evalrepo.world import World

WAIT_S = 60.0
"""How long another run may hold the count; it renders its records meanwhile."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The numbers `first` … `first + count - 1` of a run. `previous` is the SHA-256 of the result file before them, ""
    for none; `last` that of their last; `tree` the id of a git tree with these files by repository path.
    """

    run: str
    first: int
    count: int
    previous: str
    last: str
    tree: str


Make = Callable[[int, str], tuple[str, str]]
"""First number and the hash before it → id of the tree of result files, and the hash of the last of them."""


def clone_id(repo: Repository, world: World) -> str:
    """This clone's random name, 16 hex; made once. Linked work trees share it. HarnessError when it is damaged."""
    path = repo.home / "clone"
    try:
        make_directory(path.parent)
        if not path.exists():
            _name(path, world)
        found = path.read_text("ascii").strip()
    except OSError as error:
        raise HarnessError(f"{path}: {error.strerror}", hint="the git directory must be writable") from None
    except UnicodeDecodeError:
        found = ""
    if not re.fullmatch(r"[0-9a-f]{16}", found):
        raise HarnessError(f"{path}: this is no clone's name", hint="remove the file; a new count of records begins")
    return found


def _name(path: Path, world: World) -> None:
    temporary = path.with_name(f".clone.{world.random(8).hex()}")
    try:
        write_new(temporary, world.random(8).hex().encode() + b"\n")
        with contextlib.suppress(FileExistsError):
            publish(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def assign(home: Path, run: str, count: int, make: Make) -> Assigned:
    """The numbers of a run: those it was given before, else the next ones, once `make` has stored what bears them."""
    path = home / "sequence"
    with _held(path) as file:
        given = _given(file, path)
        mine = next((a for a in given if a.run == run), None)
        if mine is not None:
            return mine
        first, previous = (given[-1].first + given[-1].count, given[-1].last) if given else (1, "")
        tree, last = make(first, previous)
        new = Assigned(run, first, count, previous, last, tree)
        _add(file, path, new)
        return new


def given(home: Path) -> list[Assigned]:
    """Every assignment of this clone, in order."""
    path = home / "sequence"
    try:
        found = lines.read(path.read_bytes(), str(path))
    except FileNotFoundError:
        return []
    return [Assigned(**row) for row in found.rows]


@contextlib.contextmanager
def _held(path: Path) -> Iterator[int]:
    try:
        make_directory(path.parent)
        fresh = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if fresh:
            sync_directory(path.parent)
    except OSError as error:
        raise HarnessError(f"{path}: cannot be opened: {error.strerror}") from None
    try:
        until = time.monotonic() + WAIT_S
        while not _try_lock(file):
            if time.monotonic() > until:
                raise HarnessError(f"{path}: another run has held the count of records for {WAIT_S:.0f} s")
            time.sleep(0.01)
        yield file
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _given(file: int, path: Path) -> list[Assigned]:
    """What was given; a torn end is cut off, since the run that wrote it never had its numbers."""
    data = os.pread(file, os.fstat(file).st_size, 0)
    found = lines.read(data, str(path))
    if found.torn:
        os.ftruncate(file, found.size)
        sync(file)
    return [Assigned(**row) for row in found.rows]


def _add(file: int, path: Path, new: Assigned) -> None:
    size = os.fstat(file).st_size
    found = lines.read(os.pread(file, size, 0), str(path))
    line, _ = lines.seal(found.seals[-1] if found.seals else "", asdict(new))
    try:
        os.lseek(file, 0, os.SEEK_END)
        write_all(file, line)
        sync(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.ftruncate(file, size)
        raise HarnessError(
            f"{path}: cannot be written: {error.strerror}", hint="no rep is lost; make room, then run again"
        ) from None
