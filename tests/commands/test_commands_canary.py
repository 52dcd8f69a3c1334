"""`run --canary`, `--accept`, `discipline.canary: required`, and what a run refuses of an instrument."""

from __future__ import annotations

import json
import sys

import pytest

from tests.commands.conftest import CONFIG, SCENARIO, WORLD, Repo

PLAYER = """\
import json, os, sys
prompt, model = sys.argv[1:3]
folder = os.path.expanduser("~/log")
os.makedirs(folder, exist_ok=True)
rows = [
    {"type": "prompt", "text": prompt, "turn": 1},
    {"type": "tool_call", "id": "c1", "tool": "read", "args": {"path": "README.md"}, "model": model},
    {"type": "tool_result", "id": "c1", "ok": True, "text": "hello"},
    {"type": "tool_call", "id": "c2", "tool": "edit", "args": {"path": "README.md", "old": "hello", "new": "hallo"}, "model": model},
    {"type": "tool_result", "id": "c2", "ok": True, "text": "done"},
    {"type": "assistant", "text": "Mended. " + "word " * 80, "model": model},
    {"type": "end", "reason": "done"},
]
text = open("README.md").read()
open("README.md", "w").write(text.replace("hello", "hallo"))
with open(folder + "/session.jsonl", "w") as file:
    for row in rows:
        file.write(json.dumps(row) + chr(10))
"""
"""A CLI of the person's own, whose answers count as a model's."""


def config(more: str = "", version: str = "7.1") -> str:
    mine = (
        f"  mine:\n    kind: command\n    argv: [{sys.executable}, -c, {json.dumps(PLAYER)}, '{{prompt}}', '{{model}}']\n"
        f"    transcript: {{glob: '~/log/*.jsonl', format: evalrepo}}\n    version: [echo, '{version}']\n"
        "    tiers: {small: {model: small-1}, large: {model: large-1}}\n"
    )
    text = CONFIG.replace("agents: [scripted]\n    install", "agents: [mine]\n    install", 1)
    text = text.replace(
        "scripted: {copy: {.: ~/style}}", "scripted: {copy: {.: ~/style}}\n      mine: {copy: {.: ~/style}}"
    )
    return text.replace("suites:\n", f"{mine}suites:\n", 1).replace("agents: [scripted]}", "agents: [mine]}") + more


REQUIRED = "discipline: {canary: required}\n"


@pytest.fixture
def live(empty: Repo) -> Repo:
    """A repository whose subject is run by a CLI at two tiers, and that requires canaries."""
    empty.commit(WORLD | {"evalrepo.yaml": config(REQUIRED)}, "the world")
    return empty


def purposes(repo: Repo) -> list[tuple[str, str, int]]:
    return sorted((r["tier"], r["purpose"], len(r["reps"])) for r in repo.records())


def events(repo: Repo) -> list[str]:
    return [p.read_text() for p in sorted((repo.path / "evalrepo.ledger").glob("*.yaml"))]


def test_a_canary_is_one_counted_rep_shown_beside_the_rows_that_it_rests_on(repo: Repo):
    said = repo.run("run", "--canary", exit=3)
    assert "A looks: pass" in said
    assert '| {"type":"tool_call"' in said
    assert '"tool":"read"' in said.replace("\n    | ", "")
    assert "B fixed: pass" in said
    assert "README.md: fits (README.md, changed, 6 bytes)\n    | hallo\n" in said
    assert "git show refs/evalrepo/runs/" in said
    assert "evalrepo run --canary --accept" in said
    assert "run: one canary waits for a person's look (exit 3)" in said
    assert max(map(len, said.splitlines())) <= 80
    assert purposes(repo) == [("default", "canary", 1)]
    repo.run("run")
    assert purposes(repo) == [("default", "canary", 1), ("default", "measure", 2)]


