"""`gate --confirm`: fresh reps on both commits decide about what is open, once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .cheating import FAIR, GUIDE_FILE, LUCKY, built, copy, edit
from .conftest import Repo


@pytest.fixture
def worse(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Repo:
    """v1 is good and measured, HEAD is worse and measured: two suspects, golden both, and no drop that is proven."""
    return copy(built(tmp_path_factory, lucky_once=True), tmp_path)


@pytest.fixture
def blocked(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Repo:
    """The same with a drop that is proven."""
    return copy(built(tmp_path_factory), tmp_path)


def codes(verdict: dict) -> set[str]:
    return {r["code"] for r in verdict["reasons"]}


def fresh(repo: Repo) -> list[dict]:
    return [r for r in repo.records() if r["purpose"] == "confirm"]


def test_a_fall_is_confirmed_by_fresh_reps_of_both_commits(worse: Repo):
    head = worse.git("rev-parse", "HEAD").strip()
    verdict = worse.json("gate", "--confirm", exit=1)
    found = {(c["cell"], c["of"], c["outcome"], *c["before"], *c["after"]) for c in verdict["confirmations"]}
    assert found == {
        (f"S2-typo · dev/{tier}", of, "confirmed", 5, 5, 0, 5)
        for tier in ("small", "large")
        for of in ("golden", "suspect")
    }
    assert {"confirmed", "golden"} <= codes(verdict)
    assert {r["commit"] for r in fresh(worse)} == {head, worse.git("rev-parse", "v1").strip()}
    assert {len(r["reps"]) for r in fresh(worse)} == {5}
    assert {r["against"] for r in fresh(worse)} == {r["digests"]["subject"] for r in fresh(worse)}
    assert worse.git("status", "--porcelain") == ""


def test_fresh_reps_count_for_nothing_else_and_are_used_again(worse: Repo):
    before = [(c["name"], c["before"]["strip"], c["after"]["strip"]) for c in worse.json("diff", "v1", exit=1)["cells"]]
    worse.json("gate", "--confirm", exit=1)
    after = [(c["name"], c["before"]["strip"], c["after"]["strip"]) for c in worse.json("diff", "v1", exit=1)["cells"]]
    assert before == after
    assert "confirmed" in codes(worse.json("gate", exit=1))
    reps = len(worse.reps())
    worse.json("gate", "--confirm", exit=1)
    assert len(worse.reps()) == reps


def test_what_fresh_reps_do_not_confirm_is_cleared_and_the_rest_decides(worse: Repo):
    worse.env["LUCK"] = LUCKY
    verdict = worse.json("gate", "--confirm", exit=3)
    worse.env["LUCK"] = FAIR
    assert {c["outcome"] for c in verdict["confirmations"]} == {"cleared"}
    assert {"golden", "confirmed", "suspect"} & codes(verdict) == set()
    assert {"cleared", "metric"} <= codes(verdict)


def test_a_budget_takes_whole_plans_or_none_and_says_what_is_left(worse: Repo):
    said = worse.run("gate", "--confirm", "--budget", "12", exit=1)
    assert "the budget of 12 reps leaves unconfirmed: S2-typo · dev/small (10 reps)" in said
    assert {r["tier"] for r in fresh(worse)} == {"large"}
    assert "suspect, not\n  proven; unresolved" in said


def test_the_work_tree_has_no_part_in_it(worse: Repo):
    worse.write({GUIDE_FILE: "Anything else.\n"})
    worse.json("gate", "--confirm", exit=1)
    measured = {r["digests"]["subject"] for r in worse.records() if r["purpose"] == "measure"}
    assert {r["digests"]["subject"] for r in fresh(worse)} == measured
    assert {r["dirty"] for r in fresh(worse)} == {False}


def test_agents_that_cost_money_want_consent(worse: Repo):
    edit(worse, "evalrepo.yaml", "    env: [LUCK]", "    paid: true\n    env: [LUCK]")
    assert "costs money" in worse.run("gate", "--confirm", exit=2)
    assert fresh(worse) == []
    worse.run("gate", "--confirm", "--live", exit=1)
    assert len(fresh(worse)) == 4


def test_an_invalid_gate_is_worth_no_reps_and_options_want_confirm(worse: Repo):
    worse.commit({GUIDE_FILE: "Never measured.\n"}, "unmeasured")
    assert "nothing is confirmed: the gate is invalid" in worse.run("gate", "--confirm", exit=4)
    assert fresh(worse) == []
    assert "add --confirm" in worse.run("gate", "--budget", "9", exit=2)


def test_what_blocks_anyway_and_what_is_not_open_are_worth_no_reps(blocked: Repo):
    said = blocked.run("gate", "--confirm", exit=1)
    assert "nothing is confirmed: the gate blocks whatever fresh reps say: the overall pass rate fell" in said
    blocked.git("revert", "--no-edit", "HEAD~1")
    assert "nothing is confirmed: no cell is suspect, and no golden one failed" in blocked.run("gate", "--confirm")
    assert fresh(blocked) == []


def test_reps_of_a_confirmed_suspect_are_not_taken_again(worse: Repo):
    worse.json("gate", "--confirm", exit=1)
    said = worse.run("gate", "--confirm", exit=1)
    assert "nothing is confirmed: the gate blocks whatever fresh reps say: S2-typo" in said


def test_a_base_that_is_well_known_takes_no_rep_of_its_own_and_stops_at_the_boundary(worse: Repo):
    """Twenty recorded reps of each base cell: three fails in a row decide for a fall, eight passes against it."""
    head = worse.git("rev-parse", "HEAD").strip()
    worse.run("run", "S2", "--at", "v1", "--reps", "20", "--no-commit")
    lucky = Repo(worse.path.parent / "lucky", worse.home, {**worse.env, "LUCK": LUCKY})
    shutil.copytree(worse.path, lucky.path, symlinks=True)
    small = worse.json("gate", "--confirm", "--budget", "20", exit=1)["confirmations"]
    assert {(c["of"], c["plan"], c["outcome"], *c["before"], *c["after"]) for c in small} == {
        ("suspect", "sprt", "confirmed", 0, 0, 0, 3),
        ("golden", "sprt", "confirmed", 0, 0, 0, 3),
    }
    assert {r["commit"] for r in fresh(worse)} == {head}
    said = " ".join(worse.run("gate", exit=1).split())
    assert "fresh reps 0/3 here (sequential test): the fall is confirmed" in said
    large = lucky.json("gate", "--confirm", "--budget", "40", exit=None)["confirmations"]
    found = [(c["plan"], c["outcome"], c["after"]) for c in large if c["of"] == "suspect"]
    assert found == [("sprt", "cleared", [8, 8])] * 2
