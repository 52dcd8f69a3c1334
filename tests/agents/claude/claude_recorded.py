"""Recorded sessions of Claude Code, trimmed, and a Transcript as lines that a person can read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recorded import files_of

from evalrepo.agents import claude
from evalrepo.records.config import Agent
from evalrepo.records.transcript import Call, EndReason, Event, Prompt, Said, Transcript, Usage
from tests.telling import unusual

PREFIX = "claude-2.1.332-"
AGENT = Agent.model_validate({"tiers": {"any": {"model": "claude-sonnet-4-5"}}})
USUAL = Transcript("claude", "2.1.332", models=("claude-sonnet-4-5",), end=EndReason.DONE)
SHOWN = 70


def recorded(case: str) -> dict[str, bytes]:
    """The files as `native` names them: `main-N` are the sessions, `agent-X` sub-agents of the first one."""
    return {_named(name): data for name, data in files_of(PREFIX, case).items()}


def _named(name: str) -> str:
    if (number := re.fullmatch(r"main-(\d)\.jsonl", name)) is not None:
        return f"{session(int(number[1]))}.jsonl"
    return name if name.endswith(".out") else f"{session(1)}/subagents/{name}"


def session(number: int) -> str:
    return f"{number:08d}-0000-4000-8000-000000000000"


def read(files: dict[str, bytes]) -> Transcript:
    return claude.read(AGENT, files, "/srv/project")


def told(transcript: Transcript, indent: str = "") -> Iterator[str]:
    """All of a transcript: what is not as usual, every event with its line, and the children below."""
    for name, value in unusual(transcript, USUAL, "sessions").items():
        yield f"{indent}{name}: {value}"
    yield f"{indent}{_usage(transcript.usage)}"
    order = {call.id: n for n, call in enumerate((e for e in transcript.events if isinstance(e, Call)), 1)}
    for event in transcript.events:
        yield f"{indent}{event.turn} {event.at.line:>3} {_event(event, order)}"
    for key, child in transcript.children.items():
        yield f"{indent}{key}:"
        yield from told(child, indent + "    ")


def _usage(usage: Usage) -> str:
    tokens = (
        f"{usage.input_tokens}+{usage.output_tokens} tokens, cache {usage.cache_read_tokens}+{usage.cache_write_tokens}"
    )
    cost = None if usage.cost_usd is None else round(usage.cost_usd, 6)
    return f"{tokens}, {cost} USD, {usage.tool_calls} calls, {usage.agents} agents"


def _event(event: Event, order: dict[str, int]) -> str:
    if isinstance(event, Prompt):
        return f"{'told' if event.synthetic else 'prompt'} {event.text[:SHOWN]!r}"
    if isinstance(event, Said):
        return f"said {event.text[:SHOWN]!r}"
    if isinstance(event, Call):
        assert event.id in order
        canonical = "".join(f" {name}={value!r}" for name, value in event.canonical.items())
        return f"{event.by} calls {order[event.id]} {event.tool} ({event.kind}){canonical}{_spawn(event)}"
    ok = "ok" if event.ok else "not ok"
    return f"result {order[event.call]} {ok} {event.exit_code} {event.size} {event.text[:SHOWN]!r}"


def _spawn(call: Call) -> str:
    if call.spawn is None:
        return ""
    assert (call.spawn.agent, call.spawn.task) == (call.canonical.get("agent", ""), call.canonical.get("task", ""))
    return f" -> {call.spawn.requested} / {call.spawn.resolved} / {','.join(call.spawn.served)} [{call.spawn.child}]"
