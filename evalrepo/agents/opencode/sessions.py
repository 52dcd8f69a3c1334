"""What opencode prints and its database does not hold: a turn's session, errors with their causes, one warning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalrepo.agents.base import Box
from evalrepo.agents.opencode.faults import LOST_AGENT

LOST = "Falling back to default agent"
"""What stderr says of a primary agent that is not there, or is none."""

_OVER = b'message="disposing instance"'
_TAIL = 4096
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CAUSE = re.compile(r"\bref=(\S+) error=(\"(?:[^\"\\]|\\.)*\"|\S+)")


def session_of(output: Path) -> str:
    """The session that the first event in a turn's stdout names; "" when there is none."""
    return next((event["sessionID"] for event in events(output) if isinstance(event.get("sessionID"), str)), "")


def events(output: Path) -> Iterator[dict[str, Any]]:
    """The events of a turn's stdout; lines that are none are passed over."""
    try:
        file = output.open("rb")
    except OSError:
        return
    with file:
        for line in file:
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def over(errors: Path) -> bool:
    """Whether the log on stderr says that the CLI has done its work and takes itself down."""
    try:
        with errors.open("rb") as file:
            file.seek(max(0, errors.stat().st_size - _TAIL))
            return _OVER in file.read()
    except OSError:
        return False


def told(box: Box) -> Iterator[dict[str, Any]]:
    """One row for each turn that was played, and one for each error that it printed.

    `{table: turn, number, session}`, then `{table: error, turn, error, cause}`: the event's own `error`, or for a
    primary agent that was not found one of ours; `cause` is what the log says where the event gives only a reference.
    """
    number = 1
    while box.output(number).exists():
        log = _text(box.errors(number))
        causes = {match[1]: _unquoted(match[2]) for match in _CAUSE.finditer(log)}
        yield {"table": "turn", "number": number, "session": session_of(box.output(number))}
        for line in log.splitlines():
            if LOST in line and not line.startswith("timestamp="):
                said = _COLOURS.sub("", line).strip(" !")
                yield {"table": "error", "turn": number, "error": {"name": LOST_AGENT, "data": {"message": said}}}
        for event in events(box.output(number)):
            if event.get("type") == "error":
                error = event.get("error")
                cause = causes.get(_reference(error))
                row = {"table": "error", "turn": number, "error": error}
                yield row if cause is None else {**row, "cause": cause}
        number += 1


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _reference(error: Any) -> str:
    data = error.get("data") if isinstance(error, dict) else None
    return str(data.get("ref", "")) if isinstance(data, dict) else ""


def _unquoted(value: str) -> str:
    try:
        return str(json.loads(value)) if value.startswith('"') else value
    except ValueError:
        return value
