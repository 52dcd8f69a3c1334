"""A Transcript as ATIF v1.8, the Agent Trajectory Interchange Format: one JSON object, sub-agents inside. Pure.

ATIF wants a result in the step of its call. A result that came later (a background task's) is a system step of its
own, whose result names the call in `extra.call`. What ATIF has no field for stands in `extra`: of a step `turn`,
`synthetic` and `raw_ref` (file:line of the agent's own log), of a call `kind`, `requested_model`, `resolved_model` and
`served_models`, of a result `is_error` and `exit_code`, of a trajectory `end_reason`, `error`, `models`, `loaded`.
The log's usage is known by thread, not by step: it stands in `final_metrics`, a sub-agent's in its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalrepo.records.transcript import Call, Event, Prompt, Result, Said, Transcript, Usage

VERSION = "ATIF-v1.8"
DEEPEST = 60
"""Levels of a call's arguments; what is nested deeper is left out."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SUMMED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")
_NOTES = (
    "Converted from the agent's own log. Usage is of a whole trajectory, sub-agents' not included: "
    "final_metrics.extra.with_subagents has the sum. extra.raw_ref is FILE:LINE in that log."
)


@dataclass(frozen=True, slots=True)
class About:
    """What a document says beside its transcript: an id, the model that was asked for, and JSON data of any kind."""

    trajectory_id: str = ""
    model: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


NOTHING = About()


def trajectory(transcript: Transcript, about: About = NOTHING) -> dict[str, Any]:
    """The document as JSON data. Valid whatever the transcript holds."""
    taken = {about.trajectory_id} if about.trajectory_id else set[str]()
    made = _document(transcript, about.trajectory_id, transcript.agent, taken)
    made["extra"] = {**_plain(about.extra), **made["extra"]}
    if about.model:
        made["extra"] = {"requested_model": _text(about.model), **made["extra"]}
    return {**made, "notes": _NOTES}


def _document(transcript: Transcript, ident: str, name: str, taken: set[str]) -> dict[str, Any]:
    children = {key: _unique(_text(key) or "sub-agent", taken) for key in transcript.children}
    steps = _Steps(children)
    for event in transcript.events:
        steps.add(event)
    done = steps.finished()
    found: dict[str, Any] = {"schema_version": VERSION}
    if transcript.sessions:
        found["session_id"] = _text(transcript.sessions[0])
    if ident:
        found["trajectory_id"] = _text(ident)
    found |= {"agent": _agent(transcript, name), "steps": done, "final_metrics": _final(transcript, len(done))}
    found["extra"] = _ending(transcript)
    if children:
        found["subagent_trajectories"] = [
            _document(child, children[key], _name(child, key, transcript), taken)
            for key, child in transcript.children.items()
        ]
    return found


def _unique(key: str, taken: set[str]) -> str:
    """The key, or the key with a number: an id stands for one trajectory of the whole document."""
    found, number = key, 2
    while found in taken:
        found, number = f"{key}#{number}", number + 1
    taken.add(found)
    return found


def _agent(transcript: Transcript, name: str) -> dict[str, Any]:
    about = {"name": _text(name), "version": _text(transcript.version) or "unknown"}
    if transcript.models:
        about["model_name"] = _text(transcript.models[0])
    return about


def _name(child: Transcript, key: str, parent: Transcript) -> str:
    """What the sub-agent is called: by itself in its calls, by who started it, or its key."""
    own = (e.by for e in child.events if isinstance(e, Call))
    spawns = (spawn for event in parent.events if isinstance(event, Call) for spawn in event.spawns)
    given = (spawn.agent for spawn in spawns if spawn.child == key)
    return next((name for name in (*own, *given) if name and name != "main"), key)


def _ending(transcript: Transcript) -> dict[str, Any]:
    error = {"kind": _text(transcript.error_kind), "message": _text(transcript.error_message)}
    return {
        "end_reason": str(transcript.end),
        **_said(
            error=error if any(error.values()) else None,
            truncated=transcript.truncated,
            cli=_text(transcript.agent),
            sessions=_texts(transcript.sessions),
            models=_texts(transcript.models),
            loaded=_texts(transcript.loaded),
            denied=_texts(transcript.denied),
            unknown_rows=_plain(transcript.unknown),
        ),
    }


