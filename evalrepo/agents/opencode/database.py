"""opencode's log is a SQLite file. It is taken out of the rep as JSON lines, which can be stored, redacted and cited.

    {table: turn, number, session}             of each turn: the session that its output names
    {table: error, turn, error, cause}         an error that it printed
    {table: session, id, parent_id, …}         a session, sub-agents' after the main ones; each followed by its
    {table: message, id, session_id, data, …}  messages in their order, and each of these by its
    {table: part, id, message_id, data, …}     parts
    {table: failure, why}                      the database is there and cannot be read

Columns stand under their own names, `data` as the object that it is, nothing that is null.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalrepo.agents.base import Box, opened
from evalrepo.agents.opencode.sessions import told
from evalrepo.agents.opencode.start import DATABASE

if TYPE_CHECKING:
    import sqlite3

EXPORT = "opencode.jsonl"
"""Its name below `Box.out` and in a rep's transcript."""

LARGEST = 1 << 30
"""Bytes of a database that are still read."""
PATIENCE_S = 20.0
"""Seconds that all of its queries may take."""

_CHUNK = 1 << 20
_STEPS = 100
"""Of the database's machine, between two looks at the clock."""
_TABLES = ("session", "message", "part")

Row = dict[str, Any]


def export(box: Box) -> Path | None:
    """Writes what the rep's turns left as JSON lines into `box.out`; None when they left nothing.

    The CLI must have ended; its database is copied with its write-ahead log, so that one that was killed is whole.
    """
    rows = [*told(box), *_rows(box)]
    if not any(row["table"] != "turn" for row in rows):
        return None
    place = box.out / EXPORT
    with place.open("w", encoding="utf-8", errors="replace") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return place


def _rows(box: Box) -> Iterator[Row]:
    import sqlite3

    with tempfile.TemporaryDirectory(prefix="database-", dir=box.out) as folder:
        copy = Path(folder, "copy.db")
        try:
            if not _copied(box.home, DATABASE, copy):
                return
            _copied(box.home, f"{DATABASE}-wal", Path(f"{copy}-wal"))
            yield from _read(copy)
        except (OSError, sqlite3.Error, ValueError) as error:
            yield {"table": "failure", "why": str(error)}


def _copied(top: Path, relative: str, target: Path) -> bool:
    """Copies a regular file, following no link on its way; False when there is none."""
    try:
        file = opened(top, relative)
    except FileNotFoundError:
        return False
    with os.fdopen(file, "rb") as source, target.open("wb") as copy:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(f"~/{relative} is not a file")
        if about.st_size > LARGEST:
            raise ValueError(f"~/{relative} has more than {LARGEST:,} bytes")
        while chunk := source.read(_CHUNK):
            copy.write(chunk)
    return True


def _read(copy: Path) -> Iterator[Row]:
    """The three tables' rows. sqlite3.Error; ValueError for tables that are not opencode's, or take too long."""
    import sqlite3

    connection = sqlite3.connect(copy)
    try:
        end = time.monotonic() + PATIENCE_S
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA trusted_schema = OFF")
        yield from _ordered(*(_table(connection, name) for name in _TABLES))
    finally:
        connection.close()


def _table(connection: sqlite3.Connection, name: str) -> list[Row]:
    kind = connection.execute("SELECT type FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    if kind is None or kind["type"] != "table":
        raise ValueError(f"the database has no table {name!r}")
    return [_row(name, dict(row)) for row in connection.execute(f'SELECT * FROM "{name}" ORDER BY id')]  # noqa: S608


def _row(table: str, columns: Row) -> Row:
    row: Row = {"table": table, **{name: _value(value) for name, value in columns.items() if value is not None}}
    if "data" in row:
        with suppress(ValueError, RecursionError, TypeError):
            row["data"] = json.loads(row["data"])
    return row


def _value(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _ordered(sessions: list[Row], messages: list[Row], parts: list[Row]) -> Iterator[Row]:
    """Sessions by their time, main ones first; messages by their time; parts by id, as the CLI itself reads them."""
    said, made = _grouped(messages, "session_id"), _grouped(parts, "message_id")
    for session in sorted(sessions, key=lambda row: ("parent_id" in row, *_when(row))):
        yield session
        for message in sorted(said.get(session.get("id"), ()), key=_when):
            yield message
            yield from made.get(message.get("id"), ())


def _when(row: Row) -> tuple[int, str]:
    made = row.get("time_created")
    return (made if isinstance(made, int) else 0, str(row.get("id")))


def _grouped(rows: Iterable[Row], by: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.get(by), []).append(row)
    return groups
