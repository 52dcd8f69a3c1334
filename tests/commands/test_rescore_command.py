"""`evalrepo rescore` and `diff --rescore`: a repaired check on stored reps, as a person repairs it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.commands.conftest import SCENARIO, Repo

WRONG = SCENARIO.replace("matches: hallo", "matches: hullo").replace("new: hallo", "new: hullo", 2)
"""A check that asks for a word which the agents never write; its conformance scripts do write it."""


def measured(repo: Repo, *args: str) -> None:
    repo.commit({"scenarios/S1-typo.yaml": WRONG}, "a check with a mistake")
    repo.run("run", "S1", *args, exit=1)


def rescored(repo: Repo) -> list[dict[str, Any]]:
    return [r for r in repo.records() if r["rescored_from"]]


def test_a_repaired_check_is_asked_of_the_stored_reps_and_both_records_stay(repo: Repo):
    measured(repo)
    (old,) = repo.records()
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    said = repo.run("rescore", "S1")
    (new,) = rescored(repo)
    assert "3 reps judged again, 3 with another verdict" in said
    assert old in repo.records()
    assert [r["verdict"] for r in old["reps"]] == ["FAIL"] * 3
    assert [r["verdict"] for r in new["reps"]] == ["PASS"] * 3
    assert new["rescored_from"] == new["supersedes"] == old["run"]
    assert new["digests"]["instrument"] != old["digests"]["instrument"]
    same = ("subject", "stimulus", "apparatus")
    assert [new["digests"][k] for k in same] == [old["digests"][k] for k in same]
    assert [r["transcript"] for r in new["reps"]] == [r["transcript"] for r in old["reps"]]
    assert repo.git("status", "--porcelain") == ""


def test_what_was_judged_again_counts_once_and_run_has_nothing_to_do(repo: Repo):
    measured(repo)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    repo.run("rescore")
    repo.run("run", "S1")
    assert len(repo.records()) == 2


def test_asking_twice_makes_nothing_new(repo: Repo):
    measured(repo)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    repo.run("rescore", "S1")
    assert "3 reps judged by today's instrument already" in repo.run("rescore", "S1")
    assert len(repo.records()) == 2


def test_a_check_put_back_finds_its_old_record(repo: Repo):
    measured(repo)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    repo.run("rescore", "S1")
    repo.commit({"scenarios/S1-typo.yaml": WRONG}, "and put back")
    assert "3 reps judged by today's instrument already" in repo.run("rescore", "S1")
    assert len(repo.records()) == 2


def test_a_dry_run_says_what_would_come_out_and_records_nothing(repo: Repo):
    measured(repo)
    repo.write({"scenarios/S1-typo.yaml": SCENARIO})
    data = repo.json("rescore", "S1", "--dry-run")
    assert [r["after"] for r in data["made"][0]["reps"]] == ["PASS"] * 3
    assert len(repo.records()) == 1


def test_since_chooses_the_scenarios_whose_instrument_changed(repo: Repo):
    repo.commit({"scenarios/S2-other.yaml": SCENARIO}, "another scenario")
    measured(repo)
    repo.run("run", "S2")
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    data = repo.json("rescore", "--since", "HEAD~1")
    assert [(one["scenario"], len(one["reps"])) for one in data["made"]] == [("S1-typo", 3)]
    assert repo.json("rescore", "--since", "HEAD")["there"] == 0


def test_another_task_is_not_judged_again(repo: Repo):
    measured(repo)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("Fix the typo", "Mend the typo")}, "another prompt")
    said = repo.run("rescore", "S1", exit=2)
    assert "its task was another one (stimulus: the prompts: changed)" in " ".join(said.split())
    assert len(repo.records()) == 1


def test_a_run_that_is_not_at_hand_is_listed_with_the_way_to_get_it(repo: Repo):
    measured(repo)
    run = repo.records()[0]["run"]
    repo.git("update-ref", "-d", f"refs/evalrepo/runs/{run}")
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    said = " ".join(repo.run("rescore", "S1", exit=2).split())
    assert "rep 1, 2, 3: the reference of its run is not in this clone → evalrepo transcripts fetch" in said


def test_no_commit_keeps_the_new_record_in_its_runs_ref(repo: Repo):
    measured(repo)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    head = repo.git("rev-parse", "HEAD")
    repo.run("rescore", "S1", "--no-commit")
    assert (len(repo.records()), repo.git("rev-parse", "HEAD")) == (1, head)
    assert "3 reps judged by today's instrument already" in repo.run("rescore", "S1")


def test_a_command_check_with_hidden_files_is_asked_in_a_sandbox_made_again(repo: Repo):
    command = "  - {id: told, axis: C, command: {run: sh ask.sh, files: {ask.sh: scenarios/files/S1/ask.sh}}}\n"
    behaves = "  - {name: untold, expect: {FAIL: C}, script: [{read: README.md}, {edit: {path: README.md, old: hello, "
    behaves += "new: hallo}}, {write: {path: no, content: x}}, {say: done}]}\n"
    asked = SCENARIO.replace("conformance:\n", command + "conformance:\n" + behaves)
    strict = "test ! -e no && grep -q hullo README.md\n"
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO, "scenarios/files/S1/ask.sh": strict})
    repo.run("run", "S1")
    repo.commit({"scenarios/S1-typo.yaml": asked}, "a command that is wrong")
    wrong = repo.json("rescore", "S1", "--dry-run")
    assert [r["after"] for r in wrong["made"][0]["reps"]] == ["FAIL"] * 3
    repo.commit(
        {"scenarios/files/S1/ask.sh": "test ! -e no && ! grep -q hello README.md\n"}, "the hidden file repaired"
    )
    repo.run("rescore", "S1")
    (new,) = rescored(repo)
    assert [(c["id"], c["outcome"]) for c in new["reps"][0]["checks"]][-1] == ("told", "pass")


@pytest.mark.parametrize(
    ("words", "said"), [(("nothing",), "no record is called nothing"), ((), "nothing is recorded yet")]
)
def test_nothing_to_judge_is_said(repo: Repo, words: tuple[str, ...], said: str):
    assert said in repo.run("rescore", *words, exit=2)


def test_json_names_what_stays(repo: Repo):
    measured(repo)
    run = repo.records()[0]["run"]
    repo.git("update-ref", "-d", f"refs/evalrepo/runs/{run}")
    repo.write({"scenarios/S1-typo.yaml": SCENARIO})
    process = repo.json("rescore", "--dry-run", exit=2)
    assert json.dumps(process["left"][0]["reps"]) == "[1, 2, 3]"
