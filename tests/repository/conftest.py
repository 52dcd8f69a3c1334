"""Real repositories in the test's own folder, with a configuration of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo.repository.repo import Repository
from evalrepo.world import World


class Lab:
    """A folder with a repository in it, a HOME beside it, and git with nothing else around."""

    def __init__(self, base: Path, name: str = "repo") -> None:
        self.base = base
        self.top = base / name
        self.home = base / "home"
        self.home.mkdir(exist_ok=True)
        self.config = self.home / "gitconfig"
        self.config.touch()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.config),
            "LANG": "C.UTF-8",
        }

    def init(self, *args: str) -> Lab:
        self.top.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main", *args)
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        return self

    def git(self, *args: str, cwd: Path | None = None, check: bool = True, stdin: bytes = b"", **env: str) -> str:
        env = {**self.env, **env}
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.top, env=env, input=stdin, capture_output=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr.decode()
        return os.fsdecode(done.stdout).rstrip("\n")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: Mapping[str, str | bytes] | None = None, message: str = "a commit") -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def world(self, cwd: Path | None = None, **env: str) -> World:
        return World(cwd or self.top, {**self.env, **env}, lambda: datetime(2026, 11, 29, 12, tzinfo=UTC), os.urandom)

    def open(self, cwd: Path | None = None, *, hook: bool = False, **env: str) -> Repository:
        return Repository.open(self.world(cwd, **env), hook=hook)

    def sound(self) -> bool:
        argv = ["git", "fsck", "--full", "--strict", "--no-dangling"]
        return subprocess.run(argv, cwd=self.top, env=self.env, capture_output=True, check=False).returncode == 0

    def state(self) -> dict[str, bytes]:
        """Every byte of the repository and its work tree but our own folder."""
        return {
            str(path.relative_to(self.top)): path.read_bytes()
            for path in sorted(self.top.rglob("*"))
            if path.is_file() and "evalrepo" not in path.parts
        }


@pytest.fixture
def bare_lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path).init()


@pytest.fixture
def make_lab(tmp_path: Path) -> Callable[[str], Lab]:
    return lambda name: Lab(tmp_path, name).init()
