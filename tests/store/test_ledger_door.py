"""The one door to the ledger: signed, ordered, staged with what belongs to it, or nothing at all."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo.errors import GitError, UsageError
from evalrepo.records.reason import hollow
from evalrepo.repository.repo import Repository
from evalrepo.store import ledger
from evalrepo.store.loading import events
from evalrepo.world import World

NOW = datetime(2026, 7, 6, 12, tzinfo=UTC)
WHY = "three more looks for the second release"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    top = tmp_path / "repo"
    top.mkdir()
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    for words in ("init -q -b main", "config user.name Ada", "config user.email ada@example.org"):
        subprocess.run(["git", *words.split()], cwd=top, env=environ, check=True)
    return Repository.open(World(cwd=top, environ=environ, now=lambda: NOW, random=os.urandom))


def status(repo: Repository) -> str:
    return repo.git("status", "--porcelain", "-uall").decode()


def budget(repo: Repository) -> str:
    return ledger.append(repo, ledger.signed(repo, "budget", WHY, subject="team", amount=2))


def test_an_event_is_signed_dated_and_staged_and_nothing_else_is(repo: Repository):
    (repo.top / "mine.txt").write_text("not staged\n")
    path = budget(repo)
    assert status(repo) == f"A  {path}\n?? mine.txt\n"
    found = events(repo.tree("INDEX"))[path]
    assert (found.at, found.by, found.why) == ("2026-07-06T12:00:00Z", "Ada <ada@example.org>", WHY)
    assert (found.subject, found.amount) == ("team", 2)


def test_events_of_one_moment_follow_each_other_by_name_also_when_the_clock_went_back(repo: Repository):
    first, second = budget(repo), budget(repo)
    repo.world = replace(repo.world, now=lambda: datetime(2001, 1, 1, tzinfo=UTC))
    third = budget(repo)
    assert first < second < third
    repo.git("rm", "-q", "--cached", third)
    assert budget(repo) > third, "an event that lies in the work tree only is followed too"


def test_files_that_belong_to_the_event_are_staged_with_it_or_not_at_all(repo: Repository):
    (repo.top / "evalrepo.lock").write_bytes(b"old\n")
    repo.git("add", "evalrepo.lock")
    (repo.git_dir / "index.lock").touch()
    event = ledger.signed(repo, "thaw", "the expected answer is wrong", paths=("rubrics",))
    with pytest.raises(GitError):
        ledger.append(repo, event, {"evalrepo.lock": b"new\n", "new/file": b"x"})
    (repo.git_dir / "index.lock").unlink()
    assert status(repo) == "A  evalrepo.lock\n"
    assert (repo.top / "evalrepo.lock").read_bytes() == b"old\n"
    path = ledger.append(repo, event, {"evalrepo.lock": b"new\n"})
    assert status(repo) == f"A  {path}\nA  evalrepo.lock\n"
    assert repo.git("show", ":evalrepo.lock") == b"new\n"


def test_an_entry_for_another_commit_touches_neither_the_index_nor_the_work_tree(repo: Repository):
    path, data = ledger.entry(repo, ledger.signed(repo, "budget", WHY, subject="team", amount=2))
    assert status(repo) == ""
    assert path.startswith("evalrepo.ledger/")
    assert b"amount: 2\n" in data


def test_a_ledger_that_is_a_symbolic_link_is_refused_and_nothing_is_written_behind_it(repo: Repository, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (repo.top / "evalrepo.ledger").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GitError, match="symbolic link"):
        budget(repo)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_event_wants_a_person(repo: Repository):
    repo.git("config", "--unset", "user.email")
    with pytest.raises(GitError, match="knows none"):
        budget(repo)


@pytest.mark.parametrize(
    "why", ["", " ", ".", "fix", "fix it", "fix fix fix", "update test", "REASON", "a b", "because"]
)
def test_a_reason_that_says_nothing_is_refused(repo: Repository, why: str):
    with pytest.raises(UsageError, match="reason that says something"):
        ledger.signed(repo, "freeze", why, paths=("rubrics",))


@pytest.mark.parametrize(
    "why", ["typo in R1", "the answer is 42, not 41", "期待値が間違っていた", "опечатка", "wrong word"]
)
def test_a_reason_that_says_something_is_taken(why: str):
    assert hollow(why) == ""


def test_a_freeze_may_say_only_that_it_froze(repo: Repository):
    assert ledger.signed(repo, "freeze", "frozen", paths=("rubrics",)).why == "frozen"
    with pytest.raises(UsageError):
        ledger.signed(repo, "thaw", "frozen", paths=("rubrics",))
