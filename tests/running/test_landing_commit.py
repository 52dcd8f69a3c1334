"""The result commit: on the right branch, and the person's own work as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from yard import PYTHONPATH, RESULTS, RUN, START, Yard, cell, journal, measure, play, rep

from evalrepo.errors import GitError
from evalrepo.repository.commit import Landing, land
from evalrepo.running.keep import finish, run_ref
from evalrepo.running.recover import recover

FILE = f"{RESULTS}2026-11-29_scenario-X_a-b_{RUN}.md"


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path / "repo with a space").begin().person_at_work()


def put(
    yard: Yard, files: dict[str, bytes] | None = None, *, branch: str | None = "refs/heads/main", wait: float = 10
) -> str:
    on = Landing(name=RUN, branch=branch, tell=lambda step, facts: None, wait_s=wait)
    return land(yard.repo(), files or {FILE: b"a result\n"}, "evalrepo: one\n\nEvalrepo-Run: x\n", on=on)


def test_a_result_is_committed_and_staged_modified_and_untracked_files_stay_as_they_were(yard: Yard):
    before, index = yard.work(), yard.git("diff", "--cached")
    commit = put(yard)
    assert yard.git("rev-parse", "HEAD") == commit
    assert yard.git("show", "--name-status", "--format=%an <%ae> %s", "HEAD") == (
        f"Ada <ada@example.org> evalrepo: one\n\nA\t{FILE}"
    )
    assert (yard.top / FILE).read_bytes() == b"a result\n"
    assert yard.work() == before
    assert yard.git("diff", "--cached") == index
    assert "AgentsReport" not in yard.git("status", "--porcelain")
    assert not list((yard.top / ".git").rglob("*.lock"))


def test_the_reflogs_of_branch_and_head_say_what_moved_them(yard: Yard):
    put(yard)
    assert yard.git("reflog", "-1", "--format=%gs") == "evalrepo: one"
    assert yard.git("reflog", "-1", "--format=%gs", "main") == "evalrepo: one"


def test_landing_again_makes_no_second_commit(yard: Yard):
    assert put(yard) == put(yard)
    assert yard.git("rev-list", "--count", "HEAD") == "2"


def test_an_index_that_lost_a_landed_result_gets_it_back(yard: Yard):
    commit = put(yard)
    yard.git("rm", "-q", "--cached", FILE)
    assert put(yard) == commit
    assert yard.git("diff", "--cached", "--name-only", "--", "AgentsReport") == ""


@pytest.mark.parametrize("blocker", ["file", "folder", "parent", "link", "dangling"])
def test_something_else_in_the_place_of_a_result_stops_everything(yard: Yard, blocker: str, tmp_path: Path):
    place = yard.top / FILE
    if blocker in ("file", "folder"):
        place.parent.mkdir(parents=True)
        place.write_text("mine") if blocker == "file" else place.mkdir()
    elif blocker == "parent":
        (yard.top / "AgentsReport").write_text("mine")
    else:
        target = tmp_path / "elsewhere"
        if blocker == "link":
            target.mkdir()
        (yard.top / "AgentsReport").symlink_to(target)
    before, head = yard.git("status", "--porcelain"), yard.git("rev-parse", "HEAD")
    with pytest.raises(GitError, match="AgentsReport"):
        put(yard, {f"{RESULTS}first.md": b"1", FILE: b"a result\n"})
    assert yard.git("rev-parse", "HEAD") == head
    assert yard.git("status", "--porcelain") == before
    assert not (tmp_path / "elsewhere").exists() or not list((tmp_path / "elsewhere").iterdir())
    assert not (yard.top / ".git/index.lock").exists()


def test_a_file_staged_where_a_folder_of_results_has_to_be_stays_staged(yard: Yard):
    yard.write({"AgentsReport": "mine"})
    yard.git("add", "AgentsReport")
    (yard.top / "AgentsReport").unlink()
    before = yard.git("ls-files", "-s")
    with pytest.raises(GitError, match="something else stands"):
        put(yard)
    assert yard.git("ls-files", "-s") == before


@pytest.mark.parametrize("path", [FILE, f"{FILE}/below", "AgentsReport/evaluation"])
def test_something_else_in_the_commit_or_in_the_index_alone_stops_everything(yard: Yard, path: str):
    yard.git("stash", "-q", "-u")
    yard.write({path: "mine"})
    yard.git("add", "-A")
    (yard.top / path).unlink()
    before = yard.git("ls-files", "-s")
    with pytest.raises(GitError, match="something else stands"):
        put(yard)
    assert yard.git("ls-files", "-s") == before
    yard.git("commit", "-qm", "mine")
    yard.git("checkout", "-q", "-f", "-b", "other", "HEAD~1")
    head = yard.git("rev-parse", "main")
    with pytest.raises(GitError, match="something else stands"):
        put(yard)
    assert yard.git("rev-parse", "main") == head


def test_a_lock_held_by_another_git_is_waited_for_and_never_removed(yard: Yard):
    lock = yard.top / ".git/index.lock"
    lock.write_bytes(b"theirs")
    head = yard.git("rev-parse", "HEAD")
    with pytest.raises(GitError, match="held by another git process"):
        put(yard, wait=0.2)
    assert lock.read_bytes() == b"theirs"
    assert yard.git("rev-parse", "HEAD") == head
    assert not (yard.top / FILE).exists()
    threading.Timer(0.3, lock.unlink).start()
    put(yard)
    assert not lock.exists()


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "bisect"])
def test_nothing_moves_in_the_middle_of_a(yard: Yard, what: str):
    yard.git("stash", "-q", "-u")
    yard.git("checkout", "-q", "-b", "side", "HEAD")
    yard.write({"kept.txt": "side\n"})
    yard.git("commit", "-qam", "side")
    yard.git("checkout", "-q", "main")
    yard.write({"kept.txt": "main\n"})
    yard.git("commit", "-qam", "main")
    args = {"merge": ["merge", "side"], "rebase": ["rebase", "side"], "cherry-pick": ["cherry-pick", "side"]}
    yard.git(*args.get(what, ["bisect", "start"]), check=False)
    before = yard.git("for-each-ref"), yard.git("status", "--porcelain"), yard.git("ls-files", "-s")
    with pytest.raises(GitError, match=f"{what}|rebase"):
        put(yard)
    assert (yard.git("for-each-ref"), yard.git("status", "--porcelain"), yard.git("ls-files", "-s")) == before


def test_a_run_before_the_first_commit_is_refused(tmp_path: Path):
    yard = Yard(tmp_path / "repo")
    yard.top.mkdir()
    yard.git("init", "-q", "-b", "main")
    with pytest.raises(GitError, match="first commit"):
        put(yard)


def test_without_an_identity_evalrepo_commits_as_itself(yard: Yard):
    yard.git("config", "--unset", "user.name")
    yard.git("config", "--unset", "user.email")
    put(yard)
    assert yard.git("log", "-1", "--format=%an <%ae>") == "evalrepo <evalrepo@localhost>"


def test_a_detached_head_itself_is_moved(yard: Yard):
    yard.git("checkout", "-q", "--detach")
    main = yard.git("rev-parse", "main")
    commit = put(yard, branch=None)
    assert yard.git("rev-parse", "HEAD") == commit
    assert yard.git("rev-parse", "main") == main
    assert yard.git("symbolic-ref", "-q", "HEAD", check=False) == ""


def test_results_land_on_the_branch_of_the_start_when_another_is_checked_out_now(yard: Yard):
    yard.git("checkout", "-q", "-b", "other")
    before, index = yard.work(), yard.git("ls-files", "-s")
    commit = put(yard)
    assert yard.git("rev-parse", "main") == commit
    assert yard.git("rev-parse", "other") != commit
    assert (yard.work(), yard.git("ls-files", "-s")) == (before, index)
    assert not (yard.top / "AgentsReport").exists()


def test_a_branch_that_is_checked_out_in_another_work_tree_gets_its_index_and_files_there(yard: Yard, tmp_path: Path):
    yard.git("checkout", "-q", "-b", "other")
    second = tmp_path / "second tree"
    yard.git("worktree", "add", "-q", str(second), "main")
    put(yard)
    assert (second / FILE).read_bytes() == b"a result\n"
    assert yard.git("status", "--porcelain", cwd=second) == ""
    yard.git("commit", "-q", "--allow-empty", "-m", "next", cwd=second)
    assert FILE in yard.git("ls-tree", "-r", "--name-only", "main")


def test_a_branch_that_was_deleted_gives_way_to_the_one_checked_out(yard: Yard):
    commit = put(yard, branch="refs/heads/gone")
    assert yard.git("rev-parse", "main") == commit


def test_a_linked_work_tree_uses_its_own_index(yard: Yard, tmp_path: Path):
    second = tmp_path / "second"
    yard.git("worktree", "add", "-q", "-b", "two", str(second))
    before = yard.work(), yard.git("ls-files", "-s")
    on = Landing(name=RUN, branch="refs/heads/two", tell=lambda step, facts: None)
    land(yard.repo(second), {FILE: b"a result\n"}, "m", on=on)
    assert yard.git("status", "--porcelain", cwd=second) == ""
    assert (yard.work(), yard.git("ls-files", "-s")) == before


def test_a_sha256_repository(tmp_path: Path):
    yard = Yard(tmp_path / "repo").begin("--object-format=sha256").person_at_work()
    before = yard.work()
    assert len(put(yard)) == 64
    assert yard.work() == before


def test_a_split_index_and_intent_to_add_entries_stay(yard: Yard):
    yard.git("add", "-N", "untracked.txt")
    yard.git("update-index", "--split-index")
    yard.git("update-index", "--assume-unchanged", "kept.txt")
    before = yard.work()
    put(yard)
    assert yard.work() == before
    assert " A untracked.txt" in yard.git("status", "--porcelain")


def test_a_sparse_checkout_without_the_results_folder(yard: Yard):
    yard.git("stash", "-q", "-u")
    yard.write({"docs/a.md": "a\n", "code/b.py": "b\n"})
    yard.git("add", "-A")
    yard.git("commit", "-qm", "more")
    yard.git("sparse-checkout", "set", "--cone", "--sparse-index", "code")
    assert not (yard.top / "docs").exists()
    put(yard)
    assert yard.git("status", "--porcelain") == ""
    assert not (yard.top / "docs").exists()
    assert FILE in yard.git("ls-tree", "-r", "--name-only", "HEAD")
    assert "docs/a.md" in yard.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_file_changed_in_the_second_of_the_last_git_add_is_still_modified(yard: Yard):
    """Same size, same time as the index: git can only tell by the index file's own time, which a copy has to keep."""
    yard.git("stash", "-q", "-u")
    yard.write({"racy.txt": "aaaa"})
    yard.git("add", "racy.txt")
    stamp = (yard.top / ".git/index").stat().st_mtime_ns
    os.utime(yard.top / "racy.txt", ns=(stamp, stamp))
    yard.git("update-index", "--refresh", check=False)
    yard.git("add", "racy.txt")
    stamp = (yard.top / "racy.txt").stat().st_mtime_ns
    os.utime(yard.top / ".git/index", ns=(stamp, stamp))
    yard.write({"racy.txt": "bbbb"})
    os.utime(yard.top / "racy.txt", ns=(stamp, stamp))
    put(yard)
    assert yard.git("status", "--porcelain") == "AM racy.txt"


