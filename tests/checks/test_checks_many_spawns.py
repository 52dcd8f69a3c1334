"""Questions about one call that starts several sub-agents."""

from __future__ import annotations

import pytest
from tape import Tape, ask, outcome, view

from evalrepo.records.transcript import Spawn

READER = Tape(by="scout").read("docs/big.md")
PAIR = Spawn(
    "scout",
    "Read docs/big.md.",
    "small",
    "small",
    ("small-1",),
    "c1",
    also=(Spawn("builder", "Mend it.", None, "big", ("big-1",)),),
)


def team(spawn: Spawn = PAIR) -> Tape:
    tape = Tape().read("docs/big.md", "x" * 100)
    tape.children["c1"] = READER.done()
    return tape.call("subagent", {"tasks": [{}, {}]}, kind="spawn", spawn=spawn)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("spawns: {exactly: 2}", "pass"),
        ("calls: {tool: spawn, exactly: 1}", "pass"),
        ("calls: {tool: subagent, exactly: 1}", "pass"),
        ("spawns: {agent: builder, exactly: 1}", "pass"),
        ("spawns: {order: [scout, builder]}", "pass"),
        ("spawn_model: {every: {resolved: {type: string}}}", "pass"),
        ("spawn_model: {every: {requested: {type: string}}}", "fail"),
        ("spawn_model: {any: {served: {pattern: big}}}", "pass"),
        ("spawn_model: {where: {agent: scout}, every: {requested: small}}", "pass"),
        ("any_call: {tool: spawn, agent: {pattern: builder}}", "pass"),
        ("any_call: {tool: spawn, model: {type: string}}", "fail"),
        ("not_named_again: {min_bytes: 50}", "fail"),
    ],
)
def test_each_of_them_is_a_spawn_and_all_are_one_call(question: str, expected: str):
    assert outcome(question, team()) == expected


def test_a_model_that_all_of_them_name_is_the_calls():
    both = Spawn("a", "t", "small", also=(Spawn("b", "t", "small"),))
    assert outcome("every_call: {tool: spawn, model: {const: small}}", team(both)) == "pass"


def test_their_events_stand_behind_the_call_each_under_its_own_name():
    seen = view(team()).narrowed("all", None)
    assert [(call.by, call.tool) for call in seen.calls] == [("main", "Read"), ("main", "subagent"), ("scout", "Read")]
    assert [e.text for e in ask("spawns: {exactly: 2}", team()).evidence][1:] == [
        "`subagent`: starts scout",
        "`subagent`: starts builder",
    ]
