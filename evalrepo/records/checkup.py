"""What `doctor` found out about this machine. Plain frozen data; no value of any variable or file is in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps an agent from being used, and what to do. `harness`: it can be started, and a rep of it fails."""

    text: str
    hint: str = ""
    harness: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that is needed: where it is ("" nowhere), its version ("" unknown), for what, how to install it.

    `needs`: the oldest version that will do, "" for any.
    """

    name: str
    path: str
    version: str = ""
    needs: str = ""
    purpose: str = ""
    install: str = ""

    @property
    def ok(self) -> bool:
        """It is there, and new enough."""
        return bool(self.path) and not older(self.version, self.needs)


def older(version: str, needs: str) -> bool:
    """Whether a version of numbers and dots is older than another; an empty or strange one is not."""
    try:
        return bool(version and needs) and _numbers(version) < _numbers(needs)
    except ValueError:
        return False


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@dataclass(frozen=True, slots=True)
class Login:
    """Names alone: `keys` of which one is enough, those that are `set`, those that the config passes on; `files` of a
    login that exist below HOME; whether the config lends them to a rep (`inherit`)."""

    keys: tuple[str, ...]
    set: tuple[str, ...]
    passed: tuple[str, ...]
    files: tuple[str, ...]
    inherit: bool

    @property
    def ok(self) -> bool:
        """A live rep would be logged in."""
        return bool(self.passed) or (self.inherit and bool(self.files))


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One rep of the real CLI against a scripted model: `PASS`, `FAIL A, B` or `ERROR kind`; wall seconds; why."""

    verdict: str
    seconds: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class AgentCheck:
    """One agent. `asked`: the config or the command line names it, so that it must be usable.

    `path` "" when the CLI is not there; `tested`: versions that the reader was tested with; `known`: whether this one
    is among them. `node`, `login` None when it needs none. `rehearsal` None when none was run, `unrehearsed` says why.
    """

    name: str
    asked: bool
    path: str = ""
    version: str = ""
    tested: tuple[str, ...] = ()
    known: bool = True
    node: Tool | None = None
    login: Login | None = None
    rehearsal: Rehearsal | None = None
    unrehearsed: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def usable(self) -> bool:
        """Nothing is in the way."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Checkup:
    """The whole machine. `config`: path of the repository's config, "" outside of one."""

    config: str
    isolation: str
    why: str
    tools: tuple[Tool, ...]
    agents: tuple[AgentCheck, ...]