def test_hooks_and_signing_of_the_user_are_not_asked(yard: Yard):
    hook = yard.top / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-index-change", "pre-commit"):
        (hook.parent / name).write_text("#!/bin/sh\ntouch ../marker\nexit 1\n")
        (hook.parent / name).chmod(0o755)
    yard.git("config", "commit.gpgSign", "true")
    put(yard)
    assert not (yard.top.parent / "marker").exists()


def quietly(yard: Yard, *args: str) -> bool:
    return subprocess.run(["git", *args], cwd=yard.top, env=yard.env, capture_output=True, check=False).returncode == 0


def committer(yard: Yard, stop: threading.Event, made: list[str]) -> None:
    number = 0
    while not stop.is_set():
        number += 1
        (yard.top / f"loop-{number}.txt").write_text(f"{number}\n")
        args = ["add", f"loop-{number}.txt"], ["commit", "-q", "-m", f"loop {number}"]
        if all(quietly(yard, *a) for a in args):
            made.append(f"loop-{number}.txt")


def test_landings_beside_a_loop_of_commits_lose_neither(yard: Yard):
    yard.git("reset", "-q", "--hard")
    stop, made = threading.Event(), []
    loop = threading.Thread(target=committer, args=(yard, stop, made))
    loop.start()
    try:
        names = [f"{RESULTS}r{n}.md" for n in range(8)]
        for name in names:
            put(yard, {name: name.encode()})
            time.sleep(0.02)
    finally:
        stop.set()
        loop.join()
    yard.git("commit", "-q", "--allow-empty", "-m", "last")
    there = yard.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert len(made) > 2
    assert set(names) | set(made) <= set(there)
    assert yard.git("log", "--diff-filter=D", "--name-only", "--format=") == ""
    assert yard.git("fsck", "--full", "--strict", "--no-dangling") == ""


