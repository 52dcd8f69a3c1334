"""opencode's database as JSON lines: whole, in order, and never a way into the harness."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalrepo.agents import opencode
from evalrepo.agents.base import Box
from evalrepo.agents.opencode import database
from evalrepo.records.config import Agent, Tier

AGENT = Agent(tiers={"t": Tier()})
DATABASE = ".local/share/opencode/opencode.db"
TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, time_created integer, note blob);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
"""


@pytest.fixture
def box(tmp_path: Path) -> Box:
    for name in ("work", "home", "tmp", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / DATABASE).parent.mkdir(parents=True)
    return Box.bare(*(tmp_path / name for name in ("work", "home", "tmp", "out")))


@pytest.fixture
def writer(box: Box) -> Iterator[sqlite3.Connection]:
    """A CLI that is still there: its rows stand in the write-ahead log alone."""
    connection = sqlite3.connect(box.home / DATABASE, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(TABLES)
    yield connection
    connection.close()


def fill(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO session VALUES ('child', 'main', '/w', 3, NULL), ('main', NULL, '/w', 5, x'00ff')")
    connection.execute("INSERT INTO message VALUES ('m2', 'main', 2, '{\"role\": \"b\"}'), ('m1', 'main', 2, 'torn {')")
    connection.execute("INSERT INTO message VALUES ('m0', 'main', 9, '{}'), ('c1', 'child', 1, '{}')")
    connection.execute(
        "INSERT INTO part VALUES ('p2', 'm1', 'main', '{\"type\": \"text\"}'), ('p1', 'm1', 'main', '{}')"
    )


def exported(box: Box) -> list[dict[str, Any]]:
    found = opencode.native(AGENT, box)
    assert list(found) == ["opencode.jsonl"]
    return [json.loads(line) for line in found["opencode.jsonl"].read_text().splitlines()]


def test_rows_that_were_never_checkpointed_come_in_the_order_of_the_cli(box: Box, writer: sqlite3.Connection):
    fill(writer)
    assert exported(box) == [
        {"table": "session", "id": "main", "directory": "/w", "time_created": 5, "note": "00ff"},
        {"table": "message", "id": "m1", "session_id": "main", "time_created": 2, "data": "torn {"},
        {"table": "part", "id": "p1", "message_id": "m1", "session_id": "main", "data": {}},
        {"table": "part", "id": "p2", "message_id": "m1", "session_id": "main", "data": {"type": "text"}},
        {"table": "message", "id": "m2", "session_id": "main", "time_created": 2, "data": {"role": "b"}},
        {"table": "message", "id": "m0", "session_id": "main", "time_created": 9, "data": {}},
        {"table": "session", "id": "child", "parent_id": "main", "directory": "/w", "time_created": 3},
        {"table": "message", "id": "c1", "session_id": "child", "time_created": 1, "data": {}},
    ]


def test_neither_the_database_nor_its_log_is_changed_and_no_copy_stays(box: Box, writer: sqlite3.Connection):
    fill(writer)
    place = box.home / DATABASE
    before = {path.name: path.read_bytes() for path in place.parent.iterdir()}
    exported(box)
    assert {path.name: path.read_bytes() for path in place.parent.iterdir()} == before
    assert [path.name for path in box.out.iterdir()] == ["opencode.jsonl"]


def test_exporting_twice_gives_the_same(box: Box, writer: sqlite3.Connection):
    fill(writer)
    assert exported(box) == exported(box)


def test_a_rep_that_left_nothing_has_no_transcript(box: Box):
    assert opencode.native(AGENT, box) == {}
    box.output(1).write_bytes(b"")
    assert opencode.native(AGENT, box) == {}


def test_what_was_printed_stands_before_the_rows_with_its_cause_from_the_log(box: Box, writer: sqlite3.Connection):
    error = {"name": "UnknownError", "data": {"message": "See the log.", "ref": "err_1"}}
    events = [{"type": "text", "sessionID": "ses_1"}, {"type": "error", "error": error}]
    box.output(1).write_text("not an event\n" + "".join(json.dumps(event) + "\n" for event in events))
    cause = 'timestamp=2026 level=ERROR message=failed ref=err_1 error="Model not found: \\"x\\"" cause="…"'
    warning = '\x1b[93m\x1b[1m! \x1b[0m agent "x" not found. Falling back to default agent'
    box.errors(1).write_text(f"{cause}\n{warning}\n")
    box.output(2).write_text("")
    lost = 'agent "x" not found. Falling back to default agent'
    assert exported(box)[:4] == [
        {"table": "turn", "number": 1, "session": "ses_1"},
        {"table": "error", "turn": 1, "error": {"name": "AgentNotFound", "data": {"message": lost}}},
        {"table": "error", "turn": 1, "error": error, "cause": 'Model not found: "x"'},
        {"table": "turn", "number": 2, "session": ""},
    ]


def test_what_the_agent_says_cannot_pass_for_a_warning(box: Box, writer: sqlite3.Connection):
    box.output(1).write_text("")
    box.errors(1).write_text('timestamp=2026 level=INFO message="Falling back to default agent"\n')
    assert [row["table"] for row in exported_or_none(box)] == []


def exported_or_none(box: Box) -> list[dict[str, Any]]:
    return exported(box) if opencode.native(AGENT, box) else []


def failure(box: Box) -> str:
    [row] = [row for row in exported(box) if row["table"] == "failure"]
    return str(row["why"])


def test_a_file_that_is_no_database_is_a_failure_with_its_reason(box: Box):
    (box.home / DATABASE).write_bytes(b"nonsense" * 1000)
    assert failure(box) == "file is not a database"


def test_a_database_of_something_else_is_a_failure(box: Box):
    with sqlite3.connect(box.home / DATABASE) as connection:
        connection.execute("CREATE VIEW session AS SELECT 1 AS id")
    assert failure(box) == "the database has no table 'session'"


def test_no_link_that_the_agent_laid_is_followed(box: Box, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    with sqlite3.connect(outside / "opencode.db") as connection:
        connection.executescript(TABLES)
        fill(connection)
    (box.home / DATABASE).symlink_to(outside / "opencode.db")
    assert "Too many levels of symbolic links" in failure(box)
    shutil.rmtree((box.home / DATABASE).parent)
    (box.home / DATABASE).parent.symlink_to(outside)
    assert "Not a directory" in failure(box) or "symbolic links" in failure(box)


def test_a_pipe_in_the_place_of_the_database_does_not_block(box: Box):
    os.mkfifo(box.home / DATABASE)
    assert failure(box) == f"~/{DATABASE} is not a file"


def test_a_table_that_never_ends_is_given_up(box: Box, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(database, "PATIENCE_S", 0.2)
    with sqlite3.connect(box.home / DATABASE) as connection:
        connection.executescript(TABLES)
        connection.executemany("INSERT INTO part (id) VALUES (?)", [(str(n),) for n in range(2000)])
        connection.execute("ALTER TABLE part ADD COLUMN g integer AS (length(hex(zeroblob(1000000 + length(id)))))")
    assert failure(box) == "interrupted"  # fmt: skip


def test_text_that_is_not_utf_8_is_replaced(box: Box, writer: sqlite3.Connection):
    fill(writer)
    writer.execute("INSERT INTO part VALUES ('p3', 'm1', 'main', CAST(x'ff' AS TEXT))")
    assert next(row["data"] for row in exported(box) if row["id"] == "p3") == "\ufffd"
