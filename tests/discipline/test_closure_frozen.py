"""What the reserve rests on is frozen with it, and what it names beyond that is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from frozen_repo import FILES, R1, Repo, new

RESERVE = """\
title: one
subject: style
fixture: box
setup: [{run: "sh tools/seed.sh && cat ./docs/page.md > STYLE.md; test -f README.md"}]
turns:
  - prompt: Write the note.
checks:
  - {id: own, axis: A, python: {call: "checks/own.py:note"}}
  - {id: hidden, axis: A, command: {run: sh t.sh, files: {t.sh: scenarios-reserve/files/R1/t.sh}, exit: 0}}
  - {id: judged, axis: B, judge: {rubric: tone, question: clear}}
"""
RUBRIC = "---\ntitle: Tone\nquestions: {clear: {ask: Is it clear?}}\n---\nJudge it.\n"
WORLD = FILES | {
    "evalrepo.yaml": FILES["evalrepo.yaml"] + "judge: {command: [python3, judges/ask.py]}\n",
    R1: RESERVE,
    "checks/own.py": "from .shared import words\n\n\ndef note(transcript, outcome):\n    return True\n",
    "checks/shared.py": "import lib.text\n\nwords = []\n",
    "checks/unused.py": "",
    "lib/text.py": "",
    "tools/seed.sh": "true\n",
    "scenarios-reserve/files/R1/t.sh": "true\n",
    "rubrics/tone.md": RUBRIC,
    "judges/ask.py": "print('yes')\n",
}
RESTS_ON = {
    "checks/own.py": "R1 names it",
    "checks/shared.py": "checks/own.py imports it",
    "lib/text.py": "checks/own.py imports it",
    "tools/seed.sh": "the setup of R1 names it",
    "docs/page.md": "the setup of R1 names it",
    "rubrics/tone.md": "R1 names it",
    "judges/ask.py": "the judge rests on it",
    "fixtures/box": "R1 names it",
    "scenarios-reserve": "the reserve",
}


@pytest.fixture
def world(tmp_path: Path, environ: dict[str, str]) -> Repo:
    repo = new(tmp_path / "repo", environ)
    repo.commit(WORLD)
    return repo


def frozen(repo: Repo, *args: str) -> dict:
    code, said = repo.run("freeze", *args, "--format", "json")
    assert code == 0, said
    repo.git("commit", "-q", "--no-verify", "-m", "freeze")
    return json.loads(said)


def test_freeze_locks_the_reserve_with_all_that_it_rests_on_and_says_why(world: Repo):
    said = frozen(world)
    assert said["why"] == RESTS_ON
    lines = (world.root / "evalrepo.lock").read_text().splitlines()
    paths = {line.split(" ", 3)[3] for line in lines if line.startswith("100")}
    assert {"checks/shared.py", "lib/text.py", "tools/seed.sh", "judges/ask.py"} <= paths
    assert not {"checks/unused.py", "STYLE.md", "fixtures/box/tools/seed.sh"} & paths


@pytest.mark.parametrize("path", sorted(set(RESTS_ON) - {"fixtures/box", "scenarios-reserve"}))
def test_an_edit_of_any_of_it_is_found(world: Repo, path: str):
    frozen(world)
    world.write({path: "changed\n"})
    world.git("add", "-A")
    code, said = world.run("verify")
    assert code == 1
    assert f"{path}: FRZ001" in said


def test_a_word_of_the_setup_that_the_fixture_holds_means_the_fixtures_file(world: Repo):
    world.commit({"fixtures/box/tools/seed.sh": "false\n"})
    assert "tools/seed.sh" not in frozen(world)["why"]


def test_a_subject_is_never_frozen_by_what_a_setup_says(world: Repo):
    world.commit({"evalrepo.yaml": WORLD["evalrepo.yaml"].replace("[STYLE.md]", "[docs/**]")})
    assert "docs/page.md" not in frozen(world)["why"]


def test_a_module_that_is_imported_anew_is_found_by_lint_and_told_by_a_partial_freeze(world: Repo):
    frozen(world)
    assert world.run("thaw", "checks/shared.py", "--why", "words were missing", "--kind", "repair")[0] == 0
    world.write({"checks/shared.py": "import lib.text, checks.unused\n"})
    world.git("add", "-A")
    code, said = world.run("freeze", "checks/shared.py")
    assert code == 0
    assert "not frozen: checks/unused.py (checks/own.py imports it)" in said
    code, said = world.run("lint")
    assert code == 1
    assert "LCK101 checks/unused.py is to be frozen (checks/own.py imports it), and is not" in " ".join(said.split())
    assert frozen(world)["gained"] == ["checks/unused.py"]
    assert "LCK101" not in world.run("lint")[1]


def test_a_freeze_says_its_generation_and_the_instruments_that_it_made_another(world: Repo):
    assert frozen(world)["generation"] == 1
    for number, (kind, answer) in enumerate([("tighten", "stale"), ("loosen", "yes"), (None, "stale")], 2):
        options = ["--kind", kind] if kind else []
        assert world.run("thaw", "lib", "--why", "words were missing", *options)[0] == 0
        world.write({"lib/text.py": f"x = {number}\n"})
        world.git("add", "-A")
        said = frozen(world)
        assert (said["generation"], said["rejudged"]) == (number, {"R1": answer})


def test_a_thaw_of_a_folder_opens_the_frozen_files_in_it_and_the_next_freeze_closes_it(world: Repo):
    frozen(world)
    world.run("thaw", "lib", "--why", "words were missing", "--kind", "repair")
    assert json.loads(world.run("verify", "--format", "json")[1])["findings"][0]["file"] == "lib/text.py"
    frozen(world)
    assert json.loads(world.run("verify", "--format", "json")[1])["findings"] == []


def test_a_scenario_of_which_something_is_still_open_gets_no_instrument_yet(world: Repo):
    frozen(world)
    world.run("thaw", "lib", "--why", "words were missing", "--kind", "repair")
    world.run("thaw", "checks", "--why", "words were missing", "--kind", "repair")
    world.write({"lib/text.py": "x = 1\n", "checks/own.py": "import lib.text\n"})
    world.git("add", "-A")
    assert frozen(world, "lib")["rejudged"] == {}
    assert frozen(world, "checks")["rejudged"] == {"R1": "yes"}
