"""The fast path: never "clean" where the full command finds something, and without heavy imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from frozen_repo import OTHER, R1, Repo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalrepo.discipline.fastcheck import clean
from evalrepo.repository.repo import Repository
from evalrepo.store.frozen import verify
from evalrepo.world import World

LOCK = "evalrepo.lock"


def fast(repo: Repo, argv: list[str] | None = None) -> bool:
    before = Path.cwd()
    os.chdir(repo.root)
    try:
        return clean(["--staged"] if argv is None else argv, dict(repo.environ))
    finally:
        os.chdir(before)


def full(repo: Repo) -> bool:
    world = World(repo.root, repo.environ, lambda: datetime(2026, 11, 29, tzinfo=UTC), bytes)
    return verify(Repository.open(world, hook=True)).intact


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[Repo], None]:
    def apply(repo: Repo) -> None:
        path = repo.root / LOCK
        if path.is_file():
            path.write_text("".join(change(path.read_text().splitlines(True))))

    return apply


def remove(path: str) -> Callable[[Repo], None]:
    return lambda repo: (repo.root / path).unlink(missing_ok=True)


def replace(path: str, text: str) -> Callable[[Repo], None]:
    return lambda repo: repo.write({path: text})


def link(repo: Repo) -> None:
    (repo.root / R1).unlink(missing_ok=True)
    (repo.root / R1).symlink_to("R2.yaml")


def executable(repo: Repo) -> None:
    if (repo.root / R1).is_file():
        (repo.root / R1).chmod(0o755)


def break_event(repo: Repo) -> None:
    for event in sorted((repo.root / "evalrepo.ledger").glob("*.yaml"))[:1]:
        event.write_text("event: nothing\n")


def merge(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "other", "HEAD", check=False)
    repo.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "o", check=False)
    repo.git("checkout", "-q", "main", check=False)
    repo.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "m", check=False)
    repo.git("merge", "-q", "--no-commit", "--no-ff", "other", check=False)


STEPS: dict[str, Callable[[Repo], object]] = {
    "edit": replace(R1, OTHER),
    "edit fixture": replace("fixtures/box/README.md", ""),
    "add": replace("scenarios-reserve/R3.yaml", OTHER),
    "delete": remove(R1),
    "link": link,
    "chmod": executable,
    "docs": replace("docs/page.md", "harmless\n"),
    "config": replace("evalrepo.yaml", "version: 1\n"),
    "no config": remove("evalrepo.yaml"),
    "no lock": remove(LOCK),
    "lock upside down": lines(lambda t: t[:1] + t[:0:-1]),
    "lock without last": lines(lambda t: t[:-1]),
    "lock twice": lines(lambda t: [*t, *t[-1:]]),
    "lock torn": lines(lambda t: [*t[:-1], t[-1].rstrip("\n")] if t else t),
    "lock other sum": lines(lambda t: [*t[:-1], t[-1].replace(" ", " X", 2)] if t else t),
    "lock without root": lines(lambda t: [x for x in t if not x.startswith("root ")]),
    "lock newer": lines(lambda t: ["evalrepo-lock 2 sha1\n", *t[1:]]),
    "event": break_event,
    "event added": replace("evalrepo.ledger/01M8MPF4BDVMA42P6FAXXGZAFD.yaml", "event: thaw\n"),
    "stage": lambda repo: repo.git("add", "-A"),
    "commit": lambda repo: repo.git("commit", "-q", "--no-verify", "-a", "-m", "x", check=False),
    "intent": lambda repo: (repo.git("rm", "-q", "--cached", R1, check=False), repo.git("add", "-N", R1, check=False)),
    "reset": lambda repo: repo.git("reset", "-q", "--hard", check=False),
    "merge": merge,
}


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5))
def test_where_the_fast_path_says_clean_the_full_one_does_too(steps, template: Path, tmp_path_factory, environ):
    repo = Repo(Path(shutil.copytree(template, tmp_path_factory.mktemp("x") / "repo", symlinks=True)), environ)
    for step in steps:
        STEPS[step](repo)
    repo.git("add", "-A", check=False)
    if fast(repo):
        assert full(repo), steps
    shutil.rmtree(repo.root.parent)


def test_the_usual_commit_is_answered_by_the_fast_path(repo: Repo):
    assert fast(repo)
    repo.write({"docs/page.md": "harmless\n"})
    repo.git("add", "-A")
    assert fast(repo)


def test_the_deep_question_is_answered_too_and_a_forged_sum_is_not_clean(repo: Repo):
    assert fast(repo, ["--staged", "--deep"])
    total = next(line.split()[2] for line in (repo.root / LOCK).read_text().splitlines() if line.endswith(R1))
    repo.write({LOCK: (repo.root / LOCK).read_text().replace(total, "0" * 64)})
    repo.git("commit", "-q", "--no-verify", "-a", "-m", "forged")
    assert fast(repo)
    assert not fast(repo, ["--staged", "--deep"])


def test_any_other_question_is_not_answered(repo: Repo):
    assert not fast(repo, [])
    assert not fast(repo, ["--staged", "--format", "json"])
    assert not fast(repo, ["--rev", "HEAD"])
    assert not fast(Repo(repo.root / "docs", repo.environ))
    assert not fast(Repo(repo.root, {**repo.environ, "GIT_WORK_TREE": str(repo.root)}))


@pytest.mark.parametrize("step", ["edit", "add", "delete", "link", "chmod", "no lock", "no config", "event", "merge"])
def test_it_falls_through_on(step: str, repo: Repo):
    STEPS[step](repo)
    repo.git("add", "-A")
    assert not fast(repo)


def test_a_lock_on_disk_that_is_not_the_staged_one_is_not_believed(repo: Repo):
    repo.write({R1: OTHER})
    repo.git("add", R1)
    new = repo.git("rev-parse", f":{R1}").strip()
    old = repo.git("rev-parse", f"HEAD:{R1}").strip()
    path = repo.root / LOCK
    path.write_text(path.read_text().replace(old, new))
    assert not fast(repo)


def test_the_fast_path_imports_nothing_heavy(repo: Repo):
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom evalrepo import cli\ntry:\n    cli.main(['verify', '--staged'])\n"
        "except SystemExit as e:\n    print(e.code, *sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.root, env=repo.environ, capture_output=True, text=True, check=True
    )
    exit_code, *modules = done.stdout.split()
    assert exit_code == "0"
    heavy = {"click", "subprocess", "json", "argparse", "dataclasses", "pydantic", "git", "tempfile"}
    assert not heavy & set(modules), modules
