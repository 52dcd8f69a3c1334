"""Recorded reps on their way to a judgement: what is to be judged, and what became of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading

    from evalrepo.records.record import CellHeader, Digests, Record, Rep
    from evalrepo.records.row import Row


@dataclass(frozen=True)
class Left:
    """Reps of one record that stay as they are: why, and what would change that ("" when nothing does)."""

    row: Row
    reps: tuple[int, ...]
    why: str
    how: str = ""


@dataclass(frozen=True)
class Made:
    """Reps of one record judged again: `header` and `reps` are those of a new record, `files` (path → content) go to
    the reference of its run."""

    row: Row
    old: Record
    header: CellHeader
    reps: tuple[Rep, ...]
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """How many reps have another verdict now."""
        before = {(r.rep, r.attempt): (r.verdict, r.error) for r in self.old.reps}
        return sum(before[r.rep, r.attempt] != (r.verdict, r.error) for r in self.reps)


@dataclass(frozen=True)
class Open:
    """A rep of which nothing is known before the judge has answered these questions (RUBRIC/QUESTION)."""

    row: Row
    rep: int
    questions: tuple[str, ...]


@dataclass
class Outcome:
    """What came of it. `there`: reps that today's instrument has judged already; `mute`: those of them that lack a
    judge's word."""

    made: list[Made] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)
    there: int = 0
    mute: int = 0

    def add(self, one: Made | Left | Open) -> None:
        """Sort it in; reps of one record together."""
        if isinstance(one, Open):
            self.open.append(one)
        elif isinstance(one, Left):
            self._leave(one)
        elif self.made and self.made[-1].row is one.row:
            reps = sorted((*self.made[-1].reps, *one.reps), key=lambda rep: (rep.rep, rep.attempt))
            self.made[-1] = replace(self.made[-1], reps=tuple(reps))
        else:
            self.made.append(replace(one, files={}))

    def _leave(self, one: Left) -> None:
        for at, known in enumerate(self.left):
            if known.row is one.row and (known.why, known.how) == (one.why, one.how):
                self.left[at] = replace(known, reps=tuple(sorted({*known.reps, *one.reps})))
                return
        self.left.append(one)


@dataclass(frozen=True)
class Task:
    """Reps of one record that are to be judged: `numbers` of them, by an instrument of the digests `now`. `group`: all
    records of the reps that this run executed, the newest first; `header`: the new record's."""

    row: Row
    record: Record
    numbers: tuple[int, ...]
    now: Digests
    header: CellHeader
    group: tuple[Row, ...]

    @property
    def again(self) -> bool:
        """Whether this very instrument has judged them before: only what differs then is news."""
        return self.row.instrument == self.now.instrument


def chain(rows: Sequence[Row]) -> list[Row]:
    """Rows of reps that one run executed, each before what supersedes it."""
    after: dict[str, list[Row]] = {}
    for row in rows:
        after.setdefault(row.supersedes, []).append(row)
    runs = {row.run for row in rows}
    todo = [row for row in rows if row.supersedes not in runs]
    out: list[Row] = []
    while todo:
        row = todo.pop(0)
        if all(row is not one for one in out):
            out.append(row)
            todo[:0] = after.get(row.run, [])
    return out


def holders(rows: Sequence[Row]) -> dict[int, Row]:
    """Rep → the record that says the last word of it; that it was declared bad is the last word."""
    from evalrepo.comparing.pool import is_defect

    found: dict[int, Row] = {}
    for row in rows:
        for number, tries in row.attempts().items():
            held = found.get(number)
            if held is None or is_defect(tries) or not is_defect(held.attempts()[number]):
                found[number] = row
    return found


def in_turn(
    items: Iterable[Any], do: Callable[[Any], Any], jobs: int, cancel: threading.Event | None
) -> Iterator[tuple[Any, Any]]:
    """Each item with what was made of it, in order; few are held at a time, none is begun after `cancel`."""
    if jobs == 1:
        for item in items:
            if cancel is not None and cancel.is_set():
                return
            yield item, do(item)
        return
    waiting: deque[tuple[Any, Future[Any]]] = deque()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for item in items:
            if cancel is not None and cancel.is_set():
                break
            waiting.append((item, pool.submit(do, item)))
            if len(waiting) > jobs:
                first, done = waiting.popleft()
                yield first, done.result()
        for item, done in waiting:
            yield item, done.result()
