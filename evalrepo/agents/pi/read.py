"""pi's session logs as a Transcript.

A session is a file of JSON lines that form a tree; lines stand in the order in which things happened, and all that
happened counts, on branches that were left as well. One file holds all turns of a session: the display name that we
give it, `turn N`, stands where each begins. pi writes the file with its first answer, so a run without any leaves only
words on its error output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalrepo.agents import jsonl
from evalrepo.agents.base import Growing
from evalrepo.agents.jsonl import Row, count_of, text_of
from evalrepo.agents.pi import faults
from evalrepo.agents.pi.messages import Messages, text
from evalrepo.agents.pi.places import CHILD
from evalrepo.agents.thread import Thread, assemble
from evalrepo.records.config import Agent
from evalrepo.records.transcript import EndReason, Transcript

Rows = list[tuple[int, Row]]

_TURN = re.compile(r"turn (\d+)(?:: (.*))?", re.DOTALL)
_OUTPUT = re.compile(r"turn-(\d+)\.err")
_MARKER = b'"toolCall'
_GUESSED = b"Using custom model id"
"""pi's warning that it does not know the model; it then takes another one's price."""
_TAIL = 65536

FORMATS = (1, 2, 3)
"""Versions of the session format that are known."""


def read(agent: Agent, files: Mapping[str, bytes], work: str) -> Transcript:  # noqa: ARG001
    """Sessions in the order of their turns, sub-agents' below the calls that started them. ReadError."""
    with jsonl.collector_paused():
        parsed = {name: jsonl.rows(name, data) for name, data in files.items() if name.endswith(".jsonl")}
        mains = sorted((n for n in parsed if "/" not in n), key=lambda n: (_first_turn(parsed[n][0]), n))
        told = _Told(work, guessed=any(_GUESSED in data for name, data in files.items() if _OUTPUT.fullmatch(name)))
        for name in (*mains, *(n for n in parsed if n.endswith("/" + CHILD))):
            told.session(name, *parsed[name])
        transcript = assemble("pi", told.threads)
    return _unheard(transcript, files, told.turn)


def _first_turn(rows: Rows) -> int:
    return next((int(found[1]) for _, row in rows if (found := _named(row))), 0)


def _named(row: Row) -> re.Match[str] | None:
    """A turn's begin: its number, and its prompt where pi replaces that by what it stands for."""
    return _TURN.fullmatch(text_of(row.get("name"))) if row.get("type") == "session_info" else None


def _unheard(transcript: Transcript, files: Mapping[str, bytes], turns: int) -> Transcript:
    """What pi said of a turn that is in no session: that is how it ended."""
    for name, data in files.items():
        number = _OUTPUT.fullmatch(name)
        if number is not None and int(number[1]) > turns:
            trouble = faults.of_output(data.decode("utf-8", "replace"))
            if trouble is not None:
                return replace(transcript, end=EndReason.ERROR, error_kind=trouble[0], error_message=trouble[1])
    return transcript


@dataclass
class _Told:
    """What the files told so far. Turns go on from file to file; a row that a fork copied is the same row again."""

    work: str
    guessed: bool = False
    turn: int = 0
    threads: list[Thread] = field(default_factory=list)
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def session(self, name: str, rows: Rows, torn: bool) -> None:
        head = next((row for _, row in rows if row.get("type") == "session"), {})
        stem = Path(name).stem
        thread = Thread(text_of(head.get("id")) or stem, name, turn=self.turn)
        if "/" in name:
            stem, _, thread.key = name.partition("/")
            thread.by = "sub-agent"
            thread.parent = next((t.key for t in self.threads if t.file == f"{stem}.jsonl"), stem)
            self._known(thread)
        if count_of(head.get("version")) not in (None, *FORMATS):
            thread.unknown[f"session (version {head['version']})"] += 1
        messages = Messages(thread, self.work, text_of(head.get("cwd")), unpriced=self.guessed and not thread.parent)
        session = _Session(messages, rows, self._seen)
        session.feed()
        thread.truncated = torn
        self.threads += [thread, *session.messages.found]
        if not thread.parent:
            self.turn = thread.turn

    def _known(self, child: Thread) -> None:
        """Its name and its turn, from the call that started it."""
        for thread in self.threads:
            for call in thread.calls.values():
                for start in call.starts:
                    if start.child == child.key:
                        child.by, child.turn, child.parent = start.agent or child.by, call.turn, thread.key


