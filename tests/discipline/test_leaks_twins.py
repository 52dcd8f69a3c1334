"""Twins have one shape and other words; this project's own do."""

from __future__ import annotations

import json
import subprocess

import pytest
from frozen_repo import ROOT, Repo

from evalrepo.discipline.parity import differences, overlap
from evalrepo.formats import yaml

SIBLING = """\
title: A
subject: style
fixture: box
polarity: positive
faults: [{command: make, missing: true}]
turns:
  - {prompt: "Review the pipeline module and report every place where the retry policy is ignored", stop_after: {tool_calls: 3}}
  - {prompt: Go on., session: fresh}
validity: [{id: v, error: stub, calls: {tool: read, min: 1}}]
checks:
  - {id: a, axis: A, text: {matches: done}}
  - {id: b, axis: B, file: {path: x}, gating: false}
  - {id: c, axis: B, any_of: [{file: {path: x}}, {text: {matches: y}}]}
metrics: {M1: {ladder: [{score: 3, if: a}, {score: 0}]}, M2: human}
behaviours: [{name: compliant, script: [{say: done}]}]
"""


def of(text: str):
    return yaml.scenario_file(text.encode(), "scenarios/S1.yaml")


def test_twins_that_differ_in_words_names_and_fixture_only_have_one_shape():
    other = (
        SIBLING.replace("Review the pipeline", "Look through the billing")
        .replace("box", "crate")
        .replace("id: a,", "id: z,")
    )
    assert differences(of(other.replace("if: a", "if: z")), of(SIBLING)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("text: {matches: done}", "file: {path: z}", "checks (kind and axis): file on A here, text on A there"),
        ("id: a, axis: A", "id: a, axis: C", "checks (kind and axis): text on C here, text on A there"),
        (", gating: false", "", "checks (kind and axis): file on B here, file on B, not gating there"),
        ("{text: {matches: y}}", "{file: {path: y}}", "any_of(file, file) on B here, any_of(file, text) on B there"),
        (
            "validity: [{id: v, error: stub, calls: {tool: read, min: 1}}]\n",
            "",
            "nothing here, calls for validity there",
        ),
        ("polarity: positive", "polarity: negative", "polarity: negative here, positive there"),
        ("fixture: box\n", "", "fixture: an empty directory here, a work tree there"),
        ("missing: true", "fail_first: 1", "faults: failing here, missing there"),
        ("session: fresh", "session: resume", "turns: turn 2 (resume) here, turn 2 (fresh) there"),
        ("stop_after: {tool_calls: 3}", "stop_after: {file: x}", "cut by a file here, turn 1 cut by tool calls there"),
        ("M2: human", "M3: human", "metrics: M3 human here, M2 human there"),
        ("name: compliant", "name: other", "scripts to play as tiers: other here, compliant there"),
        ("subject: style", "subject: tone", "subject: tone here, style there"),
    ],
)
def test_every_difference_of_shape_is_said_without_a_word_of_the_task(old, new, said):
    assert old in SIBLING
    (found,) = differences(of(SIBLING.replace(old, new)), of(SIBLING))
    assert said in found
    assert "pipeline" not in found


def test_the_overlap_is_that_of_all_prompts():
    assert overlap(of(SIBLING), of(SIBLING)) == 1.0
    half = SIBLING.replace(
        "report every place where the retry policy is ignored", "tell what you would not let through"
    )
    assert overlap(of(half), of(SIBLING)) < 0.1


def test_lint_reports_a_pair_and_the_config_decides_how_grave_it_is(repo: Repo):
    sibling = SIBLING.replace("title: A", "title: A\ntwin: S1-reserve").replace("{path: x}", "{path: README.md}")
    twin = sibling.replace("twin: S1-reserve", "twin: S1\ntripwire: 3f0c9a52-1111-4222-8333-944455556666").replace(
        "axis: A", "axis: Z"
    )
    repo.write({"scenarios/S1.yaml": sibling, "scenarios-reserve/S1-reserve.yaml": twin})

    def found() -> dict[str, tuple[str, int, str]]:
        data = json.loads(repo.run("lint", "--format", "json")[1])
        return {
            f["code"]: (f["file"], f["line"], f["severity"])
            for f in data["findings"]
            if f["code"] in ("SCN134", "SCN135")
        }

    path = "scenarios-reserve/S1-reserve.yaml"
    assert found() == {"SCN134": (path, 2, "warning"), "SCN135": (path, 8, "warning")}
    said = repo.run("lint")[1]
    assert "100% of its prompts' eight-word runs" in said.replace("\n", " ")
    repo.write({"evalrepo.yaml": "version: 1\nsubjects:\n  style: {paths: [STYLE.md]}\ndiscipline: {twins: error}\n"})
    assert {severity for _, _, severity in found().values()} == {"error"}
    repo.write(
        {
            path: twin.replace("axis: Z", "axis: A").replace(
                "Review the pipeline module and report every place where the retry policy is ignored",
                "Tell me what you would change",
            )
        }
    )
    assert found() == {}


def test_this_projects_own_twins_have_one_shape_and_few_words_in_common(environ):
    listed = subprocess.run(
        ["git", "ls-files", "scenarios-reserve/*.yaml"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = listed.stdout.split()
    assert len(paths) >= 6
    for path in paths:
        twin = yaml.scenario_file((ROOT / path).read_bytes(), path)
        sibling = yaml.scenario_file((ROOT / "scenarios" / f"{twin.twin}.yaml").read_bytes(), "x.yaml")
        assert differences(twin, sibling) == []
        assert overlap(twin, sibling) < 0.2
