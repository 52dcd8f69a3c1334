"""The turns of a rep: start the agent, watch it, cut it where the scenario says, and say how each ended."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalrepo import processes
from evalrepo.agents.base import Box, Launch, Turn
from evalrepo.errors import EvalrepoError
from evalrepo.processes import Deadlines, Ended, Reason
from evalrepo.records.globs import matches
from evalrepo.records.record import ErrorKind
from evalrepo.records.script import find, steps_of_turn
from evalrepo.running.stage import Staged
from evalrepo.sandbox.install import located
from evalrepo.sandbox.isolation import RLIMITS, wrap
from evalrepo.sandbox.snapshot import manifest
from evalrepo.scoring.facts import Trouble, TurnEnd

if TYPE_CHECKING:
    from evalrepo.records import scenario as scenarios
    from evalrepo.records.steps import Step
    from evalrepo.running.bench import Bench, Prepared
    from evalrepo.sandbox.layout import Sandbox

CUT_GRACE_S = 2.0
MESSAGE = 500
"""Most characters kept of what the agent printed as an error."""


@dataclass(frozen=True)
class Played:
    """What the turns came to. `calls`: tool calls counted live; `ended`: the processes' ends, one a started turn."""

    ends: tuple[TurnEnd, ...] = ()
    ended: tuple[Ended, ...] = ()
    trouble: tuple[Trouble, ...] = ()
    over_limit: bool = False
    readable: tuple[str, ...] = ()
    """The agent's own install: what was made readable for it beside the sandbox."""


def seen_by(box: Sandbox) -> Box:
    """The sandbox as an agent's module wants it."""
    return Box(
        work=box.work,
        home=box.home,
        tmp=box.tmp,
        out=box.out,
        work_inside=box.inside(box.work),
        home_inside=box.inside(box.home),
        tmp_inside=box.inside(box.tmp),
        bin_inside=box.inside(box.bin),
        isolated=box.isolated,
    )


def play(bench: Bench, cell: Prepared, box: Sandbox, cancel: threading.Event) -> Played:
    """Play every turn; stop at the first that did not end by itself or by its own `stop_after`."""
    ends: list[TurnEnd] = []
    ended: list[Ended] = []
    session, previous = str(uuid.UUID(bytes=bench.world.random(16), version=4)), ""
    left = cell.scenario.limits.wall_s
    installed = tuple(located(subject.name, subject.files, subject.install) for subject in cell.subjects)
    readable: dict[str, None] = {}

    def played(*trouble: Trouble, over_limit: bool = False) -> Played:
        return Played(tuple(ends), tuple(ended), trouble, over_limit, tuple(readable))

    for number, turn in enumerate(cell.scenario.turns, 1):
        how: Literal["new", "resume", "fresh"] = "new" if number == 1 else turn.session
        if how == "fresh":
            session = str(uuid.UUID(bytes=bench.world.random(16), version=4))
        asked = Turn(number, turn.prompt, how, _script(cell, number), session, previous, installed, tools=cell.tools)
        watch = _Watch(cell, turn, seen_by(box), box)
        try:
            over = _turn(bench, cell, box, asked, watch, (left, cancel))
        except EvalrepoError as error:
            kind = ErrorKind.SETUP if cell.rehearsed else ErrorKind.LAUNCH
            return played(Trouble(kind, str(error)))
        readable |= dict.fromkeys(map(str, watch.readable))
        left = max(1.0, left - over.seconds)
        previous = session
        ended.append(over)
        ends.append(_end(over, watch, turn))
        if over.reason is Reason.CANCELLED:
            return played(Trouble(ErrorKind.INTERRUPTED, "the run was interrupted"))
        if watch.over_limit or not (over.reason in (Reason.EXITED, Reason.DONE) or watch.cut):
            return played(over_limit=watch.over_limit)
    return played()


def _script(cell: Prepared, turn: int) -> tuple[Step, ...] | None:
    script = find(cell.scenario, cell.tier.script) if cell.tier.script else None
    return steps_of_turn(script, turn, cell.subject_files()) if script is not None else None


