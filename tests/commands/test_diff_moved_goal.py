"""A diff says where a subject changed together with what measures it; it is a note, and changes no answer."""

from __future__ import annotations

import pytest

from .conftest import GUIDE, SCENARIO, Repo

EASIER = SCENARIO.replace("matches: hallo", "matches: hall")
SUBJECT = "subjects/style/GUIDE.md"


@pytest.fixture
def measured(repo: Repo) -> Repo:
    repo.run("run")
    repo.git("tag", "before")
    return repo


def notes(repo: Repo, *args: str) -> list[str]:
    said = repo.json("diff", *args, exit=None)
    return [r["text"] for r in said["reasons"] if r["code"] == "moved-goal"]


TOLD = (
    "the goal moved with the ball: since before the subject style changed (subjects/style/GUIDE.md), and so did what "
    "measures it (scenarios/S1-typo.yaml)"
)


def test_a_subject_that_changed_with_its_scenario_is_said_between_commits_and_in_the_work_tree(measured: Repo):
    measured.commit({SUBJECT: GUIDE + "Be brief.\n"}, "the ball")
    assert notes(measured, "before") == []
    measured.write({"scenarios/S1-typo.yaml": EASIER})
    assert notes(measured, "before") == [TOLD]
    measured.commit({}, "the goal")
    assert notes(measured, "before", "HEAD") == [TOLD]
    assert notes(measured, "before", "HEAD") == [TOLD], "remembered"
    assert notes(measured, "HEAD~1", "HEAD") == []
    said = " ".join(measured.run("diff", "before", exit=None).split())
    assert TOLD in said
    base = measured.git("rev-parse", "before").strip()[:12]
    assert f"evalrepo run --against {base}" in said


def test_the_note_changes_no_answer(measured: Repo):
    measured.commit({SUBJECT: GUIDE + "Be brief.\n", "scenarios/S1-typo.yaml": EASIER}, "both")
    measured.run("run", "--against", "before")
    said = measured.json("diff", "before")
    assert said["answer"] == "same"
    assert [(r["kind"], r["code"]) for r in said["reasons"]] == [("note", "moved-goal")]


def test_a_new_question_a_title_elsewhere_and_results_are_no_moved_goal(measured: Repo):
    measured.commit(
        {SUBJECT: GUIDE + "Be brief.\n", "scenarios/S2-new.yaml": SCENARIO.replace("title: A", "title: Another")}, "new"
    )
    assert notes(measured, "before") == []
    measured.run("run", exit=None)
    assert notes(measured, "before") == []


def test_a_fixture_and_the_checks_of_a_subject_in_the_config_measure_it_too(measured: Repo):
    measured.commit({SUBJECT: GUIDE + "Be brief.\n", "fixtures/app/README.md": "hello world\n"}, "fixture")
    (told,) = notes(measured, "before")
    assert "(fixtures/app/README.md)" in told
    config = (measured.path / "evalrepo.yaml").read_text()
    easier = config.replace(
        "    agents: [scripted]\n", "    agents: [scripted]\n    defaults: {limits: {wall_s: 900}}\n", 1
    )
    measured.commit({"evalrepo.yaml": easier}, "defaults")
    (told,) = notes(measured, "before")
    assert "(evalrepo.yaml and 1 more file)" in told
