"""OpenAI responses: a request as a conversation, an answer as the vendor's JSON or stream, and its errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from evalrepo.rehearsal import chat
from evalrepo.rehearsal.conversation import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    Answer,
    Conversation,
    Event,
    Fault,
    Message,
    answer_of,
    arguments,
    call_id,
    compact,
    pieces,
    rows,
    text_of,
    texts_of,
)

_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")


def read(body: Mapping[str, Any]) -> Conversation:
    """The conversation of a request."""
    given = body.get("input")
    items = list(rows([{"role": "user", "content": given}] if isinstance(given, str) else given))
    offered = [body.get("tools"), *(item.get("tools") for item in items if item.get("type") == "additional_tools")]
    return Conversation(
        model=str(body.get("model", "")),
        messages=tuple(_messages(items)),
        tools=frozenset(name for tools in offered for name in _named(tools)),
        stream=body.get("stream") is True,
    )


def _named(tools: Any) -> Iterator[str]:
    for tool in rows(tools):
        name = str(tool.get("name") or tool.get("type", ""))
        if tool.get("type") == "namespace":
            yield from (f"{name}.{inner.get('name', '')}" for inner in rows(tool.get("tools")))
        else:
            yield name


def _messages(items: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    """Items as messages; those of one answer, which begins with its words if it has any, as one."""
    before: Message | None = None
    for message in filter(None, map(_message, items)):
        if before is not None and _continues(before, message):
            before = replace(before, calls=(*before.calls, *message.calls))
            continue
        if before is not None:
            yield before
        before = message
    if before is not None:
        yield before


def _continues(before: Message, message: Message) -> bool:
    if before.role != "assistant" or message.role != "assistant" or not message.calls:
        return False
    seed = answer_of(message.calls[0])
    return not before.calls or (bool(seed) and seed == answer_of(before.calls[0]))


def _message(item: Mapping[str, Any]) -> Message | None:
    """None for what says nothing of its own (reasoning)."""
    kind = str(item.get("type") or "message")
    if kind == "message":
        return Message(str(item.get("role", "")), texts_of(item.get("content")))
    if kind == "agent_message":  # from one agent to another, where a prompt would stand
        blocks = [{"text": b.get("text") or b.get("encrypted_content")} for b in rows(item.get("content"))]
        return Message("user", texts_of(blocks or item.get("content")))
    if kind in _CALLS:
        return Message("assistant", calls=(str(item.get("call_id") or item.get("id", "")),))
    if kind.endswith("_output"):
        return Message("tool", results=(text_of(item.get("output")),))
    return None


def reply(answer: Answer, seed: str) -> dict[str, Any]:
    """The answer in one piece."""
    return {**_head(answer, seed), "status": "completed", "output": _items(answer, seed), "usage": _usage()}


def events(answer: Answer, seed: str, _: Conversation) -> Iterator[Event]:
    """The answer as a stream."""
    numbers = itertools.count()

    def event(kind: str, **fields: Any) -> Event:
        return kind, compact({"type": kind, "sequence_number": next(numbers), **fields})

    yield event("response.created", response=_head(answer, seed))
    yield event("response.in_progress", response=_head(answer, seed))
    for index, item in enumerate(_items(answer, seed)):
        begun: dict[str, Any] = {"content": []} if item["type"] == "message" else {_INPUT[item["type"]]: ""}
        yield event("response.output_item.added", output_index=index, item={**item, **begun, "status": "in_progress"})
        for kind, fields in _grown(item):
            yield event(kind, item_id=item["id"], output_index=index, **fields)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=reply(answer, seed))


def failed(answer: Answer, fault: Fault, seed: str) -> Iterator[Event]:
    """The stream of an answer that the vendor gives up after it has begun: a prompt that is too long."""
    found = error(fault, seed)["error"]
    response = {**_head(answer, seed), "status": "failed", "error": {k: found[k] for k in ("code", "message")}}
    for number, (kind, told) in enumerate((("response.created", _head(answer, seed)), ("response.failed", response))):
        yield kind, compact({"type": kind, "sequence_number": number, "response": told})


error = chat.error

_INPUT = {"function_call": "arguments", "custom_tool_call": "input"}
_GROWTH = {"function_call": "response.function_call_arguments", "custom_tool_call": "response.custom_tool_call_input"}


def _grown(item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is told of an item between its beginning and its end."""
    if item["type"] == "message":
        part = item["content"][0]
        yield "response.content_part.added", {"content_index": 0, "part": {**part, "text": ""}}
        for piece in pieces(part["text"]):
            yield "response.output_text.delta", {"content_index": 0, "delta": piece, "logprobs": []}
        yield "response.output_text.done", {"content_index": 0, "text": part["text"], "logprobs": []}
        yield "response.content_part.done", {"content_index": 0, "part": part}
        return
    field = _INPUT[item["type"]]
    for piece in pieces(item[field]):
        yield f"{_GROWTH[item['type']]}.delta", {"delta": piece}
    named = {"name": item["name"]} if item["type"] == "function_call" else {}
    yield f"{_GROWTH[item['type']]}.done", {**named, field: item[field]}


def _items(answer: Answer, seed: str) -> list[dict[str, Any]]:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": answer.text}
    message = {"id": f"msg_{seed}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    calls = [_call(answer, seed, n) for n in range(len(answer.uses))]
    return [*([message] if answer.text or not calls else ()), *calls]


def _call(answer: Answer, seed: str, number: int) -> dict[str, Any]:
    use = answer.uses[number]
    call = {"call_id": call_id("call", seed, number), "name": use.name, "status": "completed"}
    if use.namespace:
        call["namespace"] = use.namespace
    if isinstance(use.input, str):
        return {"id": call_id("ctc", seed, number), "type": "custom_tool_call", **call, "input": use.input}
    given = compact(dict(arguments(use)))
    return {"id": call_id("fc", seed, number), "type": "function_call", **call, "arguments": given}


def _head(answer: Answer, seed: str) -> dict[str, Any]:
    nothing = ("error", "incomplete_details", "instructions", "max_output_tokens", "previous_response_id", "usage")
    return {
        "id": f"resp_{seed}",
        "object": "response",
        "created_at": chat.CREATED,
        "status": "in_progress",
        "model": answer.model,
        "output": [],
        **dict.fromkeys(nothing),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
    }


def _usage() -> dict[str, Any]:
    return {
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    }
