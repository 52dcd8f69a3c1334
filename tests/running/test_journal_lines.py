"""The journal: what is acknowledged is there after any end, and damage is told from a torn end."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from yard import PYTHONPATH, START, Yard, cell, journal, rep

from evalrepo.errors import HarnessError
from evalrepo.records.record import Verdict
from evalrepo.running import lines, story
from evalrepo.running.journal import Journal, journals, lives, sweep
from evalrepo.running.recover import dead_runs

rows = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(), min_size=1), min_size=1, max_size=6)


def sealed(items: list[dict[str, object]]) -> bytes:
    before, out = "", b""
    for item in items:
        line, before = lines.seal(before, item)
        out += line
    return out


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path / "repo").begin()


@drawn(rows)
@settings(max_examples=60, deadline=None)
def test_what_was_sealed_is_read_back(items: list[dict[str, object]]):
    found = lines.read(sealed(items), "j")
    assert (list(found.rows), found.torn) == (items, False)


@drawn(rows, st.data())
@settings(max_examples=100, deadline=None)
def test_a_file_cut_anywhere_gives_the_whole_lines_before_the_cut(items: list[dict[str, object]], data: st.DataObject):
    whole = sealed(items)
    cut = data.draw(st.integers(0, len(whole)))
    nul = data.draw(st.integers(0, 8))
    found = lines.read(whole[:cut] + b"\0" * nul, "j")
    assert list(found.rows) == items[: whole[:cut].count(b"\n")]
    assert found.size == whole[:cut].rfind(b"\n") + 1


@drawn(rows, st.data())
@settings(max_examples=100, deadline=None)
def test_a_changed_byte_before_the_last_line_is_damage_with_its_line(
    items: list[dict[str, object]], data: st.DataObject
):
    whole = sealed([*items, {"a": 1}])
    last = whole[:-1].rfind(b"\n")
    at = data.draw(st.integers(0, last - 1))
    changed = bytearray(whole)
    changed[at] ^= 0x01
    with pytest.raises(HarnessError, match=r"^j:\d+: this line is damaged"):
        lines.read(bytes(changed), "j")


def test_a_hole_of_nul_bytes_in_the_last_line_is_a_torn_end():
    whole = sealed([{"a": 1}, {"b": "x" * 50}])
    at = whole.index(b"xxx")
    found = lines.read(whole[:at] + b"\0" * 20 + whole[at + 20 :], "j")
    assert (found.rows, found.torn) == (({"a": 1},), True)


def test_a_line_that_was_taken_out_is_damage():
    first, second, third = sealed([{"a": 1}, {"a": 2}, {"a": 3}]).splitlines(keepends=True)
    with pytest.raises(HarnessError, match="j:2"):
        lines.read(first + third + second, "j")


def test_a_journal_says_what_was_told_to_it(yard: Yard):
    log = journal(yard)
    log.start(0, 1, 1, START)
    log.kept(0, 1, 1, {"t/a": "1" * 40})
    log.end(0, rep(1), {"t/b": "2" * 40})
    log.start(1, 1, 1, START)
    log.note("a word", 1)
    told = log.read()
    assert told is not None
    assert (told.header.run, told.header.branch, told.header.cells[0].reps) == (log.run, "refs/heads/main", 3)
    assert told.header.cells[1].header == cell("E2-second/case")
    assert told.ends == {story.Key(0, 1, 1): rep(1)}
    assert told.unended == (story.Key(1, 1, 1),)
    assert told.files[story.Key(0, 1, 1)] == {"t/a": "1" * 40, "t/b": "2" * 40}
    assert told.notes == [(1, "a word")]


def test_many_threads_may_write(yard: Yard):
    log = journal(yard)
    threads = [threading.Thread(target=log.start, args=(0, n, 1, START)) for n in range(1, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = log.read()
    assert told is not None
    assert sorted(k.rep for k in told.starts) == list(range(1, 25))


def test_a_second_end_that_is_the_same_is_ignored_and_a_different_one_is_refused(yard: Yard):
    log = journal(yard)
    log.start(0, 1, 1, START)
    log.end(0, rep(1), {})
    log.end(0, rep(1), {})
    assert log.read() is not None
    log.end(0, rep(1, verdict=Verdict.FAIL), {})
    with pytest.raises(HarnessError, match=r"k7m2q9ab.jsonl: line 5 .*ends a second time"):
        log.read()


def test_an_end_without_a_start_and_a_second_start_are_refused(yard: Yard):
    log = journal(yard)
    log.end(0, rep(1), {})
    with pytest.raises(HarnessError, match=r"line 2 .*never started"):
        log.read()


def test_two_cells_of_one_name_are_refused_before_any_rep_runs(yard: Yard):
    with pytest.raises(ValueError, match="two cells"):
        journal(yard, cells=(cell("A"), cell("A")))
    assert journals(yard.repo().home) == []


def test_the_journal_is_locked_while_its_run_lives_and_free_when_it_is_dead(yard: Yard):
    log = journal(yard)
    assert lives(log.path)
    assert Journal.adopt(log.path) is None
    assert dead_runs(yard.repo()) == []
    log.close()
    assert [(d.run, d.started, d.ended, d.problem) for d in dead_runs(yard.repo())] == [(log.run, 0, 0, "")]
    adopted = Journal.adopt(log.path)
    assert adopted is not None
    assert lives(log.path)
    adopted.close()


def test_a_killed_process_frees_its_journal(yard: Yard):
    code = f"import yard; l = yard.journal(yard.Yard(yard.Path({str(yard.top)!r}))); print(1, flush=True); input()"
    env = {**yard.env, "PYTHONPATH": PYTHONPATH}
    process = subprocess.Popen([sys.executable, "-c", code], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    path = journals(yard.repo().home)[0]
    assert lives(path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not lives(path)


@pytest.mark.parametrize("tail", [b"", b"\0\0\0", b'{"line":"start","ce', b'{"line":"sta\0\0\0\0rt","cell":0}\n'])
def test_a_journal_that_is_taken_over_goes_on_after_any_tail(yard: Yard, tail: bytes):
    log = journal(yard)
    log.start(0, 1, 1, START)
    log.close()
    with log.path.open("ab") as file:
        file.write(tail)
    for number in (2, 3):
        adopted = Journal.adopt(log.path)
        assert adopted is not None
        adopted.start(0, number, 1, START)
        adopted.close()
    told = story.fold(story.read(log.path), log.path)
    assert told is not None
    assert [k.rep for k in told.starts] == [1, 2, 3]


def test_a_newer_journal_is_refused_by_its_version(yard: Yard):
    log = journal(yard)
    log.close()
    row = json.loads(log.path.read_bytes().splitlines()[0])
    log.path.write_text(json.dumps({**row, "journal": 7}) + "\n")
    with pytest.raises(HarnessError, match=r"version 7, newer than this evalrepo reads \(1\)"):
        Journal.adopt(log.path)
    assert "version 7" in dead_runs(yard.repo())[0].problem


@pytest.fixture
def small_files():
    """Files of this process cannot grow beyond a bound that the test sets; EFBIG stands for a full disk."""
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, old)


def test_a_write_that_fails_goes_to_a_new_segment_once(yard: Yard, small_files):
    log = journal(yard)
    log.start(0, 1, 1, START)
    small_files(log.path.stat().st_size + 30)
    log.note("short")
    small_files(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    log.start(0, 2, 1, START)
    told = log.read()
    assert told is not None
    assert [k.rep for k in told.starts] == [1, 2]
    assert told.notes == [(None, "short")]
    assert [p.name for p in sorted(log.path.parent.iterdir())] == ["k7m2q9ab.1.jsonl", "k7m2q9ab.jsonl"]


def test_a_line_that_was_written_but_not_acknowledged_gives_way_to_the_next_segment(yard: Yard):
    """fsync failed after a whole write: the line is there, and stands again in the segment that took over."""
    log = journal(yard)
    log.start(0, 1, 1, START)
    log.close()
    whole = story.read(log.path)
    adopted = Journal.adopt(log.path)
    assert adopted is not None
    adopted.start(0, 2, 1, START)
    adopted.close()
    line, _ = lines.seal(whole.seals[-1], {"line": "start", "cell": 0, "rep": 2, "attempt": 1, "at": START})
    with log.path.open("ab") as file:
        file.write(line)
    told = story.fold(story.read(log.path), log.path)
    assert told is not None
    assert [k.rep for k in told.starts] == [1, 2]
    with log.path.open("ab") as file:
        file.write(lines.seal(json.loads(line)["chain"], {"line": "note", "cell": None, "text": "x"})[0])
    with pytest.raises(HarnessError, match="does not follow the one before it"):
        story.read(log.path)


def test_a_write_that_fails_twice_is_an_error_and_so_is_every_later_one(yard: Yard, small_files):
    log = journal(yard)
    log.start(0, 1, 1, START)
    small_files(10)
    with pytest.raises(HarnessError, match=r"k7m2q9ab.jsonl: the journal cannot be written"):
        log.start(0, 2, 1, START)
    small_files(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    with pytest.raises(HarnessError, match="cannot be written"):
        log.end(0, rep(1), {})
    log.close()
    adopted = Journal.adopt(log.path)
    assert adopted is not None
    adopted.note("on")
    told = adopted.read()
    assert told is not None
    assert [k.rep for k in told.starts] == [1]


def test_unfinished_first_lines_and_forgotten_segments_are_swept(yard: Yard):
    log = journal(yard)
    folder = log.path.parent
    (folder / ".deadbeef.new").write_bytes(b"half")
    (folder / "gone0000.1.jsonl").write_bytes(b"half")
    held = os.open(folder / ".living00.new", os.O_CREAT | os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    sweep(yard.repo().home)
    os.close(held)
    assert sorted(p.name for p in folder.iterdir()) == [".living00.new", "k7m2q9ab.jsonl"]


def test_only_the_newest_journals_are_kept_when_they_are_done(yard: Yard):
    for number in range(25):
        log = journal(yard, f"run{number:05d}")
        log.retire()
    done = yard.repo().home / "journal/done"
    assert len(list(done.iterdir())) == 20
    assert (done / "run00024.jsonl").exists()
    assert journals(yard.repo().home) == []
    shutil.rmtree(done)
