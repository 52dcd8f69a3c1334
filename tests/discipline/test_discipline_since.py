"""`verify --since`, `--push` and the hooks: acknowledged findings, short histories, what git hands to a hook."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from frozen_repo import Repo
from ways_world import (
    BOX,
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
)

HOOKS = Path(__file__).parents[2] / "evalrepo/commands/templates/init/dot_pre-commit-config.yaml"


@pytest.fixture
def repo(world: Repo) -> Repo:
    return world


def codes(found: list[dict]) -> list[tuple[str, str]]:
    return [(f["code"], f["severity"]) for f in found]


def said(repo: Repo, *args: str, stdin: str = "", env: dict[str, str] | None = None) -> tuple[int, str]:
    """The command as a process of its own, as a hook starts it."""
    done = subprocess.run(
        [sys.executable, "-m", "evalrepo", *args],
        cwd=repo.root, env={**repo.environ, **(env or {})}, input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


# Acknowledged findings


def test_what_was_put_right_is_told_until_somebody_acknowledges_it(repo: Repo):
    did = put(repo, {R1: scenario("easier")})
    put(repo, {R1: scenario("one")})
    (found,) = since(repo)
    assert found["stands"] is False
    assert f"evalrepo acknowledge {did[:12]}:{R1} --why" in found["hint"]
    words = found["hint"].split(" --why")[0].split()[1:]
    assert repo.run(*words, "--why", "an editor saved the wrong buffer")[0] == 0
    save(repo, "acknowledge")
    (found,) = since(repo)
    assert found["severity"] == "warning"
    assert found["acknowledged"].startswith(LEDGER)
    assert repo.run("verify", "--since", "base")[0] == 0


def test_what_still_stands_is_not_acknowledged_away(repo: Repo):
    did = put(repo, {R1: scenario("easier")})
    assert repo.run("acknowledge", f"{did}:{R1}", "--why", "it is fine like this")[0] == 0
    save(repo, "acknowledge")
    (found,) = since(repo)
    assert (found["severity"], found["stands"], found["acknowledged"]) == ("error", True, None)


def test_an_unsaid_line_is_acknowledged_by_the_file_that_it_is_about(repo: Repo):
    repo.write({R1: scenario("easier")})
    repo.git("add", "-A")
    from ways_world import relock

    relock(repo, R1)
    did = save(repo)
    renew(repo, R1, scenario("better"))
    (found,) = since(repo)
    assert (found["code"], found["stands"]) == ("FRZ009", False)
    assert repo.run("acknowledge", f"{did}:{R1}", "--why", "an old script wrote the lock")[0] == 0
    save(repo)
    assert codes(since(repo)) == [("FRZ009", "warning")]


def test_a_revert_of_an_edit_with_its_line_is_putting_right(repo: Repo):
    from ways_world import relock

    repo.write({R1: scenario("easier")})
    repo.git("add", "-A")
    relock(repo, R1)
    save(repo)
    repo.git("revert", "--no-edit", "HEAD")
    (found,) = since(repo)
    assert (found["code"], found["stands"]) == ("FRZ009", False)


# What no commit shows


def test_replace_references_and_grafts_are_findings(repo: Repo):
    repo.git("replace", sha(repo, "base"), sha(repo))
    (repo.root / ".git/info").mkdir(exist_ok=True)
    (repo.root / ".git/info/grafts").write_text(f"{sha(repo)}\n")
    found = since(repo)
    assert codes(found) == [("FRZ017", "error")] * 2
    assert [f["hint"].split()[0] for f in found] == ["git", "rm"]


@pytest.mark.parametrize(
    ("bit", "undo"), [("--assume-unchanged", "--no-assume-unchanged"), ("--skip-worktree", "--no-skip-worktree")]
)
def test_an_entry_that_git_was_told_not_to_look_at_is_a_finding(bit: str, undo: str, repo: Repo):
    repo.git("update-index", bit, R1)
    for args in ([], ["--staged"]):
        code, text = said(repo, "verify", *args)
        assert code == 1
        assert f"{R1}: FRZ015" in text
        assert f"git update-index {undo} {R1}" in text
    repo.git("update-index", undo, R1)
    assert said(repo, "verify", "--staged") == (0, "")


def test_a_sparse_checkout_is_no_finding(repo: Repo):
    repo.git("status")
    repo.git("sparse-checkout", "set", "docs", "subjects")
    assert not (repo.root / R1).exists()
    assert said(repo, "verify", "--staged")[0] == 0


def test_an_unmerged_frozen_file_is_told_and_one_that_is_only_intended(repo: Repo):
    repo.git("rm", "-q", "--cached", R2)
    repo.git("add", "-N", R2)
    assert f"{R2}: FRZ003 is frozen, and was deleted; git add -N" in said(repo, "verify", "--staged")[1]
    repo.git("reset", "-q", "--hard")
    branch(repo, "side")
    put(repo, {R1: scenario("side")})
    repo.git("checkout", "-q", "main")
    put(repo, {R1: scenario("main")})
    repo.git("merge", "-q", "side", check=False)
    assert f"{R1}: FRZ011 is unmerged" in said(repo, "verify", "--staged")[1]


def test_a_history_that_is_too_short_is_no_answer_and_says_how_to_get_it(repo: Repo, tmp_path: Path):
    put(repo, {"docs/page.md": "more\n"})
    repo.git("clone", "-q", "--depth", "2", f"file://{repo.root}", str(tmp_path / "short"))
    short = Repo(tmp_path / "short", repo.environ)
    for rev in (sha(repo, "base"), "0" * 40):
        code, text = short.run("verify", "--since", rev)
        assert code == 2
        assert "git fetch --unshallow" in text
    assert short.run("verify", "--since", "HEAD~1")[0] == 0


def test_the_range_may_end_elsewhere_and_begin_at_the_beginning(repo: Repo):
    put(repo, {R1: scenario("easier")})
    assert since(repo, "base", "--rev", "HEAD~1") == []
    assert codes(since(repo, "0" * 40)) == [("FRZ001", "error")]
    code, text = repo.run("verify", "--since", "0000000")
    assert "4 commits since the beginning" in text
    assert code == 1


def test_moved_goals_are_warnings_unless_one_end_of_the_range_says_error(repo: Repo):
    config = (repo.root / "evalrepo.yaml").read_text()
    put(repo, {"evalrepo.yaml": config.replace("error", "warning")})
    repo.git("tag", "-f", "base")
    put(repo, {RULES: "be kind\n", S1: scenario("softer", reserve=False)})
    assert codes(since(repo)) == [("FRZ019", "warning")]
    put(repo, {"evalrepo.yaml": config})
    assert ("FRZ019", "error") in codes(since(repo))


def test_a_forged_sum_is_found_by_deep(repo: Repo):
    total = next(line.split()[2] for line in (repo.root / LOCK).read_text().splitlines() if line.endswith(R1))
    put(repo, {LOCK: (repo.root / LOCK).read_text().replace(total, "0" * 64)})
    assert ("FRZ012", "error") in codes(since(repo, "base", "--deep"))


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["--since", "nowhere"], "git log"),
        (["--since", "-x"], "git log"),
        (["--since", ""], ""),
        (["--staged", "--since", "HEAD"], "give one of them"),
        (["--push", "--staged"], "give one of them"),
        (["origin"], "--since REV"),
        (["--push"], "--since REV"),
    ],
)
def test_questions_that_do_not_fit_are_answered_with_a_sentence(args: list[str], hint: str, repo: Repo):
    code, text = said(repo, "verify", *args)
    assert code == 2
    assert hint in text
    assert "Traceback" not in text


# What is pushed


def push_hook(repo: Repo) -> None:
    hook = repo.root / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\nexec {sys.executable} -m evalrepo verify --push "$@"\n')
    hook.chmod(0o755)


@pytest.fixture
def pushing(repo: Repo, tmp_path: Path) -> Repo:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "hub.git")], check=True)
    repo.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    push_hook(repo)
    repo.git("push", "-q", "-u", "origin", "main")
    return repo


def test_a_push_is_refused_for_what_any_of_its_commits_did(pushing: Repo):
    put(pushing, {"docs/page.md": "fine\n"})
    assert pushing.code("push", "-q", "origin", "main") == 0
    put(pushing, {R1: scenario("easier")})
    put(pushing, {R1: scenario("one")})
    assert pushing.code("push", "-q", "origin", "main") == 1
    assert pushing.code("push", "-q", "origin", "HEAD~2:refs/heads/other") == 0


def test_a_new_branch_is_checked_by_what_no_branch_of_the_remote_has_and_a_deleted_one_is_not(pushing: Repo):
    branch(pushing, "side")
    put(pushing, {"docs/page.md": "fine\n"})
    assert pushing.code("push", "-q", "origin", "side") == 0
    branch(pushing, "bad")
    put(pushing, {R1: scenario("easier")})
    assert pushing.code("push", "-q", "origin", "bad") == 1
    assert pushing.code("push", "-q", "origin", "side", "bad") == 1
    assert pushing.code("push", "-q", "origin", ":side") == 0


def test_a_force_push_that_takes_events_away_is_refused(pushing: Repo):
    renew(pushing, R1, scenario("better"))
    assert pushing.code("push", "-q", "origin", "main") == 0
    pushing.git("reset", "-q", "--hard", "HEAD~1")
    put(pushing, {"docs/page.md": "rewritten\n"})
    assert pushing.code("push", "-q", "--force", "origin", "main") == 1
    zero, new_id, old = "0" * 40, sha(pushing), sha(pushing, "origin/main")
    code, text = said(pushing, "verify", "--push", "origin", stdin=f"refs/heads/main {new_id} refs/heads/main {old}\n")
    assert code == 1
    assert "the branch was rewritten" in text
    assert "FRZ010 rewritten away" in text
    unknown = f"refs/heads/main {new_id} refs/heads/main {'1' * 40}\n"
    assert "git fetch origin" in said(pushing, "verify", "--push", "origin", stdin=unknown)[1]
    gone = f"(delete) {zero} refs/heads/main {old}\n"
    assert said(pushing, "verify", "--push", "origin", stdin=gone) == (0, "nothing is pushed that holds commits\n")


# Real pre-commit


@pytest.fixture
def guarded(repo: Repo, tmp_path: Path) -> Repo:
    """With the hooks that `init` writes, installed by pre-commit; those of other commands skipped."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, module in (("evalrepo", "evalrepo"), ("pre-commit", "pre_commit")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        (tools / name).chmod(0o755)
    repo.environ |= {"PATH": f"{tools}:{repo.environ['PATH']}", "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    repo.environ["SKIP"] = "evalrepo-lint,evalrepo-leaks"
    repo.write({".pre-commit-config.yaml": HOOKS.read_text()})
    repo.git("add", "-A")
    repo.git("commit", "-q", "--no-verify", "-m", "hooks")
    done = subprocess.run(["pre-commit", "install"], cwd=repo.root, env=repo.environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    return repo


def test_pre_commit_refuses_commits_merges_and_pushes_and_no_verify_is_found_later(guarded: Repo, tmp_path: Path):
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "hub.git")], check=True)
    guarded.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    guarded.git("push", "-q", "-u", "origin", "main")
    guarded.write({R1: scenario("easier")})
    assert guarded.code("commit", "-q", "-a", "-m", "x") == 1
    assert guarded.code("commit", "-q", "-m", "x", "--", R1) == 1
    branch(guarded, "side")
    guarded.git("commit", "-q", "-a", "--no-verify", "-m", "past the hook")
    guarded.git("checkout", "-q", "main")
    guarded.write({"docs/page.md": "fine\n"})
    assert guarded.code("commit", "-q", "-a", "-m", "fine") == 0
    assert guarded.code("merge", "-q", "--no-ff", "--no-edit", "side") == 1
    guarded.git("merge", "--abort")
    guarded.git("merge", "-q", "--no-ff", "--no-edit", "--no-verify", "side")
    assert guarded.code("push", "-q", "origin", "main") == 1
    assert ("FRZ001", "error") in codes(since(guarded))


