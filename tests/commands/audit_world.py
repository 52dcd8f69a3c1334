"""A repository that measured once, for audits of results: a cheap subject, one scenario, real runs by the script."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .conftest import WORLD, Repo

BAD = "Fix what is asked.\n"
GUIDE_FILE = "subjects/style/GUIDE.md"
_BUILT: dict[Path, Repo] = {}


def measured(factory: pytest.TempPathFactory, top: Path) -> Audited:
    """A copy of one's own: the world at `start`, then one run of three reps and its result, committed."""
    base = factory.getbasetemp()
    if base not in _BUILT:
        _BUILT[base] = _build(factory.mktemp("audited"))
    made = _BUILT[base]
    for name in ("home", "t"):
        (top / name).mkdir()
    shutil.copytree(made.path, top / "repo", symlinks=True)
    return Audited(top / "repo", top / "home")


def _build(top: Path) -> Repo:
    for name in ("repo", "home", "t"):
        (top / name).mkdir()
    repo = Repo(top / "repo", top / "home")
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    repo.commit(WORLD, "the world")
    repo.git("tag", "start")
    repo.run("run")
    return repo


@dataclass
class Audited(Repo):
    """With the answers of `verify --records`."""

    def findings(self, *args: str) -> list[dict[str, Any]]:
        """All that it says; its exit code fits what it says."""
        process = self.start("verify", "--records", *args, "--format", "json")
        out, err = process.communicate(timeout=120)
        assert process.returncode in (0, 1), f"{process.returncode}\n{out}\n{err}"
        said: list[dict[str, Any]] = json.loads(out)["findings"]
        wrong = [f for f in said if f["severity"] == "error" and not f["acknowledged"]]
        assert process.returncode == bool(wrong), said
        return said

    def wrong(self, *args: str) -> list[tuple[str, str]]:
        """Code and file of what counts as wrong; each names a next step."""
        found = [f for f in self.findings(*args) if f["severity"] == "error" and not f["acknowledged"]]
        assert all(f["hint"] for f in found), found
        return [(f["code"], f["file"]) for f in found]

    def results(self) -> list[str]:
        """Paths of result files in the work tree, oldest number first."""
        found = [p for p in (self.path / "AgentsReport").rglob("*.md") if "evalrepo-record" in p.read_text()]
        return [str(p.relative_to(self.path)) for p in sorted(found, key=lambda p: record(p)["sequence"])]

    def measure(self, guide: str, *args: str) -> str:
        """Change the subject and measure; the path of the new result."""
        before = set(self.results()) if (self.path / "AgentsReport").exists() else set()
        self.commit({GUIDE_FILE: guide}, "another wording")
        self.run("run", *args, exit=None)
        return next(iter(set(self.results()) - before), "")

    def head(self, name: str = "HEAD") -> str:
        return self.git("rev-parse", name).strip()

    def clone_of(self, top: Path, *args: str) -> Audited:
        """Another clone, of another person."""
        top.mkdir()
        (top / "home").mkdir()
        (top / "t").mkdir()
        self.git("clone", "-q", *args, str(self.path), str(top / "repo"))
        other = Audited(top / "repo", top / "home")
        other.git("config", "user.name", "Other Person")
        other.git("config", "user.email", "other@example.org")
        return other


def record(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text().split("```json evalrepo-record\n")[1].split("\n```")[0])
    return found
