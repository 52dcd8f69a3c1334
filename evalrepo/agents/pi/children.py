"""Sub-agents, as extensions tell of them in the details of the result of `subagent`: one result each.

The bundled extension keeps the whole conversation of each (`messages`), pi-subagents names a session log of its own
(`sessionFile`). One call may start several: its arguments then have `tasks`, which run side by side, or a `chain`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalrepo.agents.jsonl import Row, text_of
from evalrepo.agents.thread import Start, Thread
from evalrepo.records.transcript import EndReason

if TYPE_CHECKING:
    from evalrepo.agents.pi.messages import Messages

_NOT_STARTED = re.compile(r"\bspawn \S*pi\S* ENOENT\b|Failed to spawn subagent", re.IGNORECASE)
_REDACTED = "[prompt redacted]"
_BAD = frozenset(("failed", "aborted"))


def broken(details: Mapping[str, Any], words: str) -> bool:
    """Whether no sub-agent did what it was started for, although the result is not marked as an error."""
    results = _objects(details.get("results"))
    if not results:
        return _NOT_STARTED.search(words) is not None
    return all(_failed(result) for result in results)


def _failed(result: Row) -> bool:
    code = result.get("exitCode")
    return text_of(result.get("status")) in _BAD or (type(code) is int and code != 0)


def adopt(messages: Messages, ident: str, details: Mapping[str, Any], line: int) -> None:
    """Tell the call about its sub-agents, and make a thread of each whose conversation stands in the details."""
    call = messages.thread.calls.get(ident)
    if call is None:
        return
    asked, results = _asked(call.args), _objects(details.get("results"))
    starts = []
    for number in range(max(len(asked), len(results), 1)):
        task = asked[number] if number < len(asked) else {}
        result = results[number] if number < len(results) else {}
        key = _session(result) or f"{messages.thread.key}/{ident}" + (f"#{number + 1}" if number else "")
        starts.append(_start(task, result, key))
        if result and not _session(result):
            _thread(messages, call.id, starts[-1], result, line)
    call.starts = tuple(starts)


def _asked(args: Mapping[str, Any]) -> list[Row]:
    """What the call asked for, a task each."""
    several = _objects(args.get("tasks")) or _objects(args.get("chain"))
    return several or [dict(args)]


def _start(task: Row, result: Row, key: str) -> Start:
    said = text_of(result.get("task"))
    return Start(
        agent=text_of(result.get("agent")) or text_of(task.get("agent")),
        task=said if said and said != _REDACTED else text_of(task.get("task")),
        requested=text_of(task.get("model")) or None,
        resolved=text_of(result.get("model")) or None,
        child=key,
    )


def _session(result: Row) -> str:
    """The key of the thread that the sub-agent's own log becomes: the last three parts of its path."""
    path = text_of(result.get("sessionFile"))
    return "/".join(path.split("/")[-3:]) if path.count("/") >= 3 else ""


def _thread(messages: Messages, call: str, start: Start, result: Row, line: int) -> None:
    """The thread of a sub-agent whose conversation, or only its end, stands in the result."""
    parent = messages.thread
    child = Thread(start.child, parent.file, start.agent or "sub-agent", parent.key, call, turn=parent.turn)
    inside = type(messages)(child, messages.work, messages.cwd, dict(messages.skills))
    said = _objects(result.get("messages"))
    for message in said:
        inside.message(message, line)
    if not said and text_of(result.get("finalOutput")):
        child.prompt(start.task, line)
        child.said(text_of(result["finalOutput"]), line)
        child.model(text_of(result.get("model")))
        inside.use(result.get("usage"))
        child.ended(EndReason.DONE)
    inside.finish()
    if child.events:
        messages.found += [child, *inside.found]


def _objects(value: Any) -> list[Row]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
