"""Recorded transcripts as ATIF documents, and what cannot be had."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from atif import Trajectory

from evalrepo.formats import result

from .conftest import CONFIG, SCENARIO, WORLD, Repo

ERRS = """\
title: A spawn that works, and an end that does not
subject: style
fixture: app
turns: [{prompt: One}, {prompt: Two, session: resume}]
checks: [{id: any, axis: A, calls: {tool: spawn, min: 1}}]
conformance:
  - name: good
    expect: PASS
    turns: [[{spawn: {task: look, steps: [{read: README.md}], reports: seen}}, {say: one}], [{say: two}]]
  - {name: none, expect: {FAIL: A}, turns: [[{say: one}], [{say: two}]]}
  - {name: nothing, expect: {ERROR: empty}, turns: [[], []]}
behaviours:
  - name: follows
    turns:
      - [{spawn: {task: look, model: small, resolves: small-2, steps: [{read: README.md}], reports: seen}}, {say: one}]
      - [{run: "exit 3"}, {fail: {error: "model gone", kind: auth}}]
"""


@pytest.fixture
def measured(repo: Repo) -> Repo:
    """Three reps of one scenario."""
    repo.run("run")
    return repo


def valid(text: str) -> dict:
    """The document, by the format's own models."""
    made = json.loads(text)
    Trajectory.model_validate(made)
    return made


def exported(repo: Repo, *args: str, exit: int = 0) -> dict[str, dict]:  # noqa: A002
    """Documents by file name."""
    repo.run("export", *args, "--output", "out", exit=exit)
    return {path.name: valid(path.read_text()) for path in sorted((repo.path / "out").iterdir())}


def test_one_rep_goes_to_standard_output_with_what_the_record_says(measured: Repo):
    process = measured.start("export", "S1", "--rep", "2", "--format", "atif")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    made = valid(out)
    (record,) = measured.records()
    facts = made["extra"]["evalrepo"]
    assert made["trajectory_id"] == f"{record['run']}/S1-typo/scripted-default/2-1"
    assert (facts["run"], facts["verdict"], facts["rep"]) == (record["run"], "PASS", 2)
    assert facts["transcript"] == record["reps"][1]["transcript"]
    assert [(c["id"], c["outcome"]) for c in facts["checks"]] == [("looks", "pass"), ("fixed", "pass")]
    assert [s["source"] for s in made["steps"]] == ["user", "agent", "agent", "agent"]
    assert [c["function_name"] for s in made["steps"] for c in s.get("tool_calls", ())] == ["read", "edit"]
    assert made["final_metrics"]["total_cost_usd"] == 0


def test_every_cell_goes_to_files_that_are_called_as_the_results_are(measured: Repo):
    found = exported(measured)
    (path,) = (measured.path / "AgentsReport").rglob("*.md")
    assert list(found) == [f"{path.stem}_{n}-1.json" for n in (1, 2, 3)]
    assert exported(measured, measured.records()[0]["run"]) == found


def test_a_file_is_for_one_rep_and_standard_output_too(measured: Repo):
    assert "--output DIR" in measured.run("export", exit=2)
    assert "is one file, for 3 reps" in measured.run("export", "--output", "all.json", exit=2)
    said = measured.run("export", "S1", "--rep", "1", "--output", "deep/one.json")
    assert said == "1 document in deep/one.json\n"
    assert valid((measured.path / "deep/one.json").read_text())["extra"]["evalrepo"]["rep"] == 1
    (measured.path / "flat").write_text("")
    assert "cannot be written" in measured.run("export", "S1", "--rep", "1", "--output", "flat/x.json", exit=2)


def test_a_link_in_the_place_of_a_document_is_replaced_and_not_followed(measured: Repo):
    (measured.path / "mine").write_text("keep")
    (measured.path / "one.json").symlink_to("mine")
    measured.run("export", "S1", "--rep", "1", "--output", "one.json")
    assert (measured.path / "mine").read_text() == "keep"
    assert not (measured.path / "one.json").is_symlink()


