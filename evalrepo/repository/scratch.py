"""Private directories of a process below our folder in the git directory, that go away with it.

Each has a lock file beside it, held by flock while its owner lives; whoever makes a new one removes what dead
processes have left.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class Scratch:
    """`path` is an empty directory that is ours until `close`; in the temporary folder where `home` is read-only."""

    def __init__(self, home: Path) -> None:
        try:
            base = home / "scratch"
            base.mkdir(parents=True, exist_ok=True)
            sweep(base)
            self._lock, self._name = _leased(base)
        except OSError:
            self._lock, self._name = _leased(Path(tempfile.gettempdir()))
        self.path = Path(self._name.removesuffix(".lock"))
        self.path.mkdir(mode=0o700)
        self._owner = os.getpid()

    def close(self) -> None:
        """Remove the directory; again does nothing. A forked child removes nothing."""
        if self._lock < 0 or os.getpid() != self._owner:
            return
        _remove(self.path, Path(self._name))
        os.close(self._lock)
        self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _leased(base: Path) -> tuple[int, str]:
    """A lock file that is held and was not swept between its making and its locking. OSError where it cannot be."""
    while True:
        lock, name = tempfile.mkstemp(prefix="evalrepo-", suffix=".lock", dir=base)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if Path(name).stat().st_ino == os.fstat(lock).st_ino:
                return lock, name
        except (BlockingIOError, FileNotFoundError):
            pass
        except OSError:
            Path(name).unlink(missing_ok=True)
            os.close(lock)
            raise
        os.close(lock)


def _remove(directory: Path, lock: Path) -> None:
    """The lock file goes last: while something cannot be removed, the next sweep tries again."""
    shutil.rmtree(directory, ignore_errors=True)
    if not directory.exists():
        with suppress(OSError):
            lock.unlink()


def sweep(base: Path) -> None:
    """Remove the directories whose owner is dead."""
    for lock in base.glob("*.lock"):
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(lock.with_suffix(""), lock)
        except OSError:
            pass
        finally:
            os.close(handle)
