from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from frozen_repo import FILES, ROOT, Repo, new
from ways_world import build


@pytest.fixture(scope="session")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path_factory.mktemp("home")),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture
def empty(tmp_path: Path, environ: dict[str, str]) -> Repo:
    return new(tmp_path / "repo", environ)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> Path:
    repo = new(tmp_path_factory.mktemp("frozen") / "repo", environ)
    repo.commit(FILES)
    repo.freeze()
    return repo.root


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> Path:
    """The world of `ways_world`."""
    made = new(tmp_path_factory.mktemp("held") / "repo", environ)
    build(made)
    return made.root


@pytest.fixture
def world(held: Path, tmp_path: Path, environ: dict[str, str]) -> Repo:
    """A copy of it."""
    return Repo(Path(shutil.copytree(held, tmp_path / "repo", symlinks=True)), environ)


@pytest.fixture
def repo(template: Path, tmp_path: Path, environ: dict[str, str]) -> Repo:
    """Two reserve scenarios with a fixture, frozen in the second commit."""
    return Repo(Path(shutil.copytree(template, tmp_path / "repo", symlinks=True)), environ)
