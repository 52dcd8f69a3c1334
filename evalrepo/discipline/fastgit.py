"""A door to git for what must answer before Python has imported much: stdlib's `os` alone, git processes side by side.

The usual door is `repository.runner`; to import it costs 20 ms, more than the questions asked here.
"""

from __future__ import annotations

import os

HARD = ("--no-replace-objects", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
QUIET = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_GRAFT_FILE": "/dev/null/none",
}
ODD = frozenset({"GIT_WORK_TREE", "GIT_NAMESPACE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_SHALLOW_FILE"})


def spawn(arguments: list[str], environ: dict[str, str], output: int, source: int | None = None) -> int:
    """A git process with its output in a file; its id."""
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    actions = [
        nothing if source is None else (os.POSIX_SPAWN_DUP2, source, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    return os.posix_spawnp("git", ["git", *HARD, *arguments], {**environ, **QUIET}, file_actions=actions)


Process = tuple[int, ...]
"""Ids of the processes to wait for; last, the file where the output is read."""


def start(arguments: list[str], environ: dict[str, str], source: int | None = None) -> Process:
    """A git process with its output in a pipe."""
    read, write = os.pipe()
    try:
        return spawn(arguments, environ, write, source), read
    finally:
        os.close(write)


def piped(process: Process, arguments: list[str], environ: dict[str, str]) -> Process:
    """A git process that reads what another one prints."""
    *ids, read = process
    try:
        return *ids, *start(arguments, environ, read)
    finally:
        os.close(read)


def finish(process: Process) -> bytes | None:
    """The whole output, None when git failed."""
    *ids, read = process
    with open(read, "rb") as pipe:  # noqa: PTH123
        output = pipe.read()
    ended = [os.waitpid(one, 0)[1] for one in ids]
    return None if any(ended) else output
