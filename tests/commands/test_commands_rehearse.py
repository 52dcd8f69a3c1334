"""`run --tier rehearsal:SCRIPT` as a person types it: the real Claude Code, this project's own suite, committed results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
DATA = (
    "evalrepo.yaml",
    "evalrepo.lock",
    "evalrepo.ledger",
    "scenarios",
    "scenarios-reserve",
    "fixtures",
    "rubrics",
    "checks",
    "subjects",
)


@pytest.fixture
def own(empty):
    """This project's data in a repository of its own."""
    for name in DATA:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, empty.path / name)
    empty.commit({}, "our data")
    return empty


@pytest.fixture
def claude() -> None:
    for program in ("claude", "bwrap"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


@pytest.mark.slow
def test_our_six_scenarios_pass_and_their_results_say_who_ran_them(own, claude):
    said = own.run(
        "run", "--suite", "own", "--agent", "claude", "--tier", "rehearsal:compliant", "--reps", "1", "--jobs", "2"
    )
    assert "6 result files" in said
    records = own.records()
    assert [r["scenario"][:2] for r in records] == ["C1", "C2", "C3", "C4", "C5", "C6"]
    assert {rep["verdict"] for r in records for rep in r["reps"]} == {"PASS"}
    for record in records:
        assert (record["agent"], record["tier"], record["model_free"]) == ("claude", "rehearsal:compliant", True)
        assert (record["network"], record["model"], record["models"]) == (
            "rehearsal",
            "claude-sonnet-4-5",
            ["claude-sonnet-4-5"],
        )
        assert record["cli_version"].startswith("2.")
        assert record["reps"][0]["usage"]["input_tokens"] >= 200
        assert record["reps"][0]["notes"] == []
    assert own.git("log", "-1", "--format=%s") == "evalrepo: 6 reps of 6 cells\n"
    body = next((own.path / "AgentsReport").rglob("*C4*.md")).read_text()
    assert body.startswith("# REHEARSAL · C4-second-opinion")
    again = own.run("run", "--suite", "own", "--agent", "claude", "--tier", "rehearsal:compliant", "--reps", "1")
    assert "nothing to do" in again
    gate = own.run("gate", "--baseline", "HEAD~1", exit=None)
    assert "\nINVALID" in f"\n{gate}" or "invalid" in gate


def test_a_real_tier_is_not_started_without_a_yes(own, claude):
    said = own.run("run", "C2", "--agent", "claude", exit=2)
    assert "claude costs money" in said
    assert "--live" in said
    assert own.records() == []


def test_a_script_that_no_scenario_has_is_named(own, claude):
    said = own.run("run", "C2", "--agent", "claude", "--tier", "rehearsal:complaint", exit=2)
    assert 'has a script "complaint"' in said
    assert "compliant" in said


def test_a_cli_that_is_not_there_is_named_with_what_to_do(own):
    own.env["PATH"] = "/usr/bin:/bin"
    said = own.run("run", "C2", "--agent", "codex", "--tier", "rehearsal:compliant", exit=2)
    assert "there is no program 'codex'" in said
    assert "npm install --global @openai/codex" in said


def test_a_call_that_the_cli_does_not_know_is_the_agents_own_doing(own, claude):
    scenario = (ROOT / "scenarios" / "C2-question.yaml").read_text()
    step = "script: [{call: {tool: teleport, args: {to: moon}, result: there}}, {say: The world.}]"
    own.commit({"scenarios/C2-question.yaml": f"{scenario}  - {{name: beyond, {step}}}\n"})
    own.run("run", "C2", "--agent", "claude", "--tier", "rehearsal:beyond", "--reps", "1")
    (record,) = own.records()
    told = [(rep["verdict"], rep["usage"]["tool_calls"], rep["message"]) for rep in record["reps"]]
    assert told == [("PASS", 1, "")]


def test_a_sub_agent_with_the_prompt_as_its_task_cannot_be_told_apart_and_the_rep_says_so(own, claude):
    scenario = (ROOT / "scenarios" / "C2-question.yaml").read_text()
    prompt = "Whom does greet.sh greet when it is given no name?"
    step = f'script: [{{spawn: {{task: "{prompt}", reports: The world.}}}}, {{say: The world.}}]'
    own.commit({"scenarios/C2-question.yaml": f"{scenario}  - {{name: passes-it-on, {step}}}\n"})
    said = own.run("run", "C2", "--agent", "claude", "--tier", "rehearsal:passes-it-on", "--reps", "1", exit=4)
    assert "ERROR(setup)" in said
    assert "cannot tell two threads apart" in own.run("show", "C2")


def test_login_files_are_for_agents_that_have_them(own):
    config = (ROOT / "evalrepo.yaml").read_text()
    agent = "  mine:\n    kind: command\n    home: inherit\n    argv: [sh, -c, 'true']\n    tiers: {one: {}}\n"
    own.commit({"evalrepo.yaml": config.replace("agents:\n  scripted:", f"agents:\n{agent}  scripted:")})
    assert "pass its key by `env`" in own.run("lint", exit=1)
