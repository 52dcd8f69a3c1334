"""codex's rollout files as a Transcript: main sessions in the order of their turns, sub-agents by the ids they name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

from evalrepo.agents import jsonl
from evalrepo.agents.base import Growing
from evalrepo.agents.codex import tools
from evalrepo.agents.codex.rollout import Rollout
from evalrepo.agents.codex.scan import CALLS, Rows, payload_of
from evalrepo.agents.jsonl import Row, text_of
from evalrepo.agents.thread import Thread, assemble
from evalrepo.records.config import Agent
from evalrepo.records.transcript import Transcript

OUTPUT = re.compile(r"turn-([0-9]+)\.out")
_REROUTED = re.compile(r"model rerouted: \S+ -> (\S+)")


def read(agent: Agent, files: Mapping[str, bytes], work: str) -> Transcript:  # noqa: ARG001
    """The rollouts, with what the output of each turn says of its session; `work` as the agent saw it. ReadError."""
    with jsonl.collector_paused():
        outputs = {int(m[1]): _Told(data) for name, data in files.items() if (m := OUTPUT.fullmatch(name))}
        parsed = {name: jsonl.rows(name, data) for name, data in files.items() if not OUTPUT.fullmatch(name)}
        return assemble("codex", list(_threads(parsed, outputs, work)))


class _Told:
    """What `--json` printed in one turn: the session, and a model that another one answered for."""

    def __init__(self, data: bytes) -> None:
        rows = [row for _, row in jsonl.rows("output", data, noisy=True)[0]]
        self.session = next((text_of(r.get("thread_id")) for r in rows if r.get("type") == "thread.started"), "")
        items = [item for row in rows if isinstance(item := row.get("item"), dict) and item.get("type") == "error"]
        self.models = [found[1] for item in items if (found := _REROUTED.match(text_of(item.get("message"))))]


def session_of(output: bytes) -> str:
    """The session's id in the output of a turn, "" when there is none."""
    for line in output.split(b"\n"):
        if b'"thread.started"' in line:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            return text_of(row.get("thread_id")) if isinstance(row, dict) else ""
    return ""


def head_of(rows: Rows) -> Row:
    """The first row of a rollout."""
    return next((payload_of(row) for _, row in rows if row.get("type") == "session_meta"), {})


def _threads(
    parsed: Mapping[str, tuple[list[tuple[int, Row]], bool]], outputs: Mapping[int, _Told], work: str
) -> Iterator[Thread]:
    """Main sessions by the time they began (their ids tell it), then sub-agents, parents before their own."""
    heads = {name: head_of(rows) for name, (rows, _) in parsed.items()}
    order = sorted(parsed, key=lambda name: (_parent(heads[name]) != "", text_of(heads[name].get("id")), name))
    turns = _Turns(outputs)
    started: dict[str, int] = {}
    for name in order:
        head, (rows, torn) = heads[name], parsed[name]
        thread = _thread(name, head, started, turns.last)
        Rollout(thread, rows, work, None if thread.parent else turns.of(thread.key)).read()
        thread.truncated = torn
        for told in outputs.values() if not thread.parent else ():
            if told.session == thread.key:
                for model in told.models:
                    thread.model(model)
        started |= {call.child: call.turn for call in thread.calls.values() if call.child}
        yield thread


def _parent(head: Row) -> str:
    return text_of(head.get("parent_thread_id"))


def _thread(name: str, head: Row, started: Mapping[str, int], turn: int) -> Thread:
    key, parent = text_of(head.get("id")) or name.removesuffix(".jsonl"), _parent(head)
    path = text_of(head.get("agent_path")).rpartition("/")[2]
    label = text_of(head.get("agent_role")) or path or "default"
    return Thread(key, name, label if parent else "main", parent, turn=started.get(key, turn) if parent else 0)


class _Turns:
    """The numbers of turns: the output of a turn names its session; without outputs they are counted."""

    def __init__(self, outputs: Mapping[int, _Told]) -> None:
        self._outputs = outputs
        self.last = 0

    def of(self, session: str) -> Callable[[], int]:
        """A function that gives the number of the session's next turn."""
        numbers = iter(sorted(number for number, told in self._outputs.items() if told.session == session))

        def begin() -> int:
            self.last = next(numbers, self.last + 1)
            return self.last

        return begin


def counter(agent: Agent, watch: Growing) -> Callable[[], int]:  # noqa: ARG001
    """Counts calls as they come: those of the model once each, and those of its scripts beyond the first."""
    return jsonl.Counter(watch, b'"payload"', _Counts())


class _Counts:
    """How many calls a row stands for. A sub-agent's rollout may begin with its parent's calls again."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._scripts: dict[str, int] = {}

    def __call__(self, row: Row) -> int:
        payload = payload_of(row)
        item = payload.get("item")
        if isinstance(item, dict):
            return self._item(text_of(payload.get("turn_id")), item)
        if row.get("type") != "response_item" or not text_of(payload.get("type")).endswith("_call"):
            return 0
        ident = text_of(payload.get("call_id")) or text_of(payload.get("id"))
        if not self._new(ident):
            return 0
        if payload.get("name") == tools.WRAPPER:
            turn = _turn(payload)
            self._scripts[turn] = self._scripts.get(turn, 0) + 1
        return 1

    def _item(self, turn: str, item: Row) -> int:
        if item.get("type") not in CALLS or not text_of(item.get("id")).startswith("exec-"):
            return 0
        if not self._new(text_of(item.get("id"))):
            return 0
        if self._scripts.get(turn):
            self._scripts[turn] -= 1
            return 0
        return 1

    def _new(self, ident: str) -> bool:
        if ident in self._seen:
            return False
        self._seen.add(ident)
        return True


def _turn(payload: Row) -> str:
    about = payload.get("internal_chat_message_metadata_passthrough")
    return text_of(about.get("turn_id")) if isinstance(about, dict) else ""
