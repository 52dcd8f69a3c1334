"""What a run shows while it works: a bar on a terminal, a few lines elsewhere, nothing with --format json."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from evalrepo.records.record import RETRIABLE, ErrorKind, Rep, Verdict
from evalrepo.render.safe import safe
from evalrepo.running.events import Begun, Event, Finished, Note, Started, Waiting

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

SILENT_S = 30.0
"""Seconds after which something is said although no cell is done: a log that stands still looks dead."""


def line(name: str, rep: Rep) -> str:
    """One rep as a line: `S1 · scripted/good  rep 2  FAIL A  0.4 s`."""
    again = f" attempt {rep.attempt}" if rep.attempt > 1 else ""
    what = f"{rep.verdict}({rep.error})" if rep.error else str(rep.verdict)
    axes = f" {', '.join(rep.axes_failed)}" if rep.axes_failed else ""
    why = f"  {rep.message}" if rep.message else ""
    return safe(f"{name}  rep {rep.rep}{again}  {what}{axes}  {rep.timing.seconds:.1f} s{why}")


class Quiet:
    """Says nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return

    def __call__(self, event: Event) -> None:
        """Take an event."""


class Lines(Quiet):
    """On stderr: a line for each cell when its reps are done, and one for each rep that did not pass."""

    def __init__(self) -> None:
        self._cells: tuple[str, ...] = ()
        self._wanted: tuple[int, ...] = ()
        self._last: dict[tuple[int, int], Rep] = {}
        self._seen: Counter[Verdict] = Counter()
        self._spoke = time.monotonic()
        self._mutex = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Say it."""
        with self._mutex:
            self._take(event)

    def _take(self, event: Event) -> None:
        if isinstance(event, Begun):
            self._cells, self._wanted, self._last = event.cells, event.reps, {}
        elif isinstance(event, Finished):
            self._count(event)
        elif isinstance(event, Waiting):
            self._say(f"waiting: another run measures {', '.join(event.cells)}")
        elif isinstance(event, Note):
            self._say(event.text)

    def _count(self, event: Finished) -> None:
        self._seen[event.rep.verdict] += 1
        if event.rep.verdict is not Verdict.PASS:
            self._say(line(self._cells[event.cell], event.rep))
        if _tried_again(event.rep):
            return
        self._last[event.cell, event.rep.rep] = event.rep
        mine = [rep for (cell, _), rep in sorted(self._last.items()) if cell == event.cell]
        if len(mine) == self._wanted[event.cell]:
            self._say(cell_line(self._cells[event.cell], mine))
        elif time.monotonic() - self._spoke > SILENT_S:
            self._say(f"{len(self._last)} of {sum(self._wanted)} reps done: {self._counts()}")

    def _counts(self) -> str:
        return " · ".join(f"{n} {verdict}" for verdict, n in sorted(self._seen.items()))

    def _say(self, text: str) -> None:
        self._spoke = time.monotonic()
        click.echo(text, err=True)


def _tried_again(rep: Rep) -> bool:
    """Whether another attempt of this rep follows."""
    from evalrepo.running.campaign import RETRIES

    kinds = {str(kind) for kind in RETRIABLE} - {str(ErrorKind.INTERRUPTED)}
    return rep.error in kinds and rep.attempt <= RETRIES


def cell_line(name: str, reps: Sequence[Rep]) -> str:
    """The reps of a cell that is done: `S1 · scripted/good  2 of 3 passed  PFP  1.2 s`."""
    passed, valid = sum(rep.verdict is Verdict.PASS for rep in reps), sum(rep.valid for rep in reps)
    strip = "".join(rep.verdict[0] for rep in reps)
    seconds = sum(rep.timing.seconds for rep in reps)
    return safe(f"{name}  {passed} of {valid} passed  {strip}  {seconds:.1f} s")


class Bar(Lines):
    """A progress bar on stderr; what did not pass is said above it."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns: list[Any] = [
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
        ]
        self._bar: Progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def _take(self, event: Event) -> None:
        if isinstance(event, Begun):
            self._cells = event.cells
            self._task = self._bar.add_task("", total=sum(event.reps))
        elif not isinstance(event, Started):
            super()._take(event)

    def _count(self, event: Finished) -> None:
        self._seen[event.rep.verdict] += 1
        if event.rep.verdict is not Verdict.PASS:
            self._say(line(self._cells[event.cell], event.rep))
        if self._task is not None:
            self._bar.update(self._task, advance=1, description=self._counts())

    def _say(self, text: str) -> None:
        from rich.text import Text

        self._bar.console.print(Text(text))


def shown(output: str, terminal: str) -> Quiet:
    """The right one for where stderr goes. `terminal`: the environment's TERM."""
    if output == "json":
        return Quiet()
    return Bar() if sys.stderr.isatty() and terminal not in ("", "dumb") else Lines()
