"""The commands that leave an event: what they write, what they say, what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from frozen_repo import FILES, R1, Repo, new

WHY = ("--why", "reviewed with the whole team")
WORLD = FILES | {
    "scenarios/S1.yaml": FILES[R1] + "metrics: {M1: human, M2: human}\n",
    "scenarios-reserve/calls.yaml": "title: Calls\nsubject: style\ncases:\n"
    "  - {id: first, turns: [{prompt: a}]}\n  - {id: second, turns: [{prompt: b}]}\n",
}


@pytest.fixture
def world(tmp_path: Path, environ: dict[str, str]) -> Repo:
    repo = new(tmp_path / "repo", environ)
    repo.commit(WORLD)
    repo.freeze()
    return repo


def wrote(repo: Repo, *args: str) -> dict:
    """The event that a command staged, and nothing else with it."""
    code, said = repo.run(*args, *WHY, "--format", "json")
    assert code == 0, said
    event = json.loads(said)
    assert repo.git("diff", "--cached", "--name-only").split() == [event["path"]]
    listed = json.loads(repo.run("ledger", "--format", "json")[1])["events"]
    assert {k: v for k, v in event.items() if k != "schema"} == listed[-1]
    assert repo.run("verify")[0] == 0
    return event


def test_a_waiver_names_its_metric_and_its_last_day(world: Repo):
    event = wrote(world, "waive", "M1", "--until", "2199-12-31")
    assert (event["event"], event["metric"], event["until"]) == ("waive", "M1", "2199-12-31")
    assert event["by"] == "Ada <ada@example.org>"


def test_a_budget_names_the_subject_and_says_what_is_allowed_now(world: Repo):
    event = wrote(world, "budget", "style", "--add", "2")
    assert (event["subject"], event["amount"]) == ("style", 2)
    said = world.run("budget", "style", "--add", "1", *WHY)[1]
    assert "6 looks at 4 scenarios may leave a pass rate off by 99% (union bound)" in said
    assert "style: 6 looks are allowed now, 1 more than before" in said


def test_scenarios_retire_by_id_alias_or_glob_with_their_files(world: Repo):
    event = wrote(world, "retire", "R1", "calls/*")
    assert event["scenarios"] == ["R1", "calls/first", "calls/second"]
    assert event["paths"] == [R1, "scenarios-reserve/calls.yaml"]
    code, said = world.run("retire", "R1", *WHY)
    assert (code, "R1 was retired on" in said) == (2, True)


def test_findings_are_acknowledged_by_hash_commit_and_path(world: Repo):
    head = world.git("rev-parse", "HEAD").strip()
    assert wrote(world, "acknowledge", "0123456789abcdef")["hashes"] == ["0123456789abcdef"]
    world.git("commit", "-q", "--no-verify", "-m", "x")
    event = wrote(world, "acknowledge", head[:9], "docs/page.md", "--code", "FRZ001")
    assert (event["commits"], event["paths"], event["codes"]) == ([head], ["docs/page.md"], ["FRZ001"])
    world.git("commit", "-q", "--no-verify", "-m", "x")
    event = wrote(world, "acknowledge", f"{head[:9]}:{R1}")
    assert (event["commits"], event["paths"]) == ([head], [R1])


def test_a_path_that_was_removed_long_ago_can_be_acknowledged(world: Repo):
    world.git("rm", "-q", "docs/page.md")
    world.git("commit", "-q", "--no-verify", "-m", "gone")
    assert wrote(world, "acknowledge", "docs/page.md", "--code", "FRZ003")["paths"] == ["docs/page.md"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["waive", "M9", "--until", "2199-12-31", *WHY], "no scenario has a metric M9"),
        (["waive", "M1", "--until", "soon", *WHY], "--until soon is no day"),
        (["waive", "M1", "--until", "2199-02-30", *WHY], "--until 2199-02-30 is no day"),
        (["waive", "M1", "--until", "2001-01-01", *WHY], "--until 2001-01-01 has passed"),
        (["waive", "M1", "--until", "2199-12-31", "--why", "fix"], "a reason that says something"),
        (["waive", "M1", *WHY], "Missing option '--until'"),
        (["budget", "nobody", "--add", "1", *WHY], "unknown subject nobody"),
        (["budget", "style", "--add", "0", *WHY], "0 is not in the range"),
        (["retire", "S1", *WHY], "S1"),
        (["retire", "R9", *WHY], "R9"),
        (["acknowledge", "nowhere.md", *WHY], "nowhere.md is no commit, no hash, and no path"),
        (["acknowledge", "/etc/passwd", *WHY], "no path that this repository has"),
        (["acknowledge", "HEAD", *WHY], "which findings of "),
        (["acknowledge", R1, *WHY], f"which finding at {R1}?"),
        (["acknowledge", "HEAD", "--code", "FRZ999", *WHY], "there is no code FRZ999"),
        (["acknowledge", f"HEAD:{R1}", "--why", "."], "it is empty"),
        (["ledger", "looks"], "'looks' is not one of"),
        (["ledger", "--rev", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_said_is_refused_with_a_sentence_and_leaves_nothing(world: Repo, args, said):
    code, text = world.run(*args)
    assert (code, said in text) == (2, True), text
    assert world.git("status", "--porcelain") == ""


def test_the_ledger_is_listed_within_eighty_columns_oldest_first(world: Repo):
    why = "the expected answer of the first scenario was wrong, as three of us found when reading it together"
    world.run("thaw", R1, "fixtures/box", "--why", why, "--kind", "loosen")
    world.run("waive", "M1", "--until", "2199-12-31", *WHY)
    code, said = world.run("ledger")
    assert code == 0
    assert max(map(len, said.splitlines())) <= 80
    kinds = [line.split()[2] for line in said.splitlines() if line[:2] == "20"]
    assert kinds == ["freeze", "thaw", "waive"]
    assert "fixtures/box, scenarios-reserve/R1.yaml · to loosen" in said
    assert f"open: {R1} is thawed; evalrepo freeze closes it" in said
    assert "waive  M1 until 2199-12-31" in world.run("ledger", "waive")[1]
    assert "waive" not in world.run("ledger", "thaw", "freeze")[1]
    assert "waive" not in world.run("ledger", "--rev", "HEAD")[1]


def test_an_event_without_a_reason_that_was_typed_by_hand_is_a_finding_of_lint(world: Repo):
    event = 'event: waive\nat: "2026-11-30T10:00:00Z"\nby: A <a@b.c>\nwhy: "."\nmetric: M1\nuntil: "2199-12-31"\n'
    world.commit({"evalrepo.ledger/01KB0000000000000000000000.yaml": event})
    assert "LED103 warning: gives no reason: it is empty" in world.run("lint")[1]
