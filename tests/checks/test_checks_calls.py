"""Questions about calls."""

from __future__ import annotations

import pytest
from tape import Tape, ask, outcome, view

LOOK = Tape().prompt().read("docs/a.md").read("src/b.py").shell("make", "boom", ok=False).say("done")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("calls: {tool: read, exactly: 2}", "pass"),
        ("calls: {tool: read, max: 1}", "fail"),
        ("calls: {tool: Read, exactly: 2}", "pass"),
        ("calls: {tool: Read, path: docs/a.md, min: 1}", "fail"),
        ("calls: {tool: Read, args: {properties: {file_path: {const: docs/a.md}}}, exactly: 1}", "pass"),
        ("calls: {tool: [read, shell], exactly: 3}", "pass"),
        ("calls: {tool: shell, ok: true, exactly: 0}", "pass"),
        ("calls: {tool: shell, ok: false, exactly: 1}", "pass"),
        ("calls: {tool: read, path: {pattern: ^docs/}, exactly: 1}", "pass"),
        ("calls: {tool: read, path: [docs/a.md, src/b.py], exactly: 2}", "pass"),
        ("calls: {tool: read, pattern: {}, min: 1}", "fail"),
        ("calls: {tool: spawn, max: 0}", "pass"),
        ("any_call: {tool: read, path: src/b.py}", "pass"),
        ("any_call: {tool: read, path: src/c.py}", "fail"),
        ("any_call: {tool: edit}", "fail"),
        ("every_call: {tool: read, path: {pattern: '^(docs|src)/'}}", "pass"),
        ("every_call: {tool: read, path: {pattern: ^docs/}}", "fail"),
        ("every_call: {tool: edit, path: {pattern: ^docs/}}", "vacuous"),
        ("every_call: {tool: shell, ok: true, command: make}", "vacuous"),
        ("not: {every_call: {tool: edit, path: a}}", "vacuous"),
    ],
)
def test_counting_and_choosing_calls(question, expected):
    assert outcome(question, LOOK) == expected


def test_evidence_names_the_call_its_line_and_why_it_does_not_fit():
    answer = ask("every_call: {tool: read, path: {pattern: ^docs/}}", LOOK)
    (evidence,) = answer.evidence
    assert (evidence.file, evidence.line, evidence.call) == ("main.jsonl", 4, "main-3")
    assert "src/b.py" in evidence.text


def test_a_failed_any_call_shows_the_calls_that_came_near():
    texts = [e.text for e in ask("any_call: {tool: read, path: x}", LOOK).evidence]
    assert "no call of `read`" in texts[0]
    assert any("'docs/a.md'" in t or "docs/a.md" in t for t in texts[1:])


def test_evidence_is_one_line_of_at_most_300_characters():
    tape = Tape().shell("echo\n" + "x" * 5000)
    for evidence in ask("any_call: {tool: shell}", tape).evidence:
        assert len(evidence.text) <= 300
        assert "\n" not in evidence.text


def test_a_canonical_kind_looks_at_canonical_arguments_and_an_own_tool_at_raw_ones():
    tape = Tape().call("grep", {"q": "x"}, kind="search", canonical={"pattern": "x"})
    assert outcome("any_call: {tool: search, args: {required: [pattern]}}", tape) == "pass"
    assert outcome("any_call: {tool: grep, args: {required: [pattern]}}", tape) == "fail"
    assert outcome("any_call: {tool: grep, args: {required: [q]}}", tape) == "pass"


def test_what_a_spawn_asked_for_stands_in_for_arguments_that_its_call_does_not_name():
    tape = Tape().spawn("builder", "build", "small")
    bare = tape.events[0]
    object.__setattr__(bare, "canonical", {})
    assert outcome("any_call: {tool: spawn, agent: builder, task: build, model: small}", tape) == "pass"
    assert outcome("any_call: {tool: spawn, model: {}}", Tape().spawn("builder", "build")) == "fail"


def test_by_names_who_called_and_scope_lets_sub_agents_be_seen():
    tape = Tape().spawn("builder", child=Tape("c.jsonl").edit("a.py")).read("a.py")
    everyone = view(tape).narrowed("all", None)
    assert outcome("calls: {tool: edit, exactly: 0}", tape) == "pass"
    assert outcome("calls: {tool: edit, by: builder, exactly: 1}", everyone) == "pass"
    assert outcome("calls: {tool: edit, by: main, exactly: 0}", everyone) == "pass"
    assert outcome("calls: {tool: read, by: main, exactly: 1}", everyone) == "pass"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("total: {tool: ask, of: 'length(tasks)', min: 5}", "pass"),
        ("total: {tool: ask, of: 'length(tasks)', max: 4}", "fail"),
        ("total: {tool: ask, of: 'missing', exactly: 0}", "pass"),
        ("total: {tool: other, of: 'length(tasks)', exactly: 0}", "pass"),
        ("total: {tool: ask, of: 'tasks', min: 1}", "error"),
        ("total: {tool: ask, of: 'length(missing)', min: 1}", "error"),
        ("total: {tool: ask, of: '`true`', min: 1}", "error"),
    ],
)
def test_a_total_is_a_sum_over_the_arguments(question, expected):
    assert outcome(question, Tape().own("ask", tasks=[1, 2]).own("ask", tasks=[1, 2, 3])) == expected


X, Y = "{tool: read}", "{tool: edit}"
RED = {
    "x y": Tape().read("a").edit("a"),
    "y x": Tape().edit("a").read("a"),
    "x y x": Tape().read("a").edit("a").read("a"),
    "x": Tape().read("a"),
    "y": Tape().edit("a"),
    "": Tape().say("x"),
}


