"""Results of an older generation stay, are not comparable, and the reason names the thaw."""

from __future__ import annotations

from .conftest import SCENARIO, Repo

S1 = "scenarios/S1-typo.yaml"
WHY = ("--why", "wording of the second release")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_status_and_diff_say_that_and_how_the_scenario_was_thawed_since(repo: Repo):
    repo.run("tune", "start", "style", *WHY)
    repo.commit({}, "a loop")
    repo.run("run")
    repo.git("tag", "v1")
    assert "open: tuning loop style on style since" in repo.run("status")
    assert "open: tuning loop style on style since" in repo.run("list")
    repo.run("thaw", S1, "--kind", "tighten", "--why", "it let a wrong word pass")
    assert f"open: {S1} is thawed; evalrepo freeze closes it" in repo.run("list")
    repo.write({S1: SCENARIO.replace("matches: hallo", "matches: ^hallo$")})
    repo.git("add", "-A")
    said = repo.run("freeze")
    assert "generation 1" in said
    repo.commit({"subjects/style/GUIDE.md": "Always read the README before editing. Be brief.\n"}, "tightened")
    assert "frozen: generation 1" in repo.run("list")
    why = "S1-typo was thawed to tighten it on"
    assert why in repo.json("status")["cells"][0]["why"]
    repo.run("run")
    cell = repo.json("diff", "v1", "HEAD", exit=None)["cells"][0]
    assert cell["label"] == "not-comparable"
    assert "instrument (checks)" in cell["why"]
    assert why in cell["why"]
    assert "(it let a wrong word pass)" in cell["why"]
    assert repo.json("diff", "v1", "HEAD", exit=None)["cells"][0] == cell, "asked again it is remembered"


def test_a_thaw_that_was_before_the_measurement_is_no_reason(repo: Repo):
    repo.run("tune", "start", "style", *WHY)
    repo.run("thaw", S1, "--kind", "repair", "--why", "it let a wrong word pass")
    repo.run("freeze")
    repo.commit({}, "frozen")
    repo.run("run")
    record = repo.records()[0]["start"]
    event = repo.json("ledger", "thaw")["events"][0]
    assert event["at"] <= record
    repo.run("tune", "stop", "style", *WHY)
    repo.commit({S1: SCENARIO.replace("matches: hallo", "matches: ^hallo$")}, "free again")
    assert "thawed" not in repo.json("status")["cells"][0]["why"]


def test_the_gate_is_invalid_while_the_reserve_names_something_that_is_not_frozen(repo: Repo):
    reserve = "scenarios-reserve/S1-typo-reserve.yaml"
    repo.commit({reserve: SCENARIO + "tripwire: a09e33d3-ebca-58fc-9044-ab00ad49add0\n"})
    repo.run("freeze")
    repo.commit({}, "frozen")
    repo.git("tag", "v1")
    repo.run("run")
    repo.commit({"subjects/style/GUIDE.md": "Always read the README before editing. Be brief.\n"}, "brief")
    repo.run("run")
    assert "LCK101" not in repo.run("gate", exit=None)
    repo.commit({"evalrepo.yaml": (repo.path / "evalrepo.yaml").read_text() + "frozen: {also: [docs/**]}\n"})
    repo.commit({"docs/method.md": "how we measure\n"})
    assert "docs is to be frozen (`frozen.also` has docs/**)" in flat(repo.run("run", "--fresh", "1", exit=2))
    gate = repo.json("gate", exit=4)
    texts = " ".join(r["text"] for r in gate["reasons"])
    assert "evalrepo.lock: LCK101 docs is to be frozen" in texts
