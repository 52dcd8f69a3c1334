"""Ways to make a gate green without being better. None gives `pass`, and each is named in the answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .cheating import BAD, BROKEN, CONFIG, FAIR, GUIDE_FILE, LUCKY, SCENARIO, bad_results, built, copy, edit, run
from .conftest import Repo

BLOCK, INVALID = 1, 4
WAIVER = """\
event: waive
at: "2026-11-29T12:00:00Z"
by: "Test Person <person@example.org>"
why: "it is not that important"
metric: M1
until: "2099-01-01"
"""


@pytest.fixture
def worse(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Repo:
    """v1 is good and measured, HEAD is worse and measured: the gate blocks."""
    return copy(built(tmp_path_factory), tmp_path)


def answer(repo: Repo, exit: int, *args: str) -> dict[str, str]:  # noqa: A002
    """The gate's reasons, code → text, after it gave this exit code. Never a pass."""
    assert exit != 0
    gate = repo.json("gate", *args, exit=exit)
    assert gate["answer"] != "pass"
    return {r["code"]: r["text"] for r in gate["reasons"]}


def only_record(text: str) -> dict:
    return json.loads(text.split("```json evalrepo-record\n")[1].split("\n```", maxsplit=1)[0])


def test_without_any_cheating_the_worse_release_is_blocked_and_the_good_one_passes(worse: Repo):
    assert {"golden", "drop", "suspect", "metric"} <= answer(worse, BLOCK).keys()
    worse.git("revert", "--no-edit", "HEAD~1")
    said = worse.json("gate", exit=0)
    assert said["answer"] == "pass"
    assert any(re.match(r"24 of 24 reps judged again|12 of 12 reps judged again", r["text"]) for r in said["reasons"])


def test_dropping_a_tier(worse: Repo):
    edit(worse, "evalrepo.yaml", ", large: {model: m2}", "")
    assert "large" in answer(worse, INVALID)["gone"]


def test_dropping_a_scenario(worse: Repo):
    worse.git("rm", "-q", "scenarios/S2-typo.yaml")
    worse.git("commit", "-qm", "not needed")
    assert "S2-typo" in answer(worse, INVALID)["gone"]


def test_renaming_a_scenario(worse: Repo):
    worse.git("mv", "scenarios/S2-typo.yaml", "scenarios/S3-typo.yaml")
    worse.git("commit", "-qm", "a better name")
    run(worse, luck=LUCKY)
    assert "S2-typo" in answer(worse, INVALID)["gone"]


def test_editing_a_scenario_so_that_it_asks_for_less(worse: Repo):
    less = SCENARIO.replace("S1", "S2").replace("path: README.md, matches: hallo}", "path: README.md}")
    less = less.replace("{edit: {path: README.md, old: hello, new: helo}}", "{run: rm README.md}")
    worse.commit({"scenarios/S2-typo.yaml": less}, "clearer")
    run(worse)
    assert "S2-typo" in answer(worse, INVALID)["not-comparable"]


def test_loosening_a_bar(worse: Repo):
    edit(worse, "evalrepo.yaml", "reps: 3}", "reps: 3, bar: {passes: 0, of: 3}}")
    assert "counts from the next release" in answer(worse, BLOCK)["policy-changed"]


def test_shrinking_the_reps(worse: Repo):
    edit(worse, "evalrepo.yaml", "reps: 3}", "reps: 1}")
    assert {"policy-changed", "golden"} <= answer(worse, BLOCK).keys()


def test_unlisting_golden_scenarios(worse: Repo):
    edit(worse, "evalrepo.yaml", "golden: [S1, S2]", "golden: []")
    assert {"policy-changed", "golden"} <= answer(worse, BLOCK).keys()


