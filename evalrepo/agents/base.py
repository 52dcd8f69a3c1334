"""What every agent's module offers, and what passes between it and the runner.

A module describes one agent CLI: how to start it, where it leaves its own log, and how that log reads. It starts
nothing itself but the version command; the runner does.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from evalrepo.errors import EvalrepoError, HarnessError
from evalrepo.records.config import Agent, Install, Tier
from evalrepo.records.steps import Step
from evalrepo.records.transcript import Transcript
from evalrepo.world import World

SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""The PATH of a sandbox, behind the directories that the rep and its agent bring."""

SYSTEM_ROOTS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""What every sandbox can read anyway."""


def is_system(path: Path) -> bool:
    """Whether every sandbox has the path anyway."""
    return any(path.is_relative_to(root) for root in SYSTEM_ROOTS)


class ReadError(EvalrepoError):
    """An agent's own log cannot be read: ERROR(transcript). `file`, and the 1-based `line` (0: the whole file)."""

    def __init__(self, file: str, line: int, why: str) -> None:
        super().__init__(f"{file}:{line}: {why}" if line else f"{file}: {why}")
        self.file = file
        self.line = line


@dataclass(frozen=True, slots=True)
class Box:
    """Where a rep lives: directories on the host, and the same as the agent sees them.

    `home` is the agent's private HOME. `out` is the harness's and not seen by the agent. `bin_inside` holds shims that
    stand first in PATH ("" for none). `isolated`: the agent cannot reach anything else.
    """

    work: Path
    home: Path
    tmp: Path
    out: Path
    work_inside: str
    home_inside: str
    tmp_inside: str
    bin_inside: str = ""
    isolated: bool = False

    @classmethod
    def bare(cls, work: Path, home: Path, tmp: Path, out: Path, shims: Path | None = None) -> Box:
        """A box without isolation: the agent sees the host's paths."""
        return cls(work, home, tmp, out, str(work), str(home), str(tmp), str(shims or ""))

    def output(self, turn: int) -> Path:
        """The file that holds the agent's standard output of a turn (from 1)."""
        return self.out / f"turn-{turn}.out"

    def errors(self, turn: int) -> Path:
        """The file that holds the agent's standard error of a turn (from 1)."""
        return self.out / f"turn-{turn}.err"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model server that stands in for the vendor's: `http://HOST:PORT` as the agent sees it, and the key to send."""

    url: str
    key: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt to the agent. `number` counts from 1.

    `session_id` is the id that the turn's session has or shall have, `previous` the one before it ("" at first);
    they are equal when it resumes. `script`: plain steps (`records.script.resolve`), for agents that play scripts.
    `install`: how the subjects were installed, for what the CLI must be told by name (places are relative to the work
    directory, `~/` is HOME). `endpoint`: in a rehearsal, who is asked instead of the vendor; nobody else may be, and no
    login is used. `tools` False: the CLI offers its model no tools, as far as it can.
    """

    number: int
    prompt: str
    session: Literal["new", "resume", "fresh"] = "new"
    script: tuple[Step, ...] | None = None
    session_id: str = ""
    previous: str = ""
    install: tuple[Install, ...] = ()
    endpoint: Endpoint | None = None
    tools: bool = True


@dataclass(frozen=True, slots=True)
class Growing:
    """Called, it lists the log files that are there by now: `places` that are files, and all files below the others."""

    places: tuple[Path, ...] = ()

    def __call__(self) -> list[Path]:
        """Regular files, sorted below each place; nothing is followed."""
        return [file for place in self.places for file in regular_files(place)]


def regular_files(place: Path) -> list[Path]:
    """The file itself, or the regular files below a directory, sorted by name; links are not followed."""
    found: list[Path] = []
    waiting = [str(place)]
    while waiting:
        path = waiting.pop()
        try:
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode):
                waiting.extend(entry.path for entry in os.scandir(path))
            elif stat.S_ISREG(mode):
                found.append(Path(path))
        except OSError:  # it came, went, or is not ours to see; the next look will tell
            continue
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Launch:
    """A process to start in the box's work directory.

    `env` is complete: nothing is inherited. `readable`: host paths beyond the system's own that it must be able to
    read, at the same place. `watch` lists the host files whose growth shows that the agent is alive. `done`: whether
    its log by now says that the turn is over; a process that is still there ten seconds later is ended.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    stdin: bytes | None = None
    readable: tuple[Path, ...] = ()
    watch: Growing = Growing()
    done: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Traits:
    """What the harness must know of an agent before it starts.

    `litter`: path prefixes in the work directory that the agent itself leaves. `secrets`: names of environment
    variables whose values must never be stored. `logins`: files below the real HOME that hold the user's login.
    `keys`: variables of which one is enough to log in. `tested`: versions of the CLI that the reader was tested with
    (`2.1` stands for `2.1.*`). `priced`: the log may say what a rep cost. `memory`: bytes that one rep may need.
    `node`: the oldest Node.js that it runs on. `rehearsal_model`: the model that a rehearsal names; "" when the agent
    cannot be rehearsed.
    """

    model_free: bool
    paid: bool = False
    network: Literal["none", "open"] = "none"
    litter: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    priced: bool = True
    memory: int = 1 << 30
    node: str = ""
    rehearsal_model: str = ""


