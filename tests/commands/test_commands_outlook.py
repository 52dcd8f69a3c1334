"""plan, log of a suite, and status on a real repository whose releases become a little worse each time."""

from __future__ import annotations

from .conftest import CONFIG, SCENARIO, Repo

GUIDE_FILE = "subjects/style/GUIDE.md"


def scenario(word: str) -> str:
    """One that passes while the guide holds a word."""
    return SCENARIO.replace("contains: read the README", f"contains: {word}")


def test_three_releases_that_lose_a_rule_each_are_a_slow_slide(repo: Repo):
    repo.git("rm", "-q", "scenarios/S1-typo.yaml")
    scenarios = {f"scenarios/T{n}.yaml": scenario(word) for n, word in enumerate(("alpha", "beta", "gamma"))}
    repo.commit({**scenarios, "evalrepo.yaml": CONFIG.replace("golden: [S1]", "golden: [T0]")}, "three")
    for tag, guide in (("v1", "alpha beta gamma\n"), ("v2", "alpha beta\n"), ("v3", "alpha\n")):
        repo.commit({GUIDE_FILE: guide}, f"guide of {tag}")
        repo.run("run", "--reps", "2", exit=None)
        repo.git("tag", tag)
    text = repo.run("log", "--suite", "release")
    assert "slow slide: v1 100.0% → v2 66.7% → v3 33.3%: each release a little worse," in text
    assert all(len(line) <= 80 for line in text.splitlines())
    data = repo.json("log", "--suite", "release")
    assert [p["rate"] for p in data["points"]] == [1 / 3, 2 / 3, 1.0]
    assert data["slide"]["names"] == ["v1", "v2", "v3"]
    assert repo.json("log", "T1")["cells"][0]["trend"]["slide"] is None
    plan = repo.json("plan", "release")["plan"]
    assert [(c["scenario"], c["have"], c["needs"]) for c in plan["cells"]] == [
        (f"T{n}", 2, "1 rep missing") for n in range(3)
    ]
    assert (plan["recorded"], plan["saturated"], plan["sides"]) == (6, False, 2)
    assert [(o["price"]["reps"], o["base"]["reps"]) for o in plan["options"]] == [(3, 3), (9, 9), (18, 18)]
    said = " ".join(repo.run("plan", "release").split())
    assert "to run: here + at v2, so that each cell has so many" in said
    assert "evalrepo run --suite release --reps N --against v2 runs them." in said
    status = repo.run("status")
    assert "+1" in status
    assert "evalrepo run would run 3 reps in 3 of 3 cells" in status


def test_a_suite_that_always_passes_is_called_a_tripwire(repo: Repo):
    repo.run("run")
    said = " ".join(repo.run("plan").split())
    assert "Every cell passed all its reps so far: a tripwire, not an instrument." in said
    assert "The base that it will be compared with needs as many; there is none with another subject yet." in said
    repo.git("tag", "v1")
    repo.write({GUIDE_FILE: "Another guide.\n"})
    [three, *_] = repo.json("plan")["plan"]["options"]
    assert (three["price"]["reps"], three["base"]["reps"]) == (3, 0)


def test_questions_that_cannot_be_answered_are_exit_2(repo: Repo):
    assert "none of these cells was measured" in repo.run("log", exit=2)
    assert "unknown suite" in repo.run("plan", "nonsense", exit=2)
    assert "unknown suite" in repo.run("log", "--suite", "nonsense", exit=2)
    assert "do not go together" in repo.run("log", "S1", "--suite", "release", exit=2)
    assert "assumed, nothing is recorded" in repo.run("plan", exit=0)