def test_sub_agents_turns_and_the_agents_own_error_are_in_the_document(repo: Repo):
    repo.commit({"scenarios/S2.yaml": ERRS})
    repo.run("run", "S2", "--reps", "1", exit=4)
    (made,) = exported(repo, "S2").values()
    assert made["extra"]["evalrepo"]["verdict"] == "ERROR"
    assert made["extra"]["error"] == {"kind": "auth", "message": "model gone"}
    assert [s["extra"]["turn"] for s in made["steps"] if s["source"] == "user"] == [1, 2]
    (inner,) = made["subagent_trajectories"]
    spawn, result_of = made["steps"][1]["tool_calls"][0], made["steps"][1]["observation"]["results"][0]
    assert (spawn["extra"]["requested_model"], spawn["extra"]["resolved_model"]) == ("small", "small-2")
    assert result_of["subagent_trajectory_ref"] == [{"trajectory_id": inner["trajectory_id"]}]
    failed = [r for s in made["steps"] for r in s.get("observation", {"results": []})["results"]][-1]
    assert (failed["extra"]["is_error"], failed["extra"]["exit_code"]) == (True, 3)


def test_a_run_whose_reference_is_elsewhere_is_named_with_the_way_to_get_it(measured: Repo, tmp_path: Path):
    run = measured.records()[0]["run"]
    clone = Repo(tmp_path / "clone", measured.home)
    measured.git("clone", "-q", str(measured.path), str(clone.path))
    said = clone.run("export", "S1", "--output", "out", exit=2)
    assert "rep 1, 2, 3: the reference of its run is not in this clone" in " ".join(said.split())
    command = f"evalrepo transcripts fetch --run {run}"
    assert f"  → {command}\n" in said
    clone.run(*command.split()[1:])
    assert len(exported(clone, "S1")) == 3


def test_what_was_pruned_is_missing_and_the_rest_is_written(measured: Repo):
    (first,) = measured.records()
    measured.run("run", "--reps", "4")
    measured.git("update-ref", "-d", f"refs/evalrepo/runs/{first['run']}")
    newest = exported(measured)
    assert [made["extra"]["evalrepo"]["rep"] for made in newest.values()] == [1]
    said = measured.run("export", first["run"], "--output", "out", exit=2)
    assert "not in this clone" in said
    measured.commit({"scenarios/S2.yaml": SCENARIO})
    measured.run("run", "S2", "--reps", "1")
    gone = next(r["run"] for r in measured.records() if r["scenario"] == "S2")
    measured.git("update-ref", "-d", f"refs/evalrepo/runs/{gone}")
    assert "1 document in out" in measured.run("export", "--output", "out", exit=1)


def test_a_reserve_transcript_is_never_written(measured: Repo):
    (path,) = (measured.path / "AgentsReport").rglob("*.md")
    record = result.load(path.read_bytes(), path.name)
    secret = record.model_copy(update={"set": "reserve", "run": "00000000", "scenario": "R1"})
    measured.git("update-ref", "refs/evalrepo/runs/00000000", f"refs/evalrepo/runs/{record.run}")
    name = result.file_name(secret)
    measured.commit({name: result.dump(secret)})
    said = " ".join(measured.run("export", "R1", "--rep", "1", exit=2).split())
    assert "sealed until it is retired" in said
    assert "hello" not in said
    said = measured.run("export", "--output", "out")
    assert "3 documents in out\nleft out: 1 reserve cell, whose transcripts are sealed\n" in said
    assert not [p for p in (measured.path / "out").iterdir() if "R1" in p.name]


def test_a_result_that_was_written_by_hand_has_no_transcript(measured: Repo):
    name = "2026-01-02_scenario-9.md"
    measured.commit({f"AgentsReport/evaluation/{name}": "# Scenario 9\n\nPassed.\n"})
    said = measured.run("export", name, exit=2)
    assert "it was written by hand, and no transcript belongs to it" in " ".join(said.split())


