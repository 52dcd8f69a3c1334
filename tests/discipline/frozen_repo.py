"""A real repository in a temporary folder, and the frozen one that most tests begin with."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from evalrepo import cli

ROOT = Path(__file__).parents[2]
SCENARIO = "title: {title}\nsubject: style\nfixture: box\nturns:\n  - prompt: Write the note.\n"


class Repo:
    """A real repository in a temporary folder, with evalrepo as a person's shell would call it."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self.environ = dict(environ)

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.root, env=self.environ, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def code(self, *args: str) -> int:
        return subprocess.run(
            ["git", *args], cwd=self.root, env=self.environ, capture_output=True, check=False
        ).returncode

    def run(self, *args: str) -> tuple[int, str]:
        """Exit code and everything it prints, in this process: `cli.main` with another directory and environment."""
        before, environ, said = Path.cwd(), dict(os.environ), io.StringIO()
        os.chdir(self.root)
        os.environ.clear()
        os.environ.update(self.environ)
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                cli.main(list(args))
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environ)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for path, content in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: Mapping[str, str | bytes], message: str = "x") -> None:
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "-m", message)

    def freeze(self) -> None:
        code, said = self.run("freeze")
        assert code == 0, said
        self.git("commit", "-q", "--no-verify", "-m", "freeze")

    def hook(self) -> None:
        """A pre-commit hook as git runs it."""
        path = Path(self.git("rev-parse", "--git-common-dir").strip())
        path = (path if path.is_absolute() else self.root / path) / "hooks" / "pre-commit"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nexec {sys.executable} -m evalrepo verify --staged\n")
        path.chmod(0o755)

    def commits(self) -> int:
        return int(self.git("rev-list", "--count", "--all"))


R1 = "scenarios-reserve/R1.yaml"
OTHER = SCENARIO.format(title="easier")

FILES = {
    "evalrepo.yaml": "version: 1\nsubjects:\n  style: {paths: [STYLE.md]}\n",
    "STYLE.md": "be brief\n",
    "scenarios-reserve/R1.yaml": SCENARIO.format(title="one"),
    "scenarios-reserve/R2.yaml": SCENARIO.format(title="two"),
    "fixtures/box/README.md": "box\n",
    "docs/page.md": "page\n",
}


def new(root: Path, environ: Mapping[str, str], *options: str) -> Repo:
    """An empty repository of a person."""
    root.mkdir(parents=True)
    repo = Repo(root, environ)
    repo.git("init", "-q", "-b", "main", *options)
    repo.git("config", "user.name", "Ada")
    repo.git("config", "user.email", "ada@example.org")
    return repo
