from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import wrong_files


def hermetic(home: Path) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture(scope="session")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return hermetic(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> Path:
    return wrong_files.make(tmp_path_factory.mktemp("sound") / "repo", environ)


@pytest.fixture
def sound(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "repo", symlinks=True))
