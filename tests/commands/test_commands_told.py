"""What commands say: no line too many, none too wide, and each with the next step."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.commands.conftest import CONFIG, GUIDE, SCENARIO, Repo

WORSE = {"subjects/style/GUIDE.md": "Never look, just edit.\n"}
TWO_TIERS = CONFIG.replace(
    "{tiers: {default: {script: follows}}}", "{tiers: {good: {script: good}, odd: {script: odd}}}"
)


def answers(repo: Repo, *args: str, exit: int = 0) -> tuple[str, str]:  # noqa: A002
    process = repo.start(*args)
    out, err = process.communicate(timeout=120)
    assert process.returncode == exit, out + err
    return out, err


def too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > 80 and "AgentsReport/" not in line]


def test_a_run_ends_with_its_answer_and_recommends_no_comparison_with_nothing(repo):
    out, err = answers(repo, "run")
    assert out.splitlines()[-1] == "run: every cell is at its bar (exit 0)"
    assert "compares with before" not in out
    assert "1 result file\n" in out
    repo.commit(WORSE)
    out, err = answers(repo, "run", exit=1)
    assert out.splitlines()[-1] == "run: 1 cell is below its bar (exit 1)"
    assert "compares with before" in out
    assert too_wide(out + err) == []


def test_with_nothing_to_do_a_cell_below_its_bar_is_still_a_no(repo):
    repo.commit(WORSE)
    answers(repo, "run", exit=1)
    out, _ = answers(repo, "run", exit=1)
    assert "nothing to do" in out
    assert "below its bar" in out
    assert repo.json("run", exit=1)["exit"] == 1


def test_into_a_file_a_run_says_a_line_a_cell_and_each_rep_that_did_not_pass(repo):
    _, err = answers(repo, "run", "--reps", "6")
    assert [line for line in err.splitlines() if "S1-typo" in line and " rep " in line] == []
    assert len(re.findall(r"S1-typo · scripted/default  6 of 6 passed  PPPPPP", err)) == 1
    repo.commit(WORSE)
    _, err = answers(repo, "run", "--reps", "2", exit=1)
    assert len(re.findall(r"rep \d  FAIL A", err)) == 2
    assert "0 of 2 passed  FF" in err


def test_json_of_a_run_has_every_rep(repo):
    run = repo.json("run", "--reps", "2")["runs"][0]
    assert [(r["scenario"], r["rep"], r["verdict"]) for r in run["reps"]] == [
        ("S1-typo", 1, "PASS"),
        ("S1-typo", 2, "PASS"),
    ]


def test_a_real_run_says_what_it_left_out_and_folds_many(repo):
    repo.commit({"evalrepo.yaml": TWO_TIERS, "scenarios/S2.yaml": SCENARIO.replace("name: follows", "name: odd")})
    out, _ = answers(repo, "run", "--reps", "1")
    assert 'skipped: S1-typo · scripted/odd: it has no script "odd"' in out
    assert [s["scenario"] for s in repo.json("run", "--reps", "1")["skipped"]] == ["S1-typo"]
    repo.commit({f"scenarios/T{n}.yaml": SCENARIO for n in range(5)})
    out, _ = answers(repo, "run", "S1", "T*", "S2", "--dry-run")
    assert len([line for line in out.splitlines() if line.startswith("skipped:")]) == 1
    assert "6 scenarios, S1-typo … T4" in out


@pytest.mark.parametrize("args", [("--since", "HEAD"), ("--since", "HEAD", "--dry-run")])
def test_json_stays_json_when_nothing_is_touched(repo, args):
    assert repo.json("run", *args)["cells"] == []


def test_what_show_says_fits_and_its_git_command_can_be_pasted(repo):
    repo.commit({"scenarios/S3-a-rather-long-name-of-a-scenario-that-was-thought-through.yaml": SCENARIO})
    repo.run("run", "--reps", "1")
    out, _ = answers(repo, "show", "S3")
    assert too_wide(out) == []
    assert "a script answered, no model" in out
    assert "answered by" not in out
    command = out[out.index("git show") :]
    done = subprocess.run(
        ["sh", "-c", command], cwd=repo.path, env=repo.environment(), capture_output=True, text=True, check=True
    )
    assert "Fix the typo in README.md" in done.stdout


def test_a_result_says_once_who_answered_and_whose_version_it_is(repo):
    repo.run("run", "--reps", "1")
    [path] = (repo.path / "AgentsReport").rglob("*.md")
    assert re.search(r"run `\w{8}`, scripted 1, a script answered, no model,", path.read_text())


def test_list_fits_and_leaves_out_what_says_nothing(repo):
    repo.commit({"scenarios/S2.yaml": SCENARIO.replace("after a look", "after a look, " + "and again " * 20)})
    for what in ("scenarios", "suites", "agents", "subjects"):
        out, _ = answers(repo, "list", what)
        assert too_wide(out) == [], what
    head = answers(repo, "list")[0].splitlines()[0]
    assert "path" not in head
    assert "set" not in head
    assert repo.json("list")["scenarios"][0]["path"] == "scenarios/S1-typo.yaml"


def test_a_reserve_scenario_can_be_proven_by_its_name_and_is_run_by_a_look_only(repo):
    repo.commit({"scenarios-reserve/R1.yaml": SCENARIO})
    assert "1 scenario, 4 scripts played: all as expected" in repo.run("selftest", "R1")
    assert "2 scenarios" in repo.run("selftest", "R1", "S1")
    said = repo.run("run", "R1", exit=2)
    assert "in the reserve" in said
    assert "evalrepo run --reserve --why REASON looks at all of it" in said
    assert repo.records() == []


def test_a_self_test_whose_setup_breaks_says_the_cause_once(repo):
    broken = SCENARIO.replace("fixture: app\n", "fixture: app\nsetup: [{run: exit 3}]\n")
    repo.commit({"scenarios/S2.yaml": broken})
    said = repo.run("selftest", "S2", exit=1)
    assert said.count("exit 3") == 1
    assert "no script shows" not in said
    assert "skipped" not in said
    assert "4 could not be judged" in said
    assert len(repo.json("selftest", "S2", exit=1)["scenarios"][0]["gaps"]) > 3


def test_verify_says_how_a_lock_that_git_does_not_know_becomes_one(repo):
    repo.commit({"scenarios-reserve/R1.yaml": SCENARIO})
    out, _ = answers(repo, "freeze")
    assert "fixtures/app: R1 names it" in out
    assert "scenarios-reserve: the reserve" in out
    repo.git("reset", "-q", "evalrepo.lock", "evalrepo.ledger")
    assert "git add evalrepo.lock evalrepo.ledger" in repo.run("verify")
    repo.git("add", "evalrepo.lock", "evalrepo.ledger")
    assert "as frozen" in repo.run("verify")


def test_note_with_bare_text_is_told_where_text_goes(repo):
    repo.run("run", "--reps", "1")
    assert 'evalrepo note S1 -m "hello there"' in repo.run("note", "S1", "hello", "there", exit=2)
    assert "-m" not in repo.run("note", "nothing", exit=2)


def test_what_was_not_found_is_told_from_what_there_is(repo):
    repo.run("run", "--reps", "1")
    assert "there are: scripted/default" in repo.run("log", "S1", "--agent", "nobody", exit=2)
    assert "several words together" in repo.run("show", "S1", "S2", exit=2)
    assert "there is no nowhere" in repo.run("freeze", "nowhere", exit=2)
    assert "Did you mean status?" in repo.run("staus", exit=2)
    assert "Usage: evalrepo run" in repo.run("run", "-h")


def test_a_reader_that_goes_away_is_no_answer(repo):
    command = f"{sys.executable} -m evalrepo run --dry-run | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=repo.path, env=repo.environment(), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize(
    ("prompt", "hint"),
    [
        ("Write a, each with b", "put the text in quotes"),
        ("Write a: each with b", "put the text in quotes"),
        ("yes, please", "text with a comma goes in quotes"),
    ],
)
def test_unquoted_text_that_yaml_cuts_is_named_as_that_and_as_nothing_else(repo, prompt, hint):
    repo.write({"scenarios/S1-typo.yaml": SCENARIO.replace('"Fix the typo in README.md"', prompt)})
    said = repo.run("lint", exit=1)
    assert hint in said
    assert "at least 1 entry" not in said


def test_every_json_says_its_schema(repo):
    twin = "tripwire: 6f2b9f0e-5c7d-4f1b-9a55-0d2f6f0a7c11\n"
    repo.commit({"scenarios-reserve/R1.yaml": SCENARIO + twin, "subjects/style/GUIDE.md": GUIDE})
    repo.run("run", "--reps", "1")
    for args in (
        ("lint",), ("list",), ("list", "agents"), ("verify",), ("freeze",), ("selftest",), ("run", "--dry-run"),
        ("run", "--reps", "1"), ("status",), ("show", "S1"), ("log", "S1"), ("note", "S1"), ("new", "S9"), ("init",),
        ("thaw", "scenarios-reserve/R1.yaml", "--why", "its prompt is wrong"),
    ):  # fmt: skip
        process = repo.start(*args, "--format", "json")
        out, err = process.communicate(timeout=120)
        assert json.loads(out)["schema"] == 1, (args, out, err)
