"""What a rep's checks may see of the world: files before and after, commands in a copy, functions of the repository."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalrepo import processes
from evalrepo.checks.view import Ran, View
from evalrepo.errors import HarnessError
from evalrepo.processes import Deadlines, Reason
from evalrepo.records.config import Install
from evalrepo.records.imports import imported, own_name
from evalrepo.sandbox import trees
from evalrepo.sandbox.install import install
from evalrepo.sandbox.isolation import RLIMITS, readable_python, wrap
from evalrepo.sandbox.layout import fresh, remove
from evalrepo.sandbox.snapshot import read_file

if TYPE_CHECKING:
    from evalrepo.records.checks import Condition
    from evalrepo.records.kinds import Command, Python
    from evalrepo.records.scenario import Scenario
    from evalrepo.records.transcript import Transcript
    from evalrepo.running.bench import Bench
    from evalrepo.running.kept import Kept
    from evalrepo.sandbox.layout import Sandbox

FILE_LIMIT = 20_000_000
"""Bytes of one file that a check may read."""
COPY_LIMIT = 2_000_000_000
"""Bytes on disk of a work directory that a command check gets a copy of."""
OUTPUT_LIMIT = 1_000_000
AS_THEY_ARE = Install.model_validate({"copy": {".": "."}})

_CALLER = """
import importlib.util, json, sys
given = json.loads(sys.stdin.buffer.read())
class Repository:
    def find_spec(self, name, path=None, target=None):
        known = given["modules"].get(name)
        if known is not None:
            return importlib.util.spec_from_loader(name, self, origin=known["path"], is_package=known["package"])
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        known = given["modules"][module.__name__]
        exec(compile(known["source"], known["path"], "exec"), module.__dict__)
sys.meta_path.insert(0, Repository())
spec = importlib.util.spec_from_loader(given["name"], loader=None)
module = sys.modules[given["name"]] = importlib.util.module_from_spec(spec)
exec(compile(given["source"], given["path"], "exec"), module.__dict__)
answer = getattr(module, given["function"])(given["transcript"], given["outcome"], **given["args"])
print("\\n" + json.dumps(answer))
"""


def reader(root: Path) -> Callable[[str], bytes]:
    """Reads a file below `root` by relative path; no link is followed out of it. FileNotFoundError, ValueError."""

    def read(path: str) -> bytes:
        return read_file(root, path, FILE_LIMIT)

    return read


def asks_of_originals(scenario: Scenario) -> bool:
    """Whether a check compares a file with its content before the agent."""
    return any(_asks(c) for c in (*scenario.checks, *scenario.validity))


def _asks(condition: Condition) -> bool:
    if condition.file is not None and condition.file.appended is not None:
        return True
    return any(_asks(inner) for inner in condition.nested())


class Shell:
    """Runs commands in copies of a sandbox's work directory, isolated like the agent and without network."""

    def __init__(self, bench: Bench, box: Sandbox) -> None:
        self._bench = bench
        self._box = box

    def __call__(self, command: Command) -> Ran:
        """The command in a fresh copy with its hidden files. HarnessError when it cannot be made."""
        box = fresh(self._bench.base, None, self._bench.isolation)
        try:
            trees.copy(self._box.work, box.work, box.uid if box.uid is not None else -1, room=COPY_LIMIT)
            hidden = {target: ("100644", self._bench.read(source)) for target, source in command.files.items()}
            if hidden:
                install(box, hidden, AS_THEY_ARE)
            return _shell(self._bench, box, command.run, command.timeout_s)
        finally:
            remove(box)


