"""`evalrepo init`: an empty repository becomes one that runs, and nothing of the person's is touched."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from evalrepo.cli import COMMANDS

NEXT = ['git add -A && git commit -m "Add evals"', "evalrepo run --reps 3", "evalrepo new MY-FIRST"]


def commands_of(top: Path) -> list[str]:
    """The evalrepo command lines of the hooks and the CI workflow."""
    hooks = yaml.safe_load((top / ".pre-commit-config.yaml").read_text())
    flow = yaml.safe_load((top / ".github/workflows/evals.yml").read_text())
    steps = flow["jobs"]["evals"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0
    return [
        *(hook["entry"] for one in hooks["repos"] for hook in one["hooks"]),
        *(step["run"] for step in steps if step.get("run", "").startswith("evalrepo ")),
    ]


def test_an_empty_repository_becomes_one_that_runs_and_stays_clean(empty):
    said = empty.run("init")
    assert [line.strip() for line in said.splitlines()[-3:]] == NEXT
    empty.git("add", "-A")
    empty.git("commit", "-qm", "Add evals")
    assert empty.run("lint") == "no findings\n"
    empty.run("verify")
    assert "all as expected\n" in empty.run("selftest")
    empty.run("run", "--reps", "3")
    assert empty.git("status", "--porcelain") == ""
    assert "nothing to do" in empty.run("run", "--reps", "3")
    empty.run("run", "--reps", "5")
    counts = sorted(len(record["reps"]) for record in empty.records())
    assert counts == [2, 2, 3, 3]
    assert {r[4] for r in empty.reps()} == {"PASS"}
    assert "gate: pass" in empty.run("gate")


def test_the_commands_that_hooks_and_ci_run_exist_and_hold_in_the_new_repository(empty):
    empty.run("init")
    empty.git("add", "-A")
    empty.git("commit", "-qm", "Add evals")
    found = commands_of(empty.path)
    hooks = ["verify", "lint", "leaks", "verify"]
    ci = ["transcripts", "verify", "leaks", "lint", "selftest", "gate"]
    assert [c.split()[1] for c in found] == [*hooks, *ci]
    empty.write({"evalrepo": f'#!/bin/sh\nexec {sys.executable} -m evalrepo "$@"\n'})
    (empty.path / "evalrepo").chmod(0o755)
    start = empty.git("rev-parse", "HEAD").strip()
    for line in found:
        assert line.split()[1] in COMMANDS
        if line.endswith(("gate", "fetch")):
            continue
        for base in ("", start):
            env = {**empty.environment(), "BASE": base, "PRE_COMMIT_TO_REF": start}
            env["PATH"] = f"{empty.path}:{env['PATH']}"
            done = subprocess.run(
                ["sh", "-c", line], cwd=empty.path, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            assert done.returncode == 0, (line, done.stdout, done.stderr)


def test_the_example_depends_on_the_wording_of_its_subject(empty):
    empty.run("init")
    rules = empty.path / "subjects/house-rules/RULES.md"
    rules.write_text("# House rules\n\nBe quick.\n")
    empty.git("add", "-A")
    empty.git("commit", "-qm", "worse")
    said = empty.run("run", exit=1)
    assert "E1-typo      scripted/default  0/3" in said
    assert "E2-question  scripted/default  0/3" in said


def test_without_a_git_repository_it_says_git_init(empty, tmp_path):
    (tmp_path / "plain").mkdir()
    empty.path = tmp_path / "plain"
    said = empty.run("init", exit=2)
    assert "not a git repository" in said
    assert "git init, then evalrepo init" in said
    assert "git init there" in empty.run("init", "there", exit=2)
    assert list(empty.path.iterdir()) == []


def test_a_folder_below_the_top_is_refused_with_the_top(empty):
    (empty.path / "sub").mkdir()
    said = empty.run("init", "sub", exit=2)
    assert f"evalrepo init {empty.path}" in said
    assert list((empty.path / "sub").iterdir()) == []


def test_a_directory_can_be_named_and_the_next_commands_begin_there(empty, tmp_path):
    top = empty.path
    empty.path = tmp_path
    said = empty.run("init", "repo")
    assert said.splitlines()[-4:] == ["  cd repo".replace("repo", str(top)), *(f"  {step}" for step in NEXT)]


def test_a_file_that_exists_is_kept_and_named(empty):
    empty.write({".gitattributes": "mine\n", ".github/workflows/evals.yml": "mine\n"})
    said = empty.run("init")
    assert "kept as it was: .gitattributes, .github/workflows/evals.yml" in said
    assert (empty.path / ".gitattributes").read_text() == "mine\n"
    assert (empty.path / ".github/workflows/evals.yml").read_text() == "mine\n"


def test_a_dangling_link_counts_as_a_file_that_exists(empty, tmp_path):
    (empty.path / ".gitattributes").symlink_to(tmp_path / "elsewhere")
    assert "kept as it was: .gitattributes" in empty.run("init")
    assert not (tmp_path / "elsewhere").exists()


def test_nothing_is_written_through_a_linked_folder(empty, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (empty.path / "scenarios").symlink_to(tmp_path / "elsewhere")
    assert "scenarios is not a folder of its own" in empty.run("init", exit=2)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_config_of_ones_own_leaves_the_example_out(empty):
    empty.write({"evalrepo.yaml": "version: 1\n"})
    said = empty.run("init")
    assert "the example was left out" in said
    assert not (empty.path / "scenarios").exists()
    assert (empty.path / ".pre-commit-config.yaml").exists()
    empty.run("lint")


def test_twice_changes_nothing(empty):
    empty.run("init")
    before = {p: p.stat().st_mtime_ns for p in empty.path.rglob("*") if ".git" not in p.parts}
    assert "wrote nothing" in empty.run("init")
    assert {p: p.stat().st_mtime_ns for p in empty.path.rglob("*") if ".git" not in p.parts} == before


def test_json_says_what_the_text_says(empty):
    made = empty.json("init")
    assert made["next"] == NEXT
    assert made["kept"] == []
    there = {p.relative_to(empty.path).as_posix() for p in empty.path.rglob("*") if p.is_file()}
    assert set(made["wrote"]) == {path for path in there if not path.startswith(".git/")}


def test_a_folder_that_cannot_be_written_is_said_without_a_traceback(empty):
    (empty.path / "scenarios").write_text("a file\n")
    assert "scenarios is not a folder" in empty.run("init", exit=2)


def test_every_template_has_a_path_that_package_data_holds():
    """A glob of setuptools passes over names that begin with a dot, so no template has one."""
    top = Path(__file__).parents[2]
    globs = tomllib.loads((top / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["evalrepo"]
    assert "commands/templates/**/*" in globs
    templates = [p.relative_to(top) for p in (top / "evalrepo/commands/templates").rglob("*") if p.is_file()]
    assert len(templates) > 10
    assert [p for p in templates if any(part.startswith(".") for part in p.parts)] == []


def test_the_ci_workflow_holds_in_a_clone_that_checked_out_a_merge(empty, tmp_path):
    hub = tmp_path / "hub.git"
    empty.run("init")
    empty.commit({}, "Add evals")
    empty.git("init", "-q", "--bare", "-b", "main", str(hub))
    empty.git("remote", "add", "origin", str(hub))
    empty.git("push", "-q", "origin", "main")
    base = empty.git("rev-parse", "HEAD").strip()
    said = in_ci(empty, tmp_path / "first", base)
    assert "exit 0" in said["evalrepo transcripts fetch"], "nobody has pushed a run yet"
    empty.git("checkout", "-qb", "change")
    empty.run("run", "--reps", "3")
    empty.run("transcripts", "push")
    empty.git("push", "-q", "origin", "change")
    said = in_ci(empty, tmp_path / "second", base, "origin/change")
    ends = {line: found.rpartition("exit ")[2] for line, found in said.items()}
    assert [ends[line] for line in ends if not line.endswith("gate")] == ["0"] * 5
    assert "1 run fetched from origin" in said["evalrepo transcripts fetch"]
    assert "nothing is frozen" in said['evalrepo verify --since "${BASE:-0000000000}"']


def in_ci(repo, place: Path, base: str, *merged: str) -> dict[str, str]:
    """What the workflow's commands say and how they end, in a new clone with a detached HEAD, as the checkout makes."""
    repo.git("clone", "-q", str(repo.path.parent / "hub.git"), str(place))
    clone = type(repo)(place, repo.home)
    clone.git("config", "user.name", "Robot")
    clone.git("config", "user.email", "robot@example.org")
    clone.git("checkout", "-q", "--detach", "origin/main")
    for branch in merged:
        clone.git("merge", "-q", "--no-ff", "--no-edit", branch)
    bin_ = place.with_name(f"{place.name}-bin")
    bin_.mkdir()
    (bin_ / "evalrepo").write_text(f'#!/bin/sh\nexec {sys.executable} -m evalrepo "$@"\n')
    (bin_ / "evalrepo").chmod(0o755)
    env = {**clone.environment(), "BASE": base}
    env["PATH"] = f"{bin_}:{env['PATH']}"
    said = {}
    for line in commands_of(place)[4:]:
        done = subprocess.run(["sh", "-c", line], cwd=place, env=env, capture_output=True, text=True, check=False)
        said[line] = f"{done.stdout}{done.stderr}exit {done.returncode}"
    return said
