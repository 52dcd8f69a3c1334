"""The n-th system call kills the run, or one of its gits, or fails: after recovery nothing is lost and nothing twice.

`EVALREPO_SWEEP=all` runs every fault of the plan, a number that many of them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from faults import plan, run
from yard import MINE, Yard, assert_sound, snapshot

from evalrepo.running.recover import recover
from tests.call_faults import STRACE, Fault, fired

SAMPLE = os.environ.get("EVALREPO_SWEEP", "14")
pytestmark = [pytest.mark.strace, pytest.mark.skipif(STRACE is None, reason="needs strace")]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Yard:
    return Yard(tmp_path_factory.mktemp("sweep") / "repo").begin().person_at_work()


@pytest.fixture(scope="module")
def clean(template: Yard, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a clean run's traces."""
    work = tmp_path_factory.mktemp("trace")
    place = template.copy(work / "repo")
    before = place.work()
    code, said, errors = run(MINE, place.top, work / "trace", None, trace=True)
    assert (code, said.split()[-1]) == (0, "landed"), errors
    assert_sound(place, before, said)
    return work / "trace"


@pytest.fixture(scope="module")
def planned(clean: Path) -> list[Fault]:
    return plan(clean)


def test_a_plan_covers_the_run_and_its_gits(planned: list[Fault]):
    assert len(planned) > 150
    assert {f.call for f in planned if not f.process} >= {"fsync", "write", "openat", "link", "rename", "unlink"}
    assert {f.call for f in planned if f.process} >= {"fsync", "openat", "rename"}


@pytest.mark.slow
def test_after_any_fault_and_recovery_the_repository_is_sound(template: Yard, planned: list[Fault], tmp_path: Path):
    step = 1 if SAMPLE == "all" else max(1, len(planned) // int(SAMPLE))
    quiet = []
    for fault in planned[step // 2 :: step]:
        work = tmp_path / str(fault)
        try:
            if not survives(template.copy(work / "repo"), fault, work):
                quiet.append(fault)
        except BaseException as error:
            error.add_note(f"fault: {fault}")
            raise
    assert len(quiet) <= 1, quiet


def survives(place: Yard, fault: Fault, work: Path) -> bool:
    """Whether the fault fired; fails when anything is lost."""
    before = place.work()
    code, said, errors = run(MINE, place.top, work, fault)
    assert "Traceback" not in errors, errors
    assert code in (0, 2, -9, 137), errors
    done = recover(place.repo(), place.world())
    assert [r.error for r in done if r.error] == []
    once = snapshot(place)
    assert recover(place.repo(), place.world()) == []
    assert snapshot(place) == once
    assert_sound(place, before, said)
    return fired(work)


def test_every_line_is_on_the_medium_before_it_is_acknowledged(clean: Path):
    unsynced: set[str] = set()
    lines = acknowledged = 0
    for call, rest in calls(clean / "run.log"):
        if call == "write" and rest.startswith("1,"):
            assert not unsynced, f"{rest}: said before a line was synced"
            acknowledged += 1
        elif call == "write" and '"{\\"line\\"' in rest:
            unsynced.add(rest.split(",")[0])
            lines += 1
        elif call == "fsync":
            unsynced.discard(rest.split(")")[0])
    assert (lines > 10, acknowledged) == (True, 7)


def test_the_index_and_every_object_are_synced_before_they_get_their_names(clean: Path):
    logs = [clean / "run.log", *clean.glob("git-*.log")]
    named = synced = 0
    for log in logs:
        for call, rest in calls(log):
            synced += call == "fsync"
            source = rest.split(",")[0]
            ours = "landing" in rest or "scratch" in rest
            if call in ("link", "rename") and ("tmp_obj" in source or "index.lock" in source) and not ours:
                assert synced, f"{log.name}: {rest}"
                named, synced = named + 1, 0
    assert named > 10


def calls(log: Path) -> list[tuple[str, str]]:
    found = [re.match(r"(?:\d+\s+)?(\w+)\((.*)", line) for line in log.read_text(errors="replace").splitlines()]
    return [(m[1], m[2]) for m in found if m]
