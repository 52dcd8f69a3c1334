"""The agent team suite: what is particular about its data. Whether every script gives its verdict is selftest's job."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo.formats import yaml
from evalrepo.records.script import find
from evalrepo.records.steps import ExpectFail, Step
from evalrepo.repository.repo import Repository
from evalrepo.store import Loaded, load, select_ids
from evalrepo.store.loading import LoadedScenario
from evalrepo.world import World
from tests.commands.conftest import Repo

ROOT = Path(__file__).parent.parent.parent
DATA = ("evalrepo.yaml", "evalrepo.lock", "evalrepo.ledger", "scenarios", "scenarios-reserve", "fixtures", "rubrics",
        "subjects", "checks")  # fmt: skip
TEAM = ROOT / "subjects" / "agent-team"
AFTER_A_CHANGE = ["S1", "S4", "S5", "S7", "S9", "S11"]
WORDING = "follows-the-wording"
METRICS = {f"M{number}" for number in range(1, 8)}


def copied(folder: Path) -> Repo:
    """This project's data, committed in a repository of its own."""
    for name in ("repo", "home", "t"):
        (folder / name).mkdir()
    repo = Repo(folder / "repo", folder / "home")
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    for name in DATA:
        if (ROOT / name).exists():
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, repo.path / name)
    repo.commit({}, "our data")
    return repo


@pytest.fixture
def ours(tmp_path: Path) -> Repo:
    return copied(tmp_path)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    repo = copied(tmp_path_factory.mktemp("data"))
    world = World(cwd=repo.path, environ=repo.environment(), now=lambda: datetime.now(UTC), random=bytes)
    opened = Repository.open(world)
    return load(opened.tree("HEAD"), opened)


@pytest.fixture(scope="module")
def team(loaded: Loaded) -> dict[str, LoadedScenario]:
    """The suite's scenarios by alias."""
    return {id_.partition("-")[0]: one for id_, one in loaded.scenarios.items() if "agent-team" in one.scenario.subject}


def aliases(loaded: Loaded, suite: str) -> list[str]:
    return [id_.partition("-")[0] for id_ in select_ids(loaded, loaded.config.suites[suite].scenarios)]


def steps(one: LoadedScenario) -> Iterator[Step]:
    """Every step of every script, nested ones included."""
    for script in (*(one.scenario.conformance or ()), *one.scenario.behaviours):
        for turn in script.by_turn():
            yield from within(turn)


def within(some: Sequence[Step]) -> Iterator[Step]:
    for step in some:
        yield step
        inner = step.spawn.steps if step.spawn else ()
        yield from within((*inner, *(step.then or ()), *(step.else_ or ())))


def test_the_suites_hold_what_the_team_asked_for(loaded, team):
    assert set(aliases(loaded, "change")) == set(AFTER_A_CHANGE)
    assert set(aliases(loaded, "release")) == set(team) == {f"S{number}" for number in range(1, 13)}
    assert not set(aliases(loaded, "own")) & set(team)