def test_a_hook_sees_what_will_be_committed_in_parts_in_worktrees_and_by_other_clients(guarded: Repo):
    guarded.write({R1: scenario("easier"), "docs/page.md": "fine\n"})
    guarded.git("add", R1)
    assert guarded.code("commit", "-q", "-m", "only the page", "--", "docs/page.md") == 0
    assert guarded.code("commit", "-q", "-m", "the rest") == 1
    guarded.git("reset", "-q", "--hard")
    guarded.write({f"{BOX}/README.md": "box\nmore\n"})
    picked = subprocess.run(
        ["git", "commit", "-q", "-p", "-m", "a hunk"],
        cwd=guarded.root, env=guarded.environ, input="y\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert picked.returncode == 1
    assert "FRZ001" in picked.stdout + picked.stderr
    guarded.git("reset", "-q", "--hard")
    guarded.git("worktree", "add", "-q", "../linked", "-b", "side")
    linked = Repo(guarded.root.parent / "linked", guarded.environ)
    linked.write({R1: scenario("easier")})
    assert linked.code("commit", "-q", "-a", "-m", "x") == 1
    assert linked.code("commit", "-q", "-m", "x", "--", R1) == 1
    elsewhere = Repo(guarded.root.parent, {**guarded.environ, "GIT_DIR": str(guarded.root / ".git"),
                                           "GIT_WORK_TREE": str(guarded.root)})  # fmt: skip
    guarded.write({R1: scenario("easier")})
    assert elsewhere.code("commit", "-q", "-a", "-m", "x") == 1
    assert guarded.git("log", "-1", "--format=%s").strip() == "only the page"


def test_json_says_where_the_range_begins_and_what_each_finding_is(repo: Repo):
    put(repo, {R1: scenario("easier")})
    freeze_refused, _ = repo.run("freeze")
    assert freeze_refused == 2
    code, text = repo.run("verify", "--since", "base", "--format", "json")
    data = json.loads(text)
    assert (code, data["intact"], data["start"], data["commits"]) == (1, False, sha(repo, "base"), 2)
    assert data["findings"][0]["commit"] == sha(repo)


def test_a_freeze_in_the_middle_of_a_merge_closes_what_both_sides_froze(repo: Repo):
    branch(repo, "side")
    put(repo, {"docs/side.md": "side\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "--no-commit", "side")
    repo.write({"scenarios-reserve/R3.yaml": scenario("three")})
    repo.git("add", "-A")
    freeze(repo)
    repo.git("commit", "-q", "--no-edit")
    assert since(repo) == []


# The gate


def reasons(repo: Repo, baseline: str) -> dict[str, dict]:
    code, text = repo.run("gate", "--baseline", baseline, "--format", "json")
    assert code == 4, text
    return {reason["code"]: reason for reason in json.loads(text)["reasons"]}


def test_the_gate_walks_the_same_commits_and_notes_a_moved_goal(repo: Repo):
    config = (repo.root / "evalrepo.yaml").read_text()
    put(repo, {"evalrepo.yaml": config.replace("error", "warning")})
    repo.git("tag", "v1")
    did = put(repo, {R1: scenario("easier")})
    put(repo, {R1: scenario("one")})
    moved = put(repo, {RULES: "be kind\n", S1: scenario("softer", reserve=False)})
    found = reasons(repo, "v1")
    assert found["frozen"]["kind"] == "invalid"
    assert f"{R1}: FRZ001 commit {did[:12]}" in found["frozen"]["text"]
    assert found["frozen"]["command"] == "evalrepo verify --since v1"
    assert found["moved-goal"]["kind"] == "note"
    assert f"{S1}: commit {moved[:12]}: measures the subject rules" in found["moved-goal"]["text"]
    assert repo.run("acknowledge", f"{did}:{R1}", "--why", "an editor saved the wrong buffer")[0] == 0
    save(repo)
    after = reasons(repo, "v1")
    assert "frozen" not in after
    assert "acknowledged in evalrepo.ledger/" in after["acknowledged"]["text"]
