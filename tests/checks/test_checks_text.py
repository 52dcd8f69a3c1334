"""Questions about what was said."""

from __future__ import annotations

import pytest
from tape import Tape, ask, outcome, view

TALK = (
    Tape()
    .prompt()
    .say("I start.\nSpawning a reviewer.")
    .spawn()
    .say("The reviewer ran on HAIKU.")
    .say("Done: all fine.")
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("text: {matches: 'ran on haiku'}", "pass"),
        ("text: {matches: [haiku, ^done]}", "pass"),
        ("text: {matches: I start}", "fail"),
        ("text: {where: visible, matches: I start}", "pass"),
        ("text: {where: visible, matches: ^spawning}", "pass"),
        ("text: {where: visible, after: {tool: spawn}, matches: I start}", "fail"),
        ("text: {where: visible, after: {tool: edit}, matches: fine}", "fail"),
        ("text: {where: visible, after: {tool: edit}, must_not: fine}", "pass"),
        ("text: {must_not: sonnet}", "pass"),
        ("text: {must_not: haiku}", "fail"),
        ("text: {matches: fine, must_not: haiku}", "fail"),
        ("text: {words_max: 8}", "pass"),
        ("text: {words_max: 7}", "fail"),
        ("text: {matches: downgraded, ambiguous: [haiku]}", "ambiguous"),
        ("text: {matches: downgraded, ambiguous: [opus]}", "fail"),
        ("text: {matches: haiku, ambiguous: [fine]}", "pass"),
        ("text: {matches: downgraded, ambiguous: [haiku], must_not: fine}", "fail"),
        ("text: {matches: downgraded, ambiguous: [haiku], words_max: 1}", "fail"),
    ],
)
def test_final_and_visible_text(question, expected):
    assert outcome(question, TALK) == expected


def test_the_evidence_is_the_line_of_the_message_that_holds_the_match():
    (evidence,) = ask("text: {matches: fine}", TALK).evidence
    assert (evidence.file, evidence.line) == ("main.jsonl", 6)
    assert "Done: all fine." in evidence.text


def test_a_long_expression_leaves_room_for_what_it_found():
    answer = ask(f"{{text: {{matches: '(?x) done | {'x' * 400} '}}}}", view(Tape().say("It is done now")))
    assert answer.evidence[0].text.endswith("…' is found: …It is done now…")
    assert answer.evidence[0].text.startswith("'(?x) done | xxx")


def test_the_final_text_is_of_the_chosen_turn_and_what_follows_it_may_be_a_call():
    tape = Tape().prompt(turn=1).say("one").prompt(turn=2).say("two").shell("ls")
    assert outcome("text: {matches: ^two$, must_not: one}", tape) == "pass"
    assert outcome("text: {matches: ^one$}", view(tape).narrowed("main", 1)) == "pass"


def test_sub_agents_are_heard_only_in_scope_all_and_never_in_the_final_text():
    tape = Tape().spawn(child=Tape("c").say("child speaks")).say("end")
    assert outcome("text: {where: visible, matches: child}", tape) == "fail"
    assert outcome("text: {where: visible, matches: child}", view(tape).narrowed("all", None)) == "pass"
    assert outcome("text: {matches: child}", view(tape).narrowed("all", None)) == "fail"


def test_nothing_said_fails_what_must_be_said_and_passes_what_must_not():
    assert outcome("text: {matches: x}", Tape()) == "fail"
    assert outcome("text: {must_not: x}", Tape()) == "pass"


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("**Status:** COMPLETE", "COMPLETE"),
        ("Status: `blocked`", "BLOCKED"),
        ("| Status | PARTIAL |", "PARTIAL"),
        ("Status: PARTIAL\nlater\nStatus: COMPLETE", "COMPLETE"),
        ("Status: COMPLETE, nothing is BLOCKED any more", "COMPLETE"),
        ("It is BLOCKED: pytest is missing", "BLOCKED"),
        ("this is INCOMPLETE", None),
        ("the work is complete", None),
        ("", None),
    ],
)
def test_the_status_is_the_last_one_that_is_labelled_or_else_in_capitals(said, stated):
    tape = Tape().say(said)
    for word in ("COMPLETE", "PARTIAL", "BLOCKED"):
        assert outcome(f"status: {word}", tape) == ("pass" if word == stated else "fail")


def test_one_of_several_statuses_will_do_and_the_evidence_says_which():
    answer = ask("status: [COMPLETE, BLOCKED]", Tape().say("x").say("Status: BLOCKED"))
    assert (str(answer.outcome), answer.evidence[0].line) == ("pass", 2)
    assert "states BLOCKED" in answer.evidence[0].text
