"""Results in what is pushed: a real pre-push hook refuses what edits, removes or leaves out a result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .audit_world import BAD, GUIDE_FILE, Audited, measured


@pytest.fixture
def pushing(tmp_path_factory, tmp_path: Path) -> Audited:
    """One result, pushed; a hook that checks later pushes."""
    repo = measured(tmp_path_factory, tmp_path)
    repo.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    repo.git("push", "-q", "-u", "origin", "main")
    hook = repo.path / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\nexec {sys.executable} -m evalrepo verify --push "$@"\n')
    hook.chmod(0o755)
    return repo


def push(repo: Audited, *args: str) -> tuple[int, str]:
    done = subprocess.run(
        ["git", "push", "-q", "origin", *args],
        cwd=repo.path,
        env=repo.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def edited(repo: Audited, path: str) -> str:
    text = (repo.path / path).read_text()
    return repo.commit({path: text.replace("PASS", "FAIL")}, "make it look worse")


def test_a_push_of_new_results_passes(pushing: Audited):
    pushing.measure(BAD)
    assert push(pushing, "main")[0] == 0


def test_an_edited_result_is_refused_and_so_is_one_that_was_put_back(pushing: Audited):
    (path,) = pushing.results()
    commit = edited(pushing, path)
    code, said = push(pushing, "main")
    assert code == 1
    assert f"{path}: RES007 commit {commit[:12]}: was edited" in said
    assert f"git restore --source={commit[:9]}^ --staged --worktree -- {path}" in said
    pushing.git("revert", "--no-edit", "HEAD")
    code, said = push(pushing, "main")
    assert code == 1
    assert "it is as it was again" in said
    pushing.run("acknowledge", f"{commit[:9]}:{path}", "--why", "a slip that the next commit took back")
    pushing.git("commit", "-qm", "acknowledge")
    assert push(pushing, "main")[0] == 0


def test_a_deleted_result_is_refused_on_a_new_branch_too(pushing: Audited):
    (path,) = pushing.results()
    pushing.git("checkout", "-qb", "side")
    pushing.git("rm", "-q", path)
    pushing.git("commit", "-qm", "tidy up")
    for ref in ("side", "HEAD:refs/heads/main"):
        code, said = push(pushing, ref)
        assert code == 1
        assert "RES008" in said


def test_a_force_push_that_leaves_a_result_out_is_refused_and_a_rebase_is_not(pushing: Audited):
    new = pushing.measure(BAD)
    assert push(pushing, "main")[0] == 0
    tip = pushing.head()
    pushing.git("commit", "-q", "--amend", "-m", "the same result, another message")
    assert push(pushing, "--force", "main")[0] == 0
    old = pushing.head()
    pushing.git("reset", "-q", "--hard", "HEAD~1")
    pushing.commit({GUIDE_FILE: "Always read the README before editing. Twice.\n"}, "rewritten")
    code, said = push(pushing, "--force", "main")
    assert code == 1
    assert f"{new}: RES008 rewritten away: was removed, and stood at {old[:9]}" in said
    assert "RES008" in pushing.run("verify", "--since", tip, exit=1)