class Rebuilt:
    """Runs commands in copies of a work directory that is made again from what was kept of it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def __call__(self, command: Command, kept: Kept) -> Ran:
        """The command in a fresh copy with its hidden files. FileNotFoundError, noted in `kept`, when a file that was
        there cannot be had; HarnessError when the copy cannot be made."""
        files = kept.rebuilt()
        box = fresh(self._bench.base, None, self._bench.isolation)
        try:
            for contents in (files, {t: ("100644", self._bench.read(s)) for t, s in command.files.items()}):
                if contents:
                    install(box, contents, AS_THEY_ARE)
            return _shell(self._bench, box, command.run, command.timeout_s)
        finally:
            remove(box)


def _shell(bench: Bench, box: Sandbox, command: str, timeout_s: float) -> Ran:
    output = box.out / "command.txt"
    with wrap(
        bench.isolation, box, ("/bin/sh", "-c", command), box.environment(), readable=readable_python()[1]
    ) as launch:
        ended = processes.run(
            launch.argv,
            cwd=box.work,
            env=launch.env,
            output=output,
            errors=output,
            deadlines=Deadlines(wall_s=timeout_s, grace_s=1.0),
            pass_fds=launch.pass_fds,
            rlimits=RLIMITS,
            output_limit=OUTPUT_LIMIT,
        )
    if ended.reason is Reason.NOT_STARTED:
        raise HarnessError(f"cannot start {ended.why}")
    code = 128 + ended.signal if ended.signal else ended.code
    text = output.read_bytes()[:OUTPUT_LIMIT].decode("utf-8", "replace")
    return Ran(code if ended.reason is Reason.EXITED else None, text)


class PythonCheck:
    """Calls a function of a check module, read from the measured tree, in a process of its own.

    The module can import the standard library, what is installed, and the modules of the repository that reading finds
    (see `records.imports`): those that its digest covers, and no other.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def __call__(self, check: Python, view: View) -> Any:
        """The JSON value that the function returned. HarnessError for anything else."""
        path, _, function = check.call.partition(":")
        given = {
            "source": self._bench.read(path).decode(),
            "path": path,
            "name": "check" if own_name(path).partition(".")[0] in sys.stdlib_module_names else own_name(path),
            "modules": self._modules(path),
            "function": function,
            "transcript": plain(view.transcript),
            "outcome": outcome(view),
            "args": check.args,
        }
        box = fresh(self._bench.base, None, self._bench.isolation)
        try:
            return self._answer(box, json.dumps(given).encode(), check)
        finally:
            remove(box)

    def _modules(self, path: str) -> dict[str, Any]:
        source = self._bench.tree.source
        return {
            name: {
                "path": module.path,
                "package": module.package,
                "source": (source(module.path) or b"").decode() if module.path else "",
            }
            for name, module in imported(path, source).items()
        }

    def _answer(self, box: Sandbox, given: bytes, check: Python) -> Any:
        executable, prefixes = readable_python()
        argv = (executable, "-I", "-c", _CALLER)
        with wrap(self._bench.isolation, box, argv, box.environment(), readable=prefixes) as launch:
            code, out, errors = processes.capture(
                launch.argv,
                cwd=box.work,
                env=launch.env,
                timeout_s=check.timeout_s,
                stdin=given,
                pass_fds=launch.pass_fds,
            )
        if code != 0:
            raise HarnessError(f"{check.call}: {_raised(errors.decode('utf-8', 'replace')) or f'exit code {code}'}")
        try:
            return json.loads(out.decode().strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise HarnessError(f"{check.call} returned nothing that is JSON") from None


_FRAME = re.compile(r'(?m)^  File "(?!<string>)(.+)", line (\d+), in (.+)$')


def _raised(errors: str) -> str:
    """The last line of a traceback, and the frames of the repository that led there; "" when nothing was printed."""
    last = errors.strip().splitlines()[-1:]
    frames = [f"{path}:{number} in {name}" for path, number, name in _FRAME.findall(errors)]
    return " ".join([*last, *([f"({', '.join(frames[-3:])})"] if last and frames else [])])


def plain(transcript: Transcript) -> dict[str, Any]:
    """A transcript as JSON data: the dataclasses' fields, events with their `type`."""
    out = {f.name: _value(getattr(transcript, f.name)) for f in dataclasses.fields(transcript)}
    out["children"] = {key: plain(child) for key, child in transcript.children.items()}
    out["events"] = [{"type": type(e).__name__.lower(), **_value(e)} for e in transcript.events]
    return out


def _value(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _value(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_value(v) for v in value]
    return value


def outcome(view: View) -> dict[str, Any]:
    """The sandbox before and after, as JSON data: path → {mode, size, sha256}; and the faults that fired."""
    return {
        "before": {p: _value(s) for p, s in view.before.items()},
        "after": {p: _value(s) for p, s in view.after.items()},
        "fired": dict(view.fired),
    }
