"""Questions about sub-agents."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tape import Tape, ask, outcome, view

from evalrepo.checks.spawns import names

TEAM = Tape().spawn("explorer").spawn("architect").spawn("builder", ok=False).spawn("team:Tester")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("spawns: {exactly: 4}", "pass"),
        ("spawns: {max: 1}", "fail"),
        ("spawns: {ok: true, exactly: 3}", "pass"),
        ("spawns: {agent: 'tester|reviewer', min: 1}", "pass"),
        ("spawns: {agent: reviewer, min: 1}", "fail"),
        ("spawns: {order: [explorer, architect, builder, tester]}", "pass"),
        ("spawns: {order: [architect, explorer]}", "fail"),
        ("spawns: {order: [explorer, reviewer]}", "fail"),
        ("spawns: {ok: true, order: [explorer, builder]}", "fail"),
        ("spawns: {max: 3, order: [explorer, architect]}", "fail"),
    ],
)
def test_counting_agents_and_their_order(question, expected):
    assert outcome(question, TEAM) == expected


def test_no_spawn_is_a_number_and_never_vacuous():
    assert outcome("spawns: {max: 0}", Tape().say("x")) == "pass"
    assert outcome("spawns: {order: [builder]}", Tape().say("x")) == "fail"


def test_the_evidence_of_an_order_is_where_each_agent_was_first_started():
    lines = [e.line for e in ask("spawns: {order: [explorer, architect]}", TEAM).evidence]
    assert lines == [1, 3]


NOT_HAIKU = "{type: string, not: {pattern: haiku}}"


@pytest.mark.parametrize(
    ("question", "tape", "expected"),
    [
        (f"any: {{requested: {NOT_HAIKU}}}", Tape().spawn(model="sonnet"), "pass"),
        (f"any: {{requested: {NOT_HAIKU}}}", Tape().spawn(model="haiku"), "fail"),
        (f"any: {{requested: {NOT_HAIKU}}}", Tape().spawn(), "fail"),
        (f"any: {{requested: {NOT_HAIKU}}}", Tape().say("x"), "fail"),
        ("every: {requested: {type: string}}", Tape().spawn(model="a").spawn(model="b"), "pass"),
        ("every: {requested: {type: string}}", Tape().spawn(model="a").spawn(), "fail"),
        ("every: {requested: {type: [string, 'null']}}", Tape().spawn(), "fail"),
        ("every: {requested: {type: string}}", Tape().say("x"), "vacuous"),
        ("{where: {ok: true}, every: {resolved: haiku}}", Tape().spawn(resolved="x", ok=False), "vacuous"),
        ("{where: {agent: b}, every: {resolved: x}}", Tape().spawn("a").spawn("b", resolved="x"), "pass"),
        ("every: {served: {pattern: haiku}}", Tape().spawn(served=("haiku-1", "haiku-2")), "pass"),
        ("every: {served: {pattern: haiku}}", Tape().spawn(served=("haiku-1", "sonnet")), "fail"),
        ("every: {served: {pattern: haiku}}", Tape().spawn(), "fail"),
        ("any: {served: {pattern: haiku}}", Tape().spawn(served=("sonnet",)).spawn(served=("haiku",)), "pass"),
    ],
)
def test_requested_resolved_and_served_are_three_facts_and_null_matches_nothing(question, tape, expected):
    body = question if question.startswith("{") else f"{{{question}}}"
    assert outcome(f"spawn_model: {body}", tape) == expected


def test_the_evidence_of_a_wrong_model_says_which_it_was():
    (evidence,) = ask("spawn_model: {every: {resolved: haiku}}", Tape().spawn(resolved="opus")).evidence
    assert 'resolved is "opus"' in evidence.text
    assert evidence.line == 1


DUAL = "not_named_again: {min_bytes: 5000, in: spawn}"


@pytest.mark.parametrize(
    ("tape", "expected"),
    [
        (Tape().read("logs/relay.log", size=6000).spawn(task="look at logs/relay.log again"), "fail"),
        (Tape().read("logs/relay.log", size=6000).spawn(task="read `relay.log`."), "fail"),
        (Tape().read("logs/relay.log", size=4999).spawn(task="look at logs/relay.log"), "pass"),
        (Tape().read("logs/relay.log", size=6000, ok=False).spawn(task="logs/relay.log"), "pass"),
        (Tape().spawn(task="logs/relay.log").read("logs/relay.log", size=6000), "pass"),
        (Tape().read("logs/relay.log", size=6000).spawn(task="look at other/relay.log"), "pass"),
        (Tape().read("logs/relay.log", size=6000).spawn(task="look at relay.log.1"), "pass"),
        (Tape().shell("cat logs/relay.log", size=6000).spawn(task="logs/relay.log"), "pass"),
        (Tape().spawn(task="x", child=Tape("c").read("logs/relay.log", size=6000)).spawn(task="relay.log"), "pass"),
        (Tape().say("x"), "pass"),
    ],
)
def test_a_large_file_that_the_agent_read_itself_is_not_named_in_a_later_task(tape, expected):
    assert outcome(DUAL, tape) == expected


def test_a_short_look_into_a_large_file_is_a_look_into_a_large_file():
    tape = Tape().read("big.log", size=100).spawn(task="look at big.log")
    assert outcome(DUAL, view(tape, before={"big.log": "x" * 6000})) == "fail"
    assert outcome(DUAL, view(tape, before={"big.log": "x" * 60})) == "pass"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("see src/a.py", "src/a.py", True),
        ("see ./src/a.py, please", "src/a.py", True),
        ("see a.py", "src/a.py", True),
        ("see lib/src/a.py", "src/a.py", False),
        ("see /box/src/a.py", "src/a.py", True),
        ("see /elsewhere/src/a.py", "src/a.py", False),
        ("see my a.py", "src/x/a.py", True),
        ("see ba.py or a.pyc or a.py-old", "src/a.py", False),
        ("end with a.py.", "src/a.py", True),
        ("two: xa.py a.py", "a.py", True),
        ("", "a.py", False),
    ],
)
def test_a_file_is_named_by_path_or_name_as_a_word_of_its_own(text, path, expected):
    assert names(text, path, "/box") is expected


@settings(max_examples=60)
@given(st.text(alphabet="ab/. -"), st.sampled_from(["a.b", "a/b", "b/a.b"]))
def test_a_path_between_spaces_is_always_named(around, path):
    assert names(f"{around} {path} {around}", path)
