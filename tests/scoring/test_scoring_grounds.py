"""Evidence names places of a rep, and they are there."""

from __future__ import annotations

import pytest
from tape import Tape

from evalrepo.scoring.grounds import Material, grounds, material

REP = (
    Tape("session.jsonl")
    .prompt("Correct the word on line 12 of README.md.")
    .call("Read", {"file_path": "README.md"}, kind="read", canonical={"path": "README.md"}, result="the heigth")
    .call("Bash", {"command": "sed -n 12p README.md"}, kind="shell", result="the height\nof it")
    .say("Line 12 says height now. Status: COMPLETE")
    .done()
)


def rep() -> Material:
    return material(REP, {"README.md": 1, "src/area/app.py": 1})


@pytest.mark.parametrize(
    "evidence",
    [
        "line 2 of the log",
        "session.jsonl:4",
        "it says “Line 12 says height now”",
        "it ran `sed -n 12p README.md`",
        'the command printed "the height of it"',
        "README.md line 12 says height",
        "app.py was left alone",
        "./src/area/app.py was left alone",
        "and/or whatever, see line 1",
    ],
)
def test_evidence_that_names_a_place_which_is_there_is_sound(evidence: str) -> None:
    found = grounds(evidence, rep())
    assert found.sound, found


@pytest.mark.parametrize(
    ("evidence", "missing"),
    [
        ("line 99", ("line 99",)),
        ("line 0", ("line 0",)),
        ("session.jsonl:77", ("line 77",)),
        ('it says "all tests are green"', ("“all tests are green”",)),
        ("src/area/other.py was changed, see line 2", ("src/area/other.py",)),
        ("it went well", ()),
        ("", ()),
        ("3/3 and/or so", ()),
    ],
)
def test_evidence_that_names_nothing_or_what_is_not_there_is_refused(evidence: str, missing: tuple[str, ...]) -> None:
    found = grounds(evidence, rep())
    assert not found.sound
    assert found.missing == missing


def test_an_empty_transcript_grounds_nothing_but_files() -> None:
    empty = material(Tape().done(), {"notes.txt": 1})
    assert not grounds("line 1", empty).sound
    assert grounds("notes.txt is as it was", empty).sound