def test_a_stored_transcript_that_is_not_the_recorded_one_is_not_written(measured: Repo):
    (record,) = measured.records()
    ref = f"refs/evalrepo/runs/{record['run']}"
    measured.git("read-tree", ref)
    (measured.path / "other").write_text('{"type": "prompt", "text": "forged"}\n')
    blob = measured.git("hash-object", "-w", "other").strip()
    stored = record["reps"][0]["transcript"]["path"]
    measured.git("update-index", "--cacheinfo", f"100644,{blob},{stored}")
    tree = measured.git("write-tree").strip()
    measured.git("update-ref", ref, measured.git("commit-tree", tree, "-m", "x").strip())
    measured.git("read-tree", "HEAD")
    said = measured.run("export", "S1", "--output", "out", exit=1)
    assert "is not the one that was recorded" in " ".join(said.split())
    assert "2 documents in out" in said


def test_nothing_and_nobody_are_usage_errors(repo: Repo):
    assert "nothing is recorded yet" in repo.run("export", exit=2)
    assert "no record is called" in repo.run("export", "S9", exit=2)


def test_a_rep_that_is_not_there_is_listed(measured: Repo):
    said = measured.run("export", "S1", "--rep", "9", exit=2)
    assert "rep 9: the record has no such rep" in " ".join(said.split())


def test_the_settings_of_an_agent_are_those_that_the_run_had(repo: Repo):
    config = CONFIG.replace(
        "agents:\n  scripted: {tiers: {default: {script: follows}}}\n",
        "agents:\n  scripted: {tiers: {default: {script: follows}}}\n"
        "  mine: {kind: command, argv: [sh, -c, 'cat log.txt'], tiers: {a: {}}}\n",
    )
    log = '{"type": "prompt", "text": "Fix the typo in README.md"}\n{"type": "assistant", "text": "no"}\n{"type": "end", "reason": "done"}\n'
    repo.commit({**WORLD, "evalrepo.yaml": config, "fixtures/app/log.txt": log})
    repo.run("run", "--agent", "mine", "--reps", "1", exit=1)
    repo.commit({"evalrepo.yaml": CONFIG})
    (made,) = exported(repo, "S1").values()
    assert made["agent"]["name"] == "mine"
    assert [s["message"] for s in made["steps"]] == ["Fix the typo in README.md", "no"]


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude", "opencode", "pi", "codex"])
def test_the_log_of_a_real_cli_becomes_a_document(repo: Repo, agent):
    if shutil.which(agent) is None:
        pytest.skip(f"the CLI {agent} is not installed (.ci/agents installs the pinned ones)")
    named = f"agents:\n  {agent}: {{tiers: {{a: {{model: m}}}}}}\n  scripted"
    repo.commit({"evalrepo.yaml": CONFIG.replace("agents:\n  scripted", named), "scenarios/S2.yaml": ERRS})
    done = repo.json("run", "S1", "S2", "--agent", agent, "--tier", "rehearsal:good", "--reps", "1", exit=None)
    assert [c["state"] for c in done["cells"]] == ["ok", "ok"]
    first, second = exported(repo).values()
    assert first["extra"]["evalrepo"]["model_free"]
    calls = [c for s in first["steps"] for c in s.get("tool_calls", ())]
    assert [c["extra"]["kind"] for c in calls] == ["read", "edit"]
    results = [r for s in first["steps"] for r in s.get("observation", {"results": []})["results"]]
    assert {r["source_call_id"] for r in results} == {c["tool_call_id"] for c in calls}
    (inner,) = second["subagent_trajectories"]
    spawns = [c for s in second["steps"] for c in s.get("tool_calls", ()) if c["extra"].get("kind") == "spawn"]
    assert len(spawns) == 1
    refs = [
        ref
        for s in second["steps"]
        for r in s.get("observation", {"results": []})["results"]
        for ref in r.get("subagent_trajectory_ref", ())
    ]
    assert refs == [{"trajectory_id": inner["trajectory_id"]}]
