"""`diff --rescore`: two sides that only their instruments keep apart."""

from __future__ import annotations

from tests.commands.conftest import GUIDE, SCENARIO, Repo
from tests.commands.test_rescore_command import WRONG


def two_sides(repo: Repo) -> str:
    """The base is measured with a check that is wrong, the candidate with the repaired one; the base's commit."""
    base = repo.commit({"scenarios/S1-typo.yaml": WRONG}, "a check with a mistake")
    repo.run("run", "S1", exit=1)
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO, "subjects/style/GUIDE.md": GUIDE + "Be brief.\n"}, "both change")
    repo.run("run", "S1")
    return base


def test_both_sides_are_judged_by_the_candidates_checks_and_nothing_is_recorded(repo: Repo):
    base = two_sides(repo)
    (cell,) = repo.json("diff", base, exit=2)["cells"]
    assert (cell["label"], cell["after"]["passes"]) == ("not-comparable", 3)
    before = repo.git("rev-parse", "HEAD")
    (cell,) = repo.json("diff", base, "--rescore")["cells"]
    assert (cell["label"], cell["before"]["strip"], cell["after"]["strip"]) == ("same", "PPP", "PPP")
    assert (len(repo.records()), repo.git("rev-parse", "HEAD")) == (2, before)
    assert "3 recorded reps judged again by today's checks, 3 with another verdict" in repo.run(
        "diff", base, "--rescore"
    )


def test_after_rescore_the_sides_are_comparable_without_the_option(repo: Repo):
    base = two_sides(repo)
    repo.run("rescore")
    (cell,) = repo.json("diff", base)["cells"]
    assert (cell["before"]["strip"], cell["after"]["strip"]) == ("PPP", "PPP")


def test_what_is_not_at_hand_stays_incomparable_and_is_said(repo: Repo):
    base = two_sides(repo)
    for run in {r["run"] for r in repo.records()}:
        repo.git("update-ref", "-d", f"refs/evalrepo/runs/{run}")
    said = " ".join(repo.run("diff", base, "--rescore", exit=2).split())
    assert "the reference of its run is not in this clone → evalrepo transcripts fetch" in said
    assert "not comparable" in said
