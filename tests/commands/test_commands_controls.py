"""Prompt sets: what their cases share is proven where it can speak, and asked for nowhere else."""

from __future__ import annotations

import pytest

SET = """\
title: Helpers are called in good form
subject: style
trigger: {tool: help}
defaults:
  checks:
    - {id: polite, axis: form, every_call: {tool: help, args: {properties: {say: {pattern: please}}}}}
cases:
  - id: wanted
    should_trigger: true
    turns: [{prompt: Ask two helpers.}]
    checks: [{id: two, axis: asked, needs: trigger, calls: {tool: help, exactly: 2}}]
    conformance:
      - name: good
        expect: PASS
        script: [{call: {tool: help, args: {say: please}}}, {call: {tool: help}}, {say: done}]
      - {name: none, expect: {FAIL: trigger}, script: [{say: done}]}
      - {name: one, expect: {FAIL: asked}, script: [{call: {tool: help}}, {say: done}]}
      - name: rude
        expect: {FAIL: form}
        script: [{call: {tool: help}}, {call: {tool: help, args: {say: now}}}, {say: done}]
      - {name: nothing, expect: {ERROR: empty}, script: []}
  - id: control
    polarity: negative
    should_trigger: false
    turns: [{prompt: Say done.}]
    conformance:
      - {name: good, expect: PASS, script: [{say: done}]}
      - {name: calls, expect: {FAIL: trigger}, script: [{call: {tool: help}}, {say: done}]}
      - {name: nothing, expect: {ERROR: empty}, script: []}
"""


def test_a_check_of_calls_that_a_control_forbids_needs_no_script_there(repo):
    repo.commit({"scenarios/calls.yaml": SET})
    assert repo.run("lint") == "no findings\n"
    assert "2 scenarios, 8 scripts played: all as expected\n" in repo.run("selftest", "calls/*")


def test_a_check_that_needs_the_trigger_is_skipped_when_nothing_was_called(repo):
    repo.commit({"scenarios/calls.yaml": SET})
    plays = {p["script"]: p for p in repo.json("selftest", "calls/wanted")["scenarios"][0]["plays"]}
    assert {c["id"]: c["outcome"] for c in plays["none"]["rep"]["checks"]} == {
        "trigger": "fail",
        "polite": "vacuous",
        "two": "skipped",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("every_call: {tool: help, ", "every_call: {tool: [help, shell], "),
        ("every_call: {tool: help, ", "any_call: {tool: help, "),
    ],
)
def test_what_could_fail_alone_in_a_control_must_be_shown_there(repo, old, new):
    repo.commit({"scenarios/calls.yaml": SET.replace(old, new)})
    said = repo.run("lint", exit=1)
    assert "SCN123" in said
    assert "axis form" in said


def test_needs_of_a_trigger_that_is_not_there_is_found(repo):
    text = SET.replace("trigger: {tool: help}\n", "").replace("    should_trigger: true\n", "")
    repo.commit({"scenarios/calls.yaml": text.replace("    should_trigger: false\n", "")})
    assert 'SCN112 there is no check "trigger"' in repo.run("lint", exit=1)


def test_the_matrix_says_which_verdicts_the_scripts_of_each_scenario_gave(repo):
    said = repo.run("selftest", "--matrix")
    rows = [line.split() for line in said.splitlines() if line.startswith("S1-typo")]
    assert rows == [["S1-typo", "4", "1", "2:", "A", "B", "1:", "empty", "yes"]]
    assert said.rstrip().endswith("all as expected")
