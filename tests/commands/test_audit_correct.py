"""Corrections are new records that name the old one, with a reason; both stay and both are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from .audit_world import BAD, Audited, measured, record


@pytest.fixture
def repo(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Audited:
    return measured(tmp_path_factory, tmp_path)


def test_a_rep_that_is_declared_bad_is_an_error_in_a_record_that_supersedes_the_first(repo: Audited):
    (old,) = repo.results()
    before = (repo.path / old).read_bytes()
    run = record(repo.path / old)["run"]
    said = repo.run("correct", run, "--rep", "2", "--why", "the disk was full on that day")
    assert "rep 2 is ERROR(defect)" in said
    assert (repo.path / old).read_bytes() == before
    new = record(repo.path / repo.results()[-1])
    assert (new["supersedes"], new["rescored_from"], new["sequence"]) == (run, run, 2)
    assert "declared bad by Test Person <person@example.org>: the disk was full" in new["reason"]
    assert [(r["verdict"], r["error"]) for r in new["reps"]] == [("PASS", ""), ("ERROR", "defect"), ("PASS", "")]
    assert repo.findings("--since", "start") == []
    (line,) = repo.json("status")["cells"]
    assert (line["score"], line["run"]) == ("2/2 PEP", 1)  # an ERROR beside the rate, and one more rep to run


def test_both_records_are_shown_and_each_names_the_other(repo: Audited):
    (old,) = repo.results()
    run = record(repo.path / old)["run"]
    repo.run("correct", run, "--rep", "2", "--why", "the disk was full on that day")
    new = record(repo.path / repo.results()[-1])["run"]
    assert f"superseded by run {new}" in repo.run("show", run)
    assert repo.json("show", run)["records"][0]["superseded_by"] == new
    shown = repo.run("show", new)
    assert f"supersedes run {run}" in shown
    assert "the disk was full" in shown
    assert f"corrected: 3 reps in run {run}, superseded by {new}" in " ".join(repo.run("log", "S1").split())
    assert f"superseded by {new}" in " ".join(repo.run("diff", "start", exit=None).split())


def test_a_fail_that_was_made_an_error_still_counts_as_if_it_failed_where_a_gate_asks_what_errors_could_hide(
    repo: Audited,
):
    repo.git("tag", "v1")
    bad = repo.measure(BAD)
    run = record(repo.path / bad)["run"]
    for rep in ("1", "2", "3"):
        newest = record(repo.path / repo.results()[-1])["run"] if rep != "1" else run
        repo.run("correct", newest, "--rep", rep, "--why", "it cannot have been that bad")
    assert repo.json("gate", "--baseline", "v1", exit=None)["answer"] == "invalid"  # nothing but ERRORs is no score


def test_what_cannot_be_corrected_is_refused_and_nothing_is_written(repo: Audited):
    (old,) = repo.results()
    run = record(repo.path / old)["run"]
    assert "needs a reason" in repo.run("correct", run, "--rep", "1", "--why", "fix", exit=2)
    assert "has no rep 9" in repo.run("correct", run, "--rep", "9", "--why", "the disk was full", exit=2)
    assert "no record is called nothing" in repo.run("correct", "nothing", "--rep", "1", "--why", "a full disk", exit=2)
    assert repo.results() == [old]
    repo.run("correct", run, "--rep", "1", "--why", "the disk was full on that day")
    assert "is superseded by" in repo.run("correct", run, "--rep", "2", "--why", "the disk was full", exit=2)
    new = record(repo.path / repo.results()[-1])["run"]
    assert "is ERROR(defect) already" in repo.run("correct", new, "--rep", "1", "--why", "a full disk", exit=2)


def test_status_names_what_is_wrong_with_results_and_is_silent_otherwise(repo: Audited):
    assert repo.json("status")["notes"] == []
    (old,) = repo.results()
    repo.git("update-ref", "-d", f"refs/evalrepo/runs/{record(repo.path / old)['run']}")
    (note,) = repo.json("status")["notes"]
    assert note == f"1 finding about results, RUN006 at {old}: evalrepo verify --records"


def test_verify_since_tells_of_results_with_what_is_frozen(repo: Audited):
    (old,) = repo.results()
    repo.git("rm", "-q", old)
    repo.git("commit", "-qm", "tidy up")
    found = repo.json("verify", "--since", "start", exit=1)["findings"]
    assert ("RES008", old, repo.head()) in [(f["code"], f["file"], f["commit"]) for f in found]
    repo.run("acknowledge", f"{repo.head()[:12]}:{old}", "--why", "a key of a customer stood in it")
    repo.git("commit", "-qm", "acknowledged")
    said = repo.run("verify", "--since", "start", exit=0)
    assert "acknowledged in evalrepo.ledger/" in said
