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


def test_a_repaired_check_corrects_both_sides_in_one_commit_and_every_record_stays_visible(repo: Repo):
    base = repo.commit({"scenarios/S1-typo.yaml": WRONG}, "a check with a mistake")
    repo.run("run", "S1", "--reps", "5", exit=1)
    repo.commit({"subjects/style/GUIDE.md": GUIDE + "Be brief.\n"}, "another wording")
    repo.run("run", "S1", "--reps", "5", exit=1)
    old = [r["run"] for r in repo.records()]
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO}, "the check repaired")
    (cell,) = repo.json("diff", base, exit=2)["cells"]
    assert cell["label"] == "stale"  # by the repaired check nothing was judged yet, on neither side
    commits = int(repo.git("rev-list", "--count", "HEAD"))
    assert "10 reps judged again, 10 with another verdict" in repo.run("rescore")
    assert int(repo.git("rev-list", "--count", "HEAD")) == commits + 1
    (cell,) = repo.json("diff", base)["cells"]
    assert (cell["label"], cell["why"]) == ("same", "")
    assert (cell["before"]["strip"], cell["after"]["strip"]) == ("PPP", "PPP")
    for run in old:
        again = next(r["run"] for r in repo.records() if r["supersedes"] == run)
        assert f"superseded by run {again}, which counts instead" in " ".join(repo.run("show", run).split())
        assert f"judged again from run {run}" in repo.run("show", again)
        assert "FAIL" in repo.run("show", run)
    assert repo.run("log", "S1").count("5/5 PPPPP") == 2
    repo.run("verify", "--records")
