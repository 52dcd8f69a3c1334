"""Dead runs: folded, verified, landed and tidied up, and nothing of anybody else touched."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from yard import PYTHONPATH, RUN, START, Yard, assert_sound, cell, journal, measure, play, rep, snapshot

from evalrepo.errors import GitError
from evalrepo.records.record import Record
from evalrepo.running.journal import Journal
from evalrepo.running.keep import finish, run_ref
from evalrepo.running.leases import leased
from evalrepo.running.recover import dead_runs, recover
from evalrepo.running.sequence import assign, given


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path / "repo").begin().person_at_work()


def by_scenario(records: Mapping[str, Record]) -> dict[str, Record]:
    return {r.scenario: r for r in records.values()}


def stop_before(log: Journal, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run dies when it is about to write this line."""
    write = log.append

    def append(row: Mapping[str, object]) -> None:
        if row["line"] == line:
            raise KeyboardInterrupt
        write(row)

    monkeypatch.setattr(log, "append", append)


def test_a_dead_run_is_reported_and_left_alone(yard: Yard):
    measure(yard).close()
    before = snapshot(yard)
    assert [(d.run, d.start, d.started, d.ended) for d in dead_runs(yard.repo())] == [(RUN, START, 4, 3)]
    assert snapshot(yard) == before


def test_a_dead_run_is_folded_and_landed_once(yard: Yard):
    before = yard.work()
    measure(yard).close()
    [done] = recover(yard.repo(), yard.world())
    assert (done.run, done.interrupted, done.error) == (RUN, 1, None)
    assert recover(yard.repo(), yard.world()) == []
    assert dead_runs(yard.repo()) == []
    assert_sound(yard, before)


