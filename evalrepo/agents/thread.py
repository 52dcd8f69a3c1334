"""One thread of an agent, gathered row by row and turned into a Transcript; the same for every log format.

A reader makes one `Thread` a session or sub-agent, tells it what it finds, links children to calls and lets
`assemble` build the tree.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalrepo.agents.canonical import add_usage
from evalrepo.agents.faults import error_kind
from evalrepo.agents.jsonl import sized
from evalrepo.records.transcript import At, Call, EndReason, Event, Prompt, Result, Said, Spawn, Transcript, Usage

_AMOUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")

DEEPEST = 40
"""Sub-agents nested deeper hang on the main thread, so that nothing that walks the tree can run out of stack."""


@dataclass(frozen=True, slots=True)
class Start:
    """One of the sub-agents that a call started, in a log that tells them apart; `child` is the key of its thread."""

    agent: str = ""
    task: str = ""
    requested: str | None = None
    resolved: str | None = None
    served: tuple[str, ...] = ()
    child: str = ""


@dataclass(slots=True)
class _Started:
    """A call whose result is not known yet."""

    index: int
    id: str
    tool: str
    kind: str
    args: Mapping[str, Any]
    canonical: Mapping[str, Any]
    turn: int
    at: At
    result: Result | None = None
    child: str = ""
    requested: str | None = None
    resolved: str | None = None
    served: tuple[str, ...] = ()
    starts: tuple[Start, ...] = ()
    """Instead of the five before it, where the log says it of each sub-agent."""

    def each(self) -> tuple[Start, ...]:
        """The sub-agents that a spawn started, one where the log does not tell them apart."""
        given = self.canonical
        agent, task = str(given.get("agent") or ""), str(given.get("task") or "")
        return self.starts or (Start(agent, task, self.requested, self.resolved, self.served, self.child),)


@dataclass
class Thread:
    """What one session did. `key` names it; `parent` and `call` say who started it ("" for a main session)."""

    key: str
    file: str
    by: str = "main"
    parent: str = ""
    call: str = ""
    version: str = ""
    turn: int = 0
    events: list[Event | None] = field(default_factory=list)
    calls: dict[str, _Started] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    used: dict[str, float] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    loaded: list[str] = field(default_factory=list)
    denied: list[str] = field(default_factory=list)
    pending: set[str] = field(default_factory=set)
    truncated: bool = False
    end: EndReason = EndReason.UNKNOWN
    error: tuple[str, str] | None = None
    broke: tuple[str, str] | None = None

    def begin_turn(self, number: int) -> None:
        """A turn starts; an error that ended the one before stays the thread's."""
        self.turn = number
        if self.end is EndReason.ERROR:
            self.broke = self.broke or self.error or ("", "")
        self.end, self.error = EndReason.UNKNOWN, None

    def prompt(self, text: str, line: int, *, synthetic: bool = False) -> None:
        """A user message."""
        self.events.append(Prompt(text, self.turn, At(self.file, line), synthetic))

    def said(self, text: str, line: int) -> None:
        """Visible assistant text; an error before it was overcome."""
        self.end, self.error = EndReason.UNKNOWN, None
        if text:
            self.events.append(Said(text, self.turn, At(self.file, line)))

    def called(self, ident: str, tool: str, kind: str, args: Any, canonical: Mapping[str, Any], line: int) -> None:
        """A tool call; one whose id is known from this turn is the same call again."""
        self.end, self.error = EndReason.UNKNOWN, None
        ident = ident or f"line-{line}"
        before = self.calls.get(ident)
        if before is not None and before.turn == self.turn:
            self.unknown["tool_call (again)"] += 1
            return
        if before is not None:  # a process that resumes the session counts from the start again
            self.calls[f"{ident} of turn {before.turn}"] = before
        given = args if isinstance(args, dict) else {"value": args}
        started = _Started(len(self.events), ident, tool, kind, given, canonical, self.turn, At(self.file, line))
        if kind == "spawn" and isinstance(canonical.get("model"), str):
            started.requested = canonical["model"]
        self.calls[ident] = started
        self.events.append(None)

    def answered(self, ident: str, ok: bool, value: Any, line: int, exit_code: int | None = None) -> None:
        """A call's result, its text as it was parsed; one without its call, or a second one, counts as unknown."""
        call = self.calls.get(ident)
        if call is None or call.result is not None:
            self.unknown["tool_result (no call)" if call is None else "tool_result (again)"] += 1
            return
        text, size = sized(value)
        ok = ok and not exit_code
        call.result = Result(ident, ok, text, size, self.turn, At(self.file, line), exit_code)
        self.events.append(call.result)

    def model(self, name: str) -> None:
        """A model that answered."""
        if name:
            self.models[name] = None

    def use(self, usage: Any) -> None:
        """Adds what one answer of the model cost: an object with the names of `Usage`."""
        add_usage(self.used, usage)

    def failed(self, kind: str, message: str) -> None:
        """An error in the log; it is the end unless the thread goes on."""
        self.end, self.error = EndReason.ERROR, (error_kind(kind, message), message)

    def ended(self, reason: EndReason) -> None:
        """The log says so; an error just before makes it an error."""
        if self.end is not EndReason.ERROR:
            self.end = reason


def assemble(agent: str, threads: Sequence[Thread]) -> Transcript:
    """The main sessions (those without a parent) in their order as one Transcript with the tree of its children.

    A child belongs to the first call that names it, or that it names; one that nobody names, or only itself, to the
    main thread.
    """
    mains = [thread for thread in threads if not thread.parent]
    children: dict[str, Thread] = {}
    for thread in threads:
        if thread.parent:
            children.setdefault(thread.key, thread)
    _link(threads, children)
    below, order = _tree(mains, children)
    done: dict[str, Transcript] = {}
    for key in reversed(order):
        done[key] = _build(agent, [children[key]], {k: done[k] for k in below.get(key, ())})
    return _build(agent, mains, {k: done[k] for k in below.get("", ())})


