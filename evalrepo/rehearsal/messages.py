"""Anthropic Messages: a request as a conversation, an answer as the vendor's JSON or stream, and its errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evalrepo.rehearsal.conversation import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    Answer,
    Conversation,
    Event,
    Fault,
    Message,
    arguments,
    call_id,
    compact,
    pieces,
    rows,
    text_of,
    texts_of,
)

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_WORDS = {
    401: "invalid x-api-key",
    404: "model: not found",
    429: "This request would exceed your account's rate limit. Please try again later.",
    500: "Internal server error",
    529: "Overloaded",
}
_COMMAND = re.compile(
    r"\A<command-message>[^<]*</command-message>\s*<command-name>(/[^<]+)</command-name>"
    r"\s*(?:<command-args>(.*)</command-args>\s*)?\Z",
    re.DOTALL,
)
"""A prompt that was a slash command, as Claude Code tells it; it is read as it was typed."""
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


def read(body: Mapping[str, Any]) -> Conversation:
    """The conversation of a request."""
    return Conversation(
        model=str(body.get("model", "")),
        messages=tuple(_message(row) for row in rows(body.get("messages"))),
        tools=frozenset(str(tool.get("name", "")) for tool in rows(body.get("tools"))),
        stream=body.get("stream") is True,
    )


def _message(row: Mapping[str, Any]) -> Message:
    content = row.get("content")
    blocks = list(rows(content))
    told = texts_of(content if isinstance(content, str) else [b for b in blocks if b.get("type") == "text"])
    return Message(
        role=str(row.get("role", "")),
        texts=tuple(_COMMAND.sub(r"\1 \2", text) for text in told),
        results=tuple(text_of(b.get("content")) for b in blocks if b.get("type") == "tool_result"),
        calls=tuple(str(b.get("id", "")) for b in blocks if b.get("type") == "tool_use"),
    )


def count() -> dict[str, Any]:
    """The answer to a question for the number of tokens."""
    return {"input_tokens": INPUT_TOKENS}


def reply(answer: Answer, seed: str) -> dict[str, Any]:
    """The answer in one piece."""
    return {
        **_head(answer, seed),
        "content": _blocks(answer, seed),
        "stop_reason": _stop(answer),
        "usage": _usage(OUTPUT_TOKENS),
    }


def events(answer: Answer, seed: str, _: Conversation) -> Iterator[Event]:
    """The answer as a stream."""
    yield _event("message_start", message=_head(answer, seed))
    for index, block in enumerate(_blocks(answer, seed)):
        empty: dict[str, Any] = {"text": ""} if block["type"] == "text" else {"input": {}}
        yield _event("content_block_start", index=index, content_block=block | empty)
        if index == 0:
            yield _event("ping")
        for delta in _deltas(block):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event(
        "message_delta",
        delta={"stop_reason": _stop(answer), "stop_sequence": None},
        usage={"output_tokens": OUTPUT_TOKENS},
    )
    yield _event("message_stop")


def error(fault: Fault, seed: str) -> dict[str, Any]:
    """The body of an error."""
    kind = _KINDS.get(fault.status, "api_error")
    words = TOO_LONG if fault.too_long else fault.message or _WORDS.get(fault.status, "Internal server error")
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": f"req_{seed}"}


def _event(kind: str, **fields: Any) -> Event:
    return kind, compact({"type": kind, **fields})


def _head(answer: Answer, seed: str) -> dict[str, Any]:
    return {
        "id": f"msg_{seed}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(1),
    }


def _usage(output: int) -> dict[str, Any]:
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": INPUT_TOKENS, **cached, "output_tokens": output, "service_tier": "standard"}


def _blocks(answer: Answer, seed: str) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": answer.text}] if answer.text else []
    calls = [
        {"type": "tool_use", "id": call_id("toolu", seed, n), "name": use.name, "input": dict(arguments(use))}
        for n, use in enumerate(answer.uses)
    ]
    return [*text, *calls]


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in pieces(block["text"]))
        return
    yield {"type": "input_json_delta", "partial_json": ""}
    yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces(compact(block["input"])))


def _stop(answer: Answer) -> str:
    return "tool_use" if answer.uses else "end_turn"
