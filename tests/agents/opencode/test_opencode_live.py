"""Counting calls in files that grow, and what stdout and stderr tell while the CLI runs."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from evalrepo.agents import opencode
from evalrepo.agents.base import Growing
from evalrepo.agents.opencode.sessions import over, session_of
from evalrepo.records.config import Agent, Tier

AGENT = Agent(tiers={"t": Tier()})


def part(ident: str, status: str = "running") -> str:
    state = {"status": status, "input": {}}
    return json.dumps({"type": "tool", "tool": "bash", "callID": ident, "state": state}, separators=(",", ":"))


class Cli:
    """A database that is written as the CLI writes it, checkpointed every few pages."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "opencode.db"
        self.out = folder / "turn-1.out"
        self.watch = Growing((self.out, self.database, folder / "opencode.db-wal"))
        self.connection = sqlite3.connect(self.database, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA wal_autocheckpoint = 8")
        self.connection.execute("CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text)")

    def put(self, ident: str, data: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO part VALUES (?, 'msg', 'ses', ?)", (ident, data))


def test_a_call_is_counted_once_made_and_once_only(tmp_path: Path):
    cli = Cli(tmp_path)
    count = opencode.counter(AGENT, cli.watch)
    assert count() == 0
    cli.put("p1", part("call_1", "pending"))
    assert count() == 0, "its arguments are still coming"
    cli.put("p1", part("call_1"))
    assert count() == 1
    cli.put("p1", part("call_1", "completed"))
    cli.out.write_text('{"type":"tool_use","part":' + part("call_1", "completed") + "}\n")
    assert count() == 1


def test_no_call_is_lost_when_the_write_ahead_log_begins_again(tmp_path: Path):
    cli = Cli(tmp_path)
    count = opencode.counter(AGENT, cli.watch)
    for number in range(200):
        cli.put(f"p{number}", part(f"call_{number}"))
        assert count() == number + 1
    assert (tmp_path / "opencode.db-wal").stat().st_size < 100_000, "it did begin again"


def test_a_resumed_rep_counts_what_earlier_turns_left(tmp_path: Path):
    cli = Cli(tmp_path)
    cli.put("p1", part("call_1"))
    cli.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    count = opencode.counter(AGENT, cli.watch)
    assert count() == 1
    cli.put("p2", part("call_2"))
    assert count() == 2


def test_a_link_in_the_place_of_the_database_is_not_read(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text(part("call_1"))
    (tmp_path / "opencode.db").symlink_to(secret)
    assert opencode.counter(AGENT, Growing((tmp_path / "opencode.db",)))() == 0


def test_the_session_is_the_one_that_the_first_event_names(tmp_path: Path):
    out = tmp_path / "turn-1.out"
    assert session_of(out) == ""
    out.write_text('noise\n[1]\n{"type":"x"}\n{"sessionID":"ses_1"}\n{"sessionID":"ses_2"}\n{"torn')
    assert session_of(out) == "ses_1"


def test_a_cli_that_takes_itself_down_is_over(tmp_path: Path):
    log = tmp_path / "turn-1.err"
    assert not over(log)
    log.write_text("timestamp=1 message=loop\n" * 1000)
    assert not over(log)
    with log.open("a") as file:
        file.write('timestamp=2 level=INFO message="disposing instance" directory=/srv/project\n')
    assert over(log)
