"""What people do all day with git, and in which `verify --since` finds nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from frozen_repo import Repo
from ways_world import (
    BOX,
    CONFIG,
    LEDGER,
    LOCK,
    R1,
    R2,
    RULES,
    S1,
    branch,
    freeze,
    put,
    renew,
    save,
    scenario,
    sha,
    since,
    thaw,
)

Work = Callable[[Repo], None]
WORK: dict[str, Work] = {}
R3, R4, R5 = (f"scenarios-reserve/R{n}.yaml" for n in (3, 4, 5))


def work(act: Work) -> Work:
    WORK[act.__name__] = act
    return act


@pytest.fixture
def repo(world: Repo) -> Repo:
    return world


def grow(repo: Repo, path: str) -> None:
    """A new reserve file, frozen."""
    repo.write({path: scenario(f"grown {path[-6]}")})
    repo.git("add", "-A")
    freeze(repo)
    save(repo, f"freeze {path}")


def settle(repo: Repo) -> None:
    """A conflict in the lock, resolved as the hint says: one side, and freeze again."""
    repo.git("checkout", "--ours", LOCK)
    repo.git("add", "-A")
    freeze(repo)
    repo.git("add", "-A")


@work
def documents_are_edited_and_the_edit_is_reverted_twice(repo: Repo) -> None:
    put(repo, {"docs/page.md": "edited\n"})
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("revert", "--no-edit", "HEAD")


@work
def a_subject_is_tuned(repo: Repo) -> None:
    put(repo, {RULES: "be kind\n"})
    put(repo, {RULES: "be kind and brief\n", "subjects/rules/MORE.md": "more\n"})


@work
def a_question_of_the_run_set_is_mended_alone(repo: Repo) -> None:
    put(repo, {S1: scenario("mended", reserve=False)})


@work
def a_new_wording_comes_with_new_questions(repo: Repo) -> None:
    put(repo, {RULES: "be kind\n", "scenarios/S2.yaml": scenario("new", reserve=False).replace("R1", "R2")})


@work
def a_frozen_file_is_opened_edited_and_closed_in_three_commits(repo: Repo) -> None:
    thaw(repo, R1)
    save(repo)
    put(repo, {R1: scenario("better")})
    freeze(repo)
    save(repo)


@work
def a_frozen_file_is_renewed_in_one_commit(repo: Repo) -> None:
    renew(repo, R1, scenario("better"))


@work
def a_frozen_file_is_moved_after_a_thaw(repo: Repo) -> None:
    thaw(repo, R2)
    repo.git("mv", R2, R5)
    freeze(repo)
    save(repo)


@work
def a_frozen_question_is_given_up_after_a_thaw(repo: Repo) -> None:
    thaw(repo, R2)
    repo.git("rm", "-q", R2)
    freeze(repo)
    save(repo)


@work
def the_reserve_grows(repo: Repo) -> None:
    grow(repo, R3)
    grow(repo, R4)


@work
def more_is_frozen_by_the_config(repo: Repo) -> None:
    put(repo, {CONFIG: (repo.root / CONFIG).read_text() + "frozen: {also: [docs/**]}\n"})
    freeze(repo)
    save(repo)


@work
def two_branches_freeze_new_files_and_are_merged(repo: Repo) -> None:
    branch(repo, "side")
    grow(repo, R3)
    repo.git("checkout", "-q", "main")
    grow(repo, R4)
    assert repo.code("merge", "-q", "--no-ff", "-m", "both", "side") == 1
    settle(repo)
    repo.git("commit", "-q", "--no-edit")


@work
def a_branch_that_froze_is_rebased_over_another_freeze(repo: Repo) -> None:
    branch(repo, "side")
    grow(repo, R3)
    repo.git("checkout", "-q", "main")
    grow(repo, R4)
    repo.git("checkout", "-q", "side")
    assert repo.code("rebase", "-q", "main") == 1
    settle(repo)
    repo.git("-c", "core.editor=true", "rebase", "--continue")


@work
def a_branch_is_squashed(repo: Repo) -> None:
    branch(repo, "side")
    renew(repo, R1, scenario("better"))
    grow(repo, R3)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "side")
    save(repo, "squashed")


@work
def a_branch_is_merged_without_fast_forward(repo: Repo) -> None:
    branch(repo, "side")
    renew(repo, R1, scenario("better"))
    repo.git("checkout", "-q", "main")
    put(repo, {"docs/page.md": "main\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side")


@work
def a_freeze_is_picked_to_another_branch_and_both_are_merged(repo: Repo) -> None:
    branch(repo, "release", "base")
    repo.git("checkout", "-q", "main")
    grow(repo, R3)
    repo.git("checkout", "-q", "release")
    repo.git("cherry-pick", "main")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "back", "release")


@work
def results_are_picked_from_another_branch(repo: Repo) -> None:
    branch(repo, "side", "base")
    put(repo, {"AgentsReport/evaluation/2026-11/a.notes.md": "n\n"}, "Add results")
    repo.git("checkout", "-q", "main")
    repo.git("cherry-pick", "side")


@work
def an_old_branch_from_before_the_first_freeze_is_merged(repo: Repo) -> None:
    branch(repo, "old", "base~1")
    put(repo, {"docs/old.md": "old\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "old", "old")


@work
def three_branches_are_merged_at_once(repo: Repo) -> None:
    for name in ("a", "b", "c"):
        branch(repo, name, "base")
        put(repo, {f"docs/{name}.md": name})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "-m", "octopus", "a", "b", "c")


@work
def the_last_commit_is_amended_before_it_is_pushed(repo: Repo) -> None:
    renew(repo, R1, scenario("better"))
    repo.write({"docs/page.md": "forgotten\n"})
    repo.git("commit", "-q", "-a", "--amend", "--no-edit")


@work
def a_branch_has_left_main_behind(repo: Repo) -> None:
    branch(repo, "side", "base")
    put(repo, {"docs/side.md": "side\n"})
    repo.git("branch", "-f", "base-of-main", "main")


@work
def the_tree_is_reformatted_around_what_is_frozen(repo: Repo) -> None:
    put(repo, {".gitattributes": (repo.root / ".gitattributes").read_text() + "docs/** text\n", "Makefile": "all:\n"})


@pytest.mark.parametrize("name", WORK)
def test_honest_work_is_no_finding(name: str, repo: Repo):
    WORK[name](repo)
    assert repo.git("status", "--porcelain") == ""
    assert [f for f in since(repo) if f["code"] != "FRZ018"] == []
    assert repo.run("verify", "--staged")[0] == 0


def test_there_are_enough_workflows():
    assert len(WORK) >= 15


def test_a_branch_that_left_another_behind_is_no_rewritten_branch(repo: Repo):
    branch(repo, "side", "base")
    put(repo, {"docs/side.md": "side\n"})
    repo.git("checkout", "-q", "main")
    grow(repo, R3)
    repo.git("checkout", "-q", "side")
    found = since(repo, "main")
    assert [(f["code"], f["severity"]) for f in found] == [("FRZ018", "warning")]
    assert "has left main" in found[0]["message"]
    by_id = since(repo, sha(repo, "main"))
    assert {"FRZ018", "FRZ010"} <= {f["code"] for f in by_id}


def test_two_clones_and_a_bare_remote_work_side_by_side(repo: Repo, tmp_path: Path):
    subprocess.run(["git", "clone", "-q", "--bare", str(repo.root), str(tmp_path / "hub.git")], check=True)
    clones = []
    for name in ("ada", "bob"):
        subprocess.run(["git", "clone", "-q", str(tmp_path / "hub.git"), str(tmp_path / name)], check=True)
        one = Repo(tmp_path / name, repo.environ)
        one.git("config", "user.name", name)
        one.git("config", "user.email", f"{name}@example.org")
        clones.append(one)
    ada, bob = clones
    grow(ada, R3)
    ada.git("push", "-q", "origin", "main")
    renew(bob, R1, scenario("better"))
    bob.git("fetch", "-q")
    if bob.code("rebase", "-q", "origin/main"):
        settle(bob)
        bob.git("-c", "core.editor=true", "rebase", "--continue")
    bob.git("push", "-q", "origin", "main")
    ada.git("pull", "-q")
    assert since(ada) == []
    assert len(list((ada.root / LEDGER).iterdir())) >= 4
    assert (ada.root / BOX).is_dir()
