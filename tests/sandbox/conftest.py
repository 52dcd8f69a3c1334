"""A real isolation when the machine has one, and sandboxes below the test's directory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo import processes
from evalrepo.sandbox import trees
from evalrepo.sandbox.isolation import NONE, Isolation, readable_python, wrap
from evalrepo.sandbox.layout import Sandbox, base_directory, fresh, remove
from evalrepo.sandbox.probe import probe
from evalrepo.sandbox.template import template
from evalrepo.world import World

FILES = {
    "README.md": ("100644", b"# A project\n"),
    "bin/tool": ("100755", b"#!/bin/sh\necho tool\n"),
    "CLAUDE.md": ("120000", b"AGENTS.md"),
    "AGENTS.md": ("100644", b"Be brief.\n"),
    "deep/er/data.bin": ("100644", bytes(range(256))),
}


def make_world(**environ: str) -> World:
    return World(Path("/"), {**os.environ, **environ}, lambda: datetime.now(UTC), os.urandom)


def bubblewrap_works() -> bool:
    """Whether it works at all here; then ours must work too."""
    argv = ["bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-all", "true"]
    return shutil.which("bwrap") is not None and subprocess.run(argv, check=False).returncode == 0


@pytest.fixture(scope="session")
def eval_repo(tmp_path_factory) -> Path:
    """What must stay out of reach: a repository with a reserve."""
    repo = tmp_path_factory.mktemp("evals")
    (repo / "scenarios-reserve").mkdir()
    (repo / "scenarios-reserve/R1.yaml").write_text("prompt: held out\n")
    (repo / ".git/objects/aa").mkdir(parents=True)
    (repo / ".git/objects/aa/bb").write_bytes(b"object")
    return repo


@pytest.fixture(scope="session")
def isolation(eval_repo) -> Isolation:
    found = probe(make_world(), [eval_repo])
    if found.level == "none" and not bubblewrap_works():
        pytest.skip(found.why)
    assert found.level == "bwrap", found.why
    return found


@pytest.fixture
def base() -> Iterator[Path]:
    place = base_directory(make_world(TMPDIR=""))
    place.mkdir()
    yield place
    trees.remove(place)


@pytest.fixture
def fixture(tmp_path) -> Path:
    return template(FILES, tmp_path / "cache", "key")


@pytest.fixture
def box(base, fixture) -> Iterator[Sandbox]:
    made = fresh(base, fixture, NONE)
    yield made
    remove(made)


@pytest.fixture
def cell(base, fixture, isolation) -> Iterator[Sandbox]:
    made = fresh(base, fixture, isolation)
    yield made
    remove(made)


@pytest.fixture
def within(isolation, cell) -> Callable[..., tuple[int, str, str]]:
    """Run a shell script in the isolated sandbox: exit code, output, errors."""

    def run(script: str, *arguments: str, network: bool = False, timeout_s: float = 20) -> tuple[int, str, str]:
        _, prefixes = readable_python()
        argv = ["/bin/sh", "-c", script, "sh", *arguments]
        with wrap(isolation, cell, argv, cell.environment(), readable=prefixes, network=network) as launch:
            code, output, errors = processes.capture(
                launch.argv, cwd=cell.work, env=launch.env, pass_fds=launch.pass_fds, timeout_s=timeout_s
            )
        return code, output.decode(), errors.decode()

    return run