class _Watch:
    """Whether a turn has reached its `stop_after`, or the rep its tool-call limit; asked every 50 ms."""

    def __init__(self, cell: Prepared, turn: scenarios.Turn, box: Box, sandbox: Sandbox) -> None:
        self.box = box
        self._sandbox = sandbox
        self._turn = turn.stop_after
        self._limit = cell.scenario.limits.tool_calls
        self._count: Callable[[], int] | None = None
        self._cell = cell
        self.before = 0
        self._there: set[str] = set()
        self.readable: tuple[Path, ...] = ()
        self.cut = False
        self.over_limit = False

    def follow(self, launch: Launch) -> None:
        """Count the calls of this launch's log from here."""
        self.readable = launch.readable
        self._count = self._cell.played.counter(self._cell.agent, launch.watch)
        self.before = self._count()
        self._there = self._files()

    def __call__(self) -> bool:
        calls = self._count() if self._count is not None else 0
        self.over_limit = calls > self._limit
        if self._turn is not None:
            self.cut = self._reached(calls - self.before)
        return self.cut or self.over_limit

    def _reached(self, calls: int) -> bool:
        assert self._turn is not None
        if self._turn.tool_calls is not None:
            return calls >= self._turn.tool_calls
        return bool(self._files() - self._there)

    def _files(self) -> set[str]:
        """Paths in the work directory that fit `stop_after.file`."""
        pattern = self._turn.file if self._turn is not None else None
        if pattern is None:
            return set()
        return {path for path in manifest(self._sandbox.work, cap=0) if matches(pattern, path)}


def _turn(
    bench: Bench, cell: Prepared, box: Sandbox, asked: Turn, watch: _Watch, now: tuple[float, threading.Event]
) -> Ended:
    """Start the agent for one turn, with its model server when it is a rehearsal. Raises what `launch` does."""
    stage = bench.stage.admitted(cell, watch.box, asked) if bench.stage else contextlib.nullcontext(Staged(asked))
    with stage as staged:
        launch = cell.played.launch(cell.agent, cell.tier, watch.box, staged.turn, bench.world)
        return _run(bench, cell, box, staged.launch(launch, watch.box), watch, (asked.number, *now, staged.socket))


def _run(
    bench: Bench,
    cell: Prepared,
    box: Sandbox,
    launch: Launch,
    watch: _Watch,
    now: tuple[int, float, threading.Event, Path | None],
) -> Ended:
    number, left, cancel, socket = now
    limits = cell.scenario.limits
    watch.follow(launch)
    deadlines = Deadlines(wall_s=left, idle_s=limits.idle_s, startup_s=limits.startup_s, grace_s=CUT_GRACE_S)
    wrapped = wrap(
        bench.isolation,
        box,
        launch.argv,
        {**launch.env, **cell.scenario.env},
        readable=launch.readable,
        network=cell.network,
        server=socket,
    )
    with wrapped:
        return processes.run(
            wrapped.argv,
            cwd=box.work,
            env=wrapped.env,
            output=watch.box.output(number),
            errors=watch.box.errors(number),
            deadlines=deadlines,
            watch=launch.watch,
            stop=watch,
            done=launch.done,
            cancel=cancel,
            stdin=launch.stdin,
            pass_fds=wrapped.pass_fds,
            rlimits=RLIMITS,
        )


def _end(over: Ended, watch: _Watch, turn: scenarios.Turn) -> TurnEnd:
    """A turn that ended by itself may have reached its cut at the very end."""
    if turn.stop_after is not None and over.reason is Reason.EXITED:
        watch()
    message = over.why or (_tail(over) if over.code not in (0, None) else "")
    return TurnEnd(
        reason=over.reason,
        exit_code=over.code,
        seconds=over.seconds,
        cut=watch.cut if turn.stop_after is not None else None,
        message=message,
    )


def _tail(over: Ended) -> str:
    try:
        text = over.errors.read_bytes()[-4 * MESSAGE :].decode("utf-8", "replace")
    except OSError:
        return ""
    return " ".join(text.split())[-MESSAGE:]