class _Steps:
    """Gathers events into steps: a text with the calls after it and their results, as long as nothing comes between."""

    def __init__(self, children: Mapping[str, str]) -> None:
        self._children = children
        self._steps: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        self._waiting: set[str] = set()
        self._refs: list[tuple[str, dict[str, Any], list[dict[str, str]]]] = []

    def add(self, event: Event) -> None:
        """The next event."""
        if isinstance(event, Prompt):
            self._step("user", event.text, event, synthetic=event.synthetic)
        elif isinstance(event, Said):
            self._open = self._step("agent", event.text, event)
        elif isinstance(event, Call):
            self._call(event)
        else:
            self._result(event)

    def finished(self) -> list[dict[str, Any]]:
        """All steps, numbered; one at least. A sub-agent whose call was never answered is referred to without."""
        for ident, step, refs in self._refs:
            about = {"source_call_id": ident, "subagent_trajectory_ref": refs, "extra": {"unanswered": True}}
            step.setdefault("observation", {"results": []})["results"].append(about)
        if not self._steps:
            self._steps.append({"source": "system", "message": "", "extra": {"empty": True}})
        return [{"step_id": number, **step} for number, step in enumerate(self._steps, 1)]

    def _step(self, source: str, message: str, event: Event, **facts: Any) -> dict[str, Any]:
        self._open, self._waiting = None, set()
        extra = _said(turn=event.turn, raw_ref=_ref(event), **facts)
        step: dict[str, Any] = {"source": source, "message": _text(message), "extra": extra}
        self._steps.append(step)
        return step

    def _call(self, call: Call) -> None:
        ident = _text(call.id)
        if self._open is None or "observation" in self._open or ident in self._waiting:
            self._open = self._step("agent", "", call)
        self._waiting.add(ident)
        made: dict[str, Any] = {"tool_call_id": ident, "function_name": _text(call.tool)}
        made["arguments"] = _plain(call.args)
        self._open.setdefault("tool_calls", []).append({**made, "extra": _of_call(call)})
        started = [spawn.child for spawn in call.spawns if spawn.child in self._children]
        if started:
            self._refs.append((ident, self._open, [{"trajectory_id": self._children[key]} for key in started]))

    def _result(self, result: Result) -> None:
        ident = _text(result.call)
        failed = not result.ok
        facts = {"is_error": failed, "exit_code": result.exit_code, "raw_ref": _ref(result)}
        made: dict[str, Any] = {"content": _text(result.text)}
        asked = next((ref for ref in reversed(self._refs) if ref[0] == ident), None)
        if asked is not None:
            self._refs.remove(asked)
            made["subagent_trajectory_ref"] = asked[2]
        if self._open is not None and ident in self._waiting:
            self._waiting.discard(ident)
            made = {"source_call_id": ident, **made, "extra": _said(**facts)}
            self._open.setdefault("observation", {"results": []})["results"].append(made)
        else:
            made["extra"] = _said(call=ident, **facts)
            self._step("system", "", result)["observation"] = {"results": [made]}


def _of_call(call: Call) -> dict[str, Any]:
    spawn = call.spawn
    facts: dict[str, Any] = {"kind": _text(call.kind), "by": _text(call.by) if call.by != "main" else ""}
    if spawn is not None:
        facts |= {
            "agent": _text(spawn.agent),
            "requested_model": None if spawn.requested is None else _text(spawn.requested),
            "resolved_model": None if spawn.resolved is None else _text(spawn.resolved),
            "served_models": _texts(spawn.served),
        }
    return _said(**facts, raw_ref=_ref(call))


def _final(transcript: Transcript, steps: int) -> dict[str, Any]:
    """Of the trajectory alone; what cannot be told apart from its sub-agents' is left out, never guessed."""
    own = {name: _own(transcript, name) for name in _SUMMED}
    whole, cached, written = own["input_tokens"], own["cache_read_tokens"], own["cache_write_tokens"]
    known = _said(
        total_prompt_tokens=None if whole is None else whole + (cached or 0) + (written or 0),
        total_completion_tokens=own["output_tokens"],
        total_cached_tokens=cached,
        total_cost_usd=own["cost_usd"],
        total_steps=steps,
    )
    extra = _said(cache_write_tokens=written)
    if transcript.children or transcript.usage != Usage():
        extra["with_subagents"] = _plain({name: getattr(transcript.usage, name) for name in Usage.__slots__})
    return {**known, **({"extra": extra} if extra else {})}


def _own(transcript: Transcript, name: str) -> Any:
    """An amount without the sub-agents' share, None when it is not known."""
    total = getattr(transcript.usage, name)
    theirs = [getattr(child.usage, name) for child in transcript.children.values()]
    if not _finite(total):
        return None
    left = total - sum(amount for amount in theirs if _finite(amount))
    left = round(left, 12) if name == "cost_usd" else left
    return left if left >= 0 else None


def _finite(amount: Any) -> bool:
    return isinstance(amount, int | float) and math.isfinite(amount) and amount >= 0


def _said(**facts: Any) -> dict[str, Any]:
    """The facts that say something."""
    return {k: v for k, v in facts.items() if v is not None and v is not False and v not in ("", [], {})}


def _ref(event: Event) -> str:
    return f"{_text(event.at.file)}:{event.at.line}"


def _texts(values: Iterable[str]) -> list[str]:
    return [_text(value) for value in values]


def _text(text: str) -> str:
    """Without lone surrogates, which no UTF-8 file can hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _plain(value: Any, depth: int = 0) -> Any:
    """JSON data: no NaN and no infinity, text for keys, nothing nested too deep."""
    found: Any = None
    if isinstance(value, str):
        found = _text(value)
    elif isinstance(value, float):
        found = value if math.isfinite(value) else None
    elif value is None or isinstance(value, int):
        found = value
    elif isinstance(value, Mapping):
        found = {_text(str(k)): _plain(v, depth + 1) for k, v in value.items()} if depth < DEEPEST else None
    elif isinstance(value, Sequence):
        found = [_plain(v, depth + 1) for v in value] if depth < DEEPEST else None
    else:
        found = _text(str(value))
    return found
