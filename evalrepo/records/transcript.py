"""What an agent did in one rep, the same for every agent: the input of all checks.

Plain slotted dataclasses: readers build thousands of them, nothing is validated twice.
Order is the order of `Transcript.events`; a call's `result` is filled in, and its `Result` also stands as an event
of its own at the place where the model saw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

CANONICAL_TOOLS = ("spawn", "read", "edit", "write", "shell", "search", "skill")
"""Kinds of tool calls that every agent's tools are mapped to; anything else has kind ""."""

CANONICAL_ARGUMENTS = (
    "path",
    "command",
    "agent",
    "task",
    "model",
    "pattern",
    "content",
    "old",
    "new",
    "skill",
)
"""Names of arguments in `Call.canonical`; `path` is relative to the sandbox with `/`, or absolute when outside."""


@dataclass(frozen=True, slots=True)
class At:
    """Where an event stands in the agent's raw files: file name inside the rep's transcript, 1-based line."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """A user message: the scenario's, or one that the harness of the agent made up (`synthetic`)."""

    text: str
    turn: int
    at: At
    synthetic: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """Assistant text that a person would see (no hidden reasoning)."""

    text: str
    turn: int
    at: At


@dataclass(frozen=True, slots=True)
class Result:
    """What came back for a call. `ok` False for an error flag or a non-zero exit code; `size` in bytes of UTF-8."""

    call: str
    ok: bool
    text: str
    size: int
    turn: int
    at: At
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Spawn:
    """A sub-agent's start. Three different things: model requested, model resolved by the CLI, model that served."""

    agent: str = ""
    task: str = ""
    requested: str | None = None
    resolved: str | None = None
    served: tuple[str, ...] = ()
    child: str = ""
    """Key of the child's transcript in `Transcript.children`; "" when the agent left none."""
    also: tuple[Spawn, ...] = ()
    """The others that the same call started, in order (pi's `tasks`); they have no `also` of their own."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: the agent's own name and raw arguments, and the canonical kind and arguments."""

    id: str
    tool: str
    kind: str
    args: Mapping[str, Any]
    canonical: Mapping[str, Any]
    turn: int
    at: At
    by: str = "main"
    result: Result | None = None
    spawn: Spawn | None = None

    @property
    def spawns(self) -> tuple[Spawn, ...]:
        """Every sub-agent that the call started."""
        return () if self.spawn is None else (self.spawn, *self.spawn.also)

    @property
    def ok(self) -> bool:
        """True when a result came and was no error."""
        return self.result is not None and self.result.ok


Event = Prompt | Said | Call | Result


@dataclass(frozen=True, slots=True)
class Usage:
    """What it cost. None is unknown, never zero. `seconds` is wall time of the rep as the harness measured it."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    tool_calls: int = 0
    agents: int = 0
    seconds: float | None = None

    @property
    def tokens(self) -> int | None:
        """Input and output tokens together, None when neither is known."""
        known = [n for n in (self.input_tokens, self.output_tokens) if n is not None]
        return sum(known) if known else None


class EndReason(StrEnum):
    """How the agent's own log says the session ended."""

    DONE = "done"
    ERROR = "error"
    CUT = "cut"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Transcript:
    """One rep, all turns, read from the agent's native files."""

    agent: str
    version: str = ""
    sessions: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    children: Mapping[str, Transcript] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    """Models that served the main thread, in order of first appearance."""
    usage: Usage = Usage()
    end: EndReason = EndReason.UNKNOWN
    error_kind: str = ""
    """For `end` ERROR: the `records.record.ErrorKind` that the agent's log speaks of, "" when it is not known."""
    error_message: str = ""
    truncated: bool = False
    loaded: tuple[str, ...] = ()
    """Proof that the subject was there, as the CLI logged it: hook context, skill or agent listings."""
    denied: tuple[str, ...] = ()
    """Tools that the CLI itself refused for want of a permission, each once; refusals by a subject's hooks are not."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Rows that the reader did not know, counted by type."""

    def walk(self) -> Iterator[Transcript]:
        """This transcript and all its descendants."""
        yield self
        for child in self.children.values():
            yield from child.walk()

    @property
    def empty(self) -> bool:
        """Nothing said and nothing called."""
        return not any(isinstance(e, Said | Call) for e in self.events)