def test_changing_the_agents_of_the_suite(worse: Repo):
    other = CONFIG[CONFIG.index("  dev:\n    kind") : CONFIG.index("suites:")].replace("  dev:", "  other:", 1)
    edit(worse, "evalrepo.yaml", "suites:\n", other + "suites:\n")
    edit(worse, "evalrepo.yaml", 'scenarios: ["S*"], agents: [dev]', 'scenarios: ["S*"], agents: [other]')
    run(worse, "--agent", "other", luck=LUCKY)
    assert "dev" in answer(worse, INVALID)["gone"]


def test_changing_the_model_of_a_tier(worse: Repo):
    edit(worse, "evalrepo.yaml", "large: {model: m2}", "large: {model: m9}")
    run(worse, luck=LUCKY)
    assert "S1-typo · dev/large, S2-typo · dev/large" in answer(worse, INVALID)["not-comparable"]


def test_tagging_head_as_the_baseline(worse: Repo):
    worse.git("tag", "v2")
    assert "golden" in answer(worse, BLOCK)
    assert "not a strict ancestor" in worse.run("gate", "--baseline", "v2", exit=2)


def test_topping_up_until_it_passes(worse: Repo):
    run(worse, "--reps", "9", luck=LUCKY)
    reasons = answer(worse, BLOCK)
    assert "3 of 3 failed" in reasons["golden"]


def test_running_again_with_fresh(worse: Repo):
    run(worse, "--fresh", "3", luck=LUCKY)
    assert "3 of 3 failed" in answer(worse, BLOCK)["golden"]
    excluded = worse.json("gate", exit=BLOCK)["validity"]["excluded"]
    assert [(e["why"], e["reps"]) for e in excluded] == [("of purpose fresh, shown and never pooled", 12)]


def test_trying_errors_again_until_they_pass(worse: Repo):
    worse.commit({GUIDE_FILE: BAD + "Really.\n"}, "another wording")
    run(worse, luck=BROKEN)
    run(worse, luck=LUCKY)
    assert "ended as ERROR" in answer(worse, INVALID)["errors"]


def test_a_blank_line_in_the_subject(worse: Repo):
    worse.commit({GUIDE_FILE: BAD + "\n"}, "a blank line")
    assert "4 cells" in answer(worse, INVALID)["stale"]


def test_deleting_the_bad_result_files(worse: Repo):
    for path in bad_results(worse):
        worse.git("rm", "-q", str(path))
    worse.git("commit", "-qm", "tidy up")
    reasons = answer(worse, INVALID)
    assert "2 findings about results" in reasons["results-removed"]
    assert {"golden", "drop"} <= reasons.keys()  # the refs of the run still hold them


def test_deleting_the_run_ref(worse: Repo):
    run_id = only_record(bad_results(worse)[0].read_text())["run"]
    worse.git("update-ref", "-d", f"refs/evalrepo/runs/{run_id}")
    reasons = answer(worse, INVALID)
    assert "12 not: the reference of its run is not in this clone" in reasons["rescored"]
    assert "is gone without a tombstone" in reasons["results-unkept"]


def test_deleting_result_files_and_run_ref_and_measuring_on_a_lucky_day(worse: Repo):
    run_id = only_record(bad_results(worse)[0].read_text())["run"]
    for path in sorted((worse.path / "AgentsReport").rglob(f"*{run_id}*.md")):
        worse.git("rm", "-q", str(path))
    worse.git("commit", "-qm", "tidy up")
    worse.git("update-ref", "-d", f"refs/evalrepo/runs/{run_id}")
    run(worse, luck=LUCKY)
    assert "4 findings about results" in answer(worse, INVALID)["results-removed"]


def test_dropping_a_bad_run_that_was_never_committed(worse: Repo):
    worse.commit({GUIDE_FILE: BAD + "Really.\n"}, "another wording")
    run(worse, "--no-commit")
    refs = set(worse.git("for-each-ref", "--format=%(refname)", "refs/evalrepo/runs").split())
    committed = {f"refs/evalrepo/runs/{r['run']}" for r in worse.records()}
    (ref,) = refs - committed
    worse.git("update-ref", "-d", ref)
    run(worse, luck=LUCKY)
    assert "RUN001" in answer(worse, INVALID)["results-gap"]


