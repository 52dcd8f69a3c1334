"""What a CLI asks a model and what the model answers, whatever the protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalrepo.agents.speech import Use

INPUT_TOKENS = 100
OUTPUT_TOKENS = 20
"""The usage of every answer."""

_SEED = re.compile(r"_([0-9a-f]{16}\d{4,})_\d")

Event = tuple[str, str]
"""A server-sent event: its name ("" for none) and its data."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: `role` is `user`, `assistant`, or the protocol's own for what is neither.

    `texts` are its blocks of text, `results` the texts of the tool results in it, `calls` the ids of its tool calls.
    """

    role: str
    texts: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All blocks of text, one below the other."""
        return "\n".join(self.texts)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request: the model that is asked, what was said, the tools it is offered (`namespace.name` if there is one)."""

    model: str
    messages: tuple[Message, ...]
    tools: frozenset[str] = frozenset()
    stream: bool = False
    usage: bool = True
    """Whether a stream shall end with the usage."""


@dataclass(frozen=True, slots=True)
class Fault:
    """How the model breaks: an HTTP status with a message, no answer at all (`hang`), or a stream that is `cut`.

    `too_long`: the prompt is too long for the model, which every vendor says in words of its own.
    """

    status: int = 500
    message: str = ""
    hang: bool = False
    cut: bool = False
    too_long: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says and which tools it calls, after `delay_s` seconds, as `model`; or how it breaks."""

    text: str = ""
    uses: tuple[Use, ...] = ()
    model: str = ""
    delay_s: float = 0.0
    fault: Fault | None = None


def text_of(content: Any) -> str:
    """The text of content that is a string or a list of blocks."""
    return "\n".join(texts_of(content))


def texts_of(content: Any) -> tuple[str, ...]:
    """The blocks of text in content that is a string or a list of blocks; other blocks are passed over."""
    if isinstance(content, str):
        return (content,)
    blocks = content if isinstance(content, list) else []
    return tuple(b["text"] for b in blocks if isinstance(b, dict) and isinstance(b.get("text"), str))


def rows(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of what should be a list of objects."""
    if isinstance(value, list):
        yield from (row for row in value if isinstance(row, dict))


def arguments(use: Use) -> Mapping[str, Any]:
    """The input of a tool that takes an object. LookupError for free text, which only one protocol knows."""
    if isinstance(use.input, str):
        raise LookupError(  # noqa: TRY004 - as for every use that cannot be made
            f"the tool {use.name} takes free text, for which this protocol has no call"
        )
    return use.input


def call_id(prefix: str, seed: str, number: int) -> str:
    """The id of an answer's tool call; `seed` is the answer's own, sixteen hexadecimal digits and a number."""
    return f"{prefix}_{seed}_{number}"


def answer_of(call: str) -> str:
    """The seed of the answer that made a call, "" when the id is not one of ours."""
    found = _SEED.search(call)
    return found[1] if found else ""


def pieces(text: str) -> list[str]:
    """The text in about four pieces, as a stream brings it."""
    size = max(1, -(-len(text) // 4))
    return [text[i : i + size] for i in range(0, len(text), size)]


def encoded(event: Event) -> bytes:
    """An event as it stands in the stream."""
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data}\n\n".encode()


def compact(value: Any) -> str:
    """JSON as it stands in an event."""
    return json.dumps(value, separators=(",", ":"))