@pytest.mark.parametrize("line", ["ref", "locking", "committing", "landed"])
def test_a_run_that_died_before_a_line_of_its_landing_lands_once(yard: Yard, line: str, monkeypatch):
    before = yard.work()
    log = measure(yard)
    stop_before(log, line, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        finish(yard.repo(), yard.world(), log)
    log.close()
    [done] = recover(yard.repo(), yard.world())
    assert done.error is None
    assert done.landed is not None
    assert dict(done.landed.records) == yard.results()
    assert yard.git("rev-list", "--count", "HEAD") == "2"
    assert_sound(yard, before)


def test_a_landed_run_that_died_before_it_was_put_away_is_only_put_away(yard: Yard, monkeypatch):
    before = yard.work()
    log = measure(yard)
    monkeypatch.setattr(log, "retire", log.close)
    landed = finish(yard.repo(), yard.world(), log)
    [done] = recover(yard.repo(), yard.world())
    assert done.landed == landed
    assert_sound(yard, before)


def killed(yard: Yard, at: str) -> None:
    """Let the run be killed by SIGKILL at a call of one of our functions."""
    code = f"""
import os, signal, sys, yard
from pathlib import Path
from evalrepo.repository import commit, indexlock
from evalrepo.running.keep import finish
def die(*a, **k):
    os.kill(os.getpid(), signal.SIGKILL)
{at} = die
place = yard.Yard(Path({str(yard.top)!r}))
finish(place.repo(), place.world(), yard.measure(place))
"""
    env = {**yard.env, "PYTHONPATH": PYTHONPATH}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()


def test_between_reference_and_index_nobody_can_commit_and_recovery_finishes_the_index(yard: Yard):
    before = yard.work()
    killed(yard, "indexlock.finish")
    assert len(yard.results()) == 2
    assert (yard.top / ".git/index.lock").exists()
    assert (
        "index.lock"
        in subprocess.run(
            ["git", "commit", "-m", "x"], cwd=yard.top, env=yard.env, capture_output=True, check=False
        ).stderr.decode()
    )
    recover(yard.repo(), yard.world())
    assert yard.git("rev-list", "--count", "HEAD") == "2"
    assert_sound(yard, before)


def test_the_index_is_finished_even_where_nothing_may_land_now(yard: Yard):
    killed(yard, "indexlock.finish")
    (yard.top / ".git/MERGE_HEAD").write_text(yard.git("rev-parse", "HEAD") + "\n")
    [done] = recover(yard.repo(), yard.world())
    assert "in the middle of a merge" in str(done.error)
    assert not (yard.top / ".git/index.lock").exists()
    assert "AgentsReport" not in yard.git("diff", "--cached", "--name-only")


def test_results_that_a_commit_dropped_after_the_lock_was_removed_by_hand_come_back(yard: Yard):
    killed(yard, "indexlock.finish")
    (yard.top / ".git/index.lock").unlink()
    yard.git("commit", "-qm", "drops them")
    assert yard.results() == {}
    recover(yard.repo(), yard.world())
    assert len(yard.results()) == 2
    assert yard.git("diff", "--cached", "--name-only") == ""


def test_a_run_that_died_with_the_lock_and_before_the_reference_leaves_no_file_and_lands(yard: Yard):
    before = yard.work()
    killed(yard, "commit._Attempt.moved")
    assert (yard.top / ".git/index.lock").exists()
    recover(yard.repo(), yard.world())
    assert_sound(yard, before)


def test_files_of_a_landing_that_died_are_taken_away_when_it_goes_to_another_branch(yard: Yard):
    killed(yard, "commit._Attempt.moved")
    (yard.top / ".git/HEAD").write_text("ref: refs/heads/other\n")
    yard.git("update-ref", "refs/heads/other", "main")
    recover(yard.repo(), yard.world())
    assert not (yard.top / "AgentsReport").exists()
    assert len(yard.results("main")) == 2


def test_a_lock_of_somebody_else_is_left_and_the_journal_stays(yard: Yard):
    killed(yard, "commit._Attempt.moved")
    lock = yard.top / ".git/index.lock"
    lock.unlink()
    lock.write_bytes(b"theirs")
    [done] = recover(yard.repo(), yard.world())
    assert isinstance(done.error, GitError)
    assert "is not ours" in str(done.error)
    assert lock.read_bytes() == b"theirs"
    lock.unlink()
    assert [r.error for r in recover(yard.repo(), yard.world())] == [None]
    assert len(yard.results()) == 2


def moving(yard: Yard) -> str:
    """Killed while git was to move the branch to this commit."""
    killed(yard, "commit._Attempt.swapped")
    log = Journal.adopt(yard.repo().home / f"journal/{RUN}.jsonl")
    assert log is not None
    commit = yard.git("rev-parse", "HEAD")
    log.append({"line": "committing", "commit": commit, "ref": "refs/heads/main", "top": str(yard.top), "index": ""})
    log.close()
    return commit


@pytest.mark.parametrize("content", ["", "commit"])
def test_locks_of_references_that_a_killed_git_left_are_removed(yard: Yard, content: str):
    before = yard.work()
    commit = moving(yard)
    (yard.top / ".git/refs/heads/main.lock").write_text(f"{commit}\n" if content else "")
    (yard.top / ".git/HEAD.lock").touch()
    (yard.top / f".git/{run_ref(RUN)}.lock").parent.mkdir(parents=True, exist_ok=True)
    (yard.top / f".git/{run_ref(RUN)}.lock").touch()
    (yard.top / ".git/objects/ab").mkdir(exist_ok=True)
    (yard.top / ".git/objects/ab/tmp_obj_XyZ123").write_bytes(b"half")
    assert [r.error for r in recover(yard.repo(), yard.world())] == [None]
    assert_sound(yard, before)


@pytest.mark.parametrize("why", ["another commit in it", "too old", "a git at work"])
def test_a_reference_lock_that_another_git_may_hold_is_left(yard: Yard, why: str, monkeypatch):
    moving(yard)
    lock = yard.top / ".git/refs/heads/main.lock"
    lock.write_text("1" * 40 + "\n" if why == "another commit in it" else "")
    if why == "too old":
        os.utime(lock, (0, 0))
    monkeypatch.setattr("evalrepo.repository.stale.PATIENCE_S", 0.1)
    cat = subprocess.Popen(["git", "cat-file", "--batch"], cwd=yard.top, env=yard.env, stdin=subprocess.PIPE)
    if why != "a git at work":
        cat.communicate()
    try:
        [done] = recover(yard.repo(), yard.world())
        assert isinstance(done.error, GitError)
        assert lock.exists()
    finally:
        cat.communicate()
    assert not (yard.top / ".git/index.lock").exists()
    lock.unlink()
    assert [r.error for r in recover(yard.repo(), yard.world())] == [None]


def test_a_run_reference_that_somebody_else_made_is_left(yard: Yard):
    measure(yard).close()
    yard.git("update-ref", run_ref(RUN), "HEAD")
    [done] = recover(yard.repo(), yard.world())
    assert "is there already, and is not this run's" in str(done.error)
    assert yard.git("rev-parse", run_ref(RUN)) == yard.git("rev-parse", "HEAD")


def test_the_transcript_of_an_interrupted_rep_is_kept_when_it_was_stored(yard: Yard):
    log = journal(yard)
    log.start(0, 1, 1, START)
    data = b"what it said\n"
    log.kept(0, 1, 1, {"transcripts/x/main.jsonl": yard.repo().write_blob(data)})
    log.close()
    recover(yard.repo(), yard.world())
    [record] = yard.results().values()
    stored = record.reps[0].transcript
    assert stored is not None
    assert (stored.path, stored.size) == ("transcripts/x/main.jsonl", len(data))
    assert stored.sha256 == hashlib.sha256(data).hexdigest()
    assert yard.git("show", f"{run_ref(RUN)}:{stored.path}") == "what it said"


def loose(yard: Yard, oid: str) -> Path:
    path = yard.top / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    return path


def test_a_transcript_whose_object_a_power_cut_emptied_is_told_and_the_verdict_stands(yard: Yard):
    log = measure(yard)
    told = log.read()
    assert told is not None
    oid = next(iter(told.files.values()))["transcripts/0/1-1/log.jsonl"]
    log.close()
    loose(yard, oid).write_bytes(b"")
    [done] = recover(yard.repo(), yard.world())
    assert done.error is None
    first = by_scenario(yard.results())["E1-first"]
    assert [(r.verdict, r.transcript is None) for r in first.reps] == [("PASS", True), ("FAIL", False)]
    assert "the transcript of rep 1 was lost" in first.notes
    assert done.landed is not None
    assert done.landed.notes == ("transcripts/0/1-1/log.jsonl: lost, its object in git is damaged",)
    yard.git("rev-list", "--objects", run_ref(RUN))


def test_records_whose_objects_a_power_cut_emptied_are_written_again_under_the_same_numbers(yard: Yard, monkeypatch):
    before = yard.work()
    log = measure(yard)
    stop_before(log, "ref", monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        finish(yard.repo(), yard.world(), log)
    log.close()
    tree = given(yard.repo().home)[-1].tree
    for line in yard.git("ls-tree", "-r", tree).splitlines():
        loose(yard, line.split()[2]).write_bytes(b"")
    loose(yard, tree).write_bytes(b"")
    assert [r.error for r in recover(yard.repo(), yard.world())] == [None]
    assert_sound(yard, before)


def test_numbers_that_were_given_are_found_again_and_never_given_twice(yard: Yard):
    home = yard.repo().home

    def make(first: int, previous: str) -> tuple[str, str]:
        return f"tree{first}", f"last{first}"

    first = assign(home, "a", 3, make)
    second = assign(home, "b", 2, make)
    assert (first.first, second.first, second.previous) == (1, 4, "last1")
    with (home / "sequence").open("ab") as file:
        file.write(b'{"run":"c","fir')
    assert assign(home, "a", 3, make) == first
    assert assign(home, "c", 1, make).first == 6
    assert [a.run for a in given(home)] == ["a", "b", "c"]


def test_a_damaged_journal_is_reported_and_kept_and_the_others_are_recovered(yard: Yard):
    log = measure(yard)
    log.close()
    bad = journal(yard, "bad00000")
    play(yard, bad, 0, 1)
    bad.close()
    data = bad.path.read_bytes().replace(b'"rep":1', b'"rep":9', 1)
    bad.path.write_bytes(data)
    done = {r.run: r for r in recover(yard.repo(), yard.world())}
    assert done[RUN].error is None
    assert "bad00000.jsonl:2: this line is damaged" in str(done["bad00000"].error)
    assert bad.path.read_bytes() == data
    assert len(yard.results()) == 2


def test_sandboxes_and_agents_that_outlived_their_run_are_ended(yard: Yard, tmp_path: Path):
    box, apart = tmp_path / "box", tmp_path / "apart"
    for place in (box, apart):
        (place / "home").mkdir(parents=True)
    agents = [
        subprocess.Popen(["sleep", "60"], env={"HOME": str(place / "home"), "PATH": os.environ["PATH"]}, cwd="/")
        for place in (box, apart)
    ]
    leases = yard.repo().home / "boxes"
    leases.mkdir(parents=True)
    for name, place in (("box", box), ("top", yard.top), ("root", "/")):
        (leases / name).write_text(str(place))
    try:
        recover(yard.repo(), yard.world())
        assert agents[0].wait(timeout=5) == -9
        assert agents[1].poll() is None
    finally:
        agents[1].kill()
        agents[1].wait()
    assert not box.exists()
    assert apart.exists()
    assert (yard.top / "kept.txt").exists()
    assert list(leases.iterdir()) == []


def test_a_directory_that_a_living_process_holds_is_left(yard: Yard, tmp_path: Path):
    box = tmp_path / "box"
    with leased(yard.repo().home, box):
        recover(yard.repo(), yard.world())
        assert box.exists()
    assert not box.exists()
    assert list((yard.repo().home / "boxes").iterdir()) == []


def test_two_processes_do_not_recover_the_same_run(yard: Yard):
    before = yard.work()
    measure(yard).close()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.extend(recover(yard.repo(), yard.world()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1
    assert_sound(yard, before)


def test_a_git_of_the_dead_run_that_still_makes_its_reference_is_no_obstacle(yard: Yard, monkeypatch):
    before = yard.work()
    log = measure(yard)
    stop_before(log, "landed", monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        finish(yard.repo(), yard.world(), log)
    log.close()
    commit = yard.git("rev-parse", run_ref(RUN))
    yard.git("update-ref", "-d", run_ref(RUN))
    late = threading.Timer(0.05, lambda: yard.git("update-ref", run_ref(RUN), commit))
    late.start()
    time.sleep(0.06)
    recover(yard.repo(), yard.world())
    late.join()
    assert_sound(yard, before)


def test_a_run_of_one_cell_whose_clock_went_back_ends_after_it_began(yard: Yard):
    log = journal(yard, cells=(cell("E1-first"),))
    log.start(0, 1, 1, "2026-11-29T21:53:48Z")
    log.end(0, rep(1), {})
    log.start(0, 2, 1, "2026-11-29T20:00:00Z")
    landed = finish(yard.repo(), yard.world(), log)
    [record] = landed.records.values()
    assert record.start <= record.end
