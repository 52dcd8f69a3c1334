"""Claude Code's own log: where it is, what of it is kept, and how many tool calls it holds by now.

One JSON-lines file a session below `~/.claude/projects/FOLDER`; in a directory of the session's name one a sub-agent,
with a small JSON file beside it that says who it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evalrepo.agents import jsonl
from evalrepo.agents.base import Box, Growing, opened, printed, regular_files
from evalrepo.agents.jsonl import Row
from evalrepo.records.config import Agent

PROJECTS = ".claude/projects"

_REQUESTS = b'{"type":"api-request'
_SNAPSHOT = b'"attachment":{"type":"prompt_snapshot"'
_HEAD = 400
"""Bytes of a row within which the kind of its attachment stands."""


def native(agent: Agent, box: Box) -> dict[str, Path]:  # noqa: ARG001
    """Sessions in the order in which they were last written, then sub-agents, then each turn's output.

    They are copies in the box's `out`, without the vendor's prompts and requests, which are nine tenths of the log.
    """
    found: list[tuple[tuple[int, int, str], Path]] = []
    for path in regular_files(box.home / PROJECTS):
        name = path.relative_to(box.home / PROJECTS).as_posix().partition("/")[2]
        if name.endswith((".jsonl", ".meta.json")):
            try:
                data, changed = _content(box.home, path)
            except OSError:  # it went, or there is a link on the way
                continue
            order = (0, changed, name) if "/" not in name else (1, 0, name)
            found.append((order, _keep(box.out / "claude" / name, trimmed(data))))
    files = {path.relative_to(box.out / "claude").as_posix(): path for _, path in sorted(found)}
    return files | printed(box)


def _content(home: Path, path: Path) -> tuple[bytes, int]:
    """A file's bytes and when it was last written; links below HOME are not followed."""
    with os.fdopen(opened(home, path.relative_to(home).as_posix()), "rb") as file:
        return file.read(), os.fstat(file.fileno()).st_mtime_ns


def _keep(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def trimmed(data: bytes) -> bytes:
    """A log without what was sent to the model word for word; each such row stays as one that says how long it was."""
    return b"".join(_trimmed(data))


def _trimmed(data: bytes) -> Iterator[bytes]:
    for line in data.splitlines(keepends=True):
        if line.startswith(_REQUESTS) and line.endswith(b"\n"):
            yield b'{"type":"api-request","left_out":%d}\n' % len(line)
        elif _SNAPSHOT in line[:_HEAD] and line.endswith(b"\n"):
            yield b'{"type":"attachment","attachment":{"type":"prompt_snapshot"},"left_out":%d}\n' % len(line)
        else:
            yield line


def counter(agent: Agent, watch: Growing) -> Callable[[], int]:  # noqa: ARG001
    """Counts the log's tool calls as they come."""
    return jsonl.Counter(watch, b'"tool_use"', _calls)


def _calls(row: Row) -> int:
    message: Any = row.get("message") if row.get("type") == "assistant" else None
    content = message.get("content") if isinstance(message, dict) else None
    return sum(isinstance(b, dict) and b.get("type") == "tool_use" for b in content) if isinstance(content, list) else 0