def test_waiving_in_the_range(worse: Repo):
    worse.commit({"evalrepo.ledger/01M8MRJK25PKC92YJG085MT7XC.yaml": WAIVER}, "waived")
    assert "counts from the next release" in answer(worse, BLOCK)["waiver"]


def test_editing_a_frozen_rubric(worse: Repo):
    edit(worse, "rubrics/typos.md", "Is it mended?", "Was something done?")
    assert "rubrics/typos.md" in answer(worse, INVALID)["frozen"]


def test_editing_a_record_by_hand(worse: Repo):
    for path in bad_results(worse):
        path.write_text(path.read_text().replace('"FAIL"', '"PASS"').replace('"fail"', '"pass"'))
    worse.git("commit", "-qam", "typo")
    reasons = answer(worse, INVALID)
    assert "not as a run wrote it" in reasons["results-changed"]
    assert "RES007" in reasons["results-removed"]


def test_editing_a_record_and_the_ref_of_its_run(worse: Repo):
    """As thorough as it gets: what is left is that the stored transcripts say otherwise."""
    [first, *_] = bad_results(worse)
    ref = f"refs/evalrepo/runs/{only_record(first.read_text())['run']}"
    worse.env["GIT_INDEX_FILE"] = str(worse.home / "index")
    worse.git("read-tree", ref)
    for path in bad_results(worse):
        text = path.read_text().replace('"FAIL"', '"PASS"').replace('"fail"', '"pass"')
        path.write_text(text)
        oid = worse.git("hash-object", "-w", str(path)).strip()
        worse.git("update-index", "--cacheinfo", f"100644,{oid},results/{path.name}")
    tree = worse.git("write-tree").strip()
    del worse.env["GIT_INDEX_FILE"]
    worse.git("update-ref", ref, worse.git("commit-tree", "-m", "as it was", tree).strip())
    worse.git("commit", "-qa", "--amend", "--no-edit")
    reasons = answer(worse, INVALID)
    assert "not reproduced from the stored transcripts" in reasons["not-reproduced"]
    assert "PASS is recorded, FAIL comes out" in reasons["not-reproduced"] or "check fixed" in reasons["not-reproduced"]


def test_copying_a_good_record_to_the_bad_subject(worse: Repo):
    bad = {only_record(p.read_text())["tier"]: p for p in bad_results(worse)}
    run_id = only_record(bad["small"].read_text())["run"]
    subject = only_record(bad["small"].read_text())["digests"]["subject"]
    for path in sorted((worse.path / "AgentsReport").rglob("*S2*.md")):
        record = only_record(path.read_text())
        if path not in bad.values():
            text = path.read_text().replace(record["digests"]["subject"], subject).replace(record["run"], "abcdefgh")
            bad[record["tier"]].with_name(path.name.replace(record["run"], "abcdefgh")).write_text(text)
    for path in bad.values():
        path.unlink()
    worse.git("update-ref", "-d", f"refs/evalrepo/runs/{run_id}")
    worse.git("add", "-A")
    worse.git("commit", "-q", "--amend", "-m", "results")
    reasons = answer(worse, INVALID)
    assert {"results-count", "results-changed", "results-unkept"} & reasons.keys()


def test_confirming_again_until_it_is_cleared(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path):
    worse = copy(built(tmp_path_factory, lucky_once=True), tmp_path)
    assert "confirmed" in answer(worse, BLOCK, "--confirm")
    before = len(worse.reps())
    worse.env["LUCK"] = LUCKY
    assert "confirmed" in answer(worse, BLOCK, "--confirm")
    worse.env["LUCK"] = FAIR
    assert len(worse.reps()) == before
