from __future__ import annotations

import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "linting"))
import wrong_files

from evalrepo.repository.repo import Repository
from evalrepo.world import World


@pytest.fixture(scope="session")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> Path:
    return wrong_files.make(tmp_path_factory.mktemp("sound") / "repo", environ)


@pytest.fixture
def repo(template: Path, tmp_path: Path, environ: dict[str, str]) -> Repository:
    root = Path(shutil.copytree(template, tmp_path / "repo", symlinks=True))
    return Repository.open(World(root, environ, lambda: datetime(2026, 11, 29, tzinfo=UTC), bytes))
