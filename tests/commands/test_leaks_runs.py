"""A leak in a rep: ERROR(leak), never tried again, an invalid gate; and the transcripts that `leaks` looks through."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalrepo.formats.yaml import dump_event
from evalrepo.records.event import Event
from tests.commands.conftest import SCENARIO, Repo

WIRE = "3f0c9a52-1111-4222-8333-944455556666"
ASKED = "Mend the wording of the greeting in the notes, and leave the order of all the other lines as it was."
TWIN = f"tripwire: {WIRE}\ntwin: S1-typo\n" + SCENARIO.replace("Fix the typo in README.md", ASKED).replace(
    "after a look", "after another look"
)
PIECES = " ".join(WIRE.split("-"))
SHOWS = f"run: sh -c \"printf '%s-%s-%s-%s-%s' {PIECES}\""


def world(repo: Repo, step: str) -> None:
    """The pair, with an agent that takes this step before it answers."""
    follows = SCENARIO.replace('- say: "Done', f'- {step}\n      - say: "Done')
    twin = f"twin: S1-typo-reserve\n{follows}"
    repo.commit({"scenarios/S1-typo.yaml": twin, "scenarios-reserve/S1-typo-reserve.yaml": TWIN})
    repo.run("freeze")
    repo.git("commit", "-qm", "freeze")


def without_isolation(repo: Repo, tmp_path: Path) -> None:
    """A PATH on which every program is but bubblewrap."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for place in os.environ["PATH"].split(":"):
        for found in Path(place).iterdir() if Path(place).is_dir() else ():
            if found.name != "bwrap" and not (folder / found.name).is_symlink():
                (folder / found.name).symlink_to(found)
    repo.env["PATH"] = str(folder)


def test_a_tripwire_in_a_transcript_is_an_error_that_is_never_tried_again_and_makes_the_gate_invalid(repo):
    world(repo, SHOWS)
    said = repo.run("run", "S1", "--reps", "2", exit=4)
    assert "leak" in said
    assert "never tried again" in said
    assert [r[3:] for r in repo.reps()] == [(1, "ERROR"), (1, "ERROR")]
    assert {rep["error"] for r in repo.records() for rep in r["reps"]} == {"leak"}
    again = repo.run("run", "S1", "--reps", "2", exit=4)
    assert "nothing to do" in again
    assert "evalrepo show" in again
    assert len(repo.reps()) == 2
    reasons = [r for r in repo.json("gate", exit=4)["reasons"] if r["code"] == "leak"]
    assert len(reasons) == 1
    assert "2 reps of run" in reasons[0]["text"]
    assert WIRE not in repo.run("gate", exit=4) + said + again


def test_a_changed_check_does_not_wash_a_leak_and_an_acknowledged_one_may_be_measured_anew(repo):
    world(repo, SHOWS)
    repo.run("run", "S1", "--reps", "1", exit=4)
    text = (repo.path / "scenarios" / "S1-typo.yaml").read_text()
    repo.commit({"scenarios/S1-typo.yaml": text.replace("matches: hallo", "matches: hall")})
    (reason,) = [r for r in repo.json("gate", exit=4)["reasons"] if r["code"] == "leak"]
    words = reason["text"].split()
    hash_ = words[words.index("acknowledge") + 1]
    event = Event(
        event="acknowledge",
        at="2026-11-30T00:00:00Z",
        by="Ada <a@b.c>",
        why="the tripwire was typed by hand in a test",
        hashes=(hash_,),
    )
    repo.commit({"evalrepo.ledger/01KB9Z1Q0000000000000000AA.yaml": dump_event(event).decode()})
    assert not [r for r in repo.json("gate", exit=None)["reasons"] if r["code"] == "leak"]
    repo.commit({"scenarios/S1-typo.yaml": text})
    assert repo.json("run", "S1", "--reps", "1", "--dry-run")["to_run"] == 1


@pytest.mark.parametrize(
    "step",
    [
        "run: git -C {repo} show HEAD:evalrepo.yaml",
        "run: cat {home}/secret.txt",
        "run: ln -s {repo} box && cat box/evalrepo.yaml",
        "run: cat ../../../../repo/scenarios-reserve/*.yaml",
        "run: cat /proc/$PPID/environ",
        "run: find {repo}/.. -name evalrepo.yaml",
    ],
)
def test_without_isolation_a_read_of_what_is_not_the_agents_is_a_leak(repo, tmp_path, step):
    without_isolation(repo, tmp_path)
    (repo.home / "secret.txt").write_text("the key of the house")
    world(repo, step.format(repo=repo.path, home=repo.home))
    repo.run("run", "S1", "--reps", "1", exit=4)
    (record,) = repo.records()
    assert (record["isolation"], record["reps"][0]["error"]) == ("none", "leak")


def test_without_isolation_an_agent_that_stays_inside_passes(repo, tmp_path):
    without_isolation(repo, tmp_path)
    world(repo, "run: cat README.md ./README.md ../project/README.md; ls ~ $HOME /; env; ls ..")
    repo.run("run", "S1", "--reps", "1")
    assert repo.reps()[0][-1] == "PASS"


def test_stored_transcripts_are_looked_through_and_those_of_the_reserve_may_hold_its_prompts(repo):
    world(repo, f'say: "Somebody told me: {ASKED}"')
    repo.run("run", "S1", "--reps", "1")
    ref = repo.git("for-each-ref", "--format=%(refname)", "refs/evalrepo/runs/").strip()
    (repo.path / "scenarios" / "S1-typo.yaml").write_text("twin: S1-typo-reserve\n" + SCENARIO)
    repo.git("commit", "-qam", "an agent of other habits")
    assert repo.json("leaks")["leaks"] == []
    found = repo.json("leaks", "--transcripts", exit=1)
    assert found["looked_at"]["transcripts"] >= 1
    (leak,) = [x for x in found["leaks"] if x["file"].startswith(f"{ref}:transcripts/S1-typo/")]
    assert (leak["code"], leak["reserve"], leak["share"]) == ("LEK002", "S1-typo-reserve", 1.0)
    assert leak["line"] > 1
    assert "other lines" not in repo.run("leaks", "--transcripts", exit=1)


def test_a_result_that_quotes_the_reserve_is_a_leak(repo):
    quoting = SCENARIO.replace(
        "matches: hallo}}",
        f"matches: hallo}}}}\n  - {{id: quotes, axis: C, gating: false, text: {{must_not: '{ASKED}'}}}}",
    )
    repo.commit(
        {"scenarios-reserve/S1-typo-reserve.yaml": TWIN, "scenarios/S1-typo.yaml": f"twin: S1-typo-reserve\n{quoting}"}
    )
    base = repo.git("rev-parse", "HEAD").strip()
    found = repo.json("leaks", exit=1)["leaks"]
    assert {x["file"] for x in found} == {"scenarios/S1-typo.yaml"}
    repo.commit({"scenarios/S1-typo.yaml": f"twin: S1-typo-reserve\n{SCENARIO}"})
    result = "AgentsReport/evaluation/2026-11/2026-11-30_scenario-S1-typo_scripted-default_0abcdefg.notes.md"
    repo.commit({result: f"The agent was asked, word for word:\n\n> {ASKED}\n"})
    (leak,) = repo.json("leaks", "--since", base, exit=1)["leaks"]
    assert (leak["file"], leak["line"]) == (result, 3)
