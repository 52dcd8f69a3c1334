"""A rep that was declared bad, and records in which another instrument judged it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .audit_world import Audited, measured, record
from .conftest import SCENARIO

STRICTER = SCENARIO.replace("matches: hallo", "matches: '^hallo'")


@pytest.fixture
def repo(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Audited:
    return measured(tmp_path_factory, tmp_path)


def test_a_correction_reaches_what_was_judged_again_before_it_was_known(repo: Audited):
    (old,) = repo.results()
    run = record(repo.path / old)["run"]
    repo.git("checkout", "-qb", "checks")
    repo.commit({"scenarios/S1-typo.yaml": STRICTER}, "another check")
    repo.run("rescore")
    again = next(r["run"] for r in repo.records() if r["rescored_from"])
    repo.git("checkout", "-q", "main")
    for ref in repo.git("for-each-ref", "--format=%(refname)", "refs/evalrepo/runs").split():
        if again in ref:
            repo.git("update-ref", "refs/kept/again", ref)
            repo.git("update-ref", "-d", ref)
    repo.run("correct", run, "--rep", "2", "--why", "the disk was full on that day")
    bad = next(r["run"] for r in repo.records() if r["supersedes"] == run)
    repo.git("update-ref", f"refs/evalrepo/runs/{again}", "refs/kept/again")
    repo.git("merge", "-q", "--no-edit", "checks")
    (line,) = repo.json("status")["cells"]
    assert line["score"] == "2/2 PEP"
    said = " ".join(repo.run("diff", "start", exit=None).split())
    assert f"in run {again}, declared bad by {bad}: ERROR(defect) here too" in said
    assert f"rep 2 was declared bad in run {bad}, and counts as ERROR(defect)" in repo.run("show", again)
    assert repo.json("show", again)["records"][0]["declared_bad"] == {"2": bad}
    assert repo.wrong("--since", "start") == []


def test_what_was_declared_bad_stays_so_by_every_later_instrument(repo: Audited):
    (old,) = repo.results()
    run = record(repo.path / old)["run"]
    repo.run("correct", run, "--rep", "2", "--why", "the disk was full on that day")
    repo.commit({"scenarios/S1-typo.yaml": STRICTER}, "another check")
    repo.run("rescore")
    (line,) = repo.json("status")["cells"]
    assert line["score"] == "2/2 PEP"
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "and put back")
    (line,) = repo.json("status")["cells"]
    assert line["score"] == "2/2 PEP"
