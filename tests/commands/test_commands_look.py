"""Looks at the reserve: spent at their start, counted, completed, refused, said in every report."""

from __future__ import annotations

import json

import pytest

from tests.commands.conftest import CONFIG, GUIDE, SCENARIO, WORLD, Repo

TRIPWIRE = "7d0c7b1e-5a39-4f0b-9a3d-2b4f3f0e9c11"
TWIN = SCENARIO.replace("title:", f"twin: S1-typo\ntripwire: {TRIPWIRE}\ntitle:").replace(
    "Fix the typo in README.md", "A greeting in the README is misspelled, put it right please"
)
OTHER = TWIN.replace(
    "A greeting in the README is misspelled, put it right please", "One word of the page is wrong; mend it"
)
HELD = WORLD | {
    "evalrepo.yaml": CONFIG + "reps: 1\nbar: {passes: 1, of: 1}\n",
    "scenarios/S1-typo.yaml": SCENARIO.replace("title:", "twin: S1-reserve\ntitle:"),
    "scenarios-reserve/S1-reserve.yaml": TWIN,
}
WHY = ("--why", "is the wording good enough to ship")


def freeze(repo: Repo) -> None:
    repo.git("add", "-A")
    repo.run("freeze", "--why", "a reserve for the wording")
    repo.git("commit", "-qm", "freeze")


@pytest.fixture
def held(empty: Repo) -> Repo:
    """A subject with one frozen twin, one rep a cell."""
    empty.commit(HELD, "the world")
    freeze(empty)
    return empty


def reworded(repo: Repo, text: str) -> None:
    repo.commit({"subjects/style/GUIDE.md": GUIDE + text + "\n"}, text)


def looks(repo: Repo) -> int:
    return sum("event: look" in file.read_text() for file in (repo.path / "evalrepo.ledger").glob("*.yaml"))


@pytest.mark.isolation
def test_a_look_is_committed_before_its_first_rep_and_its_record_says_which_it_is(held: Repo):
    said = held.run("run", "--reserve", *WHY)
    assert "reserve of style: held-out, look 1 of 3, no look preceded it" in said
    subjects = held.git("log", "-2", "--format=%s").splitlines()
    assert subjects == ["evalrepo: 1 rep of 1 cell", "evalrepo: look 1 of 3 at the reserve of style"]
    (record,) = held.records()
    assert (record["purpose"], record["set"], record["look"], record["looks"]) == ("look", "reserve", 1, 3)
    shown = held.run("show", "S1-reserve")
    assert "reserve    held-out, look 1 of 3, no look preceded it" in shown
    assert "sealed: prompts, evidence and transcripts" in shown
    assert held.git("status", "--porcelain") == ""
    assert held.run("verify") == "5 frozen files, as frozen\n" or "as frozen" in held.run("verify")


@pytest.mark.isolation
def test_the_same_look_asked_again_prints_what_is_recorded_and_runs_nothing(held: Repo):
    held.run("run", "--reserve", *WHY)
    head = held.git("rev-parse", "HEAD")
    said = held.run("run", "--reserve", "style", "--why", "asked again by somebody")
    assert "look 1 of 3" in said
    assert "S1-reserve" in said
    assert "this look was taken before, and is recorded: nothing was run" in said
    assert (looks(held), held.git("rev-parse", "HEAD")) == (1, head)


@pytest.mark.isolation
def test_another_version_is_another_look_until_none_is_left(held: Repo):
    held.run("run", "--reserve", *WHY)
    for number in (2, 3):
        reworded(held, f"Rule {number}.")
        assert f"look {number} of 3, {number - 1} look" in held.run("run", "--reserve", *WHY)
    reworded(held, "Rule 4.")
    said = held.run("run", "--reserve", *WHY, exit=2)
    assert "RESERVE EXHAUSTED: all 3 looks at the reserve of style (1 scenario) are spent" in said
    assert "evalrepo retire S1-reserve --why REASON" in said
    assert "evalrepo new ID-new --reserve-of ID" in said
    assert "evalrepo freeze && git commit" in said
    assert looks(held) == 3
    assert "RESERVE EXHAUSTED" in held.run("status")


