"""opencode's exported log as a Transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrepo.agents import jsonl
from evalrepo.agents.base import ReadError
from evalrepo.agents.jsonl import Row, amount_of, cleaned, count_of, text_of
from evalrepo.agents.opencode.database import EXPORT
from evalrepo.agents.opencode.faults import ABORTED, LOST_AGENT, REJECTED, fault, refusal
from evalrepo.agents.opencode.tools import canonical
from evalrepo.agents.thread import Thread, assemble
from evalrepo.records.config import Agent
from evalrepo.records.transcript import EndReason, Transcript

NAME = "opencode"

_QUIET = frozenset(
    ("step-start", "reasoning", "snapshot", "patch", "file", "agent", "compaction", "subtask", "retry", "step-finish")
)
"""Parts that say nothing that a Transcript holds."""

_ANSWERS = frozenset(("text", "tool", "reasoning", "step-finish"))
"""Parts that a model has answered with: the model of a message without any was only asked."""

_ENDS = {
    "stop": EndReason.DONE,
    "length": EndReason.DONE,
    "content-filter": EndReason.DONE,
    "other": EndReason.DONE,
}
"""How the last answer of a turn finished → the end of the turn; anything else was cut short."""


@dataclass
class _Session:
    row: Row
    messages: list[tuple[int, Row]] = field(default_factory=list)


@dataclass
class _Log:
    """The rows by what they are. `turns`: number → session; `errors`: turn → its printed errors."""

    sessions: dict[str, _Session] = field(default_factory=dict)
    parts: dict[str, list[tuple[int, Row]]] = field(default_factory=dict)
    turns: dict[int, str] = field(default_factory=dict)
    errors: dict[int, list[Row]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def read(agent: Agent, files: Mapping[str, bytes], work: str) -> Transcript:  # noqa: ARG001
    """The export's rows as a Transcript; `work` is the work directory as the agent saw it. Pure. ReadError."""
    with jsonl.collector_paused():
        rows, torn = jsonl.rows(EXPORT, files.get(EXPORT, b""))
        log = _sorted(rows)
        threads = _Reader(log, work).threads()
        for kind in log.unknown:
            threads[0].unknown[kind] += 1
        threads[0].truncated = torn
        return assemble(NAME, threads)


def _sorted(rows: list[tuple[int, Row]]) -> _Log:
    log = _Log()
    for line, row in rows:
        table, ident = row.get("table"), text_of(row.get("id"))
        if table == "session":
            log.sessions[ident] = _Session(row)
        elif table == "message" and (session := log.sessions.get(text_of(row.get("session_id")))) is not None:
            session.messages.append((line, row))
        elif table == "part":
            log.parts.setdefault(text_of(row.get("message_id")), []).append((line, row))
        elif table == "turn":
            log.turns[count_of(row.get("number")) or 0] = text_of(row.get("session"))
        elif table == "error":
            log.errors.setdefault(count_of(row.get("turn")) or 0, []).append(row)
        elif table == "failure":
            raise ReadError(EXPORT, line, f"opencode's database cannot be read: {text_of(row.get('why'))}")
        else:
            log.unknown.append(text_of(str(table)[:60]))
    return log


