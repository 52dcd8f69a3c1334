"""A repository with a subject, two scenarios and a script, and `evalrepo` started in it as a person starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CONFIG = """\
version: 1
subjects:
  style:
    paths: [subjects/style/**]
    agents: [scripted]
    install:
      scripted: {copy: {.: ~/style}}
agents:
  scripted: {tiers: {default: {script: follows}}}
suites:
  release: {scenarios: ["*"], agents: [scripted]}
gate: {suites: [release], golden: [S1]}
"""
GUIDE = "Always read the README before editing.\n"
SCENARIO = """\
title: A typo is mended after a look
subject: style
fixture: app
turns: [{prompt: "Fix the typo in README.md"}]
checks:
  - {id: looks, axis: A, order: {first: {tool: read, path: README.md}, before: {tool: edit}}}
  - {id: fixed, axis: B, file: {path: README.md, matches: hallo}}
conformance:
  - name: good
    expect: PASS
    script: [{read: README.md}, {edit: {path: README.md, old: hello, new: hallo}}, {say: done}]
  - name: blind
    expect: {FAIL: A}
    script: [{edit: {path: README.md, old: hello, new: hallo}}, {read: README.md}, {say: done}]
  - name: lazy
    expect: {FAIL: B}
    script: [{read: README.md}, {edit: {path: README.md, old: hello, new: helo}}, {say: done}]
  - {name: nothing, expect: {ERROR: empty}, script: []}
behaviours:
  - name: follows
    script:
      - when: {subject: GUIDE.md, contains: read the README}
        then: [{read: README.md}]
      - edit: {path: README.md, old: hello, new: hallo}
      - say: "Done. Status: COMPLETE"
"""
WORLD = {
    "evalrepo.yaml": CONFIG,
    "subjects/style/GUIDE.md": GUIDE,
    "fixtures/app/README.md": "hello\n",
    "scenarios/S1-typo.yaml": SCENARIO,
}


@dataclass
class Repo:
    """A repository of a test, with a home of its own."""

    path: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.home.parent / "t"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
            "PYTHONWARNINGS": "error::DeprecationWarning:evalrepo",
            **self.env,
        }

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=self.environment(),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def commit(self, files: Mapping[str, str], message: str = "change") -> str:
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-qm", message, "--allow-empty")
        return self.git("rev-parse", "HEAD").strip()

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "evalrepo", *args],
            cwd=self.path,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run(self, *args: str, exit: int | None = 0) -> str:  # noqa: A002
        """Standard output and error of a command, which must end with this exit code and without a traceback."""
        process = self.start(*args)
        out, err = process.communicate(timeout=120)
        assert "Traceback" not in err, err
        assert exit is None or process.returncode == exit, f"exit {process.returncode}\n{out}\n{err}"
        return out + err

    def json(self, *args: str, exit: int | None = 0) -> Any:  # noqa: A002
        process = self.start(*args, "--format", "json")
        out, err = process.communicate(timeout=120)
        assert exit is None or process.returncode == exit, f"exit {process.returncode}\n{out}\n{err}"
        assert out, f"exit {process.returncode}\n{err}"
        return json.loads(out)

    def records(self) -> list[dict]:
        """Every record in the work tree, by file name."""
        found = []
        for path in sorted((self.path / "AgentsReport").rglob("*.md")):
            text = path.read_text()
            if "```json evalrepo-record" in text:
                found.append(json.loads(text.split("```json evalrepo-record\n")[1].split("\n```")[0]))
        return found

    def reps(self) -> list[tuple[str, str, int, int, str]]:
        """Every attempt that is recorded: run, scenario, rep, attempt, verdict."""
        return [
            (r["run"], r["scenario"], rep["rep"], rep["attempt"], rep["verdict"])
            for r in self.records()
            for rep in r["reps"]
        ]


@pytest.fixture
def empty(tmp_path: Path) -> Repo:
    """A repository without a commit, whose owner is known to git."""
    for name in ("repo", "home", "t"):
        (tmp_path / name).mkdir()
    repo = Repo(tmp_path / "repo", tmp_path / "home")
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    return repo


@pytest.fixture
def repo(empty: Repo) -> Repo:
    """WORLD, committed."""
    empty.commit(WORLD, "the world")
    return empty
