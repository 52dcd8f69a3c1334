"""A Transcript as something that a test can write down and a person can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import pytest

from evalrepo.records.transcript import Call, Event, Prompt, Result, Said, Transcript, Usage

FACTS = tuple(f.name for f in fields(Transcript) if f.name not in ("events", "children", "usage"))

Line = tuple[Any, ...]


def unusual(transcript: Transcript, usual: Transcript, *but: str) -> dict[str, Any]:
    """The facts of a transcript that are not as usual; none of its events, children and usage, nor what is left out."""
    found = {name: getattr(transcript, name) for name in FACTS if name not in but}
    return {name: value for name, value in found.items() if value != getattr(usual, name)}


def rest(transcript: Transcript | None, usual: Transcript) -> dict[str, Any]:
    """All of a transcript but its events, children and sessions: what is not as usual, and the usage."""
    assert transcript is not None
    return {**unusual(transcript, usual, "sessions"), "usage": transcript.usage}


def usage(answers: int, calls: int, agents: int = 0, cost: float | None = None, price: float | None = 0.0006) -> Usage:
    """What our model server says that so many answers cost, at the price of the model that is asked."""
    whole = round(answers * price, 6) if price is not None and cost is None else cost
    return Usage(100 * answers, 20 * answers, 0, 0, None if whole is None else pytest.approx(whole), calls, agents)


def one_child(line: Line, call: Call, transcript: Transcript) -> Iterator[Line]:
    """A call; one that started a sub-agent ends with its models (requested, resolved, served), and its story follows."""
    if call.spawn is None:
        yield line
        return
    yield (*line, (call.spawn.requested, call.spawn.resolved, call.spawn.served))
    if call.spawn.child:
        yield ("child", story(transcript.children[call.spawn.child]))


def story(
    transcript: Transcript | None, calls: Callable[[Line, Call, Transcript], Iterator[Any]] = one_child
) -> list[Any]:
    """The events without ids and places, each result where the model saw it; `calls` says what stands for a call."""
    assert transcript is not None
    return [line for event in transcript.events for line in _lines(event, transcript, calls)]


def _lines(event: Event, transcript: Transcript, calls: Callable[[Line, Call, Transcript], Iterator[Any]]) -> list[Any]:
    if isinstance(event, Prompt):
        return [("told" if event.synthetic else "prompt", event.text)]
    if isinstance(event, Said):
        return [("said", event.text)]
    if isinstance(event, Result):
        return [("result", event.ok, event.exit_code, event.text)]
    return list(calls(("call", event.by, event.tool, event.kind, dict(event.canonical)), event, transcript))