def _link(threads: Sequence[Thread], children: Mapping[str, Thread]) -> None:
    """Tells calls about their children where only the child names its call."""
    calls = {(thread.key, call.id): call for thread in threads for call in thread.calls.values()}
    for child in children.values():
        call = calls.get((child.parent, child.call))
        if call is not None and call.child not in children:
            call.child = child.key


def _tree(mains: Sequence[Thread], children: Mapping[str, Thread]) -> tuple[dict[str, list[str]], list[str]]:
    """Parent key ("" for the main thread) → its children; and all children, parents before their own."""
    below: dict[str, list[str]] = {}
    order: list[str] = []
    seen: set[str] = set()
    named: dict[str, list[str]] = {}
    for child in children.values():
        named.setdefault(child.parent, []).append(child.key)
    waiting = deque((thread, "", 0) for thread in mains)
    orphans = deque(children)
    while waiting or orphans:
        if not waiting:
            key = orphans.popleft()
            if key not in seen:
                _adopt(key, "", below, order, seen)
                waiting.append((children[key], key, 1))
            continue
        thread, place, depth = waiting.popleft()
        started = (start.child for call in thread.calls.values() for start in call.each())
        for key in (*started, *named.get(thread.key, ())):
            if key in children and key not in seen:
                _adopt(key, place if depth < DEEPEST else "", below, order, seen)
                waiting.append((children[key], key, depth + 1 if depth < DEEPEST else 1))
    return below, order


def _adopt(key: str, parent: str, below: dict[str, list[str]], order: list[str], seen: set[str]) -> None:
    seen.add(key)
    order.append(key)
    below.setdefault(parent, []).append(key)


def _build(agent: str, threads: list[Thread], children: dict[str, Transcript]) -> Transcript:
    events = tuple(event for thread in threads for event in _events(thread, children))
    broke = next((found for found in map(_broke, threads) if found is not None), None)
    unknown = sum((thread.unknown for thread in threads), Counter[str]())
    for child in children.values():
        unknown.update(child.unknown)
    end = threads[-1].end if threads else EndReason.UNKNOWN
    return Transcript(
        agent=agent,
        version=next((t.version for t in threads if t.version), ""),
        sessions=tuple(dict.fromkeys(thread.key for thread in threads)),
        events=events,
        children=children,
        models=tuple(dict.fromkeys(model for thread in threads for model in thread.models)),
        usage=_usage(threads, events, children),
        end=EndReason.ERROR if broke is not None else end,
        error_kind=broke[0] if broke else "",
        error_message=broke[1] if broke else "",
        truncated=_truncated(threads, children),
        loaded=tuple(dict.fromkeys(name for thread in threads for name in thread.loaded)),
        denied=tuple(dict.fromkeys((*_denied(threads), *(name for c in children.values() for name in c.denied)))),
        unknown=dict(unknown),
    )


def _denied(threads: list[Thread]) -> list[str]:
    return [name for thread in threads for name in thread.denied]


def _broke(thread: Thread) -> tuple[str, str] | None:
    if thread.broke is not None:
        return thread.broke
    return (thread.error or ("", "")) if thread.end is EndReason.ERROR else None


def _truncated(threads: list[Thread], children: dict[str, Transcript]) -> bool:
    """A torn file, or a background task that never reported although the agent says that it is done."""
    left = any(thread.pending and thread.end is EndReason.DONE for thread in threads)
    return left or any(t.truncated for t in threads) or any(c.truncated for c in children.values())


def _events(thread: Thread, children: Mapping[str, Transcript]) -> list[Event]:
    for call in thread.calls.values():
        thread.events[call.index] = Call(
            call.id, call.tool, call.kind, call.args, call.canonical, call.turn, call.at, thread.by, call.result,
            _spawn(call, children) if call.kind == "spawn" else None,
        )  # fmt: skip
    return [event for event in thread.events if event is not None]


def _spawn(call: _Started, children: Mapping[str, Transcript]) -> Spawn:
    first, *others = (_one(start, children) for start in call.each())
    return replace(first, also=tuple(others)) if others else first


def _one(start: Start, children: Mapping[str, Transcript]) -> Spawn:
    child = children.get(start.child)
    return Spawn(
        agent=start.agent,
        task=start.task,
        requested=start.requested,
        resolved=start.resolved,
        served=child.models if child is not None and child.models else start.served,
        child=start.child if child is not None else "",
    )


def _usage(threads: list[Thread], events: Sequence[Event], children: Mapping[str, Transcript]) -> Usage:
    """Own and children's; what an active child does not say is unknown for all, so is what an answer's cost was."""
    totals: dict[str, Any] = {}
    for name in _AMOUNTS:
        own = [thread.used[name] for thread in threads if name in thread.used]
        theirs = [getattr(child.usage, name) for child in children.values() if not child.empty]
        unsaid = any(name not in thread.used for thread in threads if thread.used) and name == "cost_usd"
        unknown = None in theirs or not (own or theirs) or unsaid
        totals[name] = None if unknown else sum(own) + sum(theirs)
    calls = [event for event in events if isinstance(event, Call)]
    return Usage(
        **totals,
        tool_calls=len(calls) + sum(child.usage.tool_calls for child in children.values()),
        agents=sum(len(c.spawns) for c in calls if c.ok) + sum(c.usage.agents for c in children.values()),
    )
