"""A run: its reps in threads, each journaled when it starts and when it ends, then records and a commit.

Two sides that are compared are two runs whose reps are at work in turns: A1 B1 B2 A2 A3 B3 …, cell by cell, so that
whatever drifts in time drifts under both alike.

Ctrl-C sets `cancel`: what runs is ended and becomes ERROR(interrupted), what had finished is landed.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from evalrepo import __version__
from evalrepo.errors import EvalrepoError
from evalrepo.formats.ids import run_id
from evalrepo.records.record import RETRIABLE, ErrorKind, Rep
from evalrepo.repository.repo import Repository
from evalrepo.repository.writer import BlobWriter
from evalrepo.running.bench import Bench, Prepared
from evalrepo.running.budget import Budget
from evalrepo.running.events import Event, Finished, Started
from evalrepo.running.journal import Header, Journal, Planned
from evalrepo.running.keep import Landed, clone_id, finish, held
from evalrepo.running.plan import Cell
from evalrepo.running.rep import Attempt, Done, execute

RETRIES = 2
"""More attempts of a rep whose ERROR may pass by itself. An interrupted one costs none: the next run tops up."""

Emit = Callable[[Event], None]


@dataclass(frozen=True)
class Work:
    """What a run does: its cells, each prepared, in the plan's order. Of several at once the first's `jobs` count."""

    cells: tuple[Cell, ...]
    prepared: tuple[Prepared, ...]
    jobs: int
    commit: bool = True
    snapshot: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt that is to be made, of the `lane`-th run."""

    lane: int
    cell: int
    rep: int
    attempt: int = 1


@dataclass(frozen=True)
class Lane:
    """One run under way. `first`: the number of its first cell among the cells of all runs, for events."""

    bench: Bench
    work: Work
    journal: Journal
    blobs: BlobWriter
    first: int


def measure(repo: Repository, bench: Bench, work: Work, emit: Emit, cancel: threading.Event) -> Landed:
    """Run every rep that the cells need, then land the records. Raises HarnessError, GitError; loses no rep."""
    return interleaved(repo, [(bench, work)], emit, cancel)[0]


def interleaved(
    repo: Repository,
    sides: Sequence[tuple[Bench, Work]],
    emit: Emit,
    cancel: threading.Event,
    budget: Budget | None = None,
) -> list[Landed]:
    """One run a side, their reps in turns, with one pool of workers; then all land. Raises as `measure` does.

    When `budget` grants no further attempt, none is started; what is at work goes on to its end.
    """
    with contextlib.ExitStack() as journals:
        lanes: list[Lane] = []
        for bench, work in sides:
            journal = _journal(repo, bench, work)
            journals.callback(journal.close)
            blobs = repo.blob_writer(held(repo, journal.run))
            lanes.append(Lane(bench, work, journal, blobs, sum(len(lane.work.cells) for lane in lanes)))
        _claim(repo, lanes, cancel)
        with ThreadPoolExecutor(max_workers=lanes[0].work.jobs) as pool:
            _Loop(lanes, emit, cancel, pool, budget or Budget()).run()
        landed = [finish(repo, lane.bench.world, lane.journal, commit=lane.work.commit) for lane in lanes]
        _unclaim(repo, lanes, landed)
        return landed


def _claim(repo: Repository, lanes: Sequence[Lane], cancel: threading.Event) -> None:
    """Where the house rules ask for it, nothing is run that is not claimed."""
    remote = lanes[0].bench.config.discipline.claims
    if remote is None:
        return
    from evalrepo.running.claiming import claim

    stories = [lane.journal.read() for lane in lanes]
    try:
        claim(repo, remote, [story.header for story in stories if story is not None], cancel)
    except EvalrepoError:
        for lane in lanes:
            lane.journal.retire()
        raise


def _unclaim(repo: Repository, lanes: Sequence[Lane], landed: Sequence[Landed]) -> None:
    """Tombstones for claimed runs that started nothing."""
    remote = lanes[0].bench.config.discipline.claims
    idle = [one.run for one in landed if not one.ref]
    if remote is not None and idle:
        from evalrepo.running.claiming import give_up

        give_up(repo, remote, idle)


def _journal(repo: Repository, bench: Bench, work: Work) -> Journal:
    header = Header(
        run=run_id(bench.world.random(8)),
        start=bench.world.timestamp(),
        evalrepo=__version__,
        clone=clone_id(repo, bench.world),
        branch=repo.branch(),
        commit=work.commit,
        cells=tuple(Planned(cell.header, cell.need) for cell in work.cells),
        snapshot=work.snapshot,
    )
    return Journal.create(repo.home, header)


