"""diff, gate, show, log, status and note on a real repository with real runs of the scripted agent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import GUIDE, SCENARIO, WORLD, Repo

WORSE = "Edit files at once.\n"
GUIDE_FILE = "subjects/style/GUIDE.md"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """WORLD measured once, and the same with a worse wording measured after a tag; made once, copied for each test."""
    top = tmp_path_factory.mktemp("made")
    for name in ("once", "home", "t"):
        (top / name).mkdir()
    repo = Repo(top / "once", top / "home")
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    repo.commit(WORLD, "the world")
    repo.run("run", "--reps", "3")
    shutil.copytree(top / "once", top / "worse", symlinks=True)
    worse = Repo(top / "worse", top / "home")
    worse.git("tag", "v1")
    worse.commit({GUIDE_FILE: WORSE}, "worse")
    worse.run("run", exit=1)
    return top / "once", top / "worse"


def _copy(source: Path, tmp_path: Path) -> Repo:
    for name in ("home", "t"):
        (tmp_path / name).mkdir()
    shutil.copytree(source, tmp_path / "repo", symlinks=True)
    return Repo(tmp_path / "repo", tmp_path / "home")


@pytest.fixture
def once(made: tuple[Path, Path], tmp_path: Path) -> Repo:
    """WORLD, measured."""
    return _copy(made[0], tmp_path)


@pytest.fixture
def worse(made: tuple[Path, Path], tmp_path: Path) -> Repo:
    """WORLD, measured and tagged v1, then a worse wording, measured."""
    return _copy(made[1], tmp_path)


def labels(repo: Repo, *args: str, exit: int | None) -> dict[str, str]:  # noqa: A002
    return {c["scenario"]: c["label"] for c in repo.json("diff", *args, exit=exit)["cells"]}


def test_a_worse_wording_is_a_suspect_and_the_gate_blocks(worse: Repo):
    text = worse.run("diff", "v1", exit=1)
    assert "S1-typo · scripted/default ★  3/3 PPP  0/3 FFF  suspect, below bar" in text
    assert "axis A            S1-typo · scripted/default  0/3     3/3" in text
    gate = worse.json("gate", exit=1)
    assert (gate["answer"], gate["exit"], gate["policy"]["read_at"]) == ("block", 1, "v1")
    assert [r["code"] for r in gate["reasons"]][:2] == ["golden", "suspect"]


def test_diff_of_a_revision_with_itself_shows_every_cell_unchanged(worse: Repo):
    for rev in ("v1", "HEAD", "WORKTREE"):
        data = worse.json("diff", rev, rev, exit=0)
        assert [c["label"] for c in data["cells"]] == ["same"]
        assert data["overall"]["difference"] == 0


def test_on_the_default_branch_diff_starts_from_the_last_measured_other_subject(once: Repo):
    base = once.git("rev-parse", "HEAD~1").strip()
    once.commit({"README.md": "nothing to do with it\n"}, "other")
    once.commit({GUIDE_FILE: "never measured\n"}, "unmeasured")
    once.commit({GUIDE_FILE: WORSE}, "worse")
    once.run("run", exit=1)
    data = once.json("diff", exit=1)
    assert data["before"]["commit"] == base
    assert data["after"]["name"] == "WORKTREE"


def test_on_a_branch_diff_starts_from_the_merge_base(once: Repo):
    base = once.git("rev-parse", "HEAD").strip()
    once.git("checkout", "-qb", "wording")
    once.commit({GUIDE_FILE: WORSE}, "worse")
    once.run("run", exit=1)
    assert once.json("diff", exit=1)["before"]["commit"] == base


def test_a_squash_merge_finds_the_scores_of_both_contents(once: Repo):
    once.git("tag", "base")
    once.git("checkout", "-qb", "wording")
    once.commit({GUIDE_FILE: WORSE}, "worse")
    once.run("run", exit=1)
    once.git("checkout", "-q", "main")
    once.git("merge", "-q", "--squash", "wording")
    once.git("commit", "-qm", "squashed")
    once.git("branch", "-qD", "wording")
    assert labels(once, "base", "HEAD", exit=1) == {"S1-typo": "suspect"}


def test_results_that_only_a_run_ref_holds_count(repo: Repo):
    repo.run("run", "--no-commit")
    repo.commit({GUIDE_FILE: WORSE}, "worse")
    repo.run("run", "--no-commit", exit=1)
    assert labels(repo, "HEAD~1", "HEAD", exit=1) == {"S1-typo": "suspect"}


def test_deleting_the_bad_result_file_does_not_help(worse: Repo):
    bad = [p for p in Path(worse.path, "AgentsReport").rglob("*.md") if "0 of 3" in p.read_text()]
    assert len(bad) == 1
    worse.git("rm", "-q", str(bad[0]))
    worse.git("commit", "-qm", "tidy up")
    gate = worse.json("gate", exit=4)
    assert gate["answer"] == "invalid"
    codes = {r["code"] for r in gate["reasons"]}
    assert "results-removed" in codes
    assert "below-bar" in codes  # the ref of the run still holds the bad reps


def test_a_subject_that_was_not_measured_is_stale_and_the_gate_is_invalid(once: Repo):
    once.git("tag", "v1")
    once.commit({GUIDE_FILE: GUIDE + "\n"}, "a blank line")
    assert labels(once, "v1", exit=2) == {"S1-typo": "stale"}
    gate = once.json("gate", exit=4)
    assert [(r["kind"], r["code"]) for r in gate["reasons"]][:1] == [("invalid", "stale")]
    assert gate["reasons"][0]["command"] == "evalrepo run S1-typo --agent scripted --tier default --reps 3"


def _follow(repo: Repo, command: str) -> None:
    """Do what a reason says, in a shell."""
    said = command.replace("evalrepo run", f"{sys.executable} -m evalrepo run")
    done = subprocess.run(said, shell=True, cwd=repo.path, env=repo.environment(), capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def test_an_edited_check_makes_the_base_not_comparable_and_is_named(once: Repo):
    once.git("tag", "v1")
    easier = SCENARIO.replace("axis: B, file: {path: README.md, matches: hallo}", "axis: B, file: {path: README.md}")
    lazy, rest = easier.split("  - name: lazy")[0], easier.split("  - {name: nothing")[1]
    deleted = "  - {name: lazy, expect: {FAIL: B}, script: [{read: README.md}, {run: rm README.md}, {say: done}]}\n"
    once.commit({"scenarios/S1-typo.yaml": lazy + deleted + "  - {name: nothing" + rest, GUIDE_FILE: GUIDE + "More.\n"})
    once.run("run")
    [cell] = once.json("diff", "v1", exit=2)["cells"]
    assert cell["label"] == "not-comparable"
    assert cell["why"] == "the base was measured with another instrument (checks)"
    gate = once.json("gate", exit=4)
    [command] = [r["command"] for r in gate["reasons"] if r["code"] == "not-comparable"]
    assert command == "evalrepo run S1-typo --agent scripted --tier default --reps 3 --against v1"
    _follow(once, command)
    assert labels(once, "v1", "HEAD", exit=0) == {"S1-typo": "same"}
    gate = once.json("gate", exit=3)
    assert [r["code"] for r in gate["reasons"] if r["kind"] != "note"] == ["margin"]


def test_the_first_release_is_held_to_its_own_policy(once: Repo):
    gate = once.json("gate", exit=0)
    assert gate["policy"]["own"] is True
    assert gate["answer"] == "pass"


def test_a_tag_on_head_is_no_baseline(worse: Repo):
    worse.git("tag", "v2")
    assert worse.json("gate", exit=1)["policy"]["read_at"] == "v1"
    assert "not a strict ancestor" in worse.run("gate", "--baseline", "HEAD", exit=2)


def test_a_loosened_policy_counts_from_the_next_release_only(once: Repo):
    once.git("tag", "v1")
    config = (once.path / "evalrepo.yaml").read_text()
    loose = config.replace(
        "gate: {suites: [release], golden: [S1]}", "gate: {suites: [release]}\nbar: {passes: 0, of: 3}"
    )
    once.commit({"evalrepo.yaml": loose, GUIDE_FILE: WORSE}, "loosened")
    once.run("run", exit=0)
    gate = once.json("gate", exit=1)
    assert gate["policy"]["changed"] is True
    assert {"golden", "policy-changed"} <= {r["code"] for r in gate["reasons"]}


def test_a_removed_scenario_is_gone_and_the_gate_is_invalid(repo: Repo):
    repo.commit({"scenarios/S2-more.yaml": SCENARIO.replace("A typo", "Another typo")}, "two")
    repo.run("run")
    repo.git("tag", "v1")
    repo.git("rm", "-q", "scenarios/S2-more.yaml")
    repo.git("commit", "-qm", "drop it")
    gate = repo.json("gate", exit=4)
    assert {c["scenario"]: c["label"] for c in gate["cells"]} == {"S1-typo": "same", "S2-more": "gone"}


def test_a_shallow_clone_cannot_answer_and_says_what_to_do(worse: Repo, tmp_path: Path):
    worse.git("clone", "-q", "--depth", "1", f"file://{worse.path}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow", worse.home)
    shallow.git("tag", "-d", "v1", check=False)
    assert "fetch-depth: 0" in shallow.run("gate", exit=2)
    assert "fetch-depth: 0" in shallow.run("diff", exit=2)
    assert "the clone is shallow" in shallow.run("log", "S1")
    assert "there is none with another subject yet" in " ".join(shallow.run("plan").split())


def test_an_unknown_revision_or_suite_is_exit_2(once: Repo):
    assert "unknown revision" in once.run("diff", "nonsense", exit=2)
    assert "unknown suite" in once.run("diff", "HEAD", "--suite", "nonsense", exit=2)
    assert "no earlier subject was measured" in once.run("diff", exit=2)
    said = once.run("diff", "HEAD", "--tier", "nonsense", exit=2)
    assert "agents and tiers of the cells: scripted/default" in said


def test_show_explains_a_record_by_scenario_alias_run_and_path(once: Repo):
    record = once.records()[0]
    text = once.run("show", "S1")
    assert f"run {record['run']}" in text
    assert "3 of 3 passed, 0 ERROR · at its bar (2 of 3)" in text
    assert "A looks: pass" in text
    path = record["reps"][0]["transcript"]["path"]
    assert f"git show refs/evalrepo/runs/{record['run']}:{path}" in text.replace("\\\n", "")
    file = next(Path(once.path, "AgentsReport").rglob("*.md")).relative_to(once.path)
    for word in ("S1-typo", record["run"], str(file), file.name):
        assert once.json("show", word)["records"][0]["run"] == record["run"]
    assert "no record is called" in once.run("show", "nonsense", exit=2)


def test_log_follows_a_cell_over_first_parents(worse: Repo):
    text = worse.run("log", "S1")
    assert "S1-typo · scripted/default  █▁" in text
    points = worse.json("log", "S1")["cells"][0]["trend"]["points"]
    assert [(p["score"]["passes"], p["subject_line"]) for p in points] == [(0, "worse"), (3, "the world")]


def test_status_says_fresh_partly_stale_and_missing(repo: Repo):
    assert [c["state"] for c in repo.json("status")["cells"]] == ["missing"]
    repo.run("run", "--reps", "2")
    assert [(c["state"], c["have"], c["run"]) for c in repo.json("status")["cells"]] == [("partly", 2, 1)]
    repo.run("run")
    assert "every cell has its reps" in repo.run("status")
    repo.write({GUIDE_FILE: "changed\n"})
    text = repo.run("status")
    assert "stale" in text
    assert "evalrepo run would run 3 reps in 1 of 1 cell" in text


def test_a_note_stands_beside_the_result_and_changes_nothing_else(once: Repo):
    result = next(Path(once.path, "AgentsReport").rglob("*.md"))
    before = result.read_bytes()
    once.run("note", "S1", "--message", "Looked at rep 2 by hand.")
    once.run("note", "S1", "-m", "And at rep 3.")
    note = result.with_suffix(".notes.md").read_text()
    assert note.startswith("# Notes to S1-typo · scripted/default · run ")
    assert "Looked at rep 2 by hand." in note
    assert "And at rep 3." in note
    assert result.read_bytes() == before
    once.git("add", "-A")
    once.git("commit", "-qm", "note")
    assert labels(once, "HEAD", exit=0) == {"S1-typo": "same"}


def test_a_note_is_never_written_through_a_symbolic_link(once: Repo, tmp_path: Path):
    result = next(Path(once.path, "AgentsReport").rglob("*.md"))
    outside = tmp_path / "outside"
    outside.write_text("mine")
    result.with_suffix(".notes.md").symlink_to(outside)
    assert "symbolic link" in once.run("note", "S1", "-m", "x", exit=2)
    assert outside.read_text() == "mine"


def test_a_broken_result_file_is_a_finding_and_no_crash(once: Repo):
    place = "AgentsReport/evaluation/2026-11"
    once.commit(
        {
            f"{place}/2026-11-29_scenario-x_a-b_zzzzzzzz.md": "# no record\n",
            f"{place}/broken.md": "```json evalrepo-record\n{\n```\n",
            "AgentsReport/evaluation/2026-01-02_scenario-3.md": "Scenario: S3\nStatus: COMPLETE\n",
        },
        "by hand",
    )
    out = once.run("diff", "HEAD", exit=0)
    assert "RES001" in out
    assert "RES002" in out
    assert "2026-01-02_scenario-3" not in out  # by hand, and without a filled card: no score, and nothing broken


def test_a_cache_that_is_torn_or_foreign_is_read_anew(worse: Repo):
    right = worse.run("diff", "v1", exit=1)
    for file in (worse.path / ".git" / "evalrepo" / "cache").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] + b"x")
    assert worse.run("diff", "v1", exit=1) == right


def test_nothing_is_coloured_when_piped_and_markdown_folds_detail(worse: Repo):
    assert "\x1b" not in worse.run("diff", "v1", exit=1)
    assert "<details><summary>Validity</summary>" in worse.run("gate", "--format", "markdown", exit=1)


def test_every_form_of_a_gate_says_the_same(worse: Repo):
    data = worse.json("gate", exit=1)
    assert worse.run("gate", exit=1).endswith("gate: block (exit 1)\n")
    junit = ElementTree.fromstring(worse.run("gate", "--format", "junit", exit=1))
    deciding = [r["text"] for r in data["reasons"] if r["kind"] != "note"]
    assert [f.get("message") for f in junit.iter() if f.tag in ("failure", "error")] == deciding
    assert worse.run("gate", "--format", "github", exit=1).startswith("::error title=evalrepo gate::block (exit 1)")


def test_a_gate_says_what_these_reps_prove_and_how_many_versions_were_tried(worse: Repo):
    gate = worse.json("gate", exit=1)
    assert gate["background"]["versions"] == 1
    assert gate["overall"]["test"]["p_drop"] == pytest.approx(0.05)
    assert gate["margin"]["shown"] is False
    worse.commit({GUIDE_FILE: WORSE + "\n"}, "another")
    worse.run("run", exit=1)
    assert worse.json("gate", exit=1)["background"]["versions"] == 2


def test_a_waiver_made_since_the_baseline_is_named_and_does_not_count(worse: Repo):
    waiver = 'event: waive\nat: "2026-11-01T10:00:00Z"\nby: A <a@b.c>\nwhy: known\nmetric: M1\nuntil: "2199-12-31"\n'
    worse.commit({"evalrepo.ledger/01KB0000000000000000000000.yaml": waiver}, "waive it")
    gate = worse.json("gate", exit=1)
    assert [w["problem"] for w in gate["background"]["waivers"]] == [
        "it was made since the baseline, and counts from the next release"
    ]
    assert "waiver" in {r["code"] for r in gate["reasons"]}


def test_a_diff_that_was_asked_before_needs_no_model_no_yaml_and_no_gitpython(worse: Repo):
    worse.run("diff", "v1", "HEAD", exit=1)
    argv = [sys.executable, "-X", "importtime", "-m", "evalrepo", "diff", "v1", "HEAD"]
    done = subprocess.run(argv, cwd=worse.path, env=worse.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "evalrepo" in loaded
    assert loaded & {"pydantic", "ruamel", "git", "numpy", "rich", "jsonschema"} == set()