SECOND = """
import sys
from pathlib import Path
from yard import Yard, measure
from evalrepo.running.keep import finish
yard = Yard(Path(sys.argv[1]))
log = measure(yard, sys.argv[2])
sys.stdin.readline()
print(finish(yard.repo(), yard.world(), log).commit)
"""


def test_two_processes_that_finish_at_once_both_land_and_share_one_count(yard: Yard):
    before = yard.work()
    runs = ("aaaaaaaa", "bbbbbbbb", "cccccccc")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SECOND, str(yard.top), run],
            env={**yard.env, "PYTHONPATH": PYTHONPATH},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for run in runs
    ]
    time.sleep(1)
    for process in processes:
        assert process.stdin
        process.stdin.write(b"\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0].decode().strip() for process in processes]
    assert all(len(s) == 40 for s in said), said
    records = yard.results()
    assert sorted({r.run for r in records.values()}) == list(runs)
    assert sorted(r.sequence for r in records.values()) == [1, 2, 3, 4, 5, 6]
    assert len({r.clone for r in records.values()}) == 1
    assert yard.work() == before


def test_a_run_becomes_records_a_reference_and_a_commit_with_trailers(yard: Yard):
    landed = finish(yard.repo(), yard.world(), measure(yard))
    records = yard.results()
    assert {n.rpartition("/")[2] for n in records} == {
        f"2026-11-29_scenario-E1-first_scripted-good_{RUN}.md",
        f"2026-11-29_scenario-E2-second~case_scripted-good_{RUN}.md",
    }
    assert records == landed.records
    first = next(r for r in records.values() if r.scenario == "E1-first")
    assert (first.start, first.end, first.models) == (START, "2026-11-29T21:53:50Z", ("m-1",))
    tree = yard.git("ls-tree", "-r", "--name-only", run_ref(RUN)).splitlines()
    assert [p for p in tree if p.startswith("transcripts/")] == [
        "transcripts/0/1-1/log.jsonl",
        "transcripts/0/2-1/log.jsonl",
        "transcripts/1/1-1/log.jsonl",
    ]
    assert sorted(p.removeprefix("results/") for p in tree if p.startswith("results/")) == sorted(
        n.rpartition("/")[2] for n in records
    )
    digest = first.digests.subject
    assert yard.git("log", "-1", "--format=%(trailers)").splitlines() == [
        f"Evalrepo-Run: {RUN}",
        f"Evalrepo-Subject: orchestration {digest}",
    ]
    assert yard.git("rev-parse", run_ref(RUN)) == landed.ref_commit


def test_without_a_commit_only_the_run_reference_is_written(yard: Yard):
    head, before = yard.git("rev-parse", "HEAD"), yard.work()
    landed = finish(yard.repo(), yard.world(), measure(yard), commit=False)
    assert landed.commit == ""
    assert yard.git("rev-parse", "HEAD") == head
    assert yard.git("for-each-ref", "--format=%(refname)", "refs/evalrepo/") == run_ref(RUN)
    assert yard.work() == before
    assert not (yard.top / "AgentsReport").exists()


def test_a_snapshot_of_what_was_measured_goes_into_the_run_reference(yard: Yard):
    tree = yard.git("write-tree")
    log = journal(yard, snapshot=tree)
    play(yard, log, 0, 1)
    finish(yard.repo(), yard.world(), log)
    assert yard.git("show", f"{run_ref(RUN)}:snapshot/staged.txt") == "two"


def test_a_run_in_which_no_rep_was_started_leaves_nothing(yard: Yard):
    head = yard.git("rev-parse", "HEAD")
    landed = finish(yard.repo(), yard.world(), journal(yard))
    assert (landed.ref, landed.commit, dict(landed.records)) == ("", "", {})
    assert yard.git("rev-parse", "HEAD") == head
    assert recover(yard.repo(), yard.world()) == []


def test_a_merge_in_progress_keeps_the_journal_and_the_next_run_lands_it(yard: Yard):
    yard.git("stash", "-q", "-u")
    log = measure(yard)
    yard.git("checkout", "-q", "-b", "side")
    yard.git("commit", "-q", "--allow-empty", "-m", "side")
    yard.git("checkout", "-q", "main")
    yard.git("merge", "-q", "--no-ff", "--no-commit", "side")
    with pytest.raises(GitError, match="in the middle of a merge"):
        finish(yard.repo(), yard.world(), log)
    log.close()
    again = recover(yard.repo(), yard.world())
    assert [(r.landed, str(r.error)[:27]) for r in again] == [(None, "git is in the middle of a m")]
    yard.git("merge", "--abort")
    assert [r.error for r in recover(yard.repo(), yard.world())] == [None]
    assert len(yard.results()) == 2
    assert recover(yard.repo(), yard.world()) == []


def test_top_ups_in_a_later_run_count_on(yard: Yard):
    for number, run in enumerate(("aaaaaaaa", "bbbbbbbb"), 1):
        log = journal(yard, run, (cell("E1-first"),))
        log.start(0, 1, 1, START)
        log.end(0, rep(1), {})
        landed = finish(yard.repo(), yard.world(), log)
        assert [r.sequence for r in landed.records.values()] == [number]