class _Reader:
    """Reads sessions one after another, main ones first; turns go on from session to session."""

    def __init__(self, log: _Log, work: str) -> None:
        self.log, self.work = log, work
        self.turn = 0
        self.spawned: dict[str, int] = {}

    def threads(self) -> list[Thread]:
        """One thread a session, and one for turns that left none; never empty."""
        mains = {key: s for key, s in self.log.sessions.items() if not text_of(s.row.get("parent_id"))}
        found = [self.main(key, session) for key, session in mains.items()]
        self.rest(found)
        for key, session in self.log.sessions.items():
            if key not in mains:
                found.append(self.child(key, session, found))
        return found

    def main(self, key: str, session: _Session) -> Thread:
        thread = Thread(key, EXPORT, version=text_of(session.row.get("version")))
        rows = _Rows(self, thread, session)
        for line, message in session.messages:
            if rows.asks(message) and (number := self.next(key)) != self.turn:
                self.close(rows)
                self.turn = number
                thread.begin_turn(number)
                rows.expected = True
            rows.message(line, message)
        self.close(rows)
        return thread

    def child(self, key: str, session: _Session, before: list[Thread]) -> Thread:
        row, parent = session.row, text_of(session.row.get("parent_id"))
        turn = self.spawned.get(key) or next((t.turn for t in before if t.key == parent), self.turn)
        label = text_of(row.get("agent")) or key
        thread = Thread(key, EXPORT, label, parent, version=text_of(row.get("version")), turn=turn)
        rows = _Rows(self, thread, session)
        rows.expected = True
        for line, message in session.messages:
            rows.message(line, message)
        rows.close()
        return thread

    def next(self, session: str) -> int:
        """The turn of the session's next prompt; the same again when its turns have all had theirs."""
        if not self.log.turns:
            return self.turn + 1
        later = sorted(number for number in self.log.turns if number > self.turn)
        own = [number for number in later if self.log.turns[number] == session]
        return next(iter(own or [number for number in later if not self.log.turns[number]]), self.turn)

    def close(self, rows: _Rows) -> None:
        """The end of a turn of the main session: as the database has it, otherwise as the CLI printed it."""
        if not rows.thread.turn:
            return
        rows.close()
        for error in self.log.errors.get(self.turn, ()):
            lost = isinstance(error.get("error"), dict) and error["error"].get("name") == LOST_AGENT
            if lost or rows.thread.end not in (EndReason.DONE, EndReason.ERROR):
                self.failed(rows.thread, error)

    def rest(self, found: list[Thread]) -> None:
        """Turns after the last prompt in the database: they ended before they had one there."""
        for number in sorted(number for number in self.log.turns if number > self.turn):
            thread = found[-1] if found else Thread(self.log.turns[number], EXPORT)
            found[:] = [*found[:-1], thread]
            thread.begin_turn(number)
            thread.ended(EndReason.CUT)
            for error in self.log.errors.get(number, ()):
                self.failed(thread, error)
        if not found:
            found.append(Thread("", EXPORT))

    def failed(self, thread: Thread, row: Row) -> None:
        thread.failed(*fault(row.get("error"), text_of(row.get("cause"))))


