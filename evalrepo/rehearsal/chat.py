"""OpenAI chat completions: a request as a conversation, an answer as the vendor's JSON or stream, and its errors."""

from __future__ import annotations

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

CREATED = 1_700_000_000
"""When every answer was made: seconds since 1970. Nothing depends on it."""

_KINDS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", None),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
_WORDS = {
    401: "Incorrect API key provided.",
    404: "The model does not exist or you do not have access to it.",
    429: "Rate limit reached for requests. Please try again in 1s.",
}
_BROKEN = "The server had an error while processing your request. Sorry about that!"
TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again."


def read(body: Mapping[str, Any]) -> Conversation:
    """The conversation of a request."""
    options = body.get("stream_options")
    named = (tool.get("function") for tool in rows(body.get("tools")))
    return Conversation(
        model=str(body.get("model", "")),
        messages=tuple(_message(row) for row in rows(body.get("messages"))),
        tools=frozenset(str(function.get("name", "")) for function in named if isinstance(function, dict)),
        stream=body.get("stream") is True,
        usage=isinstance(options, dict) and options.get("include_usage") is True,
    )


def _message(row: Mapping[str, Any]) -> Message:
    role, content = str(row.get("role", "")), row.get("content")
    if role == "tool":
        return Message(role, results=(text_of(content),))
    return Message(role, texts_of(content), calls=tuple(str(c.get("id", "")) for c in rows(row.get("tool_calls"))))


def reply(answer: Answer, seed: str) -> dict[str, Any]:
    """The answer in one piece."""
    calls = [_call(answer, seed, n) for n in range(len(answer.uses))]
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _stop(answer)}
    return {**_head(answer, seed, "chat.completion"), "choices": [choice], "usage": _usage()}


def events(answer: Answer, seed: str, conversation: Conversation) -> Iterator[Event]:
    """The answer as a stream; the usage only when it was asked for, as the vendor does."""
    head = _head(answer, seed, "chat.completion.chunk")
    usage = {"usage": None} if conversation.usage else {}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return "", compact({**head, "choices": [choice], **usage})

    yield chunk({"role": "assistant", "content": "" if answer.text or not answer.uses else None, "refusal": None})
    for piece in pieces(answer.text):
        yield chunk({"content": piece})
    for index in range(len(answer.uses)):
        call = _call(answer, seed, index)
        empty = {"function": {"name": call["function"]["name"], "arguments": ""}}
        yield chunk({"tool_calls": [{"index": index, **call, **empty}]})
        for piece in pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _stop(answer))
    if conversation.usage:
        yield "", compact({**head, "choices": [], "usage": _usage()})
    yield "", "[DONE]"


def error(fault: Fault, _: str) -> dict[str, Any]:
    """The body of an error."""
    kind, code = _KINDS.get(fault.status, ("server_error", None))
    words = fault.message or _WORDS.get(fault.status, _BROKEN)
    if fault.too_long:
        code, words = "context_length_exceeded", TOO_LONG
    return {"error": {"message": words, "type": kind, "param": None, "code": code}}


def _head(answer: Answer, seed: str, kind: str) -> dict[str, Any]:
    about = {"created": CREATED, "model": answer.model, "service_tier": "default"}
    return {"id": f"chatcmpl-{seed}", "object": kind, **about, "system_fingerprint": None}


def _usage() -> dict[str, Any]:
    return {
        "prompt_tokens": INPUT_TOKENS,
        "completion_tokens": OUTPUT_TOKENS,
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _call(answer: Answer, seed: str, number: int) -> dict[str, Any]:
    use = answer.uses[number]
    function = {"name": use.name, "arguments": compact(dict(arguments(use)))}
    return {"id": call_id("call", seed, number), "type": "function", "function": function}


def _stop(answer: Answer) -> str:
    return "tool_calls" if answer.uses else "stop"
