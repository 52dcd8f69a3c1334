"""One real rep of a real CLI against our model server, for every adapter's tests: `play` a script, look at what is `Seen`."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo.agents.base import Box, Turn, regular_files
from evalrepo.formats.redaction import Redactor
from evalrepo.records.config import Agent, Config, Install, Tier
from evalrepo.records.record import Rep
from evalrepo.records.scenario import Scenario
from evalrepo.records.transcript import Transcript
from evalrepo.registry import module
from evalrepo.running.bench import Bench, Prepared, Subject
from evalrepo.running.rep import Attempt, execute
from evalrepo.running.stage import Stage, Staged
from evalrepo.sandbox.isolation import NONE, Isolation
from evalrepo.sandbox.probe import probe
from evalrepo.sandbox.template import template
from evalrepo.world import World

FILES = {
    "README.md": "hello world\nsecond line\n",
    "src/app.py": "def add(a, b):\n    return a - b\n",
    ".gitignore": "*.log\n",
}
"""The fixture of every rehearsal."""


def need(agent: str) -> None:
    """Skip, with the reason, when the CLI is not on PATH."""
    if shutil.which(agent) is None:
        pytest.skip(f"the CLI {agent} is not installed (.ci/agents installs the pinned ones)")


@dataclass
class Seen:
    """What a rep left: its record, its transcript as the checks see it, native files, the work tree, HOME and output.

    `asked`: what the model server was asked, in order, over all turns.
    """

    rep: Rep
    transcript: Transcript | None
    native: Mapping[str, bytes]
    work: Mapping[str, bytes]
    home: Mapping[str, bytes]
    out: Mapping[str, bytes]
    asked: tuple = ()
    seconds: float = 0.0


class _Heard(Stage):
    """Keeps what a run throws away: what the server was asked, and the sandbox as it was after each turn."""

    def __init__(self, world: World, base: Path) -> None:
        super().__init__(world, base)
        self.asked: list = []
        self.kept: dict[str, dict[str, bytes]] = {}

    @contextlib.contextmanager
    def admitted(self, cell: Prepared, box: Box, turn: Turn) -> Iterator[Staged]:
        with super().admitted(cell, box, turn) as staged:
            try:
                yield staged
            finally:
                self.kept = {name: _files(getattr(box, name)) for name in ("work", "home", "out")}
                if staged.turn.endpoint is not None:
                    self.asked += self._started().asked(staged.turn.endpoint.key)


def _files(top: Path) -> dict[str, bytes]:
    found = {path.relative_to(top).as_posix(): path for path in regular_files(top)}
    return {n: p.read_bytes() for n, p in found.items() if not n.startswith((".git/", "node_modules/"))}


def play(
    tmp_path: Path,
    agent: str,
    turns: Sequence[Sequence[Mapping]],
    *,
    prompts: Sequence[str | Mapping] = (),
    files: Mapping[str, str] | None = None,
    subject: Mapping[str, str] | None = None,
    install: Mapping | None = None,
    settings: Mapping | None = None,
    model: str | None = None,
    tier: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    limits: Mapping | None = None,
    checks: Sequence[Mapping] = (),
    isolated: bool | None = None,
    rehearse: bool = True,
    meanwhile: Callable[[Path], None] | None = None,
) -> Seen:
    """Play `turns` (steps as in YAML, one list a turn) with the real CLI and its script `play`.

    `prompts`: text or whole turns of a scenario (default: `Task N: look after this project.`). `files`: the fixture.
    `subject` with `install`: as in the config. `settings`: of the agent in the config; `model`, `tier`: model and settings
    of the tier. `isolated`: None takes bubblewrap where it works. `rehearse` False starts the CLI without our server.
    `meanwhile` is called with the run's directory of sandboxes in a thread of its own once the rep has begun, see `strike`.
    Afterwards no process may be left, and nothing in the real HOME.
    """
    need(agent)
    world = _world(tmp_path, environ or {})
    given = [p if isinstance(p, Mapping) else {"prompt": p} for p in prompts]
    given = given or [{"prompt": f"Task {n}: look after this project."} for n in range(1, len(turns) + 1)]
    scenario = Scenario.model_validate({
        "title": "A rehearsal", "subject": "team", "fixture": "x", "turns": given, "limits": dict(limits or {}),
        "checks": list(checks) or [{"id": "any", "axis": "A", "calls": {"tool": "read", "min": 0}}],
        "behaviours": [{"name": "play", "turns": [list(steps) for steps in turns]}],
    })  # fmt: skip
    known = Agent.model_validate({"tiers": {"t": {}}, **(settings or {})})
    played = module(agent, known)
    traits = played.traits(known)
    base = tmp_path / "boxes"
    base.mkdir(mode=0o700)
    isolation = _isolation(world, tmp_path, isolated)
    fixture = {n: ("100644", t.encode()) for n, t in (FILES if files is None else files).items()}
    own = Install.model_validate(install or {})
    cell = Prepared(
        scenario=scenario, name=agent, agent=known, played=played,
        tier=Tier(model=model or traits.rehearsal_model, script="play" if rehearse else None, settings=dict(tier or {})),
        template=template(fixture, tmp_path / "cache", "fixture"),
        subjects=(Subject("team", {n: ("100644", t.encode()) for n, t in (subject or {}).items()}, own),),
        network=False, litter=traits.litter, traces=True, rehearsed=rehearse,
    )  # fmt: skip
    secrets = {n: world.environ[n] for n in known.env if n in world.environ}
    with _Heard(world, base) as stage:
        bench = Bench(world, Config(), None, isolation, base, tmp_path / "cache", Redactor(secrets, ()), stage=stage)  # type: ignore[arg-type]
        if meanwhile is not None:
            threading.Thread(target=meanwhile, args=(base,), daemon=True).start()
        before = _processes()
        began = time.monotonic()
        done = execute(bench, cell, Attempt(1, 1, world.timestamp()), "rep", threading.Event())
        seconds = time.monotonic() - began
        alive = tuple(line for pid, line in sorted(_processes().items()) if pid not in before)
    native = {n.removeprefix("rep/"): d for n, d in done.files.items()}
    assert (alive, list((tmp_path / "real-home").iterdir())) == ((), [])
    log = {n: d for n, d in native.items() if n != "outcome.json" and not n.startswith("files/")}
    work = "/srv/project" if isolation.level != "none" else str(base / "0001" / "project")
    return Seen(
        rep=done.rep,
        transcript=played.read(known, log, work) if log else None,
        native=log,
        work=stage.kept.get("work", {}),
        home=stage.kept.get("home", {}),
        out=stage.kept.get("out", {}),
        asked=tuple(stage.asked),
        seconds=seconds,
    )


def _world(tmp_path: Path, environ: Mapping[str, str]) -> World:
    home = tmp_path / "real-home"
    home.mkdir(exist_ok=True)
    clean = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(tmp_path)}
    return World(tmp_path, {**clean, **environ}, lambda: datetime.now(UTC), os.urandom)


def _isolation(world: World, tmp_path: Path, isolated: bool | None) -> Isolation:
    if isolated is False:
        return NONE
    found = probe(world, [tmp_path / "real-home"])
    if isolated and found.level == "none":
        pytest.skip(f"no isolation here: {found.why}")
    return found


def strike(mark: str, number: signal.Signals, cli: str = "", *, every: bool = False) -> Callable[[Path], None]:
    """For `meanwhile`: the signal to a CLI once a process of ours has `mark` in its command line, and a little later.

    The CLI is the nearest process above that one which has `cli` in its own command line and no mark; or `every` such.
    """

    def meanwhile(base: Path) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            parents, lines = _table()
            marked = next(
                (pid for pid, line in lines.items() if mark in line and os.getpid() in _above(pid, parents)), 0
            )
            if marked:
                time.sleep(0.5)
                found = [pid for pid in _above(marked, parents)[:-1] if cli in lines[pid] and mark not in lines[pid]]
                for pid in found if every else found[:1]:
                    os.kill(pid, number)
                return
            time.sleep(0.05)
        raise AssertionError(f"nothing with {mark} ran in {base}")

    return meanwhile


def _processes() -> dict[int, str]:
    """Pid → command line of what descends from us and is no zombie; we adopt whatever loses its parent."""
    parents, lines = _table()
    return {pid: line for pid, line in lines.items() if os.getpid() in _above(pid, parents)}


def _table() -> tuple[dict[int, int], dict[int, str]]:
    """Pid → parent of all processes, pid → command line of those that are no zombies."""
    parents: dict[int, int] = {}
    lines: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            parents[int(entry.name)] = int(parent)
            if state != "Z":
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                lines[int(entry.name)] = words.decode("utf-8", "replace")
    return parents, lines


def _above(pid: int, parents: Mapping[int, int]) -> list[int]:
    """The ancestors of a process, the nearest first, up to ourselves or the first of all."""
    found: list[int] = []
    while pid in parents and os.getpid() not in found:
        pid = parents[pid]
        found.append(pid)
    return found
