"""Our own transcript format: JSON lines, which the scripted agent writes and any CLI may write.

One object a line with a `type`; one file a session, one a sub-agent. `seq` is optional in every row: a row whose seq
came before in its file is the same row again. `usage` is {input_tokens, output_tokens, cache_read_tokens,
cache_write_tokens, cost_usd}, all optional, of this row alone.

    session      {format: 1, session, agent, version, model, cwd, home, turn}; a sub-agent's also {parent, call, name}
    loaded       {files: [...]}                  what of its configuration the agent found
    prompt       {text, turn, synthetic, call}   synthetic: made up by the agent; call: the background task it is about
    assistant    {text, model, usage}
    tool_call    {id, tool, args, kind, canonical, model, usage}   kind: default the tool's name, if canonical
    tool_result  {id, ok, text, exit_code, spawn: {requested, resolved, served, child, background}}
    error        {kind, message}                 what broke; the end, unless the agent goes on
    end          {reason: done | error | cut}

The first session row stands first, and another where a process resumes the session. Turns are those of the session
rows, or the prompts that are not synthetic, counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evalrepo.agents import jsonl
from evalrepo.agents.base import Growing, ReadError
from evalrepo.agents.canonical import own_arguments
from evalrepo.agents.jsonl import Row, cleaned, count_of, text_of
from evalrepo.agents.thread import Thread, assemble
from evalrepo.records.transcript import CANONICAL_TOOLS, EndReason, Transcript

FORMAT = 1

_TOOLS = frozenset(CANONICAL_TOOLS)
_MARKER = b'"tool_call"'


class Counter(jsonl.Counter):
    """Counts the tool calls of growing files."""

    def __init__(self, watch: Growing) -> None:
        super().__init__(watch, _MARKER, lambda row: row.get("type") == "tool_call")


def read(files: Mapping[str, bytes], work: str, *, agent: str, noisy: bool = False) -> Transcript:
    """The files' rows as one Transcript; `work` is the work directory as the agent saw it. ReadError.

    `noisy`: see `jsonl.rows`.
    """
    with jsonl.collector_paused():
        parsed = {name: jsonl.rows(name, data, noisy=noisy) for name, data in files.items()}
        return assemble(agent, _threads(parsed, work))


def _threads(parsed: Mapping[str, tuple[list[tuple[int, Row]], bool]], work: str) -> list[Thread]:
    """The main sessions by their first turn where all say it, otherwise as they are given; then the sub-agents."""
    heads = {name: next((r for _, r in rows if r.get("type") == "session"), {}) for name, (rows, _) in parsed.items()}
    mains = [name for name in parsed if not text_of(heads[name].get("parent"))]
    if all(count_of(heads[name].get("turn")) for name in mains):
        mains.sort(key=lambda name: int(heads[name]["turn"]))
    reader = _Reader(work)
    threads = []
    for name in (*mains, *(n for n in parsed if n not in set(mains))):
        rows, torn = parsed[name]
        threads.append(reader.thread(name, heads[name], rows))
        threads[-1].truncated = torn
    return threads


class _Reader:
    """Reads files one after another; turns go on from file to file."""

    def __init__(self, work: str) -> None:
        self.work = work
        self.turn = 0
        self.turns: dict[tuple[str, str], int] = {}

    def thread(self, name: str, head: Row, rows: list[tuple[int, Row]]) -> Thread:
        key = text_of(head.get("session")) or name.removesuffix(".jsonl")
        parent = text_of(head.get("parent"))
        label = (text_of(head.get("name")) or key) if parent else "main"
        call = text_of(head.get("call"))
        turn = self.turn
        if parent:
            turn = count_of(head.get("turn")) or self.turns.get((parent, call), self.turn)
        thread = Thread(key, name, label, parent, call, text_of(head.get("version")), turn)
        _Rows(thread, self.work).feed(rows)
        if not parent:
            self.turn = thread.turn
        self.turns |= {(key, started.id): started.turn for started in thread.calls.values()}
        return thread


class _Rows:
    """Tells a thread what its rows say."""

    def __init__(self, thread: Thread, work: str) -> None:
        self.thread, self.work = thread, work
        self.cwd = self.home = ""
        self.announced = False

    def feed(self, rows: list[tuple[int, Row]]) -> None:
        known: dict[Any, Callable[[Row, int], None]] = {
            "session": self.session,
            "loaded": self.loaded,
            "prompt": self.prompt,
            "assistant": self.assistant,
            "tool_call": self.tool_call,
            "tool_result": self.tool_result,
            "error": self.error,
            "end": self.end,
        }
        seen: set[int] = set()
        for line, row in rows:
            seq = row.get("seq")
            if type(seq) is int:
                if seq in seen:
                    continue
                seen.add(seq)
            kind = row.get("type")
            take = known.get(kind) if isinstance(kind, str) else None
            if take is None:
                self.thread.unknown[text_of(str(kind)[:60])] += 1
            else:
                take(row, line)

    def session(self, row: Row, line: int) -> None:
        newest = row.get("format", FORMAT)
        if type(newest) is int and newest > FORMAT:
            raise ReadError(self.thread.file, line, f"is of format {newest}; this version reads up to {FORMAT}")
        self.cwd, self.home = text_of(row.get("cwd")), text_of(row.get("home"))
        turn = count_of(row.get("turn"))
        if turn and not self.thread.parent:
            self.thread.begin_turn(turn)
            self.announced = True

    def loaded(self, row: Row, line: int) -> None:  # noqa: ARG002
        files = row.get("files")
        self.thread.loaded += [text_of(f) for f in files if text_of(f)] if isinstance(files, list) else []

    def prompt(self, row: Row, line: int) -> None:
        synthetic = row.get("synthetic") is True
        if not synthetic and not self.thread.parent:
            turn = count_of(row.get("turn"))
            if turn or not self.announced:
                self.thread.begin_turn(turn or self.thread.turn + 1)
            self.announced = False
        self.thread.pending.discard(text_of(row.get("call")))
        self.thread.prompt(text_of(row.get("text")), line, synthetic=synthetic)

    def assistant(self, row: Row, line: int) -> None:
        self.thread.said(text_of(row.get("text")), line)
        self.answer(row)

    def answer(self, row: Row) -> None:
        self.thread.model(text_of(row.get("model")))
        if "usage" in row:
            self.thread.use(row["usage"])

    def tool_call(self, row: Row, line: int) -> None:
        tool, args, kind, given = text_of(row.get("tool")), cleaned(row.get("args", {})), text_of(row.get("kind")), None
        if kind not in _TOOLS:
            kind = tool if tool in _TOOLS else ""
        if "canonical" in row:
            given = cleaned(row["canonical"])
        named = given if type(given) is dict else args if kind and type(args) is dict else {}
        canonical = own_arguments(named, self.work, self.cwd, self.home)
        self.thread.called(text_of(row.get("id")), tool, kind, args, canonical, line)
        self.answer(row)

    def tool_result(self, row: Row, line: int) -> None:
        ident, exit_code = text_of(row.get("id")), row.get("exit_code")
        code = exit_code if type(exit_code) is int else None
        self.thread.answered(ident, row.get("ok", True) is True, row.get("text"), line, code)
        spawn, call = row.get("spawn"), self.thread.calls.get(ident)
        if isinstance(spawn, dict) and call is not None:
            call.requested = text_of(spawn.get("requested")) or call.requested
            call.resolved = text_of(spawn.get("resolved")) or None
            served = spawn.get("served")
            call.served = tuple(text_of(s) for s in (served if isinstance(served, list) else [served]) if text_of(s))
            call.child = text_of(spawn.get("child"))
            if spawn.get("background") is True:
                self.thread.pending.add(ident)

    def error(self, row: Row, line: int) -> None:  # noqa: ARG002
        self.thread.failed(text_of(row.get("kind")), text_of(row.get("message")))

    def end(self, row: Row, line: int) -> None:  # noqa: ARG002
        reason = text_of(row.get("reason"))
        self.thread.ended(EndReason(reason) if reason in set(EndReason) else EndReason.UNKNOWN)