@pytest.mark.isolation
def test_a_thaw_or_another_branch_gives_no_look_back_and_new_twins_do(held: Repo):
    held.git("checkout", "-qb", "side")
    held.run("run", "--reserve", *WHY)
    held.git("checkout", "-q", "main")
    assert "look 2 of 3, 1 look preceded it" in (reworded(held, "Rule 2.") or held.run("run", "--reserve", *WHY))
    held.git("merge", "-q", "--no-edit", "side")
    held.run("thaw", "scenarios-reserve/S1-reserve.yaml", "--why", "the title is misleading", "--kind", "repair")
    text = (held.path / "scenarios-reserve/S1-reserve.yaml").read_text()
    held.write({"scenarios-reserve/S1-reserve.yaml": text.replace("title: A typo", "title: The typo")})
    freeze(held)
    reworded(held, "Rule 3.")
    assert "look 3 of 3, 2 looks preceded it" in held.run("run", "--reserve", *WHY)
    held.run("thaw", "scenarios-reserve/S1-reserve.yaml", "--why", "the reserve is spent", "--kind", "tighten")
    held.git("rm", "-q", "scenarios-reserve/S1-reserve.yaml")
    held.write({
        "scenarios-reserve/S1-second.yaml": OTHER,
        "scenarios/S1-typo.yaml": SCENARIO.replace("title:", "twin: S1-second\ntitle:"),
    })  # fmt: skip
    freeze(held)
    reworded(held, "Rule 4.")
    assert "look 1 of 3, no look preceded it" in held.run("run", "--reserve", *WHY)


@pytest.mark.isolation
def test_a_renamed_twin_is_no_new_twin(held: Repo):
    held.run("run", "--reserve", *WHY)
    held.run("thaw", "scenarios-reserve/S1-reserve.yaml", "--why", "a better name for it", "--kind", "repair")
    held.git("mv", "scenarios-reserve/S1-reserve.yaml", "scenarios-reserve/S1-renamed.yaml")
    held.write({"scenarios/S1-typo.yaml": SCENARIO.replace("title:", "twin: S1-renamed\ntitle:")})
    freeze(held)
    reworded(held, "Rule 2.")
    assert "look 2 of 3, 1 look preceded it" in held.run("run", "--reserve", *WHY)


@pytest.mark.isolation
def test_each_subject_has_a_budget_of_its_own(held: Repo):
    config = HELD["evalrepo.yaml"].replace(
        "agents:\n  scripted",
        "  tone:\n    paths: [subjects/tone/**]\n    agents: [scripted]\n    install: {scripted: {copy: {.: ~/tone}}}\nagents:\n  scripted",
        1,
    )
    both = {name: text.replace("subject: style", "subject: tone").replace("S1-", "T1-") for name, text in HELD.items()}
    files = {
        "evalrepo.yaml": config,
        "subjects/tone/GUIDE.md": GUIDE,
        "scenarios/T1-typo.yaml": both["scenarios/S1-typo.yaml"],
        "scenarios-reserve/T1-reserve.yaml": both["scenarios-reserve/S1-reserve.yaml"].replace(
            TRIPWIRE, TRIPWIRE[::-1]
        ),
    }
    held.write(files)
    freeze(held)
    said = held.run("run", "--reserve", *WHY, exit=2)
    assert "a look is at one subject's reserve" in said
    assert "look 1 of 3" in held.run("run", "--reserve", "style", *WHY)
    assert "reserve of tone: held-out, look 1 of 3, no look preceded it" in held.run("run", "--reserve", "T1", *WHY)
    status = held.run("status").replace("\n  ", " ")
    assert status.count("1 of 3 looks spent, this version was looked at") == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "a look at the reserve needs a reason"),
        (("--why", "x"), "needs a reason that says something"),
        ((*WHY, "--reps", "9"), "--reps does not go with --reserve: no rep is added to a look"),
        ((*WHY, "--fresh", "1"), "--fresh does not go with --reserve"),
        ((*WHY, "--no-commit"), "--no-commit does not go with --reserve: a look is spent"),
        ((*WHY, "--at", "HEAD"), "--at does not go with --reserve"),
        ((*WHY, "--against", "HEAD"), "--against does not go with --reserve"),
        ((*WHY, "--canary"), "--canary does not go with --reserve"),
        ((*WHY, "--suite", "release"), "--suite does not go with --reserve"),
        ((*WHY, "S1-typo"), "it is in the run-set"),
    ],
)
def test_what_would_re_roll_or_hide_a_look_is_refused(held: Repo, options: tuple[str, ...], words: str):
    assert words in held.run("run", "--reserve", *options, exit=2)
    assert (looks(held), held.records()) == (0, [])


def test_a_reason_belongs_to_a_look_only(held: Repo):
    assert "--why and --allow-unmasked are for a look" in held.run("run", "--why", "because of it", exit=2)


@pytest.mark.isolation
def test_nothing_is_looked_at_while_something_is_thawed_or_not_frozen(held: Repo):
    held.run("thaw", "scenarios-reserve/S1-reserve.yaml", "--why", "a word is wrong", "--kind", "repair")
    held.git("commit", "-qm", "thaw")
    said = held.run("run", "--reserve", *WHY, exit=2)
    assert "S1-reserve.yaml is thawed, and until the next freeze the reserve is not measured" in said
    assert looks(held) == 0


