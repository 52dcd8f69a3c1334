"""Plays the steps of one turn with real tools and writes a session log; stdlib only, Python 3.8 or newer.

Started as `python -I -S FILE`, a process of its own, from a copy in the agent's HOME. `turn.json` beside it says
what to play: {turn, prompt, session, resume, model, cwd, sessions, steps}. The log is JSON lines, each written when it
happens: the session at SESSIONS/ID.jsonl, its sub-agents at SESSIONS/ID/child-N.jsonl. Modules that cost start-up
time (re, subprocess) are imported where a step needs them; of json and signal CPython's C parts do.
"""

from __future__ import annotations

import _signal as signals  # type: ignore[import-not-found]
import os
import sys
import time
from _json import encode_basestring as quote
from _json import make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from typing import Any

    Answer = tuple[bool, str, int | None]  # ok, text, exit code

VERSION = "1"
FORMAT = 1
CAP = 262_144  # most bytes of one result

TOOLS: dict[str, Callable[[Player, Any], tuple[str, Any, Callable[[], Answer]]]] = {
    "read": lambda p, path: ("read", {"path": path}, lambda: (True, decoded(p.read(path, CAP + 1)), None)),
    "write": lambda p, a: ("write", a, lambda: p.write(a["path"], a["content"])),
    "edit": lambda p, a: ("edit", a, lambda: p.edit(a["path"], a["old"], a["new"])),
    "search": lambda p, a: ("search", a, lambda: p.search(a["pattern"], a["path"])),
    "run": lambda p, a: ("shell", {"command": a["command"]}, lambda: p.run(a["command"], a["timeout_s"])),
    "skill": lambda _, name: ("skill", {"skill": name}, lambda: (True, "Launching skill: " + name, None)),
    "call": lambda _, a: (a["tool"], a["args"], lambda: (a["ok"], a["result"], None)),
}
"""Step kind → the tool's name, the arguments it is logged with, and what does the work."""


SETTINGS = {"strict": False, "parse_int": int, "parse_float": float, "parse_constant": float}
DIALECT: Any = type("Dialect", (), {"object_hook": None, "object_pairs_hook": None, "memo": {}, **SETTINGS})
"""What the C scanner of the json module wants to be told."""


