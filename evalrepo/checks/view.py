"""What a check may see, and what it answers.

A view is one rep after it ended. `scope` and `turn` say which part of it a check looks at: `main` is the agent's own
thread, `all` has the events of each sub-agent right behind the call that started it (a sub-agent whose start is not
in the log stands at the end). A sub-agent's events belong to the turn of the call that started it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from evalrepo.records.kinds import Asked, Command, Python
from evalrepo.records.outcome import Manifest
from evalrepo.records.record import Evidence, Outcome
from evalrepo.records.transcript import At, Call, Event, Transcript, Usage

EVIDENCE_LIMIT = 300
"""Most characters of one piece of evidence."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended: its exit code (128 + n for signal n), or None when its time was over; its whole output."""

    code: int | None
    output: str = ""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What a judge said: one of the question's answers with its reason, every vote; or why there is no answer.

    `places`: what it rests on, checked to be there. `advisory`: why it may not decide, "" when it may.
    """

    answer: str = ""
    evidence: str = ""
    votes: tuple[str, ...] = ()
    broken: str = ""
    places: tuple[Evidence, ...] = ()
    advisory: str = ""


def _no_sandbox(path: str) -> bytes:
    raise FileNotFoundError(f"no sandbox was kept, so {path} cannot be read")


@dataclass(frozen=True)
class View:
    """One rep.

    `before` and `after`: the sandbox after setup and install, and after the agent; `read` and `original` give a file's
    bytes at these two times; `work`: its absolute path as the agent saw it, "" when not known; `litter`: path prefixes
    that the agent is known to leave. `fired`: planted fault → how often it was met, 0 included. `usage` (default: the
    transcript's) and `turn_usage` (by turn number) have wall seconds. `shell` runs a command in a copy of the sandbox
    with hidden files; `ask` puts a question about a view to a judge; `python` calls a check module and
    gives the JSON value that it returned. Each of these three is None where there is none.
    """

    transcript: Transcript
    before: Manifest = field(default_factory=dict)
    after: Manifest = field(default_factory=dict)
    read: Callable[[str], bytes] = _no_sandbox
    original: Callable[[str], bytes] = _no_sandbox
    work: str = ""
    litter: tuple[str, ...] = ()
    fired: Mapping[str, int] = field(default_factory=dict)
    usage: Usage | None = None
    turn_usage: Mapping[int, Usage] = field(default_factory=dict)
    shell: Callable[[Command], Ran] | None = None
    ask: Callable[[Asked, View], JudgeAnswer] | None = None
    python: Callable[[Python, View], Any] | None = None
    scope: Literal["main", "all"] = "main"
    turn: int | None = None

    def narrowed(self, scope: Literal["main", "all"], turn: int | None) -> View:
        """The same rep, seen in this scope and turn."""
        if (scope, turn) == (self.scope, self.turn):
            return self
        return replace(self, scope=scope, turn=turn)

    @cached_property
    def main(self) -> tuple[Event, ...]:
        """Events of the main thread in the chosen turn, in order."""
        events = self.transcript.events
        return events if self.turn is None else tuple(e for e in events if e.turn == self.turn)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Events of the scope and the turn, in order."""
        return self.main if self.scope == "main" else tuple(placed.event for placed in self._placed)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Calls of the scope and the turn, in order."""
        return tuple(e for e in self.events if isinstance(e, Call))

    @cached_property
    def threads(self) -> tuple[tuple[Event, ...], ...]:
        """The events of each agent by itself: the main thread, in scope `all` each sub-agent's too."""
        if self.scope == "main":
            return (self.main,)
        by_thread: dict[tuple[str, ...], list[Event]] = {}
        for placed in self._placed:
            by_thread.setdefault(placed.thread, []).append(placed.event)
        return tuple(tuple(events) for events in by_thread.values())

    @cached_property
    def _placed(self) -> tuple[Placed, ...]:
        everything = _flow(self.transcript, "main", ())
        return tuple(p for p in everything if self.turn in (None, p.turn))


class Placed(NamedTuple):
    """An event with the turn that it belongs to, and whose it is: keys of `children` from the main thread on."""

    turn: int
    thread: tuple[str, ...]
    event: Event


def _flow(transcript: Transcript, agent: str, thread: tuple[str, ...]) -> Iterator[Placed]:
    started: set[str] = set()
    for event in transcript.events:
        yield Placed(event.turn, thread, _named(event, agent))
        for spawn in event.spawns if isinstance(event, Call) else ():
            key = spawn.child
            if key in transcript.children and key not in started:
                started.add(key)
                inside = _flow(transcript.children[key], spawn.agent or "sub-agent", (*thread, key))
                yield from (placed._replace(turn=event.turn) for placed in inside)
    for key, child in transcript.children.items():
        if key not in started:
            yield from _flow(child, "sub-agent", (*thread, key))


def _named(event: Event, agent: str) -> Event:
    """A sub-agent's call never claims to be the main thread's."""
    if isinstance(event, Call) and event.by == "main" and agent != "main":
        return replace(event, by=agent)
    return event


@dataclass(frozen=True, slots=True)
class Answer:
    """A check's outcome, where it comes from, and whether a judge's word decided it; `advisory`: one that may not."""

    outcome: Outcome
    evidence: tuple[Evidence, ...] = ()
    judged: bool = False
    advisory: bool = False


def line(text: str) -> str:
    """The text as one line that can be stored: cut to `EVIDENCE_LIMIT` characters, `?` for half surrogate pairs."""
    cut = " ".join(text[: 20 * EVIDENCE_LIMIT].split())
    if len(cut) > EVIDENCE_LIMIT:
        cut = cut[: EVIDENCE_LIMIT - 1] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8")


def cite(text: str, at: At | None = None, call: str = "") -> Evidence:
    """Evidence with its place in the raw files and the id of its call."""
    return Evidence(text=line(text), file=at.file if at else "", line=at.line if at else 0, call=line(call))


def cite_call(call: Call, text: str = "") -> Evidence:
    """Evidence that is a call: what was called, and why it matters."""
    named = f"`{call.tool}`" + (f" by {call.by}" if call.by != "main" else "")
    return cite(f"{named}: {text}" if text else f"{named} {_short(call)}", call.at, call.id)


def _short(call: Call) -> str:
    shown = call.canonical or call.args
    return ", ".join(f"{k}={str(v)[:80]}" for k, v in shown.items())


def passed(*evidence: Evidence) -> Answer:
    """The answer is yes."""
    return Answer(Outcome.PASS, evidence)


def failed(*evidence: Evidence) -> Answer:
    """The answer is no."""
    return Answer(Outcome.FAIL, evidence)


def decided(holds: bool, *evidence: Evidence) -> Answer:
    """Yes or no."""
    return Answer(Outcome.PASS if holds else Outcome.FAIL, evidence)


def vacuous(text: str) -> Answer:
    """There was nothing to ask about."""
    return Answer(Outcome.VACUOUS, (cite(text),))


def broken(text: str) -> Answer:
    """The check itself could not answer."""
    return Answer(Outcome.ERROR, (cite(text),))
