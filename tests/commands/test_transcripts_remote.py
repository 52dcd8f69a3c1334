"""`evalrepo transcripts`: a bare remote, the clone that measured and another one; pushed, fetched, pruned, brought back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .audit_world import BAD, Audited, measured, record
from .conftest import SCENARIO

RUNS = "refs/evalrepo/runs/"


@pytest.fixture
def repo(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Audited:
    """A clone of a bare remote that has its branch, and nothing of its one run."""
    found = measured(tmp_path_factory, tmp_path)
    found.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    found.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    found.git("push", "-q", "origin", "main")
    return found


@pytest.fixture
def other(repo: Audited, tmp_path: Path) -> Audited:
    """Another clone of the remote, without run refs."""
    found = repo.clone_of(tmp_path / "other")
    found.git("remote", "set-url", "origin", str(tmp_path / "hub.git"))
    return found


def run_of(repo: Audited) -> str:
    run: str = record(repo.path / repo.results()[0])["run"]
    return run


def hub(repo: Audited) -> dict[str, str]:
    """Run → commit at the remote."""
    rows = (line.split("\t") for line in repo.git("ls-remote", "origin", f"{RUNS}*").splitlines())
    return {ref.removeprefix(RUNS): oid for oid, ref in rows}


def at(repo: Audited, run: str) -> str:
    return repo.git("rev-parse", "--verify", "-q", RUNS + run, check=False).strip()


def put(repo: Audited, ref: str) -> str:
    """A commit of an empty tree at a reference."""
    tree = repo.git("hash-object", "-t", "tree", "-w", "/dev/null").strip()
    commit = repo.git("commit-tree", "-m", "other", tree).strip()
    repo.git("update-ref", ref, commit)
    return commit


def test_pushed_runs_are_at_the_remote_with_count_and_size_and_a_second_push_has_nothing_to_do(repo: Audited):
    run = run_of(repo)
    said = repo.run("transcripts", "push")
    assert f"{run}: " in said
    assert "1 run pushed to origin, " in said
    assert hub(repo) == {run: at(repo, run)}
    assert repo.run("transcripts", "push", "origin") == "1 run was there already\n"


def test_a_fetched_run_makes_its_transcripts_readable_in_another_clone(repo: Audited, other: Audited):
    run = run_of(repo)
    repo.run("transcripts", "push")
    assert f"evalrepo transcripts fetch --run {run}" in other.run("export", "S1", "--output", "out", exit=2)
    data = other.json("transcripts", "fetch")
    assert [(one["run"], one["commit"], one["tombstone"]) for one in data["moved"]] == [(run, at(repo, run), False)]
    assert data["moved"][0]["bytes"] > 0
    assert "3 documents" in other.run("export", "S1", "--output", "out")
    other.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("matches: hallo", "matches: hall")}, "another check")
    assert len(other.json("rescore", "S1", "--dry-run")["made"][0]["reps"]) == 3
    assert other.run("transcripts", "fetch") == "1 run was there already\n"


def test_only_the_named_run_is_carried(repo: Audited, other: Audited):
    first = run_of(repo)
    second = record(repo.path / repo.measure(BAD))["run"]
    repo.run("transcripts", "push", "--run", second)
    assert list(hub(repo)) == [second]
    repo.run("transcripts", "push")
    other.run("transcripts", "fetch", "--run", first)
    assert (bool(at(other, first)), bool(at(other, second))) == (True, False)
    said = other.run("transcripts", "fetch")
    assert f"{second}: " in said
    assert "1 run was there already" in said


def test_prune_leaves_a_tombstone_with_the_results_that_audit_rescore_and_export_recognise(repo: Audited):
    run = run_of(repo)
    repo.run("transcripts", "push")
    old, message = at(repo, run), repo.git("log", "-1", "--format=%B", RUNS + run)
    said = " ".join(repo.run("transcripts", "prune", run).split())
    assert "1 run pruned: " in said
    assert "git gc" in said
    stone = json.loads(repo.git("show", f"{RUNS}{run}:tombstone.json"))
    assert (stone["run"], stone["commit"], stone["remote"]) == (run, old, "origin")
    assert stone["by"] == "Test Person <person@example.org>"
    assert repo.git("rev-parse", f"{RUNS}{run}:results") == repo.git("rev-parse", f"{old}:results")
    assert repo.git("ls-tree", "--name-only", RUNS + run).split() == ["results", "tombstone.json"]
    assert repo.git("log", "-1", "--format=%B%P", RUNS + run).strip() == message.strip()
    assert repo.findings() == []
    way = f"evalrepo transcripts fetch --run {run}"
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("matches: hallo", "matches: hall")}, "another check")
    for words in (("rescore", "S1"), ("export", "S1", "--output", "out")):
        told = " ".join(repo.run(*words, exit=2).split())
        assert "its transcripts were pruned here" in told
        assert way in told


def test_a_result_that_was_edited_is_found_though_its_run_was_pruned(repo: Audited):
    run, (path,) = run_of(repo), repo.results()
    repo.run("transcripts", "prune", run, "--not-pushed")
    text = (repo.path / path).read_text()
    repo.commit({path: text.replace("S1-typo", "S1-typo ", 1)}, "an edit")
    assert ("RUN004", path) in repo.wrong()


def test_gc_gives_the_disk_back_and_a_named_fetch_the_transcripts(repo: Audited):
    run = run_of(repo)
    repo.run("transcripts", "push")
    old = at(repo, run)
    before = repo.json("transcripts", "prune", "--keep", "0", "--dry-run")
    assert at(repo, run) == old
    data = repo.json("transcripts", "prune", "--keep", "0")
    assert data["freed"] == before["freed"]
    assert 0 < data["freed"]["bytes"] <= data["stones"][0]["bytes"]
    repo.git("gc", "-q", "--prune=now")
    assert repo.git("cat-file", "-t", old, check=False) == ""
    assert "1 run pruned here, left so" in repo.run("transcripts", "fetch")
    assert at(repo, run) != old
    repo.run("transcripts", "fetch", "--run", run)
    assert at(repo, run) == old
    assert "3 documents" in repo.run("export", "S1", "--output", "out")
    repo.git("fsck", "--no-dangling")


def test_what_the_remote_does_not_hold_is_not_pruned_unless_told(repo: Audited):
    run = run_of(repo)
    old = at(repo, run)
    said = repo.run("transcripts", "prune", run, exit=1)
    assert f"not pruned: {run}: origin does not hold it" in said
    assert f"evalrepo transcripts push origin --run {run}" in " ".join(said.split())
    (left,) = repo.json("transcripts", "prune", run, exit=1)["left"]
    assert (left["run"], at(repo, run)) == (run, old)
    put(repo, RUNS + "other")
    repo.git("push", "-q", "origin", f"{RUNS}other:{RUNS}{run}")
    assert "origin holds another one" in " ".join(repo.run("transcripts", "prune", run, exit=1).split())
    assert at(repo, run) == old
    repo.run("transcripts", "prune", run, "--not-pushed")
    assert at(repo, run) != old


def test_a_run_whose_journal_is_open_is_never_pruned(repo: Audited):
    run = run_of(repo)
    repo.run("transcripts", "push")
    (journal,) = (repo.path / ".git/evalrepo/journal/done").glob("*.jsonl")
    (repo.path / ".git/evalrepo/journal" / journal.name).write_bytes(journal.read_bytes())
    old = at(repo, run)
    assert "its journal is open" in " ".join(repo.run("transcripts", "prune", run, "--not-pushed", exit=1).split())
    assert at(repo, run) == old


def test_a_tombstone_replaces_no_whole_run_on_either_side(repo: Audited, other: Audited):
    run = run_of(repo)
    repo.run("transcripts", "push")
    other.run("transcripts", "fetch")
    old = at(repo, run)
    repo.run("transcripts", "prune", run)
    assert repo.run("transcripts", "push") == "1 run was there already\n"
    assert hub(repo) == {run: old}
    repo.git("push", "-qf", "origin", f"{RUNS}{run}:{RUNS}{run}")
    assert other.run("transcripts", "fetch") == "1 run was there already\n"
    assert at(other, run) == old
    said = " ".join(repo.run("transcripts", "fetch", "--run", run, exit=1).split())
    assert "its transcripts were pruned here, and origin has only a tombstone of it too" in said
    assert "1 run pushed" in other.run("transcripts", "push")
    assert hub(repo) == {run: old}
    repo.run("transcripts", "fetch", "--run", run)
    assert at(repo, run) == old


def test_a_configured_refspec_replaces_nothing_either(repo: Audited, other: Audited):
    run = run_of(repo)
    repo.run("transcripts", "push")
    other.run("transcripts", "fetch")
    old = at(other, run)
    other.git("config", "--add", "remote.origin.fetch", f"+{RUNS}*:{RUNS}*")
    repo.run("transcripts", "prune", run)
    repo.git("push", "-qf", "origin", f"{RUNS}{run}:{RUNS}{run}")
    other.run("transcripts", "fetch")
    assert at(other, run) == old


def test_two_runs_of_one_name_are_told_and_left(repo: Audited):
    run = run_of(repo)
    old = at(repo, run)
    theirs = put(repo, RUNS + "other")
    repo.git("push", "-q", "origin", f"{RUNS}other:{RUNS}{run}")
    for verb in ("push", "fetch"):
        said = " ".join(repo.run("transcripts", verb, "--run", run, exit=1).split())
        assert f"origin holds another one: {theirs[:12]}, here {old[:12]}" in said
    assert (at(repo, run), hub(repo)) == (old, {run: theirs})


def test_what_an_interrupted_push_left_undone_is_done_when_it_is_asked_again(repo: Audited):
    first = run_of(repo)
    second = record(repo.path / repo.measure(BAD))["run"]
    hook = repo.path.parent / "hub.git/hooks/update"
    hook.write_text(f'#!/bin/sh\ntest "$1" != {RUNS}{second}\n')
    hook.chmod(0o755)
    data = repo.json("transcripts", "push", exit=1)
    assert ([m["run"] for m in data["moved"]], [m["run"] for m in data["left"]]) == ([first], [second])
    hook.unlink()
    data = repo.json("transcripts", "push")
    assert ([m["run"] for m in data["moved"]], data["there"]) == ([second], 1)


def test_older_than_chooses_by_the_end_of_a_run(repo: Audited):
    run = run_of(repo)
    assert repo.run("transcripts", "prune", "--older-than", "1", "--not-pushed") == "no run to prune\n"
    data = repo.json("transcripts", "prune", "--older-than", "0", "--not-pushed")
    assert [stone["run"] for stone in data["stones"]] == [run]
    assert repo.run("transcripts", "prune", run, "--not-pushed") == "1 run with nothing but results\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("push", "nowhere"), "no remote is called nowhere"),
        (("push", "--run", "nothere"), "this clone holds no run nothere"),
        (("prune",), "say which runs, in one way"),
        (("prune", "--keep", "1", "--older-than", "2"), "say which runs, in one way"),
        (("prune", "x", "--remote", "origin", "--not-pushed"), "--not-pushed asks no remote"),
        (("prune", "nothere"), "this clone holds no run nothere"),
    ],
)
def test_what_cannot_be_meant_is_said(repo: Audited, words: tuple[str, ...], said: str):
    assert said in repo.run("transcripts", *words, exit=2)


def test_which_remote_is_asked_when_there_are_several_without_an_origin(repo: Audited):
    repo.git("remote", "rename", "origin", "one")
    repo.git("remote", "add", "two", "/nowhere")
    assert "which remote? There are one, two" in repo.run("transcripts", "fetch", exit=2)
    assert "git ls-remote" in repo.run("transcripts", "fetch", "two", exit=2)
    repo.run("transcripts", "push", "one")


def test_a_run_that_the_remote_lacks_is_listed_with_the_way(repo: Audited, other: Audited):
    run = run_of(repo)
    said = " ".join(other.run("transcripts", "fetch", "--run", run, exit=1).split())
    assert f"not fetched: {run}: origin does not hold it" in said
    assert other.run("transcripts", "fetch") == "no run to be fetched from origin\n"


def gate(repo: Audited) -> tuple[str, list[str], list[str]]:
    """A gate's answer against its own policy, the codes of what decides it, and its notes."""
    said = repo.json("gate", "--baseline", "start", exit=None)
    notes = [r["text"] for r in said["reasons"] if r["kind"] == "note"]
    return said["answer"], sorted(r["code"] for r in said["reasons"] if r["kind"] != "note"), notes


