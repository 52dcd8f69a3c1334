"""A run is killed at any moment, and the next one goes on: no rep is lost, none is counted twice, nothing is left."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.commands.conftest import SCENARIO, Repo

CELLS = ("S1-typo", "S2-typo", "S3-typo")
REPS = 8
SLOW = SCENARIO.replace('say: "Done', 'sleep: 0.05\n      - say: "Done')


def tree_of(pid: int) -> list[int]:
    """A process and all its descendants."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [p for child in task.read_text().split() for p in tree_of(int(child))]
    return found


def kill_tree(pid: int) -> None:
    """SIGKILL for the whole tree at one moment, as a power cut or an out-of-memory killer does it."""
    pids = tree_of(pid)
    for one in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGSTOP)
    for one in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def processes_below(place: Path) -> list[str]:
    """Processes that work in, or were started for, this place."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if str(place) in os.readlink(entry / "cwd") + (entry / "cmdline").read_text(errors="replace"):
                    found.append(f"{entry.name} {(entry / 'cmdline').read_text(errors='replace')!r}")
    return found


def assert_sound(repo: Repo) -> None:
    """Nothing of a dead run is left, and git is whole."""
    gone = repo.git("fsck", "--full", "--strict", "--no-dangling")
    assert gone == ""
    assert repo.git("status", "--porcelain") == ""
    locks = [*repo.path.glob(".git/**/*.lock"), *repo.path.glob(".git/evalrepo/journal/*.jsonl")]
    assert locks == []
    boxes = [*(repo.home.parent / "t").glob("dev*"), *repo.path.glob(".git/evalrepo/boxes/*")]
    assert boxes == []
    assert processes_below(repo.path.parent) == []


@pytest.mark.slow
def test_a_run_killed_at_twenty_random_moments_ends_with_every_started_rep_recorded_once(repo):
    repo.commit({f"scenarios/{name}.yaml": SLOW for name in CELLS})
    draw = random.Random(20)
    for _ in range(20):
        process = repo.start("run", "--reps", str(REPS), "--jobs", "3")
        time.sleep(draw.uniform(0.2, 4.0))
        kill_tree(process.pid)
        process.communicate(timeout=30)
    repo.run("run", "--reps", str(REPS), "--jobs", "3")
    assert_sound(repo)
    reps = repo.reps()
    assert len({r[:4] for r in reps}) == len(reps)
    for cell in CELLS:
        verdicts = [r[4] for r in reps if r[1] == cell]
        assert verdicts.count("PASS") == REPS, verdicts
        assert set(verdicts) <= {"PASS", "ERROR"}
    numbers = sorted(r["sequence"] for r in repo.records())
    assert numbers == list(range(1, len(numbers) + 1))
    assert "nothing to do" in repo.run("run", "--reps", str(REPS))