class AgentModule(Protocol):
    """The functions of an agent's module."""

    def traits(self, agent: Agent) -> Traits:
        """Facts that do not depend on a rep."""

    def describe(self, agent: Agent, tier: Tier) -> dict[str, Any]:
        """All in the configuration that can change behaviour, as canonical JSON data, for the apparatus digest."""

    def version(self, agent: Agent, world: World) -> str:
        """The CLI's version, "" when it cannot say. HarnessError when the CLI is not there."""

    def launch(self, agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> Launch:
        """How to start one turn; may write files into the box's HOME. HarnessError when it cannot be started."""

    def native(self, agent: Agent, box: Box) -> dict[str, Path]:
        """The agent's own log: short relative name → host path, main files first; regular files only."""

    def read(self, agent: Agent, files: Mapping[str, bytes], work: str) -> Transcript:
        """The log's bytes (names of `native`, `work` as the agent saw it) as a Transcript. Pure. ReadError."""

    def counter(self, agent: Agent, watch: Growing) -> Callable[[], int]:
        """A function that says how many tool calls the growing log holds by now, sub-agents' included; cheap."""


def environment(agent: Agent, box: Box, world: World, path: Sequence[str] = ()) -> dict[str, str]:
    """An agent's whole environment, built from nothing: the box's places, the variables that the config names, `set`.

    `path` are directories of the agent's own, last in PATH. Variables of git are never passed on.
    """
    places = [p for p in (box.bin_inside, *SYSTEM_PATH, *path) if p]
    env = {
        "PATH": ":".join(dict.fromkeys(places)),
        "HOME": box.home_inside,
        "TMPDIR": box.tmp_inside,
        "USER": "user",
        "LOGNAME": "user",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
    }
    for name, place in (
        ("CONFIG", ".config"),
        ("DATA", ".local/share"),
        ("STATE", ".local/state"),
        ("CACHE", ".cache"),
    ):
        env[f"XDG_{name}_HOME"] = f"{box.home_inside}/{place}"
    named = {n: world.environ[n] for n in agent.env if n in world.environ and not n.startswith("GIT_")}
    return env | named | agent.set


def printed(box: Box, ending: str = "out") -> dict[str, Path]:
    """The regular files that hold what each turn printed (`err`: on its standard error), by name in their order."""
    name = re.compile(rf"turn-([0-9]+)\.{ending}")
    found = {int(m[1]): p for p in regular_files(box.out) if p.parent == box.out and (m := name.fullmatch(p.name))}
    return {path.name: path for _, path in sorted(found.items())}


def opened(top: Path, relative: str) -> int:
    """A file below a directory, opened to be read; no link below that is followed. OSError."""
    *folders, name = relative.split("/")
    directory = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
            os.close(directory)
            directory = inner
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    finally:
        os.close(directory)


def place(box: Box, relative: str, data: bytes) -> None:
    """Write a file below the box's HOME, owned as HOME is. No link that an agent left there is followed.

    HarnessError when a directory on the way is not one.
    """
    *folders, name = relative.split("/")
    directory = os.open(box.home, os.O_RDONLY | os.O_DIRECTORY)
    try:
        owner = os.fstat(directory)
        for folder in folders:
            directory = _enter(directory, folder, owner)
        _replace(directory, name, data, owner)
    except OSError as error:
        raise HarnessError(f"cannot write ~/{relative} in the sandbox: {error.strerror}") from None
    finally:
        os.close(directory)


def _enter(parent: int, name: str, owner: os.stat_result) -> int:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
        made = True
    except FileExistsError:
        made = False
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    os.close(parent)
    if made:
        _own(opened, owner)
    return opened


def _replace(directory: int, name: str, data: bytes, owner: os.stat_result) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
    opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=directory)
    with os.fdopen(opened, "wb") as file:
        file.write(data)
        _own(opened, owner)


def _own(opened: int, owner: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.fchown(opened, owner.st_uid, owner.st_gid)
