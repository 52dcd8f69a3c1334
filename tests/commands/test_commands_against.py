"""`run --at`, `run --against` and `gate --confirm` with real runs of the scripted agent."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalrepo.running.campaign import jobs_of

from .conftest import GUIDE, WORLD, Repo

WORSE = "Edit files at once.\n"
GUIDE_FILE = "subjects/style/GUIDE.md"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """WORLD tagged v1, and a worse wording after it; nothing measured. Made once, copied for each test."""
    top = tmp_path_factory.mktemp("against")
    for name in ("repo", "home", "t"):
        (top / name).mkdir()
    repo = Repo(top / "repo", top / "home")
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    repo.commit(WORLD, "the world")
    repo.git("tag", "v1")
    repo.commit({GUIDE_FILE: WORSE}, "worse")
    return top


@pytest.fixture
def two(made: Path, tmp_path: Path) -> Repo:
    """WORLD at v1, a worse wording at HEAD."""
    for name in ("home", "t"):
        (tmp_path / name).mkdir()
    shutil.copytree(made / "repo", tmp_path / "repo", symlinks=True)
    return Repo(tmp_path / "repo", tmp_path / "home")


def by_purpose(repo: Repo) -> dict[str, dict]:
    return {r["purpose"]: r for r in repo.records()}


def test_at_measures_the_subject_of_another_commit_and_counts_for_its_content(two: Repo):
    two.run("run", "--at", "v1", "--reps", "3")
    [record] = two.records()
    assert record["commit"] == two.git("rev-parse", "v1").strip()
    assert (record["dirty"], record["purpose"]) == (False, "measure")
    assert [r["verdict"] for r in record["reps"]] == ["PASS"] * 3
    assert two.git("status", "--porcelain") == ""
    assert "nothing to do" in two.run("run", "--at", "v1", "--reps", "3")
    two.git("checkout", "-q", "v1")
    assert two.json("run", "--reps", "3", "--dry-run")["to_run"] == 0


def test_at_takes_todays_scenario_and_fixture(two: Repo):
    two.commit({"fixtures/app/README.md": "hello\nworld\n"}, "another fixture")
    two.run("run", "--at", "v1", "--reps", "1")
    two.run("run", "--reps", "1", exit=None)
    old, new = sorted(two.records(), key=lambda r: r["sequence"])
    assert old["digests"]["subject"] != new["digests"]["subject"]
    for digest in ("stimulus", "instrument", "apparatus"):
        assert old["digests"][digest] == new["digests"][digest]


def test_a_snapshot_of_a_run_at_a_revision_holds_its_subject(two: Repo):
    two.run("run", "--at", "v1", "--reps", "1")
    [record] = two.records()
    ref = f"refs/evalrepo/runs/{record['run']}"
    assert two.git("show", f"{ref}:snapshot/{GUIDE_FILE}") == GUIDE


def test_reps_of_two_sides_are_at_work_in_turns():
    cell = SimpleNamespace(need=3, header=SimpleNamespace(cell=("S1", "scripted", "default")))
    lanes = [[cell], [cell]]
    assert [(job.lane, job.rep) for job in jobs_of(lanes)] == [(0, 1), (1, 1), (1, 2), (0, 2), (0, 3), (1, 3)]


def test_against_measures_both_sides_in_turns_with_one_run_a_side(two: Repo):
    two.run("run", "--against", "v1", "--reps", "3", "--jobs", "1", exit=1)
    held = by_purpose(two)
    assert sorted(held) == ["against", "measure"]
    here, there = held["measure"], held["against"]
    assert here["run"] != there["run"]
    assert there["commit"] == two.git("rev-parse", "v1").strip()
    assert (here["against"], there["against"]) == (there["digests"]["subject"], here["digests"]["subject"])
    started = {(side["purpose"], rep["rep"]): rep["timing"]["start"] for side in (here, there) for rep in side["reps"]}
    turns = [("here", 1), ("at v1", 1), ("at v1", 2), ("here", 2), ("here", 3), ("at v1", 3)]
    in_turn = [started["measure" if where == "here" else "against", rep] for where, rep in turns]
    assert in_turn == sorted(in_turn)
    data = two.json("diff", "v1", "HEAD", exit=1)
    assert data["validity"]["concurrent"] is True
    assert [c["label"] for c in data["cells"]] == ["suspect"]


def test_against_brings_both_sides_up_to_their_reps_and_then_does_nothing(two: Repo):
    two.run("run", "--reps", "3", exit=1)
    plan = two.json("run", "--against", "v1", "--reps", "4", "--dry-run")
    assert [(bool(c["at"]), c["have"], c["run"]) for c in plan["cells"]] == [(False, 3, 1), (True, 0, 4)]
    two.run("run", "--against", "v1", "--reps", "4", exit=1)
    assert "nothing to do" in two.run("run", "--against", "v1", "--reps", "4", exit=1)
    assert sorted(len(r["reps"]) for r in two.records()) == [1, 3, 4]


def test_against_a_revision_with_the_same_subject_measures_it_once(two: Repo):
    two.commit({"README.md": "nothing to do with it\n"}, "other")
    said = two.run("run", "--against", "HEAD~1", "--reps", "1", exit=1)
    assert "the same subject on both sides" in said
    assert "the subject of HEAD~1" not in said
    assert two.json("run", "--against", "HEAD~1", "--reps", "2", "--dry-run")["to_run"] == 1
    assert [len(r["reps"]) for r in two.records()] == [1]


def test_a_revision_without_the_subject_and_options_that_do_not_fit_are_exit_2(two: Repo):
    two.commit({"evalrepo.yaml": WORLD["evalrepo.yaml"]}, "again")
    two.git("checkout", "-q", "--orphan", "bare")
    two.git("rm", "-rqf", "subjects")
    two.git("commit", "-qm", "no subject")
    two.git("tag", "none")
    two.git("checkout", "-q", "main")
    assert "none has no subject style" in two.run("run", "--at", "none", exit=2)
    assert "unknown revision" in two.run("run", "--against", "nonsense", exit=2)
    assert "--since does not go with" in two.run("run", "--since", "HEAD~1", "--against", "v1", exit=2)
    assert "--fresh and --against" in two.run("run", "--fresh", "1", "--against", "v1", exit=2)
    assert two.records() == []


def test_an_interrupted_run_of_two_sides_keeps_what_it_had_and_goes_on(two: Repo):
    process = two.start("run", "--against", "v1", "--reps", "12", "--jobs", "1")
    journal = two.path / ".git" / "evalrepo" / "journal"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _ended(journal) < 4:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    kept = [rep for rep in two.reps() if rep[4] != "ERROR"]
    assert len(kept) >= 4
    two.run("run", "--against", "v1", "--reps", "12", exit=1)
    valid = [rep for rep in two.reps() if rep[4] != "ERROR"]
    assert len(valid) == 24


def _ended(journal: Path) -> int:
    return sum(path.read_text().count('"line":"end"') for path in journal.glob("*.jsonl"))


def test_a_killed_run_of_two_sides_is_recovered_by_the_next(two: Repo):
    process = two.start("run", "--against", "v1", "--reps", "9", "--jobs", "1")
    journal = two.path / ".git" / "evalrepo" / "journal"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _ended(journal) < 3:
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=60)
    said = two.run("run", "--against", "v1", "--reps", "9", exit=1)
    assert said.count("had died") == 2
    valid = [rep for rep in two.reps() if rep[4] != "ERROR"]
    assert len(valid) == 18
