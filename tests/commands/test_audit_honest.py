"""What honest people do with results in git. `verify --records` has nothing against it, in any of their clones."""

from __future__ import annotations

from pathlib import Path

import pytest

from .audit_world import BAD, Audited, measured, record


@pytest.fixture
def repo(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Audited:
    return measured(tmp_path_factory, tmp_path)


def topic(repo: Audited) -> str:
    """A branch that measured while main went on; main is checked out. The path of its result."""
    repo.git("checkout", "-qb", "topic")
    bad = repo.measure(BAD)
    repo.git("checkout", "-q", "main")
    repo.commit({"README.md": "main goes on\n"}, "main goes on")
    return bad


def test_a_merge_of_a_branch_that_measured(repo: Audited):
    topic(repo)
    repo.git("merge", "-q", "--no-edit", "topic")
    assert repo.findings("--since", "start") == []


def test_a_rebase_that_keeps_the_results(repo: Audited):
    topic(repo)
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")
    assert repo.findings("--since", "start") == []


def test_a_squash_that_keeps_the_results(repo: Audited):
    topic(repo)
    repo.git("merge", "-q", "--squash", "topic")
    repo.git("commit", "-qm", "topic, squashed")
    repo.git("branch", "-qD", "topic")
    assert repo.findings("--since", "start") == []


def test_a_cherry_pick_of_results_to_another_branch_and_a_merge_of_both(repo: Audited):
    topic(repo)
    repo.git("cherry-pick", "topic")
    assert repo.findings("--since", "start") == []
    repo.git("merge", "-q", "--no-edit", "topic")
    assert repo.findings("--since", "start") == []


def test_results_that_stand_on_another_branch_are_no_discard_while_that_is_here(repo: Audited, tmp_path: Path):
    """Numbers go on while branches come and go; the other clone sees the gap filled by the other branch, or by none."""
    topic(repo)
    repo.measure("Read a little.\n")
    assert repo.findings() == []
    other = repo.clone_of(tmp_path / "other")
    (said, *_) = [f for f in other.findings() if f["code"] == "RUN001"]
    assert (said["severity"], "refs/remotes/origin/topic" in said["message"]) == ("warning", True)
    alone = repo.clone_of(tmp_path / "alone", "--single-branch")
    assert [code for code, _ in alone.wrong()] == ["RUN001"]


def test_two_clones_that_measured_and_are_merged(repo: Audited, tmp_path: Path):
    other = repo.clone_of(tmp_path / "other")
    other.measure("Read a little.\n")
    repo.measure(BAD)
    repo.git("pull", "-q", "--no-rebase", "--no-edit", "-X", "ours", str(other.path), "main")
    assert len({record(repo.path / path)["clone"] for path in repo.results()}) == 2
    assert repo.wrong("--since", "start") == []
    (said,) = repo.findings()
    assert (said["code"], said["severity"]) == ("RUN006", "warning")
    repo.git("fetch", "-q", str(other.path), "refs/evalrepo/runs/*:refs/evalrepo/runs/*")
    assert repo.findings() == []


def test_a_run_that_was_not_to_be_committed_is_a_gap_only_where_its_ref_is_not(repo: Audited, tmp_path: Path):
    repo.measure(BAD, "--no-commit")
    repo.measure("Read a little.\n")
    assert repo.findings() == []
    other = repo.clone_of(tmp_path / "other")
    assert [code for code, _ in other.wrong()] == ["RUN001"]
    other.git("fetch", "-q", "origin", "refs/evalrepo/runs/*:refs/evalrepo/runs/*")
    assert other.findings() == []


def test_a_removal_that_was_reverted_before_it_was_pushed_by_a_reset(repo: Audited):
    (good,) = repo.results()
    repo.git("rm", "-q", good)
    repo.git("commit", "-qm", "tidy up")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    assert repo.findings() == []


def test_a_commit_message_that_is_amended_and_a_note_that_is_edited(repo: Audited):
    (good,) = repo.results()
    repo.git("commit", "-q", "--amend", "-m", "our first results")
    repo.run("note", good, "-m", "a first try")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "a note")
    repo.run("note", good, "-m", "said otherwise")
    repo.git("commit", "-qam", "another note")
    assert repo.findings() == []


def test_a_result_that_a_person_wrote_by_hand_may_be_mended_and_that_is_said(repo: Audited):
    place = "AgentsReport/evaluation/2026-11-01_scenario-S1.md"
    repo.commit({place: "Ran it by hand: worked.\n"}, "by hand")
    repo.commit({place: "Ran it by hand: it worked.\n"}, "a typo")
    (said,) = repo.findings()
    assert (said["code"], said["file"], said["severity"]) == ("RES007", place, "warning")


def test_a_run_that_died_is_a_warning_until_the_next_run_records_it(repo: Audited):
    import signal
    import time

    slow = "Always read the README before editing. Slowly.\n"
    script = (repo.path / "scenarios/S1-typo.yaml").read_text()
    script = script.replace('      - say: "Done.', '      - sleep: 30\n      - say: "Done.')
    repo.commit({"scenarios/S1-typo.yaml": script, "subjects/style/GUIDE.md": slow}, "slow")
    process = repo.start("run", "--reps", "1")
    for _ in range(200):
        journals = list((repo.path / ".git/evalrepo/journal").glob("*.jsonl"))
        if any('"line":"start"' in path.read_text() for path in journals):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (said,) = repo.findings()
    assert (said["code"], said["severity"]) == ("RUN007", "warning")
    assert "the next evalrepo run records them" in said["hint"]


def test_the_refs_of_a_fresh_clone_are_not_demanded_of_it(repo: Audited, tmp_path: Path):
    other = repo.clone_of(tmp_path / "other")
    (said,) = other.findings()
    assert (said["code"], said["severity"]) == ("RUN006", "warning")


def test_a_linked_work_tree_sees_what_the_repository_sees(repo: Audited, tmp_path: Path):
    repo.git("worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
    beside = Audited(tmp_path / "beside", repo.home)
    beside.measure("Read a little.\n")
    assert beside.findings() == []
    assert repo.findings() == []


def test_a_run_whose_transcripts_were_pruned_and_left_a_tombstone(repo: Audited):
    (good,) = repo.results()
    ref = f"refs/evalrepo/runs/{record(repo.path / good)['run']}"
    results = repo.git("rev-parse", f"{ref}:results").strip()
    (repo.home / "why").write_text("pruned on a day, by a person\n")
    why = repo.git("hash-object", "-w", str(repo.home / "why")).strip()
    repo.env["STEP"] = f"printf '040000 tree {results}\\tresults\\n100644 blob {why}\\ttombstone.json\\n' | git mktree"
    tree = repo.git("-c", 'alias.step=!sh -c "$STEP"', "step").strip()
    repo.git("update-ref", ref, repo.git("commit-tree", "-m", "pruned", tree).strip())
    assert repo.findings() == []