def folder(cell: Cell, rep: int, attempt: int) -> str:
    """Where a rep's files are in the run's tree."""
    header = cell.header
    scenario, tier = header.scenario.replace("/", "~"), header.tier.replace(":", "+")
    return f"transcripts/{scenario}/{header.agent}-{tier}/{rep}-{attempt}"


class _Loop:
    """Keeps `jobs` reps at work until none is left; memory does not grow with their number."""

    def __init__(
        self, lanes: Sequence[Lane], emit: Emit, cancel: threading.Event, pool: Executor, budget: Budget
    ) -> None:
        self._lanes, self._emit, self._cancel, self._pool = lanes, emit, cancel, pool
        self._budget = budget
        self._again: deque[Job] = deque()
        self._running: dict[Future[Rep], Job] = {}
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Until all is done; on Ctrl-C, a spent budget or a journal that breaks, until what runs has ended."""
        fresh = jobs_of([lane.work.cells for lane in self._lanes])
        while True:
            while len(self._running) < self._lanes[0].work.jobs and not self._stopped():
                job = self._again.popleft() if self._again else next(fresh, None)
                if job is None or not self._budget.grants():
                    break
                self._running[self._pool.submit(self._attempt, job)] = job
            if not self._running:
                break
            self._collect()
        if self._failure is not None:
            raise self._failure

    def _stopped(self) -> bool:
        return self._cancel.is_set() or self._failure is not None

    def _collect(self) -> None:
        try:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        except KeyboardInterrupt:
            self._cancel.set()
            return
        for future in done:
            job = self._running.pop(future)
            error = future.exception()
            if error is not None:
                self._failure = self._failure or error
                self._cancel.set()
                continue
            rep = future.result()
            work = self._lanes[job.lane].work
            self._budget.ended(
                rep, paid=_paid(work, job.cell), judge_paid=self._lanes[job.lane].bench.config.judge.costs
            )
            self._emit(Finished(self._lanes[job.lane].first + job.cell, rep))
            if _worth_another(rep):
                self._again.append(replace(job, attempt=job.attempt + 1))

    def _attempt(self, job: Job) -> Rep:
        """In a worker thread: journal the start, play, store, journal the end."""
        lane = self._lanes[job.lane]
        cell = lane.work.cells[job.cell]
        start = lane.bench.world.timestamp()
        lane.journal.start(job.cell, job.rep, job.attempt, start)
        self._emit(Started(lane.first + job.cell, job.rep, job.attempt))
        done = execute(
            lane.bench,
            lane.work.prepared[job.cell],
            Attempt(job.rep, job.attempt, start),
            folder(cell, job.rep, job.attempt),
            self._cancel,
        )
        lane.journal.end(job.cell, _without_secrets(cell, done), _stored(lane.blobs, done))
        return done.rep


def _paid(work: Work, cell: int) -> bool:
    prepared = work.prepared[cell]
    return not work.cells[cell].header.model_free and prepared.played.traits(prepared.agent).paid


def _stored(blobs: BlobWriter, done: Done) -> dict[str, str]:
    return {path: blobs.write(data) for path, data in done.files.items()}


def _without_secrets(cell: Cell, done: Done) -> Rep:
    """A reserve rep shows no evidence."""
    if cell.header.set != "reserve":
        return done.rep
    bare = tuple(c.model_copy(update={"evidence": ()}) for c in done.rep.checks)
    scores = {n: s.model_copy(update={"evidence": "", "places": ()}) for n, s in done.rep.metrics.items()}
    judged = tuple(judgement.bare() for judgement in done.rep.judged)
    return done.rep.model_copy(update={"checks": bare, "metrics": scores, "message": "", "notes": (), "judged": judged})


def jobs_of(lanes: Sequence[Sequence[Cell]]) -> Iterator[Job]:
    """Rep 1 of every cell, then rep 2, …: a run that is stopped early has measured all cells alike.

    The runs take turns in each cell, and who goes first changes with every rep: A B, B A, A B, …
    """
    cells = list(dict.fromkeys(cell.header.cell for lane in lanes for cell in lane))
    numbers = [{cell.header.cell: number for number, cell in enumerate(lane)} for lane in lanes]
    for rep in range(1, max((c.need for lane in lanes for c in lane), default=0) + 1):
        for cell in cells:
            turns = range(len(lanes)) if rep % 2 else reversed(range(len(lanes)))
            for lane in turns:
                number = numbers[lane].get(cell)
                if number is not None and rep <= lanes[lane][number].need:
                    yield Job(lane, number, rep)


def _worth_another(rep: Rep) -> bool:
    retriable = rep.error in {str(kind) for kind in RETRIABLE} and rep.error != ErrorKind.INTERRUPTED
    return retriable and rep.attempt <= RETRIES
