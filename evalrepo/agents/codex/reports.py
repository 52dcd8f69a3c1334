"""The reports of sub-agents: a spawn's result is what the sub-agent reported, where the model saw it.

What `spawn_agent` itself gives back is an id. A sub-agent that never reported, such as one that ended with its parent,
leaves its spawn without a result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evalrepo.agents.codex.outputs import mapping
from evalrepo.agents.codex.tools import SECRET
from evalrepo.agents.jsonl import text_of
from evalrepo.agents.thread import Thread

FINAL = "FINAL_ANSWER"
TASK = "NEW_TASK"

_NOTIFICATION = re.compile(r"\s*<subagent_notification>(.*)</subagent_notification>\s*", re.DOTALL)
_MESSAGE = re.compile(r"Message Type: (\w+)\n.*?\nPayload:\n?", re.DOTALL)
_BROKEN = re.compile(r"Agent (errored|interrupted|shut down|was not found)\b")
_ALIVE = ("pending_init", "running")


class Reports:
    """Which spawns of a thread wait for a report."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._calls: dict[str, str] = {}

    def expect(self, call: str, *names: str) -> None:
        """The sub-agent of a spawn, by all the names it has: its thread's id, its path."""
        self._calls |= dict.fromkeys(filter(None, names), call)

    def states(self, states: Any, line: int) -> None:
        """What a wait told: a sub-agent's thread → its state."""
        for name, state in states.items() if isinstance(states, Mapping) else ():
            self._state(text_of(name), state, line)

    def notified(self, text: str, line: int) -> None:
        """A message that codex made up when a sub-agent ended."""
        found = _NOTIFICATION.fullmatch(text)
        told = mapping(found[1]) if found is not None else {}
        self._state(text_of(told.get("agent_path")), told.get("status"), line)

    def reported(self, name: str, text: str, line: int) -> None:
        """A sub-agent's last message."""
        self._came(name, _BROKEN.match(text) is None, text, line)

    def _state(self, name: str, state: Any, line: int) -> None:
        how, said = next(iter(state.items()), ("", "")) if isinstance(state, Mapping) else (text_of(state), "")
        if how not in _ALIVE:
            self._came(name, how == "completed", text_of(said) or how, line)

    def _came(self, name: str, ok: bool, text: str, line: int) -> None:
        call = self._calls.get(name)
        if call is not None:
            self._calls = {known: other for known, other in self._calls.items() if other != call}
            self._thread.answered(call, ok, text, line)


def message(content: Any) -> tuple[str, str]:
    """Type and payload of a message from one agent to another; what the vendor keeps secret is left out."""
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    text = "".join(text_of(block.get("text")) or _told(text_of(block.get("encrypted_content"))) for block in blocks)
    head = _MESSAGE.match(text)
    return (head[1], text[head.end() :]) if head is not None else ("", text)


def _told(text: str) -> str:
    return "" if SECRET.fullmatch(text) else text
