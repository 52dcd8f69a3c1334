"""Answers made of answers, checks that need or decide each other, and what breaks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tape import Tape, ask, check, data, outcome, scenario, view

from evalrepo.checks import patterns
from evalrepo.checks.asking import all_checks, evaluate_all
from evalrepo.checks.combined import all_of, any_of, not_
from evalrepo.checks.registry import FAMILIES
from evalrepo.checks.view import Answer, JudgeAnswer, cite
from evalrepo.records import globs
from evalrepo.records.checks import KINDS
from evalrepo.records.record import Outcome

P, F, V, A, E = Outcome.PASS, Outcome.FAIL, Outcome.VACUOUS, Outcome.AMBIGUOUS, Outcome.ERROR


@pytest.mark.parametrize(
    ("parts", "any_gives", "all_gives"),
    [
        ([P], P, P),
        ([F], F, F),
        ([V], V, V),
        ([A], A, A),
        ([E], E, E),
        ([P, F], P, F),
        ([P, V], P, P),
        ([P, A], P, A),
        ([P, E], P, E),
        ([F, V], F, F),
        ([F, A], A, F),
        ([F, E], E, F),
        ([V, A], A, A),
        ([V, E], E, E),
        ([A, E], E, E),
        ([V, V], V, V),
        ([P, F, V, A, E], P, F),
    ],
)
def test_the_truth_table_of_any_of_and_all_of_whatever_the_order(parts, any_gives, all_gives):
    for order in (parts, parts[::-1]):
        assert any_of(Answer(o) for o in order).outcome is any_gives
        assert all_of(Answer(o) for o in order).outcome is all_gives


def test_not_swaps_pass_and_fail_and_keeps_what_is_not_known():
    assert [not_(Answer(o)).outcome for o in (P, F, V, A, E)] == [F, P, V, A, E]


@given(st.lists(st.sampled_from([P, F, V, A, E]), min_size=1, max_size=5))
@settings(max_examples=80)
def test_de_morgan_holds(outcomes):
    parts = [Answer(o) for o in outcomes]
    assert not_(any_of(parts)).outcome is all_of([not_(p) for p in parts]).outcome


def test_what_is_decided_is_asked_no_further():
    asked = []

    def shell(command):
        asked.append(command.run)
        raise OSError("never here")

    question = "any_of: [{calls: {tool: read, min: 1}}, {command: {run: t}}]"
    assert outcome(question, view(Tape().read("a"), shell=shell)) == "pass"
    assert asked == []
    assert outcome(question, view(Tape().say("x"), shell=shell)) == "error"


def test_combinations_nest_and_carry_the_evidence_of_what_decided():
    answer = ask("all_of: [{calls: {tool: read, min: 1}}, {not: {any_call: {tool: edit}}}]", Tape().read("a").edit("b"))
    assert answer.outcome is F
    assert answer.evidence[0].line == 3


def test_every_kind_has_a_function():
    assert set(FAMILIES) == set(KINDS)


def results(checks, seen):
    return {r.id: r for r in evaluate_all([check(c) for c in checks], seen)}


def outcomes(checks, seen):
    return {name: str(r.outcome) for name, r in results(checks, seen).items()}


NEEDS = [
    "{id: c, axis: C, needs: b, calls: {tool: read, max: 9}}",
    "{id: b, axis: B, needs: a, calls: {tool: read, max: 9}}",
    "{id: a, axis: A, calls: {tool: spawn, min: 1}}",
]


def test_a_check_is_skipped_when_what_it_needs_failed_or_was_skipped_whatever_the_order():
    assert outcomes(NEEDS, view(Tape().say("x"))) == {"c": "skipped", "b": "skipped", "a": "fail"}
    assert outcomes(NEEDS, view(Tape().spawn())) == {"c": "pass", "b": "pass", "a": "pass"}
    assert "needs a, which failed" in results(NEEDS, view(Tape().say("x")))["b"].evidence[0].text


def test_a_check_that_needs_itself_or_nothing_that_exists_is_broken_and_nothing_hangs():
    circle = [
        "{id: a, axis: A, needs: b, calls: {tool: x, max: 1}}",
        "{id: b, axis: A, needs: a, calls: {tool: x, max: 1}}",
    ]
    assert outcomes(circle, view()) == {"a": "error", "b": "error"}
    assert outcomes(["{id: a, axis: A, needs: z, calls: {tool: x, max: 1}}"], view()) == {"a": "error"}
    assert outcomes(["{id: a, axis: A, judge: {rubric: r, question: q, resolves: a}}"], view()) == {"a": "error"}


RESOLVED = [
    "{id: says, axis: B, text: {matches: downgraded, ambiguous: [haiku]}}",
    "{id: decides, axis: B, judge: {resolves: says, rubric: r, question: q}}",
    "{id: after, axis: C, needs: says, calls: {tool: x, max: 1}}",
]


def judged(said, answer):
    asked = []

    def ask_judge(about, _):
        asked.append((about.rubric, about.question, about.votes))
        return answer

    return outcomes(RESOLVED, view(Tape().say(said), ask=ask_judge)), asked


def test_a_judge_is_asked_once_and_only_when_the_check_is_ambiguous_and_then_decides_it():
    yes, no = JudgeAnswer("yes", "e"), JudgeAnswer("no", "e")
    assert judged("it was downgraded", no) == ({"says": "pass", "decides": "skipped", "after": "pass"}, [])
    assert judged("nothing", yes) == ({"says": "fail", "decides": "skipped", "after": "skipped"}, [])
    found, asked = judged("haiku it is", yes)
    assert (found, asked) == ({"says": "pass", "decides": "pass", "after": "pass"}, [("r", "q", 3)])
    assert judged("haiku it is", no)[0] == {"says": "fail", "decides": "fail", "after": "skipped"}
    assert judged("haiku it is", JudgeAnswer(broken="?"))[0] == {
        "says": "ambiguous",
        "decides": "error",
        "after": "pass",
    }


def test_a_check_that_a_judge_decided_says_so():
    found = results(RESOLVED, view(Tape().say("haiku"), ask=lambda *_: JudgeAnswer("no", "it hides it")))
    assert found["says"].by == "judge"
    assert "it hides it" in found["says"].evidence[0].text
    assert results(RESOLVED, view(Tape().say("x")))["says"].by == "mechanical"


def test_scope_and_turn_narrow_what_a_check_sees():
    tape = Tape().prompt(turn=1).spawn("b", child=Tape("c").edit("a")).prompt(turn=2).say("x")
    checks = [
        "{id: main, axis: A, calls: {tool: edit, exactly: 0}}",
        "{id: all, axis: A, scope: all, calls: {tool: edit, exactly: 1}}",
        "{id: one, axis: A, scope: all, turn: 1, calls: {tool: edit, exactly: 1}}",
        "{id: two, axis: A, scope: all, turn: 2, calls: {tool: edit, exactly: 0}}",
    ]
    assert set(outcomes(checks, view(tape)).values()) == {"pass"}


def test_a_sub_agent_whose_start_is_not_in_the_log_is_seen_at_the_end():
    tape = Tape().read("a")
    tape.children["lost"] = Tape("lost").edit("b").done()
    seen = view(tape).narrowed("all", None)
    assert [c.kind for c in seen.calls] == ["read", "edit"]
    assert seen.calls[1].by == "sub-agent"


def test_a_grandchild_stands_inside_its_parent_and_has_the_turn_of_the_first_start():
    inner = Tape("i").edit("x")
    outer = Tape("o").spawn("inner", child=inner).read("y")
    seen = view(Tape().prompt(turn=3).spawn("outer", child=outer).shell("z")).narrowed("all", 3)
    assert [(c.kind, c.by) for c in seen.calls] == [
        ("spawn", "main"),
        ("spawn", "outer"),
        ("edit", "inner"),
        ("read", "outer"),
        ("shell", "main"),
    ]


def test_the_trigger_is_a_gating_check_that_should_trigger_switches():
    wanted = scenario("{trigger: {tool: subagent}, should_trigger: true, checks: []}")
    unwanted = scenario("{trigger: {tool: subagent}, should_trigger: false, checks: []}")
    called, quiet = view(Tape().own("subagent")), view(Tape().say("x"))
    for one, yes, no in ((wanted, P, F), (unwanted, F, P)):
        (made,) = all_checks(one)
        assert (made.id, made.axis, made.gating) == ("trigger", "trigger", True)
        assert [evaluate_all([made], seen)[0].outcome for seen in (called, quiet)] == [yes, no]


@pytest.mark.parametrize(
    "question",
    [
        "text: {matches: '(a|a)+$'}",
        "text: {matches: never, ambiguous: '(a|aa)+$'}",
        "any_call: {tool: read, path: {pattern: '(a|a)+$'}}",
        "any_call: {tool: Read, args: {patternProperties: {'(a|a)+$': {type: number}}}}",
        "file: {path: f, must_not: '(a|a)+$'}",
        "any_of: [{text: {matches: '(a|a)+$'}}, {text: {matches: '(a|aa)+$'}}, {text: {matches: '(a|aaa)+$'}}]",
    ],
)
def test_a_regex_bomb_ends_within_its_limit_as_an_error_that_says_so(question, monkeypatch):
    monkeypatch.setattr(patterns, "BUDGET_S", 0.3)
    bomb = "a" * 60 + "!"
    tape = Tape().call("Read", {bomb: bomb}, kind="read", canonical={"path": bomb}).say(bomb)
    start = time.monotonic()
    answer = ask(question, view(tape, before={"f": bomb}))
    assert time.monotonic() - start < 2
    assert answer.outcome is E
    assert "took too long" in answer.evidence[0].text


def test_each_check_has_a_budget_of_its_own(monkeypatch):
    monkeypatch.setattr(patterns, "BUDGET_S", 0.2)
    checks = ["{id: bomb, axis: A, text: {matches: '(a|a)+$'}}", "{id: fine, axis: A, text: {matches: '^a'}}"]
    assert outcomes(checks, view(Tape().say("a" * 60 + "!"))) == {"bomb": "error", "fine": "pass"}


def test_a_schema_never_fetches_what_it_refers_to():
    question = "any_call: {tool: x, args: {$ref: 'http://127.0.0.1:9/schema.json'}}"
    assert outcome(question, Tape().own("x")) == "error"


def test_a_schema_whose_patterns_could_escape_the_budget_is_an_error():
    both = "{patternProperties: {a: {}}, unevaluatedProperties: false}"
    answer = ask(f"any_call: {{tool: x, args: {both}}}", Tape().own("x"))
    assert answer.outcome is E
    assert "unevaluatedProperties" in answer.evidence[0].text


def test_schemas_with_patterns_take_values_that_are_no_objects():
    schema = "{properties: {v: {patternProperties: {a: {}}, additionalProperties: false, pattern: x}}}"
    assert outcome(f"any_call: {{tool: t, args: {schema}}}", Tape().own("t", v=3)) == "pass"


def test_additional_properties_know_the_patterns_beside_them():
    schema = "{patternProperties: {'^x-': {type: string}}, properties: {a: {}}, additionalProperties: false}"
    assert outcome(f"any_call: {{tool: t, args: {schema}}}", Tape().own("t", **{"x-1": "v", "a": 1})) == "pass"
    assert outcome(f"any_call: {{tool: t, args: {schema}}}", Tape().own("t", b=1)) == "fail"
    assert outcome(f"any_call: {{tool: t, args: {schema}}}", Tape().own("t", **{"x-1": 3})) == "fail"
    typed = "{additionalProperties: {type: string}}"
    assert outcome(f"any_call: {{tool: t, args: {typed}}}", Tape().own("t", b=1)) == "fail"
    assert outcome(f"any_call: {{tool: t, args: {typed}}}", Tape().own("t", b="1")) == "pass"


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("src/**", ["src/a", "src/b/c"], ["src", "lib/a", "xsrc/a"]),
        ("**/*.py", ["a.py", "b/c.py"], ["a.pyc", "b/c"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/b/c"]),
        ("a/**/**/b", ["a/b", "a/x/b"], ["a/bb"]),
        ("out/*", ["out/a", "out/.b"], ["out/a/b", "out"]),
        ("r?.md", ["r1.md"], ["r.md", "r12.md", "r/.md"]),
        ("[ab].txt", ["a.txt"], ["c.txt"]),
        ("[!ab].txt", ["c.txt"], ["a.txt", "/.txt"]),
        ("a+b(1).md", ["a+b(1).md"], ["aab1.md"]),
        ("x[", ["x["], ["x"]),
        ("src", ["src", "src/a"], ["srcs", "a/src"]),
        ("*a*a*a*a*a*b", ["aaaaab"], ["a" * 240]),
    ],
)
def test_globs(glob, yes, no):
    assert [p for p in yes if not globs.matches(glob, p)] == []
    assert [p for p in no if globs.matches(glob, p)] == []


def test_long_evidence_of_any_text_is_cut_to_one_line():
    assert cite("a\nb\tc").text == "a b c"
    assert len(cite("x" * 1000).text) == 300
    assert data("a: yes")["a"] == "yes"
