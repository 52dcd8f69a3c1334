"""One rollout file, a session's or a sub-agent's, as a Thread.

The order is that of the response items, which is what the model saw; what came of a call, its item says, which has the
call's id. In code mode the model only writes JavaScript (`exec`), and what that calls stands in the log as items alone:
they are the calls then, and the script is one itself only where it called nothing, failed, or never came back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from evalrepo.agents.codex import reports, tools
from evalrepo.agents.codex.faults import fault
from evalrepo.agents.codex.outputs import joined, mapping, output_of, output_of_item, role_names, skill_names
from evalrepo.agents.codex.scan import (
    CALLS,
    Rows,
    call_id,
    call_items,
    hidden_scripts,
    made_id,
    name_of,
    own_rows,
    payload_of,
)  # fmt: skip
from evalrepo.agents.jsonl import Row, cleaned, count_of, text_of
from evalrepo.agents.thread import Thread
from evalrepo.records.transcript import EndReason

_QUIET = frozenset((
    *("world_state", "inter_agent_communication", "inter_agent_communication_metadata", "dynamic_tools_updated"),
    *("security_risk_score", "id_allocation", "realtime_item"),
    *("event_msg token_count", "event_msg thread_settings_applied", "event_msg thread_name_updated"),
    *("event_msg thread_goal_updated", "event_msg context_compacted", "event_msg thread_rolled_back"),
    *("event_msg warning", "event_msg hook_started", "event_msg hook_completed", "event_msg user_message"),
    *("event_msg agent_message", "event_msg agent_reasoning", "event_msg item_started"),
    *("response_item reasoning", "response_item compaction", "response_item compaction_summary"),
    *("response_item context_compaction", "response_item ghost_snapshot", "response_item configuration_update"),
    *("item Reasoning", "item Plan", "item ContextCompaction", "item EnteredReviewMode", "item ExitedReviewMode"),
))  # fmt: skip
"""Rows that say nothing of what the agent did, or say it again."""

_REFUSED = re.compile(r"rejected by user|approval settings|approval policy|requires approval", re.IGNORECASE)
_BEGINNINGS = (
    ("<subagent_notification>", "multi_agent.subagent_notification"),
    ("<turn_aborted>", "generic.turn_aborted"),
    ("# AGENTS.md instructions", "agents_md.instructions"),
    ("<skills_instructions>", "host_skills.instructions"),
)
_INJECTED = ("hooks.", "agents_md.", "generic.developer_instructions")
_SYNTHETIC = ("multi_agent.subagent_notification", "generic.turn_aborted")


class Rollout:
    """Tells a thread what the rows say. `begin` gives the number of a main session's next turn; None: a sub-agent."""

    def __init__(self, thread: Thread, rows: Rows, work: str, begin: Callable[[], int] | None) -> None:
        self.thread, self.begin = thread, begin
        self.places = tools.Places(work, work)
        self.reports = reports.Reports(thread)
        self.ended: EndReason | None = None
        self.fault: tuple[str, str] | None = None
        self.rows = list(own_rows(rows))
        self.items = call_items(self.rows)
        self.made = {ident for _, row in self.rows if (ident := made_id(row))}
        self.hidden = hidden_scripts(self.rows, self.made)
        self.parts: dict[str, list[str]] = {}

    def read(self) -> None:
        """Every row; a turn that is still running at the end was cut."""
        known: dict[str, Callable[[Row, int], None]] = {
            "turn_context": self.turn_context,
            "token_usage_record": self.usage,
            "compacted": self.compacted,
            "session_meta": self.session_meta,
            "event_msg task_started": self.started,
            "event_msg task_complete": self.completed,
            "event_msg turn_aborted": self.aborted,
            "event_msg error": self.error,
            "event_msg model_reroute": self.rerouted,
            "event_msg item_completed": self.item,
            "response_item message": self.message,
            "response_item agent_message": self.agent_message,
            "response_item additional_tools": self.offered,
            "response_item function_call": self.function_call,
            "response_item custom_tool_call": self.custom_call,
            "response_item local_shell_call": self.local_call,
            "response_item tool_search_call": self.tool_search,
            "response_item web_search_call": self.web_search,
            "response_item function_call_output": self.answer,
            "response_item custom_tool_call_output": self.answer,
            "response_item tool_search_output": self.found_tools,
        }
        for line, row in self.rows:
            name, payload = name_of(row), payload_of(row)
            take = known.get(name)
            if take is not None:
                take(payload, line)
            elif name not in _QUIET:
                self.thread.unknown[name] += 1
        if self.ended is not None:  # a command that was still running is logged after the end
            if self.fault is not None:
                self.thread.failed(*self.fault)
            self.thread.ended(self.ended)

    def session_meta(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.thread.version = self.thread.version or text_of(row.get("cli_version"))
        self.places = tools.Places(self.places.work, text_of(row.get("cwd")) or self.places.work)

    def turn_context(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.thread.model(text_of(row.get("model")))
        self.places = tools.Places(self.places.work, text_of(row.get("cwd")) or self.places.work)

    def rerouted(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.thread.model(text_of(row.get("to_model")))

    def usage(self, row: Row, line: int) -> None:  # noqa: ARG002
        """Cached tokens are inside the input tokens here."""
        given = row.get("usage")
        told = given if isinstance(given, dict) else {}
        read, written = count_of(told.get("cached_input_tokens")), count_of(told.get("cache_write_input_tokens"))
        whole = count_of(told.get("input_tokens"))
        self.thread.use({
            "input_tokens": None if whole is None else max(0, whole - (read or 0) - (written or 0)),
            "output_tokens": told.get("output_tokens"),
            "cache_read_tokens": read,
            "cache_write_tokens": written,
        })  # fmt: skip

    def compacted(self, row: Row, line: int) -> None:
        self.thread.prompt(text_of(row.get("message")), line, synthetic=True)

    def started(self, row: Row, line: int) -> None:  # noqa: ARG002
        """A turn that does not end was cut."""
        self.ended, self.fault = EndReason.CUT, None

    def completed(self, row: Row, line: int) -> None:
        error = row.get("error")
        if isinstance(error, dict):
            self.error(error, line)
        self.ended = EndReason.DONE
        self.thread.ended(self.ended)

    def aborted(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.ended = EndReason.CUT
        self.thread.ended(self.ended)

    def error(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.fault = fault(row)
        self.thread.failed(*self.fault)

    def message(self, row: Row, line: int) -> None:
        """Context that codex gives the model; what the user and the model said, items say."""
        if row.get("role") == "assistant":
            return
        kinds = _content_kinds(row)
        for number, text in enumerate(_texts(row)):
            kind = kinds[number] if number < len(kinds) else _guessed(text)
            if kind.startswith(_INJECTED):
                self.thread.loaded.append(text)
            elif kind == "host_skills.instructions":
                self.thread.loaded += [f"skill {name}" for name in skill_names(text)]
            elif kind in _SYNTHETIC:
                self.thread.prompt(text, line, synthetic=True)
                self.reports.notified(text, line)

    def agent_message(self, row: Row, line: int) -> None:
        kind, text = reports.message(row.get("content"))
        self.thread.prompt(text, line, synthetic=kind != reports.TASK)
        if kind == reports.FINAL:
            self.reports.reported(text_of(row.get("author")), text, line)

    def offered(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.thread.loaded += [f"agent {name}" for name in role_names(row.get("tools"))]

    def found_tools(self, row: Row, line: int) -> None:
        self.offered(row, line)
        self.thread.answered(text_of(row.get("call_id")), True, "", line)

    def function_call(self, row: Row, line: int) -> None:
        space, name = text_of(row.get("namespace")), text_of(row.get("name"))
        tool = name if space in tools.OWN_NAMESPACES else f"{space.removesuffix('__')}__{name}"
        self.call(text_of(row.get("call_id")), tool, tools.arguments(row.get("arguments")), line)

    def custom_call(self, row: Row, line: int) -> None:
        ident, name, text = (text_of(row.get(key)) for key in ("call_id", "name", "input"))
        if ident not in self.hidden:
            self.call(ident, name, text if name == tools.PATCH else {"input": text}, line)

    def local_call(self, row: Row, line: int) -> None:
        action = row.get("action")
        args = action if isinstance(action, dict) else {}
        self.call(text_of(row.get("call_id")), "local_shell", args, line)

    def tool_search(self, row: Row, line: int) -> None:
        self.call(text_of(row.get("call_id")), "tool_search", row.get("arguments"), line)

    def web_search(self, row: Row, line: int) -> None:
        ident = call_id(row) or f"line-{line}"
        self.thread.called(ident, "web_search", "", cleaned(row.get("action") or {}), {}, line)
        self.thread.answered(ident, row.get("status") != "failed", "", line)

    def call(self, ident: str, tool: str, args: Any, line: int) -> None:
        item = self.items.get(ident, {})
        self._called(ident, tools.named(tool, args, item, self.places), item, line)

    def answer(self, row: Row, line: int) -> None:
        ident, given = text_of(row.get("call_id")), row.get("output")
        if ident in self.hidden:
            return
        call = self.thread.calls.get(ident)
        tool, kind = (call.tool, call.kind) if call is not None else ("", "")
        found = output_of(tool, kind, given, self.items.get(ident, {}))
        if not found.ok and _REFUSED.search(found.text[:1000]):
            self.thread.denied.append(tool)
        told = mapping(joined(given)) if tool in (tools.SPAWN, "wait_agent") else {}
        self.reports.states(told.get("status"), line)
        if kind == "spawn" and found.ok:
            self._expect(ident, text_of(told.get("agent_id")), text_of(told.get("task_name")))
            return
        for part in self.parts.get(ident, [ident]):
            self.thread.answered(part, found.ok, found.text, line, found.exit_code)

    def item(self, row: Row, line: int) -> None:
        found = row.get("item")
        item: Row = found if isinstance(found, dict) else {}
        kind = text_of(item.get("type"))
        if kind == "UserMessage":
            if self.begin is not None:
                self.thread.begin_turn(self.begin())
            self.thread.prompt(_said(item), line)
        elif kind == "AgentMessage":
            self.thread.said(_said(item), line)
        elif kind == "HookPrompt":
            self.thread.prompt(_said(item, "fragments"), line, synthetic=True)
        elif kind in CALLS:
            self._inner(item, line)
        elif f"item {kind}" not in _QUIET:
            self.thread.unknown[f"item {kind}"] += 1

    def _inner(self, item: Row, line: int) -> None:
        """A call that a script made; one that the model made itself stands in the log as such."""
        ident = text_of(item.get("id"))
        if ident in self.made or (item.get("type") == "SubAgentActivity" and item.get("kind") != "started"):
            return
        self._called(ident, tools.from_item(item, self.places), item, line)
        self.reports.states(item.get("agents_states"), line)
        call = self.thread.calls[ident]
        found = output_of_item(call.kind, item)
        if call.kind == "spawn" and found.ok:
            return
        for part in self.parts.get(ident, [ident]):
            self.thread.answered(part, found.ok, found.text, line, found.exit_code)

    def _called(self, ident: str, calls: Sequence[tools.Named], item: Row, line: int) -> None:
        """A patch of several files is as many calls; all but the first have the number of their file in their id."""
        parts = [ident, *(f"{ident}#{number}" for number in range(2, len(calls) + 1))]
        for part, call in zip(parts, calls, strict=True):
            self.thread.called(part, call.tool, call.kind, call.args, call.canonical, line)
        if len(parts) > 1:
            self.parts[ident] = parts
        if calls[0].kind == "spawn":
            self._spawned(ident, item)

    def _spawned(self, ident: str, item: Row) -> None:
        call = self.thread.calls.get(ident)
        if call is None or not item:
            return
        threads = item.get("receiver_thread_ids")
        first = threads[0] if isinstance(threads, list) and threads else item.get("agent_thread_id")
        call.resolved = text_of(item.get("model")) or None
        self._expect(ident, text_of(first), text_of(item.get("agent_path")))
        for receiver in item.get("receiver_agents") or []:
            role = text_of(receiver.get("agent_role")) if isinstance(receiver, dict) else ""
            self.thread.loaded += [f"agent {role}"] if role else []

    def _expect(self, ident: str, thread: str, path: str) -> None:
        call = self.thread.calls.get(ident)
        if call is not None and call.result is None:
            call.child = call.child or thread
            self.reports.expect(ident, thread, path)


def _content_kinds(row: Row) -> list[str]:
    """What codex says each part of a message is."""
    about = row.get("internal_chat_message_metadata_passthrough")
    kinds = about.get("content_item_kinds") if isinstance(about, dict) else None
    return [text_of(kind) for kind in kinds] if isinstance(kinds, list) else []


def _guessed(text: str) -> str:
    return next((kind for beginning, kind in _BEGINNINGS if text.startswith(beginning)), "")


def _texts(row: Row) -> list[str]:
    content = row.get("content")
    return [text_of(part.get("text")) if isinstance(part, dict) else "" for part in content or ()]


def _said(item: Row, key: str = "content") -> str:
    parts = item.get(key)
    texts = [text_of(part.get("text")) for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "\n".join(text for text in texts if text)
