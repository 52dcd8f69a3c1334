"""The only door to processes: start, watch, end the whole tree, leave nothing.

Every process has a session of its own, output that goes straight to files (a pipe that a daemon holds open would
never end), a closed stdin or a file, and deadlines. git is the exception: it is started in `repository/runner.py`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from evalrepo.errors import HarnessError
from evalrepo.processes.tree import MARK, Family, Mark, become_subreaper, new_mark
from evalrepo.processes.watch import Waiter, Watch, Watcher

POLL_S = 0.05
"""Longest time between two looks at the deadlines, `stop` and `cancel`."""
LEARN_EVERY = 10
"""Looks between two at the process tree, by which those that leave it later are known (none leaves bubblewrap)."""
KILL_S = 5.0
SETTLE_S = 0.1
CANCEL_GRACE_S = 0.5


class Reason(StrEnum):
    """Why a run ended. All but EXITED and NOT_STARTED mean that we ended it; DONE: it had nothing left to do."""

    EXITED = "exited"
    DONE = "done"
    WALL = "wall"
    IDLE = "idle"
    STARTUP = "startup"
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    LIMIT = "limit"
    NOT_STARTED = "not-started"


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds. `startup_s`: until the first growth of what is watched; `idle_s`: between two; None is no deadline.

    `grace_s`: from SIGTERM to SIGKILL (at most half a second when cancelled). `linger_s`: without growth, until `done`
    is asked whether the process only forgot to end.
    """

    wall_s: float
    idle_s: float | None = None
    startup_s: float | None = None
    grace_s: float = 5.0
    linger_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    `code` is the exit code, None when a `signal` ended the process or it never started (`why` says so then).
    `seconds` is the whole time, killing included; `longest_gap_s` the longest time without growth of what was
    watched. `lingered`: processes outlived the first one and were killed. `left`: those that even SIGKILL did not end.
    """

    code: int | None
    signal: int | None
    reason: Reason
    seconds: float
    longest_gap_s: float
    output: Path
    errors: Path
    lingered: bool = False
    left: tuple[int, ...] = ()
    why: str = ""


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: Path,
    errors: Path,
    deadlines: Deadlines,
    watch: Watch = (),
    stop: Callable[[], bool] | None = None,
    done: Callable[[], bool] | None = None,
    cancel: threading.Event | None = None,
    stdin: bytes | None = None,
    pass_fds: Sequence[int] = (),
    rlimits: Mapping[int, int] | None = None,
    output_limit: int = 1 << 30,
) -> Ended:
    """Run `argv` with exactly `env` (and a neutral mark) until it ends or is ended; afterwards nothing of it is left.

    `output` and `errors` are made or emptied; the same path means one file. Growth of `output` and of the `watch`
    files (paths that may not exist yet, or a function that finds them) is what the idle and start-up deadlines look
    at. `stop` and `cancel` are asked every 50 ms, `done` when nothing has grown for `linger_s`. More than
    `output_limit` bytes of output is Reason.LIMIT. `rlimits`: `resource.RLIMIT_…` → soft and hard limit (Linux; set
    just after the start). Only an exception of `stop`, `done` or `watch` is raised, and Ctrl-C; the tree is ended
    before.
    """
    become_subreaper()
    started, mark = time.monotonic(), new_mark()
    try:
        process = _start(argv, cwd, {**env, MARK: mark.text}, (output, errors), stdin=stdin, pass_fds=pass_fds)
    except (OSError, ValueError) as error:
        seconds = time.monotonic() - started
        why = f"{argv[0]}: {getattr(error, 'strerror', None) or error}"
        return Ended(None, None, Reason.NOT_STARTED, seconds, seconds, output, errors, why=why)
    watcher = Watcher(output, errors, watch, started)
    spare = Path(argv[0]).name == "bwrap"
    orders = _Orders(deadlines, stop, done, cancel, output_limit, rlimits or {}, spare_leader=spare)
    reason, lingered, left = _supervise(process, mark, watcher, orders)
    now, gap = time.monotonic(), watcher.longest_gap(time.monotonic())
    code, died = (process.returncode, None) if process.returncode >= 0 else (None, -process.returncode)
    return Ended(code, died, reason, now - started, gap, output, errors, lingered, tuple(left))


@dataclass(frozen=True, slots=True)
class _Orders:
    """When a process is to be ended, and how: bubblewrap passes no signal on, is spared and ends with its child."""

    deadlines: Deadlines
    stop: Callable[[], bool] | None
    done: Callable[[], bool] | None
    cancel: threading.Event | None
    output_limit: int
    rlimits: Mapping[int, int]
    spare_leader: bool


def _supervise(
    process: subprocess.Popen[bytes], mark: Mark, watcher: Watcher, orders: _Orders
) -> tuple[Reason, bool, list[int]]:
    """Why it ended, whether something outlived it, and what could not be killed. It is reaped then."""
    family = Family(process.pid, mark)
    waiter = Waiter(process.pid, process.poll)
    try:
        family.brand((watcher.output, watcher.errors), orders.rlimits)
        reason = _until_over(waiter, watcher, family, orders)
        if reason is not Reason.EXITED:
            cancelled = reason is Reason.CANCELLED
            grace = min(orders.deadlines.grace_s, CANCEL_GRACE_S) if cancelled else orders.deadlines.grace_s
            _ask_to_end(waiter, family, grace, spare_leader=orders.spare_leader)
        lingered = waiter.ended(0) and not _settled(family, SETTLE_S if reason is Reason.EXITED else 0)
        lingered = lingered or reason is Reason.DONE
    except BaseException:
        _finish(process, family)
        raise
    finally:
        waiter.close()
    return reason, lingered, _finish(process, family)


def capture(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float = 30,
    stdin: bytes = b"",
    limit: int = 10_000_000,
    pass_fds: Sequence[int] = (),
) -> tuple[int, bytes, bytes]:
    """Exit code (128 + n for a signal n), output and errors of a short command.

    Raises HarnessError when it cannot be started, takes longer than `timeout_s`, or writes more than `limit` bytes.
    """
    with _passing_files() as (out, err):
        deadlines = Deadlines(wall_s=timeout_s, grace_s=min(1.0, timeout_s))
        ended = run(
            argv,
            cwd=cwd,
            env=env,
            output=out,
            errors=err,
            deadlines=deadlines,
            stdin=stdin or None,
            pass_fds=pass_fds,
            output_limit=limit,
        )
        if ended.reason is Reason.NOT_STARTED:
            raise HarnessError(f"cannot start {ended.why}")
        if ended.reason is Reason.WALL:
            raise HarnessError(f"{argv[0]} took longer than {timeout_s:g} seconds", hint="run it by hand to see why")
        if ended.reason is Reason.LIMIT or out.stat().st_size + err.stat().st_size > limit:
            raise HarnessError(f"{argv[0]} wrote more than {limit} bytes")
        code = ended.code if ended.code is not None else 128 + (ended.signal or 0)
        return code, out.read_bytes(), err.read_bytes()


@contextlib.contextmanager
def _passing_files() -> Iterator[tuple[Path, Path]]:
    """Two files that nobody has to remove: in memory on Linux, so that a kill leaves none."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder, "1"), Path(folder, "2")
        return
    with contextlib.ExitStack() as files:
        handles = [files.enter_context(os.fdopen(os.memfd_create("output"), "rb")) for _ in range(2)]
        out, err = (Path(f"/proc/{os.getpid()}/fd/{handle.fileno()}") for handle in handles)
        yield out, err


