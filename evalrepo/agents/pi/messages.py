"""The messages of a conversation as pi keeps them, in session logs and in a sub-agent's result, told to a thread."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrepo.agents.jsonl import Row, amount_of, cleaned, count_of, text_of
from evalrepo.agents.pi import children, faults, tools
from evalrepo.agents.thread import Thread
from evalrepo.records.transcript import EndReason

_EXIT = re.compile(r"Command exited with code (\d+)\s*$")
_SHELLS = frozenset(name for name, tool in tools.TOOLS.items() if tool.kind == "shell")

_ENDS = {"stop": EndReason.DONE, "length": EndReason.DONE, "aborted": EndReason.CUT, "deferred": EndReason.CUT}
"""Why an answer ended, where that ends the turn; an answer at its greatest length is the model's own doing."""

_INSTRUCTIONS = re.compile(r'<project_instructions path="([^"]*)">')
_SKILL = re.compile(r"<name>(.*?)</name>.*?<location>(.*?)</location>", re.DOTALL)
_OWN_SECTIONS = frozenset(("preamble", "tools", "rules", "docs", "project_context", "skills", "cwd"))


@dataclass
class Messages:
    """Tells `thread` what its messages say. `found`: threads of sub-agents that were met on the way, parents first."""

    thread: Thread
    work: str
    cwd: str = ""
    skills: dict[str, str] = field(default_factory=dict)
    found: list[Thread] = field(default_factory=list)
    unpriced: bool = False

    def message(self, message: Row, line: int) -> None:
        """A message of any role but the user's, which stand for turns in a session."""
        role = message.get("role")
        if role == "assistant":
            self.assistant(message, line)
        elif role == "toolResult":
            self.result(message, line)
        elif role == "system":
            self.system(message)
        elif role == "user":
            self.thread.prompt(text(message.get("content")), line, synthetic=bool(self.thread.events))
        else:
            self.other(message, line)

    def other(self, message: Row, line: int) -> None:
        """What stands in the context like a user's message, and nobody wrote."""
        role = text_of(message.get("role"))
        if role in ("custom", "branchSummary", "compactionSummary"):
            self.injected(text(message.get("content")) or text_of(message.get("summary")), line)
        elif role == "bashExecution":
            self.injected(f"{text_of(message.get('command'))}\n{text_of(message.get('output'))}", line)
        else:
            self.thread.unknown[f"message ({role[:60]})"] += 1

    def injected(self, words: str, line: int) -> None:
        """Text that an extension or pi itself put into the conversation."""
        self.thread.prompt(words, line, synthetic=True)

    def assistant(self, message: Row, line: int) -> None:
        """An answer: its blocks in order, what it cost, how it ended."""
        self.cost(message)
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text":
                self.thread.said(text_of(block.get("text")), line)
            elif kind == "toolCall":
                self.call(text_of(block.get("id")), text_of(block.get("name")), block.get("arguments", {}), line)
            elif kind != "thinking":
                self.thread.unknown[f"content ({str(kind)[:60]})"] += 1
        self.ended(message)

    def cost(self, message: Row) -> None:
        """What an answer cost and who gave it; a price of 0 for tokens is one that pi does not know."""
        self.thread.model(text_of(message.get("responseModel")) or text_of(message.get("model")))
        self.use(message.get("usage"))

    def use(self, usage: Any) -> None:
        """Adds a usage of pi's."""
        mine = own_usage(usage)
        tokens = sum(v for k, v in mine.items() if k != "cost_usd" and v)
        if tokens and not mine.get("cost_usd"):
            self.unpriced = True
        self.thread.use(mine)

    def ended(self, message: Row) -> None:
        reason = text_of(message.get("stopReason"))
        if reason == "error" and text_of(message.get("rawStopReason")) not in faults.REFUSALS:
            self.thread.said("", 0)
            self.thread.failed(*faults.of_answer(text_of(message.get("errorMessage"))))
        elif reason in _ENDS or reason == "error":
            self.thread.said("", 0)
            self.thread.ended(_ENDS.get(reason, EndReason.DONE))
        elif reason != "toolUse":
            self.thread.unknown[f"stopReason ({reason[:60]})"] += 1

    def call(self, ident: str, name: str, args: Any, line: int) -> None:
        given = cleaned(args)
        kind, canonical = tools.canonical(name, given, self.work, cwd=self.cwd, skills=self.skills)
        self.thread.called(ident, name, kind, given, canonical, line)

    def result(self, message: Row, line: int) -> None:
        """A tool's result, with the sub-agents or the calls of a script that stand in it."""
        ident, name = text_of(message.get("toolCallId")), text_of(message.get("toolName"))
        words = text(message.get("content"))
        details = message.get("details")
        details = details if isinstance(details, Mapping) else {}
        self.nested(message.get("nestedCalls"), line)
        ok = message.get("isError") is not True
        if name == tools.SUBAGENT:
            ok = ok and not children.broken(details, words)
        self.thread.answered(ident, ok, words, line, _exit_code(words, ok=ok) if name in _SHELLS else None)
        if name == tools.SUBAGENT:
            children.adopt(self, ident, details, line)
        elif "usage" in message:
            self.use(message["usage"])

    def nested(self, calls: Any, line: int) -> None:
        """Calls of other tools that a script of `codemode` made; their results the log does not keep."""
        given = calls.get("calls") if isinstance(calls, Mapping) else None
        for row in given if isinstance(given, list) else ():
            if isinstance(row, dict):
                ident = text_of(row.get("id")) or f"line-{line}-{len(self.thread.calls)}"
                self.call(ident, text_of(row.get("name")), row.get("arguments", {}), line)
                if row.get("status") != "unfinished":
                    self.thread.answered(ident, row.get("status") == "ok", row.get("error"), line)
        if isinstance(calls, Mapping) and calls.get("complete") is False:
            self.thread.unknown["nestedCalls (more than the log keeps)"] += 1

    def system(self, message: Row) -> None:
        """The system prompt or a change of it: which instructions, skills and tools pi was given."""
        sections = message.get("sections")
        for name, section in sections.items() if isinstance(sections, dict) else ():
            self.section(text_of(name), text_of(section))
        added = message.get("toolsAdded")
        for tool in added if isinstance(added, list) else ():
            name = text_of(tool.get("name")) if isinstance(tool, dict) else ""
            if name and (name not in tools.TOOLS or name == tools.SUBAGENT):
                self.thread.loaded.append(f"tool {name}")

    def section(self, name: str, words: str) -> None:
        if name == "project_context":
            self.thread.loaded += [f"instructions {path}" for path in _INSTRUCTIONS.findall(words)]
        elif name == "skills":
            for skill, place in _SKILL.findall(words):
                self.thread.loaded.append(f"skill {skill}")
                self.skills[place] = skill
        elif name not in _OWN_SECTIONS and words:
            self.thread.loaded.append(f"prompt {name}: {words}")

    def finish(self) -> None:
        """The log is over: an unknown price makes the sum unknown; an agent that was not done was cut."""
        if self.unpriced:
            self.thread.used.pop("cost_usd", None)
        if self.thread.end is EndReason.UNKNOWN and self.thread.events:
            self.thread.ended(EndReason.CUT)


def _exit_code(words: str, *, ok: bool) -> int | None:
    """A shell's; None where it was ended before it had any."""
    found = None if ok else _EXIT.search(words)
    return int(found[1]) if found else 0 if ok else None


def own_usage(usage: Any) -> dict[str, Any]:
    """A usage of pi's under our names: `cost` is an object in a message and a number in what extensions sum up."""
    given = usage if isinstance(usage, Mapping) else {}
    cost = given.get("cost")
    return {
        "input_tokens": count_of(given.get("input")),
        "output_tokens": count_of(given.get("output")),
        "cache_read_tokens": count_of(given.get("cacheRead")),
        "cache_write_tokens": count_of(given.get("cacheWrite")),
        "cost_usd": amount_of(cost.get("total") if isinstance(cost, Mapping) else cost),
    }


def text(content: Any) -> str:
    """The text of content that is a string or a list of blocks."""
    if isinstance(content, list):
        blocks = [b for b in content if isinstance(b, dict) and b.get("type") == "text"]
        return "\n".join(text_of(block.get("text")) for block in blocks)
    return text_of(content)
