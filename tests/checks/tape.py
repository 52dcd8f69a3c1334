"""Hand-made transcripts and questions in YAML, for the tests of checks and scoring."""

from __future__ import annotations

import hashlib
from typing import Any

from ruamel.yaml import YAML

from evalrepo.checks.registry import evaluate
from evalrepo.checks.view import Answer, View
from evalrepo.records.checks import Check, Condition
from evalrepo.records.outcome import FileState, Manifest
from evalrepo.records.scenario import Scenario
from evalrepo.records.transcript import At, Call, EndReason, Event, Prompt, Result, Said, Spawn, Transcript, Usage


class Tape:
    """Builds one transcript, a line of the raw file an event."""

    def __init__(self, file: str = "main.jsonl", by: str = "main") -> None:
        self.file, self.by, self.turn = file, by, 1
        self.events: list[Event] = []
        self.children: dict[str, Transcript] = {}

    def at(self) -> At:
        return At(self.file, len(self.events) + 1)

    def prompt(self, text: str = "do it", turn: int | None = None) -> Tape:
        self.turn = turn or self.turn
        self.events.append(Prompt(text, self.turn, self.at()))
        return self

    def say(self, text: str) -> Tape:
        self.events.append(Said(text, self.turn, self.at()))
        return self

    def call(
        self,
        tool: str,
        args: dict[str, Any] | None = None,
        *,
        kind: str = "",
        canonical: dict[str, Any] | None = None,
        result: str | None = "",
        ok: bool = True,
        size: int | None = None,
        spawn: Spawn | None = None,
    ) -> Tape:
        ident = f"{self.by}-{len(self.events)}"
        answer = None
        place = self.at()
        if result is not None:
            length = size if size is not None else len(result.encode())
            answer = Result(ident, ok, result, length, self.turn, At(self.file, place.line + 1))
        made = Call(ident, tool, kind, args or {}, canonical or {}, self.turn, place, self.by, answer, spawn)
        self.events.append(made)
        if answer is not None:
            self.events.append(answer)
        return self

    def own(self, tool: str, **args: Any) -> Tape:
        return self.call(tool, args)

    def read(self, path: str, text: str = "content", **more: Any) -> Tape:
        return self.call("Read", {"file_path": path}, kind="read", canonical={"path": path}, result=text, **more)

    def edit(self, path: str, **more: Any) -> Tape:
        return self.call("Edit", {"file_path": path}, kind="edit", canonical={"path": path}, **more)

    def write(self, path: str, content: str = "", **more: Any) -> Tape:
        given = {"path": path, "content": content}
        return self.call("Write", {"file_path": path}, kind="write", canonical=given, **more)

    def shell(self, command: str, text: str = "", **more: Any) -> Tape:
        given = {"command": command}
        return self.call("Bash", given, kind="shell", canonical=given, result=text, **more)

    def search(self, pattern: str, text: str = "", **more: Any) -> Tape:
        given = {"pattern": pattern}
        return self.call("Grep", given, kind="search", canonical=given, result=text, **more)

    def spawn(
        self,
        agent: str = "",
        task: str = "work",
        model: str | None = None,
        *,
        resolved: str | None = None,
        served: tuple[str, ...] = (),
        child: Tape | None = None,
        **more: Any,
    ) -> Tape:
        key = f"child-{len(self.events)}" if child is not None else ""
        if child is not None:
            self.children[key] = child.done()
        given = {"agent": agent, "task": task, "model": model}
        canonical = {k: v for k, v in given.items() if v}
        what = Spawn(agent, task, model, resolved, served, key)
        return self.call("Agent", canonical, kind="spawn", canonical=canonical, spawn=what, **more)

    def done(self, **more: Any) -> Transcript:
        more.setdefault("usage", Usage())
        more.setdefault("end", EndReason.DONE)
        return Transcript("test", events=tuple(self.events), children=dict(self.children), **more)


def data(yaml: str) -> Any:
    return YAML(typ="safe").load(yaml)


def condition(yaml: str) -> Condition:
    return Condition.model_validate(data(yaml))


def check(yaml: str) -> Check:
    return Check.model_validate(data(yaml))


def scenario(yaml: str) -> Scenario:
    return Scenario.model_validate({"title": "t", "subject": "s", "turns": [{"prompt": "p"}], **data(yaml)})


def manifest(files: dict[str, str]) -> Manifest:
    return {p: FileState("100644", len(t.encode()), hashlib.sha256(t.encode()).hexdigest()) for p, t in files.items()}


def view(
    tape: Tape | None = None, *, before: dict[str, str] | None = None, after: dict[str, str] | None = None, **more: Any
) -> View:
    """A view of the tape, with files before and after as text."""
    old, new = before or {}, (before or {}) if after is None else after
    return View(
        (tape or Tape()).done(),
        before=manifest(old),
        after=manifest(new),
        read=lambda path: new[path].encode(),
        original=lambda path: old[path].encode(),
        **more,
    )


def ask(yaml: str, seen: Tape | View | None = None) -> Answer:
    """The answer to one question in YAML."""
    return evaluate(condition(yaml), seen if isinstance(seen, View) else view(seen))


def outcome(yaml: str, seen: Tape | View | None = None) -> str:
    """Its outcome as a word."""
    return str(ask(yaml, seen).outcome)
