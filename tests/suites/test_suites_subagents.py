"""The suite of sub-agent calls: its cases, what its schemas object to, and what a change to its files comes to."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from evalrepo.checks import patterns
from evalrepo.formats import yaml
from evalrepo.records.scenario import ScenarioSet
from tests.commands.conftest import Repo, empty

__all__ = ["empty"]

ROOT = Path(__file__).parent.parent.parent
PATH = "scenarios/invoking-subagents.yaml"
SUBJECT = "subjects/invoking-subagents"
CASES = {
    "single_mode_basic": True,
    "parallel_two_independent": True,
    "model_override_single": True,
    "model_override_parallel": True,
    "bare_alias_resolved": True,
    "nine_tasks_respect_cap": True,
    "negative_unrelated_question": False,
    "negative_direct_edit": False,
    "mixed_request_no_mode_mixing": True,
}
ONE = {"agent": "worker", "task": "x"}
EXACT = "anthropic/claude-sonnet-4-5"


@pytest.fixture(scope="module")
def suite() -> ScenarioSet:
    found = yaml.scenario_file((ROOT / PATH).read_bytes(), PATH)
    assert isinstance(found, ScenarioSet)
    return found


def objections(suite: ScenarioSet, args: dict[str, Any]) -> list[str]:
    """The checks of every call that these arguments fail."""
    schemas = {c.id: c.every_call.args for c in suite.defaults.checks if c.every_call}
    return [name for name, schema in schemas.items() if not patterns.schema(schema).is_valid(args)]


def test_the_nine_cases_have_the_ids_that_they_always_had(suite):
    assert {case.id: case.should_trigger for case in suite.cases} == CASES
    assert {case.id for case in suite.cases if case.polarity == "negative"} == {k for k, v in CASES.items() if not v}


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        (ONE, []),
        ({"tasks": [ONE, ONE]}, []),
        ({"tasks": [ONE] * 8}, []),
        ({"tasks": [ONE] * 9}, ["at-most-eight"]),
        ({**ONE, "tasks": [ONE]}, ["one-mode"]),
        ({"agent": "worker", "tasks": [ONE]}, ["one-mode"]),
        ({"task": "x", "tasks": []}, ["one-mode"]),
        ({"model": EXACT, "tasks": [ONE]}, ["model-in-its-place"]),
        ({**ONE, "model": EXACT}, []),
        ({"tasks": [ONE, {**ONE, "model": EXACT}]}, []),
        ({"tasks": [ONE, {**ONE, "model": "opus"}]}, ["model-is-exact"]),
        ({**ONE, "model": 4}, ["model-is-exact"]),
        ({**ONE, "model": None}, ["model-is-exact"]),
    ],
)
def test_each_rule_objects_to_what_it_is_about_and_to_nothing_else(suite, args, wrong):
    assert objections(suite, args) == wrong


@pytest.mark.parametrize(
    "model",
    ["sonnet", "opus", "haiku", "fable", "inherit", "anthropic/sonnet", "Anthropic/Opus", "anthropic/claude-haiku",
     "openrouter/anthropic/sonnet", "anthropic/sonnet-latest", "anthropic/sonnet:high", "anthropic/", "/sonnet", "a b/c"],
)  # fmt: skip
def test_an_alias_is_found_behind_a_provider_too(suite, model):
    assert objections(suite, {**ONE, "model": model}) == ["model-is-exact"]


@pytest.mark.parametrize(
    "model",
    [EXACT, f"{EXACT}:high", "anthropic/claude-3-5-haiku-20241022", "openai/gpt-5.5", "openrouter/anthropic/claude-opus-4",
     "acme/sonnetta", "acme/my-sonnet-2"],
)  # fmt: skip
def test_an_exact_name_is_none(suite, model):
    assert objections(suite, {**ONE, "model": model}) == []


def test_every_case_has_the_scripts_that_are_played_as_tiers(suite):
    wanted = {"compliant", "always-delegates", "never-delegates", "follows-the-wording"}
    for case in suite.cases:
        scripts = {s.name: s.expect for s in case.conformance or ()} | {s.name: None for s in case.behaviours}
        assert wanted <= set(scripts), case.id
        failing = "never-delegates" if case.should_trigger else "always-delegates"
        assert scripts["compliant"] == "PASS"
        assert scripts[failing].FAIL == ("trigger",), case.id


@pytest.fixture
def ours(empty: Repo) -> Repo:
    """This project's data in a repository of its own."""
    for name in ("evalrepo.yaml", "scenarios", "scenarios-reserve", "fixtures", "rubrics", "subjects", "checks"):
        if (ROOT / name).exists():
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, empty.path / name)
    empty.commit({}, "our data")
    return empty


@pytest.mark.parametrize("file", ["SKILL.md", "worker.md"])
def test_a_change_to_the_skill_plans_its_nine_cases(ours, file):
    changed = (ours.path / SUBJECT / file).read_text() + "\nOne more sentence.\n"
    ours.commit({f"{SUBJECT}/{file}": changed})
    plan = ours.json("run", "--since", "HEAD~1", "--agent", "scripted", "--dry-run")
    assert sorted(cell["scenario"] for cell in plan["cells"]) == sorted(f"invoking-subagents/{case}" for case in CASES)


def test_words_that_the_wording_scripts_ask_for_stand_in_the_skill(suite):
    """Each word-dependent script does the right thing today, and another one without its sentence."""
    text = " ".join((ROOT / SUBJECT / "SKILL.md").read_text().split())
    asked = [s.when for c in suite.cases for b in c.behaviours for s in b.script or () if s.when]
    assert len(asked) == len(CASES)
    assert all(" ".join(when.contains.split()) in text for when in asked)


def test_a_skill_that_loses_a_sentence_fails_the_case_that_rests_on_it(ours):
    config = (ours.path / "evalrepo.yaml").read_text()
    config = config.replace("default: {script: compliant}", "default: {script: follows-the-wording}")
    skill = (ours.path / SUBJECT / "SKILL.md").read_text()
    ours.commit({"evalrepo.yaml": config, f"{SUBJECT}/SKILL.md": skill.replace("Resolve a short name", "Think")})
    args = ("invoking-subagents/*alias*", "invoking-subagents/nine*", "--agent", "scripted", "--reps", "1")
    ours.run("run", *args, exit=1)
    verdicts = {r["scenario"].partition("/")[2]: r["reps"][0]["verdict"] for r in ours.records()}
    assert verdicts == {"bare_alias_resolved": "FAIL", "nine_tasks_respect_cap": "PASS"}