def test_accepting_goes_on_with_the_grid_and_leaves_an_event_that_is_staged(repo: Repo):
    repo.run("run", "--canary", exit=3)
    said = repo.run("run", "--canary", "--accept")
    assert "one canary is accepted" in said
    assert purposes(repo) == [("default", "canary", 1), ("default", "measure", 2)]
    [event] = events(repo)
    assert "event: acknowledge" in event
    assert "Test Person <person@example.org>" in event
    assert "S1-typo" in event
    assert repo.git("status", "--porcelain").startswith("A  evalrepo.ledger/")
    again = repo.run("run", "--canary")
    assert "looked at by Test Person <person@example.org>" in again
    assert "run: every canary was looked at (exit 0)" in again
    repo.run("run", "--canary", "--accept")
    assert len(events(repo)) == 1


def test_nothing_is_accepted_that_was_not_shown(repo: Repo):
    said = repo.run("run", "--canary", "--accept", exit=2)
    assert "S1-typo · scripted/default has no canary yet" in said
    assert "hint: evalrepo run --canary" in said
    assert events(repo) == []
    assert repo.records() == []


def test_an_error_is_no_canary_and_cannot_be_accepted(repo: Repo):
    broken = SCENARIO.replace(
        'Status: COMPLETE"\n', 'Status: COMPLETE"\n  - {name: breaks, script: [{fail: {error: gave up, kind: auth}}]}\n'
    )
    tiers = CONFIG.replace("{default: {script: follows}}", "{default: {script: breaks}}")
    repo.commit({"scenarios/S1-typo.yaml": broken, "evalrepo.yaml": tiers})
    said = repo.run("run", "--canary", exit=4)
    assert "ERROR(auth)" in said
    refused = repo.run("run", "--canary", "--accept", exit=2)
    assert "was ERROR(auth): it shows no verdict" in refused
    assert events(repo) == []


def test_a_required_canary_makes_the_grid_wait_once_for_both_tiers(live: Repo):
    said = live.run("run", exit=3)
    assert "2 canaries wait for a person's look" in said
    assert purposes(live) == [("large", "canary", 1), ("small", "canary", 1)]
    live.run("run", exit=3)
    assert purposes(live) == [("large", "canary", 1), ("small", "canary", 1)]
    live.run("run", "--canary", "--accept", "--tier", "small")
    assert purposes(live) == [("large", "canary", 1), ("small", "canary", 1), ("small", "measure", 2)]
    live.run("run")
    assert len(live.reps()) == 6
    assert len(events(live)) == 1


def test_a_look_holds_for_every_wording_and_for_no_other_task_check_or_cli(live: Repo):
    live.run("run", "--tier", "small", exit=3)
    live.run("run", "--tier", "small", "--canary", "--accept")
    live.commit({"subjects/style/GUIDE.md": "Always read the README twice before editing.\n"})
    live.run("run", "--tier", "small")
    looser = SCENARIO.replace("matches: hallo", "matches: hall")
    other_task = SCENARIO.replace("Fix the typo in README.md", "Please fix the typo in README.md")
    for files in (
        {"scenarios/S1-typo.yaml": looser},
        {"scenarios/S1-typo.yaml": other_task},
        {"scenarios/S1-typo.yaml": SCENARIO, "evalrepo.yaml": config(REQUIRED, version="7.2")},
    ):
        live.commit(files)
        assert "one canary waits" in live.run("run", "--tier", "small", exit=3), files


def test_what_no_model_answers_needs_no_canary_unless_one_is_asked_for(repo: Repo):
    repo.commit({"evalrepo.yaml": CONFIG + REQUIRED})
    repo.run("run")
    assert purposes(repo) == [("default", "measure", 3)]


def test_no_other_way_to_measure_passes_by_a_required_canary(live: Repo):
    live.run("run", "--tier", "small", exit=3)
    live.commit({"subjects/style/GUIDE.md": "Read the README.\n"})
    said = live.run("run", "--tier", "small", "--against", "HEAD~2", exit=2)
    assert "nobody has looked at a canary of S1-typo" in said
    assert "hint: evalrepo run S1-typo --canary" in said
    assert "nobody has looked" in live.run("run", "--tier", "small", "--fresh", "1", exit=2)