@pytest.mark.parametrize(
    ("events", "first_before", "last_before", "first_then", "last_then"),
    [
        ("x y", "pass", "pass", "pass", "pass"),
        ("y x", "fail", "fail", "fail", "fail"),
        ("x y x", "pass", "fail", "pass", "fail"),
        ("x", "vacuous", "vacuous", "fail", "fail"),
        ("y", "fail", "fail", "vacuous", "vacuous"),
        ("", "vacuous", "vacuous", "vacuous", "vacuous"),
    ],
)
def test_order_looks_at_the_first_or_last_x_and_at_the_first_y_or_some_later_y(
    events, first_before, last_before, first_then, last_then
):
    got = [
        outcome(f"order: {{{which}: {X}, {how}: {Y}}}", RED[events])
        for how in ("before", "then")
        for which in ("first", "last")
    ]
    assert got == [first_before, last_before, first_then, last_then]


def test_one_call_is_never_both_halves_of_an_order():
    twice = Tape().shell("make test").shell("make test")
    assert outcome("order: {first: {tool: shell, command: make test}, then: {tool: shell}}", twice) == "pass"
    once = Tape().shell("make test")
    assert outcome("order: {first: {tool: shell, command: make test}, then: {tool: shell}}", once) == "fail"
    assert outcome("order: {first: {tool: shell, command: make test}, before: {tool: shell}}", once) == "vacuous"
    assert outcome("order: {first: {tool: shell, command: make test}, before: {tool: shell}}", twice) == "pass"


def test_a_sub_agents_events_stand_where_it_was_started():
    tape = (
        Tape()
        .spawn("detective", child=Tape("d.jsonl").read("test.py"))
        .spawn("builder", child=Tape("b.jsonl").edit("a.py"))
    )
    seen = view(tape).narrowed("all", None)
    assert outcome("order: {first: {tool: read}, before: {tool: edit}}", seen) == "pass"
    assert outcome("order: {first: {tool: edit}, before: {tool: read}}", seen) == "fail"


AGAIN = "no_repeat: {tool: shell, times: 3}"


@pytest.mark.parametrize(
    ("tape", "expected"),
    [
        (Tape().shell("t", "no").shell("t", "no").shell("t", "no"), "fail"),
        (Tape().shell("t", "no").read("a").shell("t", "no").say("hm").shell("t", "no"), "fail"),
        (Tape().shell("t", "no").shell("t", "no"), "pass"),
        (Tape().shell("t", "no").shell("t", "no").edit("a").shell("t", "no"), "pass"),
        (Tape().shell("t", "no").shell("t", "no").edit("a", ok=False).shell("t", "no"), "fail"),
        (Tape().shell("t", "no").shell("t", "no").shell("t", "yes"), "pass"),
        (Tape().shell("t", "no").shell("t", "no").shell("t -v", "no"), "pass"),
        (Tape().shell("t", "no").shell("t", "no").prompt("again", 2).shell("t", "no"), "pass"),
        (Tape().say("nothing"), "pass"),
    ],
)
def test_the_same_call_with_the_same_answer_and_nothing_new_between_is_a_repetition(tape, expected):
    assert outcome(AGAIN, tape) == expected


def test_each_agent_repeats_itself_and_not_the_others():
    seen = Tape().shell("t", "no").spawn("a", child=Tape("a").shell("t", "no")).shell("t", "no")
    assert outcome("no_repeat: {times: 2}", view(seen).narrowed("all", None)) == "pass"
    child = Tape("a").shell("t", "no").shell("t", "no")
    hidden = Tape().spawn("a", child=child)
    assert outcome("no_repeat: {times: 2}", view(hidden)) == "pass"
    assert outcome("no_repeat: {times: 2}", view(hidden).narrowed("all", None)) == "fail"


def test_the_evidence_of_a_repetition_is_its_last_and_its_first_call():
    tape = Tape().shell("t", "no").shell("t", "no").shell("t", "no")
    assert [e.line for e in ask(AGAIN, tape).evidence] == [5, 1, 5]


BEFORE = "bytes_before: {of: [read, shell], first: {tool: spawn, ok: true}, max: 15000}"


@pytest.mark.parametrize(
    ("tape", "expected"),
    [
        (Tape().read("log", size=15_000).spawn(), "pass"),
        (Tape().read("log", size=15_001).spawn(), "fail"),
        (Tape().search("x", size=99_000).spawn(), "pass"),
        (Tape().read("log", size=9000).shell("cat", size=9000).spawn(), "fail"),
        (Tape().spawn().read("log", size=99_000), "pass"),
        (Tape().spawn(ok=False).read("log", size=99_000).spawn(), "fail"),
        (Tape().read("log", size=99_000), "vacuous"),
        (Tape().spawn(child=Tape("c").read("log", size=99_000)), "pass"),
    ],
)
def test_bytes_before_are_those_that_the_main_thread_saw(tape, expected):
    assert outcome(BEFORE, tape) == expected
    assert outcome(BEFORE, view(tape).narrowed("all", None)) == expected


def test_the_evidence_of_bytes_before_says_how_many_and_where_most_came_from():
    texts = [e.text for e in ask(BEFORE, Tape().read("log", size=400_000).spawn()).evidence]
    assert "400,000 bytes of 1 results" in texts[0]
    assert "400,000 bytes" in texts[1]


def test_a_turn_is_looked_at_by_itself():
    tape = Tape().prompt(turn=1).read("a").edit("a").prompt(turn=2).edit("b")
    two = view(tape).narrowed("main", 2)
    assert outcome("calls: {tool: read, exactly: 0}", two) == "pass"
    assert outcome("order: {first: {tool: read}, before: {tool: edit}}", two) == "fail"
    assert outcome("order: {first: {tool: read}, before: {tool: edit}}", view(tape)) == "pass"
