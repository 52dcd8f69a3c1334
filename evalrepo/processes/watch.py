"""Waiting for a process and watching its files grow."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

Watch = Sequence[Path] | Callable[[], Iterable[Path]]
"""Files that may not exist yet, or a function that finds them."""


class Waiter:
    """Waits for the end of one process: by pidfd without reaping it, elsewhere by asking `reap` for its code."""

    def __init__(self, pid: int, reap: Callable[[], int | None]) -> None:
        self._reap = reap
        self._fd = -1
        with contextlib.suppress(OSError, AttributeError):
            self._fd = os.pidfd_open(pid)
            self._poll = select.poll()
            self._poll.register(self._fd, select.POLLIN)

    def ended(self, within_s: float) -> bool:
        """Whether it has ended, after waiting for at most so long."""
        if self._fd >= 0:
            return bool(self._poll.poll(max(0, round(within_s * 1000))))
        end, pause = time.monotonic() + within_s, 0.0005
        while self._reap() is None:
            if time.monotonic() >= end:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.01)
        return True

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class Watcher:
    """Growth of the output and the watched files."""

    def __init__(self, output: Path, errors: Path, watch: Watch, now: float) -> None:
        self.output, self.errors, self._watch = output, errors, watch
        self._sizes: dict[Path, int] = {}
        self._gap = 0.0
        self.last = now
        self.grown = False

    def look(self, now: float) -> int:
        """Notes growth; returns the bytes of output and errors so far."""
        written = size(self.output)
        sizes = {self.output: written} if written else {}
        for path in self._watch() if callable(self._watch) else self._watch:
            if length := size(path):
                sizes[path] = length
        if sizes != self._sizes:
            self._sizes, self.grown = sizes, True
            self._gap, self.last = max(self._gap, now - self.last), now
        return written + (size(self.errors) if self.errors != self.output else 0)

    def longest_gap(self, now: float) -> float:
        """Seconds of the longest time without growth, from the start to `now`."""
        return max(self._gap, now - self.last)


def size(path: Path) -> int:
    """Bytes of a file (a link is not followed), 0 when there is none."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
