"""An event that is committed by itself, and a process that is killed in the middle of it."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo.errors import GitError
from evalrepo.repository.repo import Repository
from evalrepo.store import ledger
from evalrepo.world import World

NOW = datetime(2026, 7, 6, 12, tzinfo=UTC)
WHY = "nobody understands this result"
KILLED = """
import os, signal
from datetime import UTC, datetime
from pathlib import Path
from evalrepo.repository import commit, indexlock
from evalrepo.repository.repo import Repository
from evalrepo.store import ledger
from evalrepo.world import World
def die(*a, **k):
    os.kill(os.getpid(), signal.SIGKILL)
{at} = die
now = datetime(2026, 7, 6, 12, tzinfo=UTC)
repo = Repository.open(World(cwd=Path.cwd(), environ=dict(os.environ), now=lambda: now, random=os.urandom))
ledger.commit(repo, ledger.signed(repo, "unseal", {why!r}, scenarios=("R1",)), "evalrepo: unseal R1")
"""


def environ(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """A commit, and a person's work: one file staged, one modified."""
    top = tmp_path / "repo"
    top.mkdir()
    made = Repository.open(_world(_git(tmp_path, top, "init -q -b main"), tmp_path))
    for words in ("config user.name Ada", "config user.email ada@example.org"):
        _git(tmp_path, top, words)
    for name in ("staged", "modified"):
        (top / name).write_text("old\n")
    _git(tmp_path, top, "add -A")
    _git(tmp_path, top, "commit -qm start")
    for name in ("staged", "modified"):
        (top / name).write_text("new\n")
    _git(tmp_path, top, "add staged")
    return made


def _git(base: Path, top: Path, words: str) -> Path:
    subprocess.run(["git", *words.split()], cwd=top, env=environ(base), check=True)
    return top


def _world(top: Path, base: Path) -> World:
    return World(cwd=top, environ=environ(base), now=lambda: NOW, random=os.urandom)


def killed(repo: Repository, tmp_path: Path, at: str) -> None:
    code = KILLED.format(at=at, why=WHY)
    env = {**environ(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=repo.top, env=env, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()


def status(repo: Repository) -> list[str]:
    return repo.git("status", "--porcelain", "-uall").decode().splitlines()


def held(repo: Repository) -> list[str]:
    return repo.git("ls-tree", "--name-only", "-r", "HEAD", "evalrepo.ledger").decode().split()


def left(repo: Repository) -> list[str]:
    folders = (repo.home / "ledger", repo.home / "landing")
    return [str(path) for folder in folders if folder.is_dir() for path in folder.rglob("*")]


def test_an_event_that_is_committed_leaves_nothing_beside_it(repo: Repository):
    ledger.commit(repo, ledger.signed(repo, "unseal", WHY, scenarios=("R1",)), "evalrepo: unseal R1")
    assert (len(held(repo)), status(repo), left(repo)) == (1, [" M modified", "M  staged"], [])


def test_after_a_crash_between_branch_and_index_the_next_event_finishes_the_index(repo: Repository, tmp_path: Path):
    killed(repo, tmp_path, "indexlock.finish")
    assert (repo.git_dir / "index.lock").exists()
    assert len(held(repo)) == 1
    ledger.append(repo, ledger.signed(repo, "retire", WHY, scenarios=("R1",)))
    assert not (repo.git_dir / "index.lock").exists()
    first, second = sorted(path.name for path in (repo.top / "evalrepo.ledger").iterdir())
    assert held(repo) == [f"evalrepo.ledger/{first}"]
    assert status(repo) == [f"A  evalrepo.ledger/{second}", " M modified", "M  staged"]
    assert left(repo) == []


def test_after_a_crash_before_the_branch_moved_nothing_of_the_event_is_left(repo: Repository, tmp_path: Path):
    killed(repo, tmp_path, "commit._Attempt.moved")
    assert (repo.git_dir / "index.lock").exists()
    made = ledger.commit(repo, ledger.signed(repo, "unseal", WHY, scenarios=("R2",)), "evalrepo: unseal R2")
    assert repo.git("rev-list", "--count", "HEAD").strip() == b"2"
    assert repo.head() == made
    assert (len(held(repo)), status(repo), left(repo)) == (1, [" M modified", "M  staged"], [])


def test_a_run_settles_it_too(repo: Repository, tmp_path: Path):
    from evalrepo.running.recover import recover

    killed(repo, tmp_path, "indexlock.finish")
    assert recover(repo, repo.world) == []
    assert (len(held(repo)), status(repo), left(repo)) == (1, [" M modified", "M  staged"], [])


def test_an_event_that_a_commit_dropped_after_the_lock_was_removed_by_hand_comes_back(repo: Repository, tmp_path: Path):
    killed(repo, tmp_path, "indexlock.finish")
    (repo.git_dir / "index.lock").unlink()
    _git(tmp_path, repo.top, "commit -qm drops-it")
    assert held(repo) == []
    ledger.append(repo, ledger.signed(repo, "retire", WHY, scenarios=("R1",)))
    assert len(held(repo)) == 1


def test_a_lock_of_somebody_else_is_left_and_told(repo: Repository, tmp_path: Path):
    killed(repo, tmp_path, "commit._Attempt.moved")
    lock = repo.git_dir / "index.lock"
    lock.unlink()
    lock.write_bytes(b"theirs")
    with pytest.raises(GitError, match="is not ours"):
        ledger.append(repo, ledger.signed(repo, "retire", WHY, scenarios=("R1",)))
    assert lock.read_bytes() == b"theirs"


def test_a_landing_that_lives_is_left_alone(repo: Repository):
    import fcntl

    folder = repo.home / "ledger"
    folder.mkdir(parents=True)
    file = folder / "01.jsonl"
    with file.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write('{"path": "evalrepo.ledger/01.yaml"}\n')
        other.flush()
        ledger.append(repo, ledger.signed(repo, "retire", WHY, scenarios=("R1",)))
    assert file.exists()


@pytest.mark.parametrize("torn", ["", '{"path": "evalrepo.led', '{"path": "x"}\n{"line": "lock'])
def test_a_torn_line_tells_of_a_step_that_was_not_taken(repo: Repository, torn: str):
    folder = repo.home / "ledger"
    folder.mkdir(parents=True)
    (folder / "01.jsonl").write_text(torn)
    ledger.append(repo, ledger.signed(repo, "retire", WHY, scenarios=("R1",)))
    assert left(repo) == []