class Broken(Exception):  # noqa: N818
    """A `fail` step: the agent ends here with this exit code; `silent`: without a word in its log."""

    def __init__(self, code: int, message: str, silent: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.silent = code, message, silent


class Terminated(BaseException):
    """SIGTERM came."""


def dumps(value: Any) -> str:
    """Compact JSON of plain data."""
    if isinstance(value, str):
        return quote(value)
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ",".join(quote(k) + ":" + dumps(v) for k, v in value.items()) + "}"
    return "[" + ",".join(map(dumps, value)) + "]" if isinstance(value, (list, tuple)) else repr(value)


def files_below(top: str, skipped: tuple[str, ...]) -> list[str]:
    """Regular files below `top`, sorted, without its folders of these names."""
    found = []
    for folder, folders, files in os.walk(top):
        if folder == top:
            folders[:] = [f for f in folders if f not in skipped]
        found += [os.path.join(folder, f) for f in files if os.path.isfile(os.path.join(folder, f))]
    return sorted(found)


def decoded(data: bytes) -> str:
    """Text of bytes as a model would see it: capped, and what is not UTF-8 replaced."""
    text = data[:CAP].decode("utf-8", "replace")
    return text if len(data) <= CAP else f"{text}\n[cut after {CAP} bytes]"


class Log:
    """One session's file; rows are numbered and written at once. A torn tail of an earlier process is cut off."""

    def __init__(self, path: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a+b") as file:
            file.seek(0)
            data = file.read()
            file.truncate(data.rfind(b"\n") + 1)
        self.seq = data.count(b"\n")
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND)

    def row(self, what: str, torn: bool = False, **fields: Any) -> None:
        """Writes a row, or half of it, as a process does that is killed while it writes."""
        self.seq += 1
        row = {"type": what, "seq": self.seq}
        row.update((k, v) for k, v in fields.items() if v is not None)
        line = dumps(row).encode("utf-8", "replace") + b"\n"
        line = line[: len(line) // 2] if torn else line
        while line:
            line = line[os.write(self.file, line) :]


class Thread:
    """One thread of an agent, the main one or a sub-agent's: plays steps, writes what happens."""

    def __init__(self, player: Player, session: str, model: str, calls: str) -> None:
        self.player, self.session, self.model, self.calls = player, session, model, calls
        self.log = Log(os.path.join(player.sessions, session + ".jsonl"))
        self.number = self.seen = 0
        self.waiting: list[Callable[[], None]] = []
        self.said = ""
        player.open.append(self)

    def begin(self, prompt: str, **meta: Any) -> None:
        player = self.player
        about: Any = {"agent": "scripted", "version": VERSION, "session": self.session, "model": self.model}
        self.log.row("session", format=FORMAT, **about, cwd=player.cwd, home=player.home, turn=player.turn, **meta)
        if "parent" not in meta:
            found = files_below(player.home, (".cache", ".local"))[:1000]  # what it finds of its own configuration
            self.log.row("loaded", files=["~" + path[len(player.home) :] for path in found])
        self.prompt(prompt)

    def end(self, reason: str, exit_code: int, silent: bool = False) -> None:
        if not silent:
            self.log.row("end", reason=reason, exit_code=exit_code)
        self.player.open.remove(self)
        os.close(self.log.file)

    def prompt(self, text: str, **extra: Any) -> None:
        self.seen += len(text)
        self.log.row("prompt", text=text, **extra)

    def usage(self, text: str) -> dict[str, int]:
        self.seen += len(text)
        return {"input_tokens": self.seen // 4 + 1, "output_tokens": len(text) // 4 + 1, "cost_usd": 0}

    def call(self, tool: str, args: dict[str, Any]) -> str:
        self.number += 1
        name = f"{self.calls}{self.number}"
        self.log.row("tool_call", id=name, tool=tool, args=args, model=self.model, usage=self.usage(dumps(args)))
        return name

    def result(self, call: str, ok: bool, text: str, code: int | None = None, spawn: Any = None) -> None:
        self.seen += len(text)
        self.log.row("tool_result", id=call, ok=ok, text=text, exit_code=code, spawn=spawn)

    def play(self, steps: list[dict[str, Any]]) -> None:
        """Each step in turn; a background sub-agent reports after the step that follows its start."""
        for step in steps:
            due, self.waiting = self.waiting, []
            ((kind, value),) = step.items()
            if kind in TOOLS:
                self.tool(*TOOLS[kind](self.player, value))
            else:
                getattr(self, "do_" + kind)(value)
            for report in due:
                report()
        while self.waiting:
            self.waiting.pop(0)()

    def tool(self, name: str, args: dict[str, Any], work: Callable[[], Answer]) -> None:
        """A call whose result is what `work` returns; an OSError or ValueError is a failing result."""
        call = self.call(name, args)
        try:
            answer = work()
        except OSError as error:
            answer = (False, f"{error.strerror}: {args.get('path', '/bin/sh')}", None)
        except ValueError as error:
            answer = (False, str(error), None)
        self.result(call, *answer)

    def do_say(self, text: str) -> None:
        self.said = text
        self.log.row("assistant", text=text, model=self.model, usage=self.usage(text))

    def do_sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def do_fail(self, args: dict[str, Any]) -> None:
        message, kind = args["error"], args.get("kind")
        sys.stderr.write(message + "\n" if message else "")
        if args["truncate"]:
            self.log.row("error" if message else "assistant", torn=True, text=self.said, kind=kind, message=message)
            raise Broken(args["exit"], message, silent=True)
        if message or kind:
            self.log.row("error", kind=kind, message=message)
        while args["hang"]:
            time.sleep(3600)
        raise Broken(args["exit"], message)

    def do_spawn(self, step: dict[str, Any]) -> None:
        call = self.call("spawn", {k: step[k] for k in ("agent", "task", "model") if step.get(k)})
        facts = {"requested": step.get("model")}
        if step.get("error") is not None:
            self.result(call, False, step["error"], spawn=facts)
            return
        facts["resolved"] = model = step.get("resolves") or step.get("model") or self.model
        facts["served"] = model = step.get("serves") or model
        facts["child"] = child = self.player.next_child()
        if step["background"]:
            self.result(call, True, "launched", spawn=dict(facts, background=True))
            self.waiting.append(lambda: self.prompt(self.child(child, call, step, model)[1], synthetic=True, call=call))
            return
        ok, text = self.child(child, call, step, model)
        self.result(call, ok, text, spawn=facts)

    def child(self, session: str, call: str, step: dict[str, Any], model: str) -> tuple[bool, str]:
        """Plays a sub-agent; whether it ended well, and its report."""
        thread = Thread(self.player, session, model, session.rpartition("/")[2] + ".")
        thread.begin(step["task"], parent=self.session, call=call, name=step["agent"] or None)
        try:
            thread.play(step["steps"])
        except Broken as broken:
            thread.end("error", broken.code, broken.silent)
            return False, broken.message or f"the sub-agent ended with exit code {broken.code}"
        if step["reports"]:
            thread.do_say(step["reports"])
        thread.end("done", 0)
        return True, thread.said


class Player:
    """One process: the turn's settings and the tools."""

    def __init__(self, turn: dict[str, Any]) -> None:
        self.turn, self.cwd, self.sessions, self.root = turn["turn"], turn["cwd"], turn["sessions"], turn["session"]
        self.home = os.environ.get("HOME", "")
        self.open: list[Thread] = []
        self.running: subprocess.Popen[bytes] | None = None
        self.children = 0

    def next_child(self) -> str:
        folder = os.path.join(self.sessions, self.root)
        os.makedirs(folder, exist_ok=True)
        self.children = max(self.children, len(os.listdir(folder))) + 1
        return f"{self.root}/child-{self.children}"

    def path(self, name: str) -> str:
        return os.path.join(self.cwd, self.home + name[1:] if name.startswith("~/") else name)

    def read(self, name: str, limit: int = -1) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read(limit)

    def put(self, name: str, data: bytes) -> None:
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)

    def write(self, name: str, content: str) -> Answer:
        self.put(name, content.encode("utf-8", "replace"))
        return True, "written", None

    def edit(self, name: str, old: str, new: str) -> Answer:
        before, wanted = self.read(name), old.encode("utf-8", "replace")
        if wanted not in before:
            return False, f"the old text is not in {name}", None
        self.put(name, before.replace(wanted, new.encode("utf-8", "replace"), 1))
        return True, "edited", None

    def search(self, pattern: str, name: str) -> Answer:
        import re

        try:
            wanted = re.compile(pattern)
        except re.error as error:
            return False, f"not a regular expression: {error}", None
        found, top = [], self.path(name)
        for path in files_below(top, (".git",)) if os.path.isdir(top) else [top]:
            lines = self.read(path).decode("utf-8", "replace").split("\n")
            shown = os.path.relpath(path, self.cwd)
            found += [f"{shown}:{n}:{line}" for n, line in enumerate(lines, 1) if wanted.search(line)]
        return True, decoded("\n".join(found).encode()), None

    def run(self, command: str, timeout_s: float) -> Answer:
        """`sh -c` in a process group of its own; output to a file, so that a daemon it leaves does not block."""
        import subprocess
        import tempfile

        with tempfile.TemporaryFile() as output:
            streams: Any = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            late: list[int] = []  # SIGTERM while the command starts must not lose it
            signals.signal(signals.SIGTERM, lambda number, _: late.append(number))
            self.running = subprocess.Popen(["/bin/sh", "-c", command], cwd=self.cwd, start_new_session=True, **streams)
            signals.signal(signals.SIGTERM, terminate)
            if late:
                raise Terminated
            try:
                code, note = self.running.wait(timeout_s), ""
            except subprocess.TimeoutExpired:
                self.kill()
                code, note = 124, f"\n[timed out after {timeout_s:g} s]"
            self.running = None
            output.seek(0)
            text = decoded(output.read(CAP + 1)) + note
        return code == 0, text, 128 - code if code < 0 else code

    def kill(self) -> None:
        """Ends the command that runs, with its group."""
        if self.running is not None:
            try:  # noqa: SIM105 - contextlib costs start-up time
                os.killpg(self.running.pid, signals.SIGKILL)
            except OSError:
                pass
            self.running.wait()


def terminate(*_: Any) -> None:
    raise Terminated


def play(turn: dict[str, Any]) -> int:
    """One turn; the process's exit code."""
    player = Player(turn)
    if turn["resume"] and not os.path.exists(os.path.join(player.sessions, player.root + ".jsonl")):
        sys.stderr.write(f"no session {player.root}\n")
        return 1
    try:
        main = Thread(player, player.root, turn["model"], f"t{player.turn}.")
        main.begin(turn["prompt"])
        main.play(turn["steps"])
        main.end("done", 0)
        sys.stdout.write(main.said + "\n" if main.said else "")
    except Broken as broken:
        main.end("error", broken.code, broken.silent)
        return broken.code
    except Terminated:
        signals.signal(signals.SIGTERM, signals.SIG_IGN)
        player.kill()
        for thread in reversed(list(player.open)):
            thread.end("cut", 143)
        return 143
    return 0


def main(argv: list[str]) -> int:
    """`--version`, or the turn that `turn.json` beside this file holds."""
    if argv == ["--version"]:
        sys.stdout.write(VERSION + "\n")
        return 0
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "turn.json"), encoding="utf-8") as file:
        turn = make_scanner(DIALECT)(file.read(), 0)[0]
    signals.signal(signals.SIGTERM, terminate)
    return play(turn)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