def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    to: tuple[Path, Path],
    *,
    stdin: bytes | None,
    pass_fds: Sequence[int],
) -> subprocess.Popen[bytes]:
    with contextlib.ExitStack() as files:
        out: IO[bytes] = files.enter_context(to[0].open("wb"))
        err = out if to[1] == to[0] else files.enter_context(to[1].open("wb"))
        source: int | IO[bytes] = subprocess.DEVNULL
        if stdin is not None:
            source = files.enter_context(tempfile.TemporaryFile())
            source.write(stdin)
            source.seek(0)
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=source,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=pass_fds,
        )


def _until_over(waiter: Waiter, watcher: Watcher, family: Family, orders: _Orders) -> Reason:
    deadlines = orders.deadlines
    wall = watcher.last + deadlines.wall_s
    for look in itertools.count():
        wait = min(POLL_S, max(0.0, wall - time.monotonic()))
        if waiter.ended(wait):
            watcher.look(time.monotonic())
            return Reason.EXITED
        now = time.monotonic()
        written = watcher.look(now)
        if orders.cancel is not None and orders.cancel.is_set():
            return Reason.CANCELLED
        if orders.stop is not None and orders.stop():
            return Reason.STOPPED
        if now >= wall:
            return Reason.WALL
        if written > orders.output_limit:
            return Reason.LIMIT
        if late := _late(watcher, orders, now):
            return late
        if look % LEARN_EVERY == 0 and not orders.spare_leader:
            family.members()
    raise AssertionError


def _late(watcher: Watcher, orders: _Orders, now: float) -> Reason | None:
    deadlines, still = orders.deadlines, now - watcher.last
    if orders.done is not None and still >= deadlines.linger_s and orders.done():
        return Reason.DONE
    if not watcher.grown and deadlines.startup_s is not None:
        return Reason.STARTUP if still >= deadlines.startup_s else None
    return Reason.IDLE if deadlines.idle_s is not None and still >= deadlines.idle_s else None


def _ask_to_end(waiter: Waiter, family: Family, grace_s: float, *, spare_leader: bool) -> None:
    """SIGTERM to the tree and time to obey."""
    end = time.monotonic() + grace_s
    family.signal(signal.SIGTERM, leader=not spare_leader)
    while (left := end - time.monotonic()) > 0:
        if waiter.ended(min(POLL_S, left)) and not family.members():
            return
        if waiter.ended(0):
            time.sleep(min(0.01, max(0.0, left)))


def _settled(family: Family, within_s: float) -> bool:
    """Whether nothing but the leader is there; what is just ending gets a moment."""
    end = time.monotonic() + within_s
    while family.members():
        if time.monotonic() >= end:
            return False
        time.sleep(0.002)
    return True


def _finish(process: subprocess.Popen[bytes], family: Family) -> list[int]:
    """SIGKILL for whatever is there; reaps. Returns what cannot be killed."""
    family.signal(signal.SIGKILL, leader=True)
    try:
        process.wait(KILL_S)
    except subprocess.TimeoutExpired:
        return [process.pid, *family.kill_rest(0)]
    return family.kill_rest(KILL_S)
