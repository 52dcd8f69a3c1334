"""Leaks: what no transcript may show."""

from __future__ import annotations

import pytest
from tape import Tape

from evalrepo.scoring.leaks import leaks, own_reads

ROOTS = ("/home/me/repo", "/boxes", "/home/me")
WIRE = "3f0c9a52-1111-4222-8333-944455556666"


@pytest.mark.parametrize(
    ("tape", "leaked"),
    [
        (Tape().read("/home/me/repo/scenarios/S1.yaml", "expect: …"), True),
        (Tape().read("/home/me/repo/scenarios/S1.yaml", "No such file or directory", ok=False), False),
        (Tape().shell("cat /boxes/7/own/a.py", "x = 1"), True),
        (Tape().shell("cat /boxes/7/a || true", "cat: /boxes/7/a: No such file or directory"), False),
        (Tape().shell("ls /home/me/repo; true", ""), False),
        (Tape().shell("ls /home/me2/x", "a"), False),
        (Tape().shell("ls /mnt/home/me/x", "a"), False),
        (Tape().shell("grep -r x '/home/me'", "a"), True),
        (Tape().read("src/a.py", "x"), False),
        (Tape().read("/home/me/.ssh/id", "key", size=3), True),
        (Tape().call("mcp", {"deep": [{"file": "/boxes/1/x"}]}, result="seen"), True),
        (Tape().shell("cat /boxes/7/a", None), False),
        (Tape().spawn(child=Tape("c").read("/boxes/1/x", "seen")), True),
    ],
)
def test_a_path_leaks_when_it_is_below_a_forbidden_root_and_content_came_back(tape, leaked):
    found = leaks(tape.done(), ROOTS, ())
    assert bool(found) is leaked


def test_the_evidence_of_a_leak_is_the_call():
    (found,) = leaks(Tape().say("x").read("/boxes/1/x", "seen").done(), ROOTS, ())
    assert (found.file, found.line) == ("main.jsonl", 2)
    assert "named /boxes" in found.text


def test_what_belongs_to_the_agents_own_install_is_read_and_no_leak():
    own = ("/home/me/node_modules",)
    tape = Tape().read("/home/me/node_modules/agent/skills/SKILL.md", "how to").done()
    assert leaks(tape, ROOTS, (), own) == ()
    assert own_reads(tape, own) == own
    (found,) = leaks(Tape().shell("cat /home/me/node_modules/a /home/me/.ssh/id", "x").done(), ROOTS, (), own)
    assert "named /home/me and got" in found.text


@pytest.mark.parametrize(
    ("tape", "leaked"),
    [
        (Tape().say(f"it says {WIRE}"), True),
        (Tape().shell("grep", f"tripwire: {WIRE.upper()}"), True),
        (Tape().shell(f"echo {WIRE}"), True),
        (Tape().prompt(WIRE), False),
        (Tape().say(WIRE[:-1]), False),
    ],
)
def test_a_tripwire_leaks_wherever_it_stands(tape, leaked):
    assert bool(leaks(tape.done(), (), (WIRE,))) is leaked