def test_the_gate_stays_open_where_the_policy_of_the_base_wants_a_canary_and_nobody_looked(live: Repo):
    live.commit({"evalrepo.yaml": config()}, "canaries are optional for a moment")
    live.run("run")
    live.commit({"evalrepo.yaml": config(REQUIRED)}, "and required again")
    live.git("tag", "v1")
    live.commit({"README": "x\n"})
    said = live.run("gate", exit=3)
    assert "2 cells measured without a canary that somebody looked at" in said
    live.run("run", "--canary", "--accept")
    live.git("commit", "-qam", "looked")
    assert "somebody looked" not in live.run("gate", exit=None)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--accept",), "--accept is of a canary"),
        (("--canary", "--fresh", "1"), "a canary is a counted rep of what is here"),
        (("--canary", "--against", "HEAD~1"), "a canary is a counted rep of what is here"),
        (("--canary", "--accept", "--dry-run"), "--accept writes to the ledger"),
    ],
)
def test_what_does_not_fit_a_canary_is_said(repo: Repo, args: tuple[str, ...], says: str):
    assert says in repo.run("run", *args, exit=2)


def test_the_data_of_a_canary_holds_each_check_with_its_rows(repo: Repo):
    [sheet] = repo.json("run", "--canary", exit=3)["canaries"]
    assert (sheet["scenario"], sheet["verdict"], sheet["accepted"]) == ("S1-typo", "PASS", "")
    rows = [e["row"] for check in sheet["checks"] for e in check["evidence"] if e["line"]]
    assert [json.loads(row)["tool"] for row in rows] == ["read", "edit"]


def test_a_scenario_that_does_not_show_a_check_both_ways_is_not_run(repo: Repo):
    more = SCENARIO.replace("checks:\n", "checks:\n  - {id: never-shown, axis: A, file: {path: README.md}}\n", 1)
    repo.commit({"scenarios/S1-typo.yaml": more})
    said = repo.run("run", exit=4)
    assert "the instrument is not proven: S1-typo: no script shows the check never-shown fail alone" in said
    assert "hint: evalrepo selftest S1-typo" in said
    assert repo.records() == []
    assert "not proven" in repo.run("run", exit=4), "a remembered proof with gaps is no proof"
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("new: helo}", "new: hallo}")})
    assert "script lazy: expected FAIL B, got PASS" in repo.run("run", exit=4)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO})
    repo.run("run")


def degenerate_world() -> dict[str, str]:

    acts = SCENARIO.replace("behaviours:\n", "behaviours:\n  - {name: never, script: [{say: done}]}\n")
    passes = (
        "title: Nothing is changed\npolarity: negative\nsubject: style\nfixture: app\n"
        'turns: [{prompt: "Say hello"}]\nchecks: [{id: same, axis: A, changes: {none: true}}]\n'
        "conformance:\n  - {name: good, expect: PASS, script: [{say: hello}]}\n"
        "  - {name: bad, expect: {FAIL: A}, script: [{write: {path: x, content: y}}]}\n"
        "  - {name: nothing, expect: {ERROR: empty}, script: []}\n"
        "behaviours: [{name: never, script: [{say: done}]}]\n"
    )
    return {
        "scenarios/S1-typo.yaml": acts,
        "scenarios/S2-typo.yaml": acts,
        "scenarios/N1-question.yaml": passes,
        "scenarios/N2-question.yaml": passes,
    }


def test_controls_that_all_pass_while_positives_all_fail_are_an_alarm_in_run_diff_and_gate(repo: Repo):
    tiers = CONFIG.replace("{default: {script: follows}}", "{default: {script: never}}").replace(
        "golden: [S1]", "golden: []"
    )
    repo.commit(degenerate_world() | {"evalrepo.yaml": tiers})
    repo.git("tag", "v1")
    said = repo.run("run", exit=4)
    assert "ALARM  degenerate suite: all reps of 2 control cells pass and all of 2" in said
    assert "run: the suite is degenerate (exit 4)" in said
    repo.commit({"subjects/style/GUIDE.md": "Never mind.\n"})
    repo.run("run", exit=4)
    assert "degenerate suite" in repo.run("run", exit=4), "said again when there is nothing to do"
    assert "FINDING  degenerate suite" in repo.run("diff", "v1", exit=1)
    assert "INVALID  degenerate suite" in repo.run("gate", exit=4)
