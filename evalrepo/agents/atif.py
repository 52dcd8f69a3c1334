"""Reader of ATIF, the Agent Trajectory Interchange Format, versions 1.x: one JSON document a trajectory.

What ATIF has no field for is looked for in `extra`, as `evalrepo export` writes it: of a result `is_error`, `exit_code`
and `call` (for one that stands in a later step), of a call `kind`, `requested_model` and `resolved_model`, of a step
`turn` and `synthetic`, of the trajectory `end_reason`, `error`, `truncated`, `models`, `loaded` and `denied`; where
nothing says that a call failed it counts as a success. `prompt_tokens` hold the cached ones, which are taken apart
here. Steps that were copied as context are left out. An event's line is that of its step's `step_id`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalrepo.agents.base import Growing, ReadError
from evalrepo.agents.canonical import TOOL_NAMES, common_arguments
from evalrepo.agents.jsonl import cleaned, count_of, text_of
from evalrepo.agents.thread import DEEPEST, Thread, assemble
from evalrepo.records.transcript import CANONICAL_TOOLS, EndReason, Transcript

_STEP = re.compile(r'(?<!\\)"step_id"\s*:')
_VERSION = re.compile(r"ATIF-v1\.\d+")
_CALL = re.compile(rb'(?<!\\)"tool_call_id"\s*:')


def read(files: Mapping[str, bytes], work: str, *, agent: str) -> Transcript:
    """The trajectories as one Transcript, in the order of the files; `work` as the agent saw it. ReadError.

    A trajectory that another one refers to is a child of the call whose result does.
    """
    documents = {name: _document(name, data) for name, data in files.items()}
    walk = _Walk(work)
    for name, document in documents.items():
        walk.trajectory(name, document, _lines(files[name]))
    return assemble(agent, walk.linked())


class Counter:
    """Counts tool calls in documents that are written anew as they grow; one that did not change is not read."""

    def __init__(self, watch: Growing) -> None:
        self._watch = watch
        self._seen: dict[Path, tuple[tuple[int, int], int]] = {}

    def __call__(self) -> int:
        """Tool calls in all documents by now."""
        for path in self._watch():
            try:
                state = path.stat()
                mark = (state.st_size, state.st_mtime_ns)
                if self._seen.get(path, (None, 0))[0] != mark:
                    self._seen[path] = (mark, len(_CALL.findall(path.read_bytes())))
            except OSError:  # gone since it was listed
                continue
        return sum(count for _, count in self._seen.values())


def _document(name: str, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ReadError(name, error.lineno, f"not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise ReadError(name, 0, "not JSON in UTF-8, nested too deep, or a number too long") from None
    version = text_of(value.get("schema_version")) if isinstance(value, dict) else ""
    if not _VERSION.fullmatch(version) or not isinstance(value.get("steps"), list):
        raise ReadError(name, 0, "not a trajectory of ATIF 1.x (`schema_version` ATIF-v1.N and a list of `steps`)")
    document: dict[str, Any] = cleaned(value)
    return document


def _lines(data: bytes) -> list[int]:
    """The 1-based lines of all step ids, in the order of the document."""
    text = data.decode("utf-8-sig")
    found, line, position = [], 1, 0
    for match in _STEP.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        found.append(line)
    return found


class _Walk:
    """Goes through trajectories; turns go on from one main trajectory to the next."""

    def __init__(self, work: str) -> None:
        self.work = work
        self.turn = 0
        self.threads: list[Thread] = []
        self.names: dict[str, Thread] = {}
        self.refs: list[tuple[Thread, str, list[str]]] = []

    def trajectory(
        self, file: str, document: dict[str, Any], lines: list[int], inside: str = "", depth: int = 0
    ) -> None:
        ident = text_of(document.get("trajectory_id")) or text_of(document.get("session_id"))
        agent = _mapping(document.get("agent"))
        thread = Thread(
            ident or f"{file}#{len(self.threads)}", file, version=text_of(agent.get("version")), parent=inside
        )
        thread.turn = self.turn
        thread.by = (text_of(agent.get("name")) or thread.key) if inside else "main"
        self.threads.append(thread)
        self.names |= {name: thread for name in (ident, "" if inside else file) if name}
        for key, value in document.items():
            if key == "steps":
                self.steps(thread, value, lines, text_of(agent.get("model_name")))
            if key == "subagent_trajectories" and depth < DEEPEST:
                for child in value if isinstance(value, list) else ():
                    if isinstance(child, dict):
                        self.trajectory(file, child, lines, thread.key, depth + 1)
        self.finish(thread, document)

    def steps(self, thread: Thread, steps: Any, lines: list[int], model: str) -> None:
        for step in steps if isinstance(steps, list) else ():
            if not isinstance(step, dict):
                thread.unknown["step"] += 1
                continue
            line = lines.pop(0) if "step_id" in step and lines else 1
            if step.get("is_copied_context") is not True:
                self.step(thread, step, line, model)

    def step(self, thread: Thread, step: dict[str, Any], line: int, model: str) -> None:
        source, message, extra = step.get("source"), _message(step.get("message")), _mapping(step.get("extra"))
        synthetic = extra.get("synthetic") is True
        if source == "user" and not synthetic and not thread.parent:
            self.turn = count_of(extra.get("turn")) or self.turn + 1
            thread.begin_turn(self.turn)
        elif thread.parent:
            thread.turn = count_of(extra.get("turn")) or thread.turn
        if source == "user":
            thread.prompt(message, line, synthetic=synthetic)
        elif source == "agent":
            thread.said(message, line)
            thread.model(text_of(step.get("model_name")) or model)
            thread.use(_usage(step.get("metrics")))
            for call in _objects(step.get("tool_calls")):
                self.call(thread, call, line)
        elif source == "system":
            thread.loaded += [message] if message else []
        else:
            thread.unknown[f"step of {str(source)[:40]}"] += 1
        for result in _objects(_mapping(step.get("observation")).get("results")):
            self.result(thread, result, line)

    def call(self, thread: Thread, call: dict[str, Any], line: int) -> None:
        tool, ident, args = text_of(call.get("function_name")), text_of(call.get("tool_call_id")), call.get("arguments")
        extra = _mapping(call.get("extra"))
        kind = extra.get("kind") if extra.get("kind") in CANONICAL_TOOLS else TOOL_NAMES.get(tool.lower(), "")
        canonical = common_arguments(str(kind), _mapping(args), self.work)
        thread.called(ident, tool, str(kind), args if args is not None else {}, canonical, line)
        started = thread.calls.get(ident)
        if started is not None:
            started.requested = text_of(extra.get("requested_model")) or started.requested
            started.resolved = text_of(extra.get("resolved_model")) or None
            started.served = tuple(_names(extra.get("served_models")))

    def result(self, thread: Thread, result: dict[str, Any], line: int) -> None:
        extra = _mapping(result.get("extra"))
        ident = text_of(result.get("source_call_id")) or text_of(extra.get("call"))
        about = {**extra, **_mapping(extra.get("tool_result_metadata"))}
        code = about.get("exit_code") if type(about.get("exit_code")) is int else None
        if extra.get("unanswered") is not True:
            thread.answered(ident, about.get("is_error") is not True, _message(result.get("content")), line, code)
        started = thread.calls.get(ident)
        if started is not None:
            started.resolved = text_of(about.get("resolved_model")) or started.resolved
        refs = _objects(result.get("subagent_trajectory_ref"))
        names = [text_of(ref.get(key)) for ref in refs for key in ("trajectory_id", "trajectory_path", "session_id")]
        self.refs.append((thread, ident, [name for name in names if name]))

    def finish(self, thread: Thread, document: dict[str, Any]) -> None:
        extra = _mapping(document.get("extra"))
        thread.loaded += _names(extra.get("loaded"))
        thread.denied += _names(extra.get("denied"))
        thread.truncated = extra.get("truncated") is True
        for name in _names(extra.get("models")):
            thread.model(name)
        error = extra.get("error")
        if isinstance(error, dict) and set(error) == {"kind", "message"}:
            thread.failed(text_of(error["kind"]), text_of(error["message"]))
        elif error:
            thread.failed("", error if isinstance(error, str) else json.dumps(error, ensure_ascii=False))
        reason = text_of(extra.get("end_reason"))
        thread.ended(EndReason(reason) if reason in set(EndReason) else EndReason.DONE)
        if not thread.used:
            thread.use(_usage(document.get("final_metrics"), "total_"))

    def linked(self) -> list[Thread]:
        """All threads, each with the parent and call that refer to it."""
        for parent, ident, names in self.refs:
            children = (self.names[name] for name in names if name in self.names)
            child = next((c for c in children if c is not parent and not c.call), None)
            if child is not None:
                child.parent, child.call = parent.key, ident
                child.by = child.by if child.by != "main" else child.key
                if ident in parent.calls:
                    parent.calls[ident].child = child.key
        if self.threads and all(thread.parent for thread in self.threads):
            self.threads[0].parent = self.threads[0].call = ""  # they refer to each other in a circle
        return self.threads


def _usage(value: Any, prefix: str = "") -> dict[str, Any]:
    given = _mapping(value)
    prompt, cached = count_of(given.get(prefix + "prompt_tokens")), count_of(given.get(prefix + "cached_tokens"))
    written = count_of(_mapping(given.get("extra")).get("cache_write_tokens"))
    return {
        "input_tokens": None if prompt is None else max(0, prompt - (cached or 0) - (written or 0)),
        "output_tokens": given.get(prefix + "completion_tokens"),
        "cache_read_tokens": cached,
        "cache_write_tokens": written,
        "cost_usd": given.get(prefix + "cost_usd"),
    }


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _names(value: Any) -> list[str]:
    return [text_of(item) for item in value if text_of(item)] if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _message(value: Any) -> str:
    """Text of a message: a string, or its parts of type text."""
    if isinstance(value, list):
        return "\n".join(text_of(part.get("text")) for part in _objects(value) if part.get("type") == "text")
    return text_of(value)