@pytest.mark.isolation
def test_a_look_that_lacks_reps_is_completed_and_costs_nothing(held: Repo):
    held.commit({"evalrepo.yaml": HELD["evalrepo.yaml"].replace("reps: 1", "reps: 2")}, "two reps a cell")
    held.run("run", "--reserve", *WHY, "--max-reps", "1", exit=3)
    assert (looks(held), len(held.reps())) == (1, 1)
    assert "look 1 of 3, no look preceded it" in held.run("run", "--reserve", *WHY)
    assert (looks(held), len(held.reps())) == (1, 2)
    assert "nothing was run" in held.run("run", "--reserve", *WHY)


@pytest.mark.isolation
def test_an_unsealed_transcript_is_shown_and_every_later_look_says_so(held: Repo):
    held.run("run", "--reserve", *WHY)
    assert "transcripts are sealed" in held.run("export", "S1-reserve", "--rep", "1", exit=2)
    assert "misspelled" not in held.run("show", "S1-reserve")
    assert "--unseal and --why go together" in held.run("show", "S1-reserve", "--unseal", exit=2)
    said = held.run("show", "S1-reserve", "--unseal", "--why", "nobody understands this result")
    assert "asked: A greeting in the README is misspelled" in said
    assert held.git("log", "-1", "--format=%s").strip() == "evalrepo: unseal S1-reserve"
    assert "event: unseal" in held.git("show", "HEAD")
    assert held.git("status", "--porcelain") == ""
    assert json.loads(held.run("export", "S1-reserve", "--rep", "1"))["steps"]
    reworded(held, "Rule 2.")
    assert "somebody unsealed S1-reserve before" in held.run("run", "--reserve", *WHY).replace("\n  ", " ")


@pytest.mark.isolation
def test_a_diff_and_a_gate_that_rest_on_the_reserve_say_how_many_looks_there_were(held: Repo):
    policy = "gate: {suites: [release], golden: [], margin: 1, reserve: true}"
    held.commit(
        {"evalrepo.yaml": HELD["evalrepo.yaml"].replace("gate: {suites: [release], golden: [S1]}", policy)}, "p"
    )
    held.run("run")
    held.run("run", "--reserve", *WHY)
    held.git("tag", "v1")
    reworded(held, "Rule 2.")
    held.run("run")
    said = held.run("gate", exit=4)
    assert "evalrepo run --reserve S1-reserve --why REASON" in said
    held.run("run", "--reserve", *WHY)
    shown = held.run("diff", "v1")
    assert "reserve of style: held-out, look 2 of 3, 1 look preceded it" in shown
    assert "same, look 2 of 3" in shown
    decided = held.run("gate")
    assert "alpha 0.0166667" in decided
    assert "held-out, look 2 of 3" in decided


@pytest.mark.isolation
def test_a_reserve_record_without_a_look_makes_the_gate_invalid(held: Repo):
    held.run("run")
    held.run("run", "--reserve", *WHY)
    policy = "gate: {suites: [release], golden: [], margin: 1, reserve: true}"
    text = HELD["evalrepo.yaml"].replace("gate: {suites: [release], golden: [S1]}", policy)
    held.write({"evalrepo.yaml": text})
    event = next(f for f in (held.path / "evalrepo.ledger").glob("*.yaml") if "event: look" in f.read_text())
    held.git("rm", "-q", str(event.relative_to(held.path)))
    held.commit({}, "forget it")
    said = held.run("gate", exit=4).replace("\n  ", " ")
    assert "the reserve of style was measured, and the ledger holds no look at it" in said


def test_without_isolation_a_look_is_refused_or_is_a_budgeted_comparison(held: Repo, tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh", "env", "cat", "sed", "python3", "bash", "ls", "rm", "cp", "mkdir"):
        found = held.environment()["PATH"].split(":")
        real = next((f"{d}/{name}" for d in found if __import__("os").path.exists(f"{d}/{name}")), None)
        if real:
            (programs / name).symlink_to(real)
    held.env["PATH"] = str(programs)
    said = held.run("run", "--reserve", *WHY, exit=2)
    assert "the agent could read the reserve: isolation is none" in said
    assert looks(held) == 0
    said = held.run("run", "--reserve", *WHY, "--allow-unmasked")
    assert "reserve of style: budgeted comparison (isolation none), look 1 of 3" in said.replace("\n  ", " ")
    assert "budgeted comparison (isolation none), look 1 of 3" in next(
        f.read_text() for f in (held.path / "AgentsReport").rglob("*S1-reserve*.md")
    )
