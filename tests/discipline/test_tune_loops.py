"""A tuning loop holds the run-set still: scenarios, fixtures, rubrics and check modules of what is tuned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from frozen_repo import FILES, SCENARIO, Repo, new

S1, S2, WHY = "scenarios/S1.yaml", "scenarios/S2.yaml", ("--why", "wording of the second release")
CHECKS = """\
checks:
  - {id: own, axis: A, python: {call: "checks/own.py:f"}}
  - {id: judged, axis: B, judge: {rubric: tone, question: clear}}
"""
WORLD = FILES | {
    "evalrepo.yaml": "version: 1\nsubjects:\n  style: {paths: [STYLE.md]}\n  team: {paths: [TEAM.md]}\n",
    "TEAM.md": "be kind\n",
    S1: SCENARIO.format(title="one") + CHECKS,
    S2: SCENARIO.format(title="two").replace("fixture: box", "fixture: crate"),
    "scenarios/T1.yaml": SCENARIO.format(title="team").replace("subject: style", "subject: team") + CHECKS,
    "fixtures/crate/README.md": "crate\n",
    "checks/own.py": "from .shared import words\n",
    "checks/shared.py": "words = []\n",
    "rubrics/tone.md": "---\ntitle: Tone\nquestions: {clear: {ask: Is it clear?}}\n---\nJudge it.\n",
}
HELD = ["checks/own.py", "checks/shared.py", "fixtures/crate/README.md", "rubrics/tone.md", S1, S2]


@pytest.fixture
def world(tmp_path: Path, environ: dict[str, str]) -> Repo:
    repo = new(tmp_path / "repo", environ)
    repo.commit(WORLD)
    repo.freeze()
    return repo


def tune(repo: Repo, what: str, name: str, *options: str) -> dict:
    code, said = repo.run("tune", what, name, *WHY, *options, "--format", "json")
    assert code == 0, said
    repo.git("commit", "-q", "--no-verify", "-m", f"{what} {name}")
    return json.loads(said)


def findings(repo: Repo) -> list[tuple[str, str]]:
    return [(f["code"], f["file"]) for f in json.loads(repo.run("verify", "--format", "json")[1])["findings"]]


def locked(repo: Repo) -> set[str]:
    lines = (repo.root / "evalrepo.lock").read_text().splitlines()
    return {line.split(" ", 3)[3] for line in lines if line.startswith("100")}


def test_a_loop_locks_the_run_sets_instrument_and_lets_it_go_again(world: Repo):
    before = (world.root / "evalrepo.lock").read_bytes()
    tune(world, "start", "style")
    assert locked(world) >= set(HELD)
    assert not {"STYLE.md", "scenarios/T1.yaml"} & locked(world)
    assert findings(world) == []
    assert world.run("verify", "--rev", "HEAD")[0] == 0
    tune(world, "stop", "style")
    assert (world.root / "evalrepo.lock").read_bytes() == before
    assert world.run("verify", "--rev", "HEAD")[0] == 0


@pytest.mark.parametrize("path", HELD)
def test_an_edit_of_what_a_loop_holds_is_found_and_cannot_be_kept_by_stopping(world: Repo, path: str):
    tune(world, "start", "style")
    world.write({path: "easier\n", "STYLE.md": "the wording is free\n"})
    world.git("add", "-A")
    assert findings(world) == [("FRZ001", path)]
    code, said = world.run("tune", "stop", "style", *WHY)
    assert code == 2
    assert path in said


def test_a_lock_that_loses_a_loops_lines_without_its_event_is_found(world: Repo):
    before = (world.root / "evalrepo.lock").read_bytes()
    tune(world, "start", "style")
    world.write({"evalrepo.lock": before})
    world.git("add", "-A")
    assert ("FRZ009", "evalrepo.lock") in findings(world)


def test_what_a_loop_holds_is_opened_and_closed_as_the_reserve_is(world: Repo):
    tune(world, "start", "style")
    assert world.run("thaw", S1, "--why", "its prompt was wrong", "--kind", "repair")[0] == 0
    world.write({S1: WORLD[S1].replace("title: one", "title: better")})
    world.git("add", "-A")
    code, said = world.run("tune", "stop", "style", *WHY)
    assert (code, f"{S1} is thawed" in said) == (2, True)
    world.freeze()
    assert S1 in locked(world), "a whole freeze holds what the loop holds"
    assert findings(world) == []
    tune(world, "stop", "style")
    assert S1 not in locked(world)


def test_two_loops_hold_what_they_share_until_the_last_one_ends(world: Repo):
    tune(world, "start", "style")
    tune(world, "start", "second", "--subject", "team")
    tune(world, "stop", "style")
    assert {"checks/own.py", "rubrics/tone.md", "scenarios/T1.yaml"} <= locked(world)
    assert not {S1, S2, "fixtures/crate/README.md"} & locked(world)
    tune(world, "stop", "second")
    assert not {"checks/own.py", "rubrics/tone.md", "scenarios/T1.yaml"} & locked(world)
    assert "fixtures/box/README.md" in locked(world), "the reserve's own is never let go"


def test_what_the_reserve_came_to_need_meanwhile_stays_frozen(world: Repo):
    tune(world, "start", "style")
    world.commit({"evalrepo.yaml": WORLD["evalrepo.yaml"] + "frozen: {also: [rubrics/**]}\n"})
    world.freeze()
    tune(world, "stop", "style")
    assert "rubrics/tone.md" in locked(world)
    assert findings(world) == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["tune", "start", "third", *WHY], "which subject does the loop third tune?"),
        (["tune", "start", "third", *WHY, "--subject", "x"], "unknown subject x"),
        (["tune", "start", "style", *WHY], "the loop style is open since"),
        (["tune", "stop", "third", *WHY], "there is no open loop third"),
        (["tune", "start", "team", "--why", "fix"], "a reason that says something"),
        (["tune", "start", "a/b", *WHY], "a loop is named by letters"),
        (["tune", "start", "team"], "Missing option '--why'"),
    ],
)
def test_a_loop_that_cannot_begin_or_end_says_why_and_leaves_everything_as_it_was(world: Repo, args, said):
    tune(world, "start", "style")
    before = world.git("status", "--porcelain")
    code, text = world.run(*args)
    assert (code, said in text) == (2, True), text
    assert world.git("status", "--porcelain") == before


def test_work_that_is_not_staged_is_not_locked_by_a_loop(world: Repo):
    world.write({S1: "title: half done\n"})
    code, said = world.run("tune", "start", "style", *WHY)
    assert (code, f"git add {S1}" in said) == (2, True)


def test_the_ledger_says_that_a_loop_is_open(world: Repo):
    tune(world, "start", "style")
    assert "open: tuning loop style on style since" in world.run("ledger")[1]
    assert json.loads(world.run("ledger", "--format", "json")[1])["loops"] == ["style"]
    tune(world, "stop", "style")
    assert "open:" not in world.run("ledger")[1]
