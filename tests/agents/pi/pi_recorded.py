"""Recorded sessions of pi, trimmed, and a Transcript as text that a person can read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recorded import files_of

from evalrepo.agents import pi
from evalrepo.records.config import Agent
from evalrepo.records.transcript import Call, EndReason, Event, Prompt, Result, Spawn, Transcript
from tests.telling import unusual

PREFIX = "pi-1.6.0-"
USUAL = Transcript("", end=EndReason.DONE)
AGENT = Agent.model_validate({"tiers": {"any": {"model": "anthropic/claude-sonnet-4-5"}}})


def recorded(case: str) -> dict[str, bytes]:
    """The files as `native` names them: `main-N.jsonl`, `main-1.RUN.run-N.jsonl` of a sub-agent, `turn-N.err`."""
    return {_named(name): data for name, data in files_of(PREFIX, case).items() if not name.endswith(".txt")}


def _named(name: str) -> str:
    child = re.fullmatch(r"(main-\d)\.([\w-]+)\.(run-\d)\.jsonl", name)
    return "/".join((*child.groups(), "session.jsonl")) if child else name


def read(files: dict[str, bytes]) -> Transcript:
    return pi.read(AGENT, files, "/srv/project")


def told(transcript: Transcript, indent: str = "") -> Iterator[str]:
    """All of a transcript: its facts, every event with its line, and the children below."""
    for name, value in unusual(transcript, USUAL, "unknown").items():
        yield f"{indent}{name}: {value}"
    used = transcript.usage
    yield (
        f"{indent}usage: {used.input_tokens} in, {used.output_tokens} out, {used.cache_read_tokens} read, "
        f"{used.cache_write_tokens} written, {used.cost_usd and round(used.cost_usd, 6)} USD, {used.tool_calls} calls, {used.agents} agents"
    )
    if transcript.unknown:
        yield f"{indent}unknown: {dict(transcript.unknown)}"
    for event in transcript.events:
        yield f"{indent}{event.at.file.removesuffix('.jsonl')}:{event.at.line} turn {event.turn} {_event(event)}"
    for key, child in transcript.children.items():
        yield f"{indent}{key}"
        yield from told(child, indent + "    ")


def _event(event: Event) -> str:
    if isinstance(event, Result):
        code = "" if event.exit_code is None else f" exit {event.exit_code}"
        return f"result {'ok' if event.ok else 'FAILED'}{code} {event.size} bytes {event.text!r}"
    if isinstance(event, Call):
        kind = f" {event.kind} {dict(event.canonical)}" if event.kind else f" {dict(event.args)}"
        answered = "" if event.result else " unanswered"
        return f"call by {event.by}: {event.tool}{kind}{answered}{''.join(map(_spawn, event.spawns))}"
    word = ("synthetic " if event.synthetic else "") + "prompt" if isinstance(event, Prompt) else "said"
    return f"{word} {event.text!r}"


def _spawn(spawn: Spawn) -> str:
    asked = f"{spawn.requested} > {spawn.resolved} > {', '.join(spawn.served)}"
    return f" -> {spawn.agent} ({asked}) {spawn.task!r}" + (f" = {spawn.child}" if spawn.child else "")
