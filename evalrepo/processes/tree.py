"""The processes that one run started: found also when they left their parent, session and environment.

On Linux the harness is a child subreaper, so a daemon of a run becomes a child of the harness, not of init. Whose it
is tells one of four marks, each of which a program may lose: its session or group, `INVOCATION_ID` in the environment
that it was started with, the run's output open, or an inherited resource limit (of message queues, which nothing uses)
that carries the run's number and is set just after the start.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import itertools
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MARK = "INVOCATION_ID"
"""The variable that marks a run's processes; service managers set one of this name, so it says nothing."""
LINUX = sys.platform == "linux"
_PR_SET_CHILD_SUBREAPER = 36
_RLIMIT_MSGQUEUE = 12
_numbers = itertools.count(1)
_lock = threading.Lock()
_subreaper = 0


def become_subreaper() -> None:
    """Let orphans of our descendants become our children. Once a process, from any thread; nothing on macOS."""
    global _subreaper  # noqa: PLW0603 - a property of the process
    with _lock:
        if LINUX and _subreaper != os.getpid():
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            _subreaper = os.getpid()


@dataclass(frozen=True, slots=True)
class Mark:
    """What the processes of one run carry: `text` in the environment, `number` in a resource limit."""

    text: str
    number: int


def new_mark() -> Mark:
    """A mark that no other run of this machine has."""
    number = next(_numbers)
    seed = f"{os.getpid()} {time.monotonic_ns()} {number}".encode()
    return Mark(hashlib.sha256(seed).hexdigest()[:32], 500_000 + (os.getpid() * 1009 + number) % 300_000)


class Family:
    """All processes of the run whose first process is `leader` (the leader of a session of its own)."""

    def __init__(self, leader: int, mark: Mark) -> None:
        self.leader = leader
        self._mark = mark
        self._needle = f"{MARK}={mark.text}".encode()
        self._output: set[tuple[int, int]] = set()
        self._known: dict[int, bytes] = {}
        """Process id → start time of those that were seen: a dead one has lost its marks."""

    def brand(self, output: Iterable[Path], rlimits: Mapping[int, int]) -> None:
        """Set the mark and the limits on what has been started, and remember its output by device and inode."""
        self._output = {(about.st_dev, about.st_ino) for about in (path.stat() for path in output)}
        if LINUX:
            for pid in (self.leader, *_below(self.leader)):
                _set_limits(pid, self._mark.number, rlimits)

    def members(self) -> list[int]:
        """Living processes of the run without its leader; zombies that are ours are reaped on the way."""
        if not LINUX:
            return []
        found = set(_below(self.leader))
        for pid in _children(os.getpid()):
            if pid != self.leader and (self._known.get(pid) == _state(pid)[1] or self._ours(pid)) and not _reaped(pid):
                found.add(pid)
                found.update(_below(pid))
        self._known |= {pid: _state(pid)[1] for pid in found if pid not in self._known}
        return sorted(found)

    def _ours(self, pid: int) -> bool:
        try:
            if self.leader in (os.getsid(pid), os.getpgid(pid)):
                return True
            if resource.prlimit(pid, _RLIMIT_MSGQUEUE)[0] == self._mark.number:
                return True
            return self._needle in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") or self._writes(pid)
        except OSError:
            return False

    def _writes(self, pid: int) -> bool:
        if _not_started(pid):
            return False
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                about = link.stat()
                if (about.st_dev, about.st_ino) in self._output:
                    return True
        return False

    def signal(self, number: int, *, leader: bool) -> None:
        """Send a signal to every member, and to the leader (not reaped yet) and its group when asked."""
        members = self.members()
        with contextlib.suppress(OSError):
            if leader:
                os.killpg(self.leader, number)
        for pid in members:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def kill_rest(self, within_s: float) -> list[int]:
        """SIGKILL what is there until nothing is; returns what even that did not end in time."""
        end = time.monotonic() + within_s
        pause = 0.0005
        while True:
            left = self.members() or self.members()
            if not left or time.monotonic() > end:
                return left
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(pause)
            pause = min(pause * 2, 0.02)


def _not_started(pid: int) -> bool:
    """Whether another thread has forked it and it is not a program of its own yet: it holds every file of ours."""
    return Path(f"/proc/{pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes()


def _set_limits(pid: int, number: int, rlimits: Mapping[int, int]) -> None:
    """Soft and hard limits of a process, never above what it has; the soft one of message queues is the mark."""
    for which, value in rlimits.items():
        with contextlib.suppress(OSError, ValueError):
            hard = resource.prlimit(pid, which)[1]
            top = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, which, (top, top))
    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(pid, _RLIMIT_MSGQUEUE, (number, resource.prlimit(pid, _RLIMIT_MSGQUEUE)[1]))


def end_strays(place: Path) -> list[int]:
    """SIGKILL processes that a dead harness left in `place`; returns their ids.

    Theirs is a HOME below it, or a directory below it and no terminal: a person may stand there to look. Only
    processes that we may look into; nothing where there is no /proc.
    """
    ended = []
    needle = f"HOME={place}/".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            home = any(line.startswith(needle) for line in (entry / "environ").read_bytes().split(b"\0"))
            terminal = (entry / "stat").read_bytes().rpartition(b") ")[2].split()[4] != b"0"
            if home or (not terminal and (entry / "cwd").readlink().is_relative_to(place)):
                os.kill(int(entry.name), signal.SIGKILL)
                ended.append(int(entry.name))
    return sorted(ended)


def _reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _children(pid: int) -> Iterator[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            yield from map(int, (task / "children").read_bytes().split())
        except OSError:
            continue


def _below(pid: int) -> Iterator[int]:
    for child in _children(pid):
        if _state(child)[0] not in {b"Z", b"X", b""}:
            yield child
        yield from _below(child)


def _state(pid: int) -> tuple[bytes, bytes]:
    """The letter of a process's state and its start time in ticks, empty when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return b"", b""
    return fields[0], fields[19]
