"""Candidate and floor, measured in turns in one run; what counts is the median of their ratios."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PYTHON = sys.executable
_SCRIPT = Path(PYTHON).with_name("evalrepo")
EVALREPO = (str(_SCRIPT),) if _SCRIPT.is_file() else (PYTHON, "-m", "evalrepo")
NOTHING = (PYTHON, "-c", "pass")
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Options:
    """`large`: the cases of 100,000 too; `rounds`: turns of candidate and floor, None is each path's own."""

    large: bool = False
    rounds: int | None = None


@dataclass(frozen=True)
class Figure:
    """One line of the report: median of `unit` with least and most; `goal` None is for information only.

    `candidate` and `floor` are medians in milliseconds where the figure is a ratio of times; `cpu` is then the ratio
    of processor times, which other work on the machine moves less.
    """

    path: str
    what: str
    median: float
    least: float
    most: float
    goal: float | None
    unit: str = "x"
    candidate: float | None = None
    floor: float | None = None
    cpu: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the median reaches the goal."""
        return self.goal is None or self.median <= self.goal


@dataclass(frozen=True)
class Case:
    """A path as one floor and one candidate, each a call that does the whole of it once."""

    path: str
    what: str
    candidate: Callable[[], object]
    floor: Callable[[], object]
    goal: float | None
    rounds: int = 15


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds: on the clock, and of processors (children that were waited for included)."""

    wall: float
    cpu: float


def took(call: Callable[[], object]) -> Took:
    """How long a call takes."""
    busy, start = _cpu(), time.perf_counter()
    call()
    return Took(time.perf_counter() - start, _cpu() - busy)


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def ratios(case: Case, options: Options) -> Figure:
    """Both once to warm up, then in turns, the order changing; the median of the rounds' ratios."""
    case.candidate()
    case.floor()
    pairs = [_round(case, first=number % 2 == 0) for number in range(options.rounds or case.rounds)]
    each = [candidate.wall / floor.wall for candidate, floor in pairs]
    return Figure(
        case.path,
        case.what,
        statistics.median(each),
        min(each),
        max(each),
        case.goal,
        candidate=1000 * statistics.median(c.wall for c, _ in pairs),
        floor=1000 * statistics.median(f.wall for _, f in pairs),
        cpu=sum(c.cpu for c, _ in pairs) / (sum(f.cpu for _, f in pairs) or 0.01),
    )


def _round(case: Case, *, first: bool) -> tuple[Took, Took]:
    if first:
        candidate = took(case.candidate)
        return candidate, took(case.floor)
    floor = took(case.floor)
    return took(case.candidate), floor


def command(
    *argv: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", codes: Sequence[int] = (0,)
) -> Callable[[], object]:
    """A command as a call, its output thrown away. AssertionError when it ends with another exit code."""

    def call() -> None:
        done = subprocess.run(
            argv, cwd=cwd, env=dict(env), input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
        assert done.returncode in codes, f"{' '.join(argv)}: exit {done.returncode}\n{done.stderr.decode()}"

    return call


def together(*calls: Callable[[], object]) -> Callable[[], None]:
    """One call after the other."""

    def call() -> None:
        for one in calls:
            one()

    return call


def peak_megabytes(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> float:
    """The most memory that the command's own process held, in MB (2**20 bytes)."""
    process = subprocess.Popen(argv, cwd=cwd, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{' '.join(argv)}: exit {process.returncode}"
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / MEGABYTE


def lines(figures: Sequence[Figure]) -> Iterator[str]:
    """The report, one line a figure."""
    width = max((len(figure.what) for figure in figures), default=0)
    for figure in figures:
        goal = f"goal <= {figure.goal:g}" if figure.goal is not None else "no goal"
        verdict = "" if figure.goal is None else "ok" if figure.ok else "MISSED"
        span = f"{figure.median:8.2f} {figure.unit:<2} ({figure.least:.2f}..{figure.most:.2f})"
        times = f"{figure.candidate:.1f} / {figure.floor:.1f} ms" if figure.candidate and figure.floor else ""
        times += f", cpu {figure.cpu:.2f} x" if figure.cpu else ""
        yield f"{figure.path:<10} {figure.what:<{width}} {span:<28} {goal:<12} {verdict:<7} {times}".rstrip()
