"""Claims of cells between processes: a cell is measured by one run at a time. A crash frees what it held."""

from __future__ import annotations

import fcntl
import os
import resource
import threading
from collections.abc import Hashable, Iterable
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from evalrepo.errors import HarnessError
from evalrepo.repository.durable import is_named, make_directory

K = TypeVar("K", bound=Hashable)
POLL_S = 0.1


class Claims:
    """This process's claims: one locked file a cell below `home/claims/`, removed when it is released.

    Whoever waits for a busy cell releases its own first, so that no two runs wait for each other.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home / "claims"
        self._held: dict[Hashable, int] = {}

    def take(self, keys: Iterable[K]) -> tuple[tuple[K, ...], tuple[K, ...]]:
        """Claim what is free, at once: (mine, busy), in the order given. A key's `repr` is its identity."""
        wanted = tuple(dict.fromkeys(keys))
        _make_room(len(wanted))
        for key in wanted:
            self._claim(key)
        return (
            tuple(k for k in wanted if k in self._held),
            tuple(k for k in wanted if k not in self._held),
        )

    def wait(self, key: Hashable, cancel: threading.Event) -> bool:
        """Claim one, waiting until it is free; False when `cancel` was set before that."""
        while not self._claim(key):
            if cancel.wait(POLL_S):
                return False
        return True

    def release(self, keys: Iterable[Hashable] | None = None) -> None:
        """Give claims up, all of them without `keys`."""
        for key in tuple(self._held if keys is None else keys):
            descriptor = self._held.pop(key, None)
            if descriptor is not None:
                self._path(key).unlink(missing_ok=True)
                os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _path(self, key: Hashable) -> Path:
        return self._folder / sha256(repr(key).encode("utf-8", "surrogateescape")).hexdigest()

    def _claim(self, key: Hashable) -> bool:
        """A file that was unlinked between open and lock is nobody's claim: try again with the new one."""
        path = self._path(key)
        while key not in self._held:
            descriptor = _locked(path)
            if descriptor is None:
                return False
            if is_named(descriptor, path):
                self._held[key] = descriptor
            else:
                os.close(descriptor)
        return True


def _locked(path: Path) -> int | None:
    try:
        make_directory(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise HarnessError(f"{path}: cells cannot be claimed: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _make_room(count: int) -> None:
    """A claim is a descriptor: raise this process's own limit as far as it may go."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = count + 512
    if soft != resource.RLIM_INFINITY and soft < need:
        most = need if hard == resource.RLIM_INFINITY else min(need, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def sweep(home: Path) -> None:
    """Remove claims whose runs died; a lock was never theirs any more, only the file stayed."""
    for path in (home / "claims").glob("*"):
        descriptor = _locked(path)
        if descriptor is not None:
            if is_named(descriptor, path):
                path.unlink(missing_ok=True)
            os.close(descriptor)
