"""`make demo`: what it shows is so, and when it is not it says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def play(script: Path, tmp: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(tmp), "LC_ALL": "C.UTF-8", **more}
    return subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_the_demo_shows_the_planted_regression_and_the_block_and_its_next_commands_work(tmp_path):
    done = play(DOCS / "demo.py", tmp_path, GIT_AUTHOR_NAME="x", GIT_DIR="/nonexistent")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok  the diff shows exactly what was planted: D2-tax fell from 3/3 to 0/3" in done.stdout
    assert "gate: block (exit 1)\n[exit 1]" in done.stdout
    assert "Isolation of the reps: " in done.stdout
    folder = next(tmp_path.glob("evalrepo-demo-*"))
    assert f"Everything happens in {folder.resolve()}, which is kept." in done.stdout
    commands = [line.partition("#")[0].strip() for line in done.stdout.splitlines()[-3:]]
    assert commands == ["evalrepo show D2-tax", "git revert --no-edit HEAD~1", "evalrepo gate"]
    going_on = " && ".join(commands).replace("evalrepo ", f"{sys.executable} -m evalrepo ")
    again = subprocess.run(
        ["sh", "-c", going_on], cwd=folder / "repo", capture_output=True, text=True, timeout=60, check=False
    )
    assert "gate: pass (exit 0)" in again.stdout, again.stdout + again.stderr


@pytest.mark.slow
def test_a_demo_whose_change_does_no_harm_says_that_it_failed(tmp_path):
    shutil.copytree(DOCS / "demo", tmp_path / "docs/demo")
    script = (DOCS / "demo.py").read_text()
    harmless = script.replace(
        'SHORTER = "2. Keep', 'SHORTER = "2. Always run the tests and say what they printed. Keep'
    )
    assert harmless != script
    (tmp_path / "docs/demo.py").write_text(harmless)
    done = play(tmp_path / "docs/demo.py", tmp_path)
    assert done.returncode == 1
    assert "The demo failed: `evalrepo run --since HEAD~1` ended with exit code 0, 1 was expected" in done.stdout
