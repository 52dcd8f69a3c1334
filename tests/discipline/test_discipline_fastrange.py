"""The fast path of `verify --since`: what it answers; `ways_world.since` holds every other test's range against it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from frozen_repo import Repo
from ways_world import CONFIG, R1, RULES, S1, branch, fast, merge_by_hand, put, save, scenario, since

from evalrepo.store.fastrange import answer


@pytest.fixture
def repo(world: Repo) -> Repo:
    return world


def more(repo: Repo) -> None:
    put(repo, {"src/a.py": "1\n", "docs/page.md": "two\n"})


def side(repo: Repo) -> None:
    branch(repo, "side", "base")
    put(repo, {"src/side.py": "1\n"})
    repo.git("checkout", "-q", "main")
    put(repo, {"src/main.py": "1\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side")


def wording(repo: Repo) -> None:
    put(repo, {RULES: "be brief, and kind\n"})


def new_scenario(repo: Repo) -> None:
    put(repo, {"scenarios/S2.yaml": scenario("new", reserve=False).replace("twin: R1\n", ""), RULES: "be kind\n"})


def old_scenario(repo: Repo) -> None:
    put(repo, {S1: scenario("open", reserve=False).replace("open note", "open letter")})


def note(repo: Repo) -> None:
    put(repo, {"AgentsReport/evaluation/notes.md": "a note\n"})


@pytest.mark.parametrize("act", [more, side, wording, new_scenario, old_scenario, note])
def test_usual_work_is_answered_once_the_full_command_has_looked(act: Callable[[Repo], None], repo: Repo):
    act(repo)
    assert fast(repo) is None
    full = repo.run("verify", "--since", "base")
    assert full[0] == 0
    said = fast(repo)
    assert said is not None
    assert full[1] == said + "\n"
    assert repo.run("verify", "--since", "base") == full


@pytest.mark.parametrize(
    "glob", [RULES, "subjects", "subjects/**", "subjects/rules/RU*", "sub*/**", "**/R[UV]LES.md", "*/*/RULES.??"]
)
def test_a_subject_changed_beside_its_scenario_is_not(glob: str, repo: Repo):
    put(repo, {CONFIG: (repo.root / CONFIG).read_text().replace("subjects/rules/**", f"'{glob}'")})
    repo.git("tag", "-f", "base")
    wording(repo)
    assert since(repo) == []
    old_scenario(repo)
    assert [f["code"] for f in since(repo)] == ["FRZ019"]
    assert fast(repo) is None


def test_a_merge_that_resolves_to_something_old_is_not(repo: Repo):
    branch(repo, "old", "base~1")
    put(repo, {"docs/side.md": "side\n"})
    repo.git("checkout", "-q", "main")
    put(repo, {"docs/page.md": "more\n"})
    assert since(repo) == []
    assert fast(repo) is not None
    merge_by_hand(repo, "old", **{R1: scenario("easier")})
    assert since(repo) != []
    assert fast(repo) is None


@pytest.mark.parametrize(
    "upset",
    [
        lambda repo: (repo.root / ".git/info/grafts").write_text("\n"),
        lambda repo: (repo.root / ".git/shallow").write_text(repo.git("rev-parse", "HEAD")),
        lambda repo: repo.git("replace", "HEAD", "base"),
        lambda repo: repo.git("update-ref", "refs/evalrepo/runs/x", "HEAD"),
        lambda repo: (repo.root / ".git/evalrepo/clone").write_text("0123456789abcdef"),
        lambda repo: (repo.root / ".git/evalrepo/sequence").write_text("{}"),
        lambda repo: [
            (repo.root / ".git/evalrepo/journal").mkdir(exist_ok=True),
            (repo.root / ".git/evalrepo/journal/x.jsonl").write_text(""),
        ],
        lambda repo: repo.git("checkout", "-q", "base~1"),
        lambda repo: put(repo, {CONFIG: (repo.root / CONFIG).read_text() + "# more\n"}),
        lambda repo: [(repo.root / "evalrepo.lock").unlink(), save(repo)],
        lambda repo: [(repo.root / ".git/evalrepo/cache/index.sqlite").write_bytes(b"broken")],
        lambda repo: [(repo.root / ".git/evalrepo/cache/audit.sqlite").unlink()],
    ],
)
def test_it_answers_nothing_in_surroundings_that_it_does_not_know(upset: Callable[[Repo], object], repo: Repo):
    assert since(repo) == []
    assert fast(repo) is not None
    upset(repo)
    assert fast(repo) is None


def test_it_answers_no_other_question(repo: Repo):
    assert since(repo) == []
    assert fast(repo) is not None
    for odd in ("", "0" * 40, "nothing", "--all", "^base", "base:evalrepo.lock"):
        assert fast(repo, odd) is None
    before = Path.cwd()
    os.chdir(repo.root)
    try:
        assert answer(["--since", "base", "--deep"], repo.environ) is None
        assert answer(["--since=base"], repo.environ) is None
        assert answer(["--since", "base"], {**repo.environ, "GIT_DIR": ".git"}) is None
        elsewhere = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nowhere", "GIT_CONFIG_PARAMETERS": "'core.bare=true'"}
        assert answer(["--since", "base"], {**repo.environ, **elsewhere}) is not None
        os.chdir("docs")
        assert answer(["--since", "base"], repo.environ) is None
    finally:
        os.chdir(before)


def test_it_imports_nothing_heavy(repo: Repo):
    assert since(repo) == []
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom evalrepo import cli\n"
        "try:\n    cli.main(['verify', '--since', 'base'])\n"
        "except SystemExit as e:\n    print(e.code, *sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.root, env=repo.environ, capture_output=True, text=True, check=True
    )
    line, modules = done.stdout.splitlines()
    assert line.endswith("as frozen")
    exit_code, *names = modules.split()
    assert exit_code == "0"
    heavy = {"click", "subprocess", "argparse", "dataclasses", "pydantic", "git", "ruamel", "typing", "pathlib"}
    assert not heavy & set(names), names
