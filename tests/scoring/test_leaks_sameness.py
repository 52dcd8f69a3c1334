"""Whether two reps are copies of one another."""

from __future__ import annotations

from tape import Tape

from evalrepo.records.record import Rep, Timing, Verdict
from evalrepo.scoring.sameness import conversation, repeated


def spoken(work: str, last: str = "Done.") -> str:
    tape = Tape().prompt("x").say("I  look.").shell(f"cat {work}/a", "10:31 one").read("a", "seen")
    return conversation(tape.spawn(child=Tape("c").say("inside")).say(last).done(), work)


def test_copies_are_the_same_whatever_the_time_the_ids_and_the_place():
    assert spoken("/tmp/dev1/0001/project") == spoken("/tmp/dev2/0007/project")
    assert spoken("/w") != spoken("/w", "Done")
    other = (
        Tape("other.jsonl", by="z")
        .say("I look.")
        .call("Bash", {}, kind="shell", canonical={"command": "ls"}, result="b")
    )
    same = Tape().say("I look.").call("Bash", {}, kind="shell", canonical={"command": "ls"}, result="a")
    assert conversation(other.done(), "") == conversation(same.done(), "")
    assert conversation(Tape().prompt("x").done(), "/w") == ""


def rep(number: int, said: str, verdict: Verdict = Verdict.PASS) -> Rep:
    timing = Timing(start="2026-11-30T00:00:00Z", seconds=1.0)
    error = "idle" if verdict is Verdict.ERROR else ""
    return Rep(rep=number, attempt=1, verdict=verdict, error=error, timing=timing, conversation=said)


def test_a_record_says_how_many_of_its_valid_reps_are_copies():
    assert repeated([rep(1, "a"), rep(2, "b"), rep(3, "")]) == ""
    assert repeated([rep(1, "a"), rep(2, "a", Verdict.ERROR)]) == ""
    assert "3 of 4 say and do the very same" in repeated(
        [rep(1, "a"), rep(2, "a"), rep(3, "b"), rep(4, "a", Verdict.FAIL)]
    )


def test_what_is_not_known_of_a_conversation_is_left_out_of_the_record():
    assert "conversation" not in rep(1, "").model_dump(mode="json")
    assert rep(1, "abc").model_dump(mode="json")["conversation"] == "abc"