def test_a_gate_takes_a_tombstone_for_a_run_and_says_what_it_could_not_judge_again(repo: Audited):
    run = run_of(repo)
    repo.run("transcripts", "push")
    before = gate(repo)
    assert "3 of 3 reps judged again from stored transcripts" in before[2]
    repo.run("transcripts", "prune", run)
    answer, codes, notes = gate(repo)
    assert (answer, codes) == before[:2]
    way = f"its transcripts were pruned here (evalrepo transcripts fetch --run {run})"
    assert f"0 of 3 reps judged again from stored transcripts; 3 not: {way}" in notes
    repo.run("transcripts", "fetch", "--run", run)
    assert gate(repo) == before


def test_a_gate_wants_no_records_of_a_claim_whose_run_left_a_tombstone(repo: Audited, other: Audited):
    config = (repo.path / "evalrepo.yaml").read_text()
    repo.commit({"evalrepo.yaml": config + "discipline: {claims: origin}\n"}, "claims")
    path = repo.measure(BAD)
    run = record(repo.path / path)["run"]
    repo.run("transcripts", "push")
    repo.git("push", "-q", "origin", "main")
    repo.run("transcripts", "prune", "--keep", "0")
    here = gate(repo)
    assert not {"RUN006", "RUN007", "RUN009", "results"} & set(here[1]), here
    other.git("pull", "-q", "origin", "main")
    other.run("transcripts", "fetch")
    assert at(other, run), "the remote holds the whole run"
    assert gate(other)[0] == here[0]