@pytest.fixture
def planned(ours: Repo, tmp_path: Path) -> Repo:
    """A machine with an opencode whose version can be asked for: a plan needs no more."""
    program = tmp_path / "bin" / "opencode"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 1.18.33\n")
    program.chmod(0o755)
    ours.env["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    return ours


def test_a_changed_role_plans_the_six_scenarios_of_change_and_says_why(planned):
    role = "subjects/agent-team/agents/tester.md"
    planned.commit({role: (planned.path / role).read_text() + "\nBe brief.\n"}, "Ask the tester to be brief")
    cells = planned.json("run", "--since", "HEAD~1", "--dry-run")["cells"]
    assert sorted(cell["scenario"].partition("-")[0] for cell in cells) == sorted(AFTER_A_CHANGE)
    assert [cell["reasons"] for cell in cells] == [["subject agent-team changed"]] * 6
    assert {cell["agent"] for cell in cells} == {"opencode"}


def test_scripts_dispatch_the_roles_that_the_subject_has_and_each_of_them_somewhere(team):
    heads = {path.stem: path.read_text().split("---")[1] for path in (TEAM / "agents").glob("*.md")}
    assert [name for name, head in heads.items() if "mode: primary" in head] == ["orchestrator"]
    roles = {name for name, head in heads.items() if "mode: subagent" in head}
    assert roles == set(heads) - {"orchestrator"}
    assert {step.spawn.agent for one in team.values() for step in steps(one) if step.spawn} == roles


def test_who_always_delegates_fails_the_controls_and_who_never_does_fails_what_needs_others(team):
    fails = {"always-delegates": set(), "never-delegates": set()}
    for name, failed in fails.items():
        for short, one in team.items():
            script = find(one.scenario, name)
            assert script is not None, f"{short} has no script {name}"
            if isinstance(script.expect, ExpectFail):
                failed.add(short)
    assert {short for short, one in team.items() if one.scenario.polarity == "negative"} == {"S1", "S9"}
    assert fails == {"always-delegates": {"S1", "S2", "S9"}, "never-delegates": {"S3", "S4", "S6", "S12"}}


def test_every_scenario_scores_seven_metrics_and_none_by_a_judge(team):
    for one in team.values():
        assert set(one.scenario.metrics) == METRICS
        assert [m for m in one.scenario.metrics.values() if m != "human" and m.ladder is None] == []


def test_the_anchors_of_the_metrics_are_the_teams_own(team):
    thrice = next(check for check in team["S7"].scenario.checks if check.id == "no-blind-retry")
    assert (thrice.no_repeat.times, thrice.gating) == (3, True)
    at_most = {c.id: c.spawns for short in ("S1", "S9") for c in team[short].scenario.checks if c.spawns and c.gating}
    assert at_most["nobody-dispatched"].exactly == 0
    assert at_most["one-agent-at-most"].max == 1
    ladders = [one.scenario.metrics["M3"].ladder for one in team.values()]
    assert {(rungs[0].score, rungs[-1].score) for rungs in ladders} == {(3, 0)}


def test_the_rubric_says_of_each_metric_what_earns_each_score():
    rubric = yaml.rubric_file((ROOT / "rubrics" / "agent-team.md").read_bytes(), "agent-team.md")
    assert set(rubric.head.metrics) == METRICS
    assert all(metric.title and set(metric.scale) == {"0", "1", "2", "3"} for metric in rubric.head.metrics.values())


def test_each_sentence_that_a_script_waits_for_stands_in_the_subject_once(team):
    waited = [step.when for one in team.values() for step in steps(one) if step.when]
    assert len({one.id for one in team.values() if any(step.when for step in steps(one))}) == 12
    for when in waited:
        text = " ".join((TEAM / when.subject).read_text().split())
        assert text.count(when.contains) == 1, when.contains


@pytest.fixture
def untouched(tmp_path: Path, team):
    """A copy of a scenario's fixture."""

    def copy(short: str) -> Path:
        return Path(shutil.copytree(ROOT / "fixtures" / team[short].scenario.fixture, tmp_path / "work"))

    return copy


def python(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-B", *argv], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("short", ["S2", "S3", "S4", "S6", "S9", "S10", "S11", "S12"])
def test_a_hidden_check_fails_on_the_fixture_as_it_is(short, team, untouched):
    hidden = [c.command for c in team[short].scenario.checks if c.command and c.command.files]
    work = untouched(short)
    for name, source in hidden[-1].files.items():
        shutil.copy(ROOT / source, work / name)
    assert python(work, "hidden_check.py").returncode == 1


def test_what_the_fixtures_are_about_is_in_them_once(untouched):
    line = [
        n for n, text in enumerate(Path(untouched("S1"), "README.md").read_text().splitlines(), 1) if "heigth" in text
    ]
    assert line == [12]


def test_one_test_of_the_cash_book_fails_and_it_is_the_one_that_is_asked_about(untouched):
    said = python(untouched("S4"), "-m", "unittest").stderr
    assert re.findall(r"^FAIL: (\w+)", said, re.MULTILINE) == ["test_parse"]
    assert "Ran 2 tests" in said


def test_the_tests_of_the_parcel_desk_are_green_while_the_door_uses_the_old_logger(untouched):
    work = untouched("S12")
    Path(work, "desk.py").write_text(
        'import journal\n\n\ndef accept(number):\n    journal.event("accepted", number=number)\n'
        '    return {"number": number, "state": "accepted"}\n'
    )
    assert python(work, "-m", "unittest").returncode == 0
    shutil.copy(ROOT / "scenarios/files/S12-incomplete/hidden_check.py", work)
    assert "the door does not use the new logger" in python(work, "hidden_check.py").stderr


def test_more_time_does_not_help_the_beacon_until_the_hypothesis_is_absurd(untouched):
    work = untouched("S8")
    assert [python(work, "beacon.py", *given).returncode for given in ([], ["30"], ["200"], ["2000"])] == [1, 1, 1, 0]


@pytest.mark.parametrize(("short", "fresh"), [("S3", True), ("S6", False), ("S9", True)])
def test_known_repositories_know_their_manifest_and_the_stale_one_does_not(short, fresh, untouched):
    work = untouched(short)
    meta = dict(line.split(": ") for line in (work / ".opencode/.bootstrap-meta").read_text().splitlines())
    assert (hashlib.sha256((work / meta["manifest"]).read_bytes()).hexdigest() == meta["sha256"]) is fresh


def without(text: str, sentence: str) -> str:
    """The text with the words gone, however its lines are broken."""
    return re.sub(r"\s+".join(map(re.escape, sentence.split())), "…", text)


@pytest.mark.slow
def test_each_script_of_the_wording_passes_with_the_wording_and_fails_without_it(ours, team):
    config = (ours.path / "evalrepo.yaml").read_text()
    tier = "      default: {script: compliant}\n"
    ours.commit({"evalrepo.yaml": config.replace(tier, f"{tier}      wording: {{script: {WORDING}}}\n")})
    asked = ("run", "--suite", "change", "--agent", "scripted", "--tier", "wording", "--reps", "1")
    ours.run(*asked)
    changed: dict[str, str] = {}
    for when in [step.when for one in team.values() for step in steps(one) if step.when]:
        place = f"subjects/agent-team/{when.subject}"
        changed[place] = without(changed.get(place) or (ours.path / place).read_text(), when.contains)
    ours.commit(changed, "Take the rules away")
    ours.run(*asked, exit=1)
    verdicts = {(r["commit"], r["scenario"].partition("-")[0]): r["reps"][0]["verdict"] for r in ours.records()}
    assert sorted(verdicts.values()) == ["FAIL"] * 6 + ["PASS"] * 6
    assert len({commit for commit, _ in verdicts}) == 2
    for record in ours.records():
        scores = record["reps"][0]["metrics"]
        assert set(scores) == METRICS
        assert {s["score"] for s in scores.values() if s["source"] == "human"} <= {None}
    failing = next(r for r in ours.records() if r["scenario"].startswith("S7") and r["reps"][0]["verdict"] == "FAIL")
    by_id = {check["id"]: check for check in failing["reps"][0]["checks"]}
    assert by_id["fault-fired"]["evidence"][0]["text"] == "the fault of `make` was met 3 times, wanted at least 1"
    assert failing["reps"][0]["metrics"]["M3"]["score"] == 0


@pytest.mark.slow
def test_opencode_goes_on_in_a_second_session_with_the_roles_of_the_subject(ours):
    for program in ("opencode", "bwrap"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    ours.run("run", "S11", "--agent", "opencode", "--tier", "rehearsal:compliant", "--reps", "1")
    ((record, rep),) = [(record, record["reps"][0]) for record in ours.records()]
    assert (rep["verdict"], rep["status"], rep["notes"]) == ("PASS", "COMPLETE", [])
    assert [spawn["agent"] for spawn in rep["spawns"]] == ["builder", "builder"]
    assert (record["model_free"], record["subjects"]) == (True, ["agent-team"])
