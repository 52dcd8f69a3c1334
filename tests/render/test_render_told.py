"""A rep told to a person: every event with its line, cut where it is long."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "checks"))

from tape import Tape

from evalrepo.render.safe import width
from evalrepo.render.told import SHOWN, told


def test_events_stand_with_their_line_and_what_was_used() -> None:
    rep = (
        Tape()
        .prompt("Correct line 12.")
        .read("README.md", "the heigth")
        .shell("sed -n 12p README.md", "no such", ok=False)
        .say("Done.\nStatus: COMPLETE")
        .done()
    )
    assert told(rep) == [
        "    1  asked: Correct line 12.",
        "    2  read README.md",
        "    4  shell sed -n 12p README.md  → error",
        "    5  error: no such",
        "    6  says: Done.",
        "       Status: COMPLETE",
    ]


def test_many_calls_are_counted_and_only_shown_when_all_is_wanted() -> None:
    tape = Tape().prompt()
    for number in range(SHOWN + 5):
        tape.read(f"file{number}.txt", "x" * 900)
    rep = tape.done()
    assert "       … 5 more calls" in told(rep)
    assert sum("read file" in line for line in told(rep)) == SHOWN
    everything = told(rep, whole=True)
    assert sum("read file" in line for line in everything) == SHOWN + 5
    assert sum(line.count("x") for line in everything) >= 900 * (SHOWN + 5)
    assert max(map(width, everything)) <= 80


def test_what_acts_in_a_terminal_is_shown_and_does_not_act() -> None:
    assert told(Tape().say("a\x1b[2Jb\u202e").done()) == ["    1  says: a\\x1b[2Jb\\u202e"]
