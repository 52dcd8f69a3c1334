"""Claude Code's own log → Transcript.

A session's file holds what was said as `user` and `assistant` rows, one a block of an answer; rows of one answer share
`message.id` and each repeats its usage. What a hook or the CLI itself adds stands in `attachment` rows. Sub-agents have
files of their own, which name the call that started them. All in `rows.py`; here the files are put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from evalrepo.agents import jsonl
from evalrepo.agents.base import ReadError
from evalrepo.agents.claude import faults
from evalrepo.agents.claude.lines import Lines
from evalrepo.agents.claude.rows import Rows
from evalrepo.agents.jsonl import Row, count_of, text_of
from evalrepo.agents.thread import Thread, assemble
from evalrepo.records.config import Agent
from evalrepo.records.transcript import EndReason, Said, Transcript

_Line = tuple[int, Row]
_Lines = list[_Line]


def read(agent: Agent, files: Mapping[str, bytes], work: str) -> Transcript:  # noqa: ARG001
    """The files of `native` as one Transcript; `work` is the work directory as the agent saw it. ReadError."""
    with jsonl.collector_paused():
        reader = _Reader(work)
        reader.sessions({name: data for name, data in files.items() if name.endswith(".jsonl") and "/" not in name})
        reader.children(files)
        reader.results(files)
        transcript = assemble("claude", reader.threads)
    return replace(transcript, usage=replace(transcript.usage, cost_usd=reader.cost()))


@dataclass(frozen=True, slots=True)
class _Child:
    """What a sub-agent's own small file says of it."""

    name: str
    key: str
    session: str
    facts: Row

    @property
    def depth(self) -> int:
        return count_of(self.facts.get("spawnDepth")) or 1


@dataclass
class _Reader:
    work: str
    threads: list[Thread] = field(default_factory=list)
    turn: int = 0
    turns: dict[tuple[str, str], int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    costs: list[float | None] = field(default_factory=list)

    def sessions(self, files: Mapping[str, bytes]) -> None:
        """The main sessions by the time of their first row; rows that a session has of another are left out."""
        for lines in sorted((Lines(name, data) for name, data in files.items()), key=lambda lines: lines.began):
            thread = Thread(lines.name.removesuffix(".jsonl"), lines.name, turn=self.turn)
            aside: dict[str, _Lines] = {}
            rows = Rows(thread, self.work)
            rows.feed(self._own(lines, aside, many=len(files) > 1))
            thread.truncated = lines.torn
            self.turn = thread.turn
            self.costs.append(rows.cost)
            self._known(thread)
            for key, part in aside.items():
                self._aside(thread, key, part)

    def _own(self, lines: Iterable[tuple[int, Row]], aside: dict[str, _Lines], *, many: bool) -> Iterator[_Line]:
        """A session's own rows; `aside` gets those of sub-agents that older versions kept among them."""
        of_row: dict[str, str] = {}
        for line, row in lines:
            if many and (ident := text_of(row.get("uuid"))):
                if ident in self.seen:
                    continue
                self.seen.add(ident)
            if row.get("isSidechain") is True:
                ident = text_of(row.get("uuid"))
                above = of_row.get(text_of(row.get("parentUuid")))
                of_row[ident] = key = text_of(row.get("agentId")) or above or ident
                aside.setdefault(key, []).append((line, row))
            else:
                yield line, row

    def _aside(self, main: Thread, key: str, lines: _Lines) -> None:
        """A sub-agent among the rows of its session belongs to the first call of its task."""
        task = next((_first_text(row) for _, row in lines if row.get("type") == "user"), "")
        calls = (call for call in main.calls.values() if call.kind == "spawn" and not call.child)
        call = next((c for c in calls if task and c.canonical.get("task") == task), None)
        child = Thread(key, main.file, by=key, parent=main.key, call=call.id if call else "", turn=main.turn)
        if call is not None:
            call.child, child.turn = key, call.turn
            child.by = text_of(call.canonical.get("agent")) or key
        Rows(child, self.work).feed(lines)
        self._known(child)

    def _known(self, thread: Thread) -> None:
        self.threads.append(thread)
        self.turns |= {(thread.key, call.id): call.turn for call in thread.calls.values()}

    def children(self, files: Mapping[str, bytes]) -> None:
        """The sub-agents, those nearest to the session first."""
        found = sorted(_children(files), key=lambda child: (child.depth, child.name))
        keys = {child.key for child in found}
        for child in found:
            parent = text_of(child.facts.get("parentAgentId"))
            self._child(child, parent if parent in keys else child.session, files[child.name])

    def _child(self, child: _Child, parent: str, data: bytes) -> None:
        call = text_of(child.facts.get("toolUseId"))
        label = text_of(child.facts.get("agentType")) or child.key
        turn = self.turns.get((parent, call), self.turn)
        thread = Thread(child.key, child.name, by=label, parent=parent, call=call, turn=turn)
        lines, rows = Lines(child.name, data), Rows(thread, self.work)
        rows.feed(lines)
        thread.truncated = lines.torn
        self._tell(parent, call, rows.identity)
        self._known(thread)

    def _tell(self, parent: str, ident: str, model: str) -> None:
        """What the child knows of its call, where the call's own result does not say it.

        Its `modelNotNamed` is no fact about the call: it is also set where a variable overrode the model named there.
        """
        threads = (thread for thread in self.threads if thread.key == parent)
        call = next((t.calls[ident] for t in threads if ident in t.calls), None)
        if call is not None:
            call.resolved = call.resolved or model or None

    def results(self, files: Mapping[str, bytes]) -> None:
        """What stands only in the result that the CLI prints at the end of a turn: errors, and that the model was done
        without a word (the log has no row of an empty answer)."""
        for name, data in files.items():
            row = _result(data) if name.endswith(".out") else {}
            found = faults.of_result(row)
            thread = next((t for t in self.threads if t.key == row.get("session_id")), None)
            if found is not None and thread is not None:
                thread.broke = thread.broke or found
            elif thread is not None and thread.end is EndReason.CUT and not thread.calls and faults.ended_well(row):
                silent = not any(isinstance(event, Said) for event in thread.events)
                thread.end = EndReason.DONE if silent else thread.end

    def cost(self) -> float | None:
        """What all sessions cost with their sub-agents; None when one does not say it."""
        known = [cost for cost in self.costs if cost is not None]
        return sum(known) if known and len(known) == len(self.costs) else None


def _children(files: Mapping[str, bytes]) -> Iterable[_Child]:
    for name in files:
        session, _, rest = name.partition("/")
        last = rest.rpartition("/")[2]
        if last.startswith("agent-") and last.endswith(".jsonl"):
            facts = _json(files.get(name.removesuffix(".jsonl") + ".meta.json", b""))
            yield _Child(name, last.removeprefix("agent-").removesuffix(".jsonl"), session, facts)


def _json(data: bytes) -> Row:
    """The object in a small file that is evidence only; {} when it is no object."""
    try:
        return jsonl.rows("", data.replace(b"\n", b" "))[0][0][1]
    except (ReadError, IndexError):
        return {}


def _result(data: bytes) -> Row:
    """The last object that the CLI printed on a line of its own."""
    for line in reversed(data.splitlines()):
        if line.startswith(b'{"'):
            return _json(line)
    return {}


def _first_text(row: Row) -> str:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return text_of(content)