class _Session:
    """Tells a thread what the rows of its file say."""

    def __init__(self, messages: Messages, rows: Rows, seen: set[tuple[str, str]]) -> None:
        self.messages, self.thread, self.rows = messages, messages.thread, rows
        self.seen = seen
        self.prompt: str | None = None
        """The next turn's prompt, where it was announced: "" for the words that the user's message has."""
        self.announced = False
        self.repeated = _repeated(rows)

    def feed(self) -> None:
        known: dict[str, Callable[[Row, int], None]] = {
            "session_info": self.info,
            "message": self.message,
            "compaction": self.summary,
            "branch_summary": self.summary,
            "custom_message": self.custom,
            "usage": self.usage,
        }
        for line, row in self.rows:
            mark = (text_of(row.get("id")), text_of(row.get("timestamp")))
            kind = row.get("type")
            if kind == "session" or (all(mark) and mark in self.seen):
                continue
            self.seen.add(mark)
            take = known.get(kind) if isinstance(kind, str) else None
            if take is not None:
                take(row, line)
            elif kind not in _SILENT:
                self.thread.unknown[text_of(str(kind)[:60])] += 1
        self.messages.finish()

    def info(self, row: Row, line: int) -> None:  # noqa: ARG002
        found = _named(row)
        if found is not None and not self.thread.parent:
            self.thread.begin_turn(int(found[1]))
            self.prompt, self.announced = text_of(found[2]), True

    def message(self, row: Row, line: int) -> None:
        message = row.get("message")
        if not isinstance(message, dict):
            self.thread.unknown["message (no object)"] += 1
        elif message.get("role") == "user" and not self.thread.parent:
            self.user(text(message.get("content")), line)
        elif row.get("id") in self.repeated:
            self.messages.cost(message)
        else:
            self.messages.message(message, line)

    def user(self, words: str, line: int) -> None:
        """A prompt; where turns are announced, any other one was sent by an extension."""
        if self.announced and self.prompt is None:
            self.thread.said("", line)
            self.messages.injected(words, line)
            return
        if not self.announced:
            self.thread.begin_turn(self.thread.turn + 1)
        self.thread.prompt(self.prompt or words, line)
        self.prompt = None

    def summary(self, row: Row, line: int) -> None:
        """What stands for a part of the conversation that the model does not see any more."""
        self.messages.use(row.get("usage"))
        self.messages.injected(text_of(row.get("summary")), line)

    def custom(self, row: Row, line: int) -> None:
        """What an extension put before the model: a proof that it is there."""
        words = text(row.get("content"))
        self.thread.loaded.append(f"message {text_of(row.get('customType'))}: {words}")
        self.messages.injected(words, line)

    def usage(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.messages.use(row.get("usage"))


_SILENT = frozenset(("model_change", "thinking_level_change", "context_edit", "custom", "label"))
"""Rows that tell nothing of what the agent did."""


def _repeated(rows: Rows) -> frozenset[str]:
    """Answers that pi took out of the conversation and asked for again: all of those but a turn's last."""
    edits = [row for _, row in rows if row.get("type") == "context_edit" and row.get("replacement") is None]
    removed = {text_of(edit.get("targetId")) for edit in edits}
    found: set[str] = set()
    waiting: list[str] = []
    for _, row in rows:
        message = row.get("message") if row.get("type") == "message" else None
        role = message.get("role") if isinstance(message, dict) else None
        if role == "user":
            waiting = []
        elif role == "assistant":
            found |= set(waiting)
            waiting = [text_of(row.get("id"))] if text_of(row.get("id")) in removed else []
    return frozenset(found)


def counter(agent: Agent, watch: Growing) -> Callable[[], int]:  # noqa: ARG001
    """Counts the tool calls in growing session logs; those of a sub-agent without a log of its own when it is done."""
    return jsonl.Counter(watch, _MARKER, _calls)


def _calls(row: Row) -> int:
    message = row.get("message")
    if row.get("type") != "message" or not isinstance(message, dict):
        return 0
    details = message.get("details")
    results = details.get("results") if isinstance(details, dict) else None
    nested = message.get("nestedCalls")
    inside = nested.get("calls") if isinstance(nested, dict) else None
    return (
        _blocks(message)
        + (len(inside) if isinstance(inside, list) else 0)
        + sum(
            _blocks(inner)
            for result in (results if isinstance(results, list) else ())
            for inner in (result.get("messages") or () if isinstance(result, dict) else ())
        )
    )


def _blocks(message: Any) -> int:
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else ()
    return sum(isinstance(block, dict) and block.get("type") == "toolCall" for block in blocks)


def settled(output: Path) -> bool:
    """Whether the last that pi says on its output is that it has nothing left to do."""
    try:
        with output.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL))
            tail = file.read()
    except OSError:
        return False
    return tail.rfind(b'{"type":"agent_settled"') > tail.rfind(b'{"type":"agent_start"')