class _Rows:
    """Tells a thread what the messages of its session say.

    `last`: the answer of the model that came last; `expected`: the next prompt is the one that was given, others come
    from a plugin; `refused`: a tool that a permission was missing for.
    """

    def __init__(self, reader: _Reader, thread: Thread, session: _Session) -> None:
        self.reader, self.thread = reader, thread
        self.cwd = text_of(session.row.get("directory"))
        self.last: Row | None = None
        self.expected = False
        self.refused = ""

    def asks(self, message: Row) -> bool:
        """Whether the message is a prompt: a user's, with text that the CLI has not made up."""
        data = _object(message.get("data"))
        return data.get("role") == "user" and any(not made_up for _, _, made_up in self.texts(message))

    def texts(self, message: Row) -> Iterator[tuple[int, str, bool]]:
        """Line, text, and whether the CLI made it up."""
        for line, data in self.parts(message):
            if data.get("type") == "text" and data.get("ignored") is not True:
                yield line, text_of(data.get("text")), data.get("synthetic") is True

    def parts(self, message: Row) -> Iterator[tuple[int, Row]]:
        for line, row in self.reader.log.parts.get(text_of(message.get("id")), ()):
            yield line, _object(row.get("data"))

    def message(self, line: int, message: Row) -> None:
        data = _object(message.get("data"))
        if data.get("role") == "assistant":
            self.answer(line, message, data)
        elif data.get("role") == "user":
            self.prompt(message)
        else:
            self.thread.unknown[f"message of {text_of(data.get('role'))[:60] or 'nobody'}"] += 1

    def prompt(self, message: Row) -> None:
        self.count_unknown(message)
        texts = list(self.texts(message))
        real = [(line, text) for line, text, made_up in texts if not made_up]
        if real:
            text = "\n".join(text for _, text in real)
            self.thread.prompt(text, real[0][0], synthetic=not self.expected)
            self.expected = False
        for line, text, made_up in texts:
            if made_up:
                self.thread.prompt(text, line, synthetic=True)

    def answer(self, line: int, message: Row, data: Row) -> None:
        """One answer of the model: what it says, all calls, their results; then what it cost and how it ended.

        A call that is pending has not been made: its arguments were still coming.
        """
        self.last = data
        self.count_unknown(message)
        self.thread.said("", line)
        if any(part.get("type") in _ANSWERS for _, part in self.parts(message)):
            self.thread.model(_model(data))
        self.proof(data)
        results: list[tuple[str, int, Row]] = []
        for place, part in self.parts(message):
            if part.get("type") == "text" and data.get("summary") is not True:
                self.thread.said(text_of(part.get("text")), place)
            elif part.get("type") == "tool" and _object(part.get("state")).get("status") != "pending":
                results.append((self.call(place, part), place, part))
        for ident, place, part in results:
            self.result(ident, place, part)
        self.thread.use(_usage(data))
        if data.get("error") is not None and _object(data["error"]).get("name") != ABORTED:
            self.thread.failed(*fault(data["error"]))

    def count_unknown(self, message: Row) -> None:
        for _, part in self.parts(message):
            kind = part.get("type")
            if kind not in _QUIET and kind not in ("text", "tool"):
                self.thread.unknown[f"part {text_of(str(kind)[:60])}"] += 1

    def proof(self, data: Row) -> None:
        """The agent that a main session's answer was given as; a summary is none of its."""
        name = text_of(data.get("agent"))
        if name and not self.thread.parent and data.get("summary") is not True:
            self.thread.loaded.append(f"agent {name}")

    def call(self, line: int, part: Row) -> str:
        """Tells the call; its id, which is the line's where a model gives one id to several calls."""
        state = _object(part.get("state"))
        args = cleaned(state.get("input", {}))
        tool = text_of(part.get("tool"))
        if tool == "invalid":  # the CLI's own: the model called a tool that is not there
            tool = text_of(_object(args).get("tool")) or tool
            kind, known = canonical(tool, {}, self.reader.work)
        else:
            kind, known = canonical(tool, args, self.reader.work, self.cwd)
        ident = text_of(part.get("callID"))
        if not ident or ident in self.thread.calls:
            ident = f"line-{line}"
        self.thread.called(ident, tool, kind, args, known, line)
        self.spawn(ident, kind, _object(state.get("metadata")))
        return ident

    def spawn(self, ident: str, kind: str, metadata: Row) -> None:
        """`task` has no model to ask for; what the CLI chose stands with the call."""
        if kind != "spawn":
            return
        call = self.thread.calls[ident]
        call.child = text_of(metadata.get("sessionId"))
        call.resolved = _model(_object(metadata.get("model"))) or None
        self.reader.spawned.setdefault(call.child, self.thread.turn)

    def result(self, ident: str, line: int, part: Row) -> None:
        state = _object(part.get("state"))
        metadata = _object(state.get("metadata"))
        status = state.get("status")
        if status == "completed":
            code = metadata.get("exit")
            sound = part.get("tool") != "invalid" and not ("exit" in metadata and code is None)
            self.thread.answered(ident, sound, state.get("output"), line, code if type(code) is int else None)
            self.proved(part, metadata)
        elif status == "error":
            said = text_of(state.get("error"))
            self.thread.answered(ident, False, said, line)
            if said.startswith(REJECTED):
                self.refused = text_of(part.get("tool"))
                self.thread.denied.append(self.refused)

    def proved(self, part: Row, metadata: Row) -> None:
        """Skills and instruction files that came with a result."""
        if part.get("tool") == "skill" and text_of(metadata.get("name")):
            self.thread.loaded.append(f"skill {text_of(metadata['name'])}")
        files = metadata.get("loaded")
        if isinstance(files, list):
            self.thread.loaded += [f"instructions {text_of(name)}" for name in files if text_of(name)]

    def close(self) -> None:
        """The end of a turn, by its last answer."""
        last, self.last = self.last, None
        if last is None or _object(last.get("time")).get("completed") is None:
            self.thread.ended(EndReason.CUT)
        elif self.refused and last.get("finish") == "tool-calls":
            self.thread.failed(*refusal(self.refused))
        else:
            self.thread.ended(_ENDS.get(text_of(last.get("finish")), EndReason.CUT))
        self.refused = ""


def _object(value: Any) -> Row:
    return value if type(value) is dict else {}


def _model(given: Row) -> str:
    """As a tier names it: PROVIDER/MODEL."""
    provider, model = text_of(given.get("providerID")), text_of(given.get("modelID"))
    return f"{provider}/{model}" if provider and model else model


def _usage(data: Row) -> dict[str, Any]:
    """What an answer cost. Tokens that cost nothing have no known price; an answer that broke tells nothing."""
    tokens = _object(data.get("tokens"))
    cache = _object(tokens.get("cache"))
    output, thought = count_of(tokens.get("output")), count_of(tokens.get("reasoning")) or 0
    used = {
        "input_tokens": tokens.get("input"),
        "output_tokens": None if output is None else output + thought,
        "cache_read_tokens": cache.get("read"),
        "cache_write_tokens": cache.get("write"),
    }
    if not any(used.values()):
        return {}
    cost = amount_of(data.get("cost"))
    return {**used, "cost_usd": cost} if cost else used
