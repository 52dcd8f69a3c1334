"""What a run shows while it works: a bar on a terminal, plain lines elsewhere, nothing with --format json."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from evalrepo.records.record import Rep, Verdict
from evalrepo.render.safe import safe
from evalrepo.running.events import Begun, Event, Finished, Note, Started, Waiting

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


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
    """One line a rep on stderr."""

    def __init__(self) -> None:
        self._cells: tuple[str, ...] = ()
        self._mutex = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Say it."""
        with self._mutex:
            self._take(event)

    def _take(self, event: Event) -> None:
        if isinstance(event, Begun):
            self._cells = event.cells
        elif isinstance(event, Finished):
            self._say(line(self._cells[event.cell], event.rep))
        elif isinstance(event, Waiting):
            self._say(f"waiting: another run measures {', '.join(event.cells)}")
        elif isinstance(event, Note):
            self._say(event.text)

    def _say(self, text: str) -> None:
        click.echo(text, err=True)


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
        self._seen: Counter[Verdict] = Counter()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def _take(self, event: Event) -> None:
        if isinstance(event, Begun):
            self._cells = event.cells
            self._task = self._bar.add_task("", total=sum(event.reps))
        elif isinstance(event, Finished):
            self._count(event)
        elif not isinstance(event, Started):
            super()._take(event)

    def _count(self, event: Finished) -> None:
        self._seen[event.rep.verdict] += 1
        if event.rep.verdict is not Verdict.PASS:
            self._say(line(self._cells[event.cell], event.rep))
        if self._task is not None:
            counts = " · ".join(f"{n} {verdict}" for verdict, n in sorted(self._seen.items()))
            self._bar.update(self._task, advance=1, description=counts)

    def _say(self, text: str) -> None:
        from rich.text import Text

        self._bar.console.print(Text(text))


def shown(output: str) -> Quiet:
    """The right one for where stderr goes."""
    if output == "json":
        return Quiet()
    return Bar() if sys.stderr.isatty() else Lines()
