"""How axes and verdict follow from recorded checks: the steps of the verdict, read backwards."""

from __future__ import annotations

from itertools import combinations

import pytest
from tape import Tape, scenario, view

from evalrepo.processes import Reason
from evalrepo.records.record import CheckResult, Outcome, Rep, Timing, Verdict
from evalrepo.records.scenario import Rung
from evalrepo.scoring.facts import Facts, Trouble, TurnEnd
from evalrepo.scoring.following import axes, before, follows, steps
from evalrepo.scoring.verdict import score


def check(id_: str, outcome: str, axis: str = "A", *, gating: bool = True, by: str = "mechanical") -> CheckResult:
    return CheckResult(id=id_, axis=axis, outcome=Outcome(outcome), gating=gating, by=by)


def rep(verdict: str, *checks: CheckResult, error: str = "", message: str = "") -> Rep:
    timing = Timing(start="2026-11-30T00:00:00Z", seconds=1.0)
    return Rep(rep=1, attempt=1, verdict=Verdict(verdict), error=error, message=message, checks=checks, timing=timing)


def test_an_axis_is_its_worst_gating_check_and_without_one_decides_nothing():
    found = axes([
        check("a", "pass"), check("b", "ambiguous"), check("c", "error"), check("d", "fail", gating=False),
        check("e", "vacuous", "B"), check("f", "pass", "B"), check("g", "fail", "C", gating=False),
        check("h", "skipped", "D"), check("i", "vacuous", "D"),
    ])  # fmt: skip
    assert [(a.name, a.outcome, a.gating, a.by) for a in found] == [
        ("A", "error", True, ("c",)),
        ("B", "pass", True, ("f",)),
        ("C", "fail", False, ("g",)),
        ("D", "vacuous", True, ("i",)),
    ]


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        (rep("PASS", check("a", "pass")), "the one gating check passed"),
        (rep("PASS", check("a", "pass"), check("b", "vacuous"), check("c", "fail", gating=False)),
         "1 of 2 gating checks passed, none failed, none is without an answer; b (axis A) had nothing to say"),
        (rep("PASS"), "no check is gating"),
        (rep("FAIL", check("a", "fail"), check("b", "error", "B")),
         "makes FAIL, whatever the others say; b (axis B) had no answer"),
        (rep("FAIL", check("timeout", "fail", "timeout"), check("a", "pass")), "timeout (axis timeout) failed"),
        (rep("ERROR", check("a", "skipped"), error="leak", message="read /etc/x"),
         "the agent reached what it must not see: read /etc/x; that comes before every check, so none was asked"),
        (rep("ERROR", error="network", message="down"), "trouble of the harness, not the agent's: down"),
        (rep("ERROR", check("a", "skipped"), error="stub"), "a validity check failed; that comes before every check"),
        (rep("ERROR", check("a", "skipped"), error="check", message="validity check v: broke"),
         "a validity check has no answer: validity check v: broke"),
        (rep("ERROR", check("a", "skipped"), error="empty"), "an empty transcript never passes"),
        (rep("ERROR", check("a", "pass"), check("j", "error", "B", by="judge"), error="judge", message="m"),
         "no gating check failed, and j (axis B) has no answer: the judge gave none: m"),
        (rep("ERROR", check("a", "ambiguous"), error="ambiguous"), "it is ambiguous, and nothing decided it"),
        (rep("ERROR", check("a", "error"), error="check"), "a (axis A) has no answer: the check itself broke"),
        (rep("ERROR", check("a", "vacuous"), error="vacuous"), "no gating check failed and none passed"),
        (rep("ERROR", check("a", "pass"), error="timeout"), "the wall deadline was met"),
        (rep("ERROR", check("a", "pass"), error="defect", message="a stale cache"),
         "a person declared the rep bad: a stale cache; its checks count no more"),
    ],
)  # fmt: skip
def test_each_verdict_follows_by_its_step(recorded: Rep, why: str):
    found = follows(recorded)
    assert why in found.why
    assert found.sound


@pytest.mark.parametrize(
    "recorded",
    [
        rep("PASS", check("a", "fail")),
        rep("PASS", check("a", "pass"), check("b", "ambiguous")),
        rep("PASS", check("a", "vacuous")),
        rep("FAIL", check("a", "pass")),
        rep("FAIL", check("a", "fail", gating=False)),
        rep("ERROR", check("a", "fail"), check("b", "error"), error="check"),
        rep("ERROR", check("a", "pass"), error="vacuous"),
        rep("ERROR", check("a", "pass"), error="judge"),
    ],
)
def test_a_verdict_that_does_not_follow_is_said_to_be_one(recorded: Rep):
    assert not follows(recorded).sound


def test_messages_are_left_out_where_they_are_sealed():
    broken = rep("ERROR", check("a", "error"), error="check", message="it said SECRET")
    assert "SECRET" in follows(broken).why
    assert "SECRET" not in follows(broken, told=False).why
    assert "SECRET" not in follows(rep("ERROR", error="leak", message="SECRET"), told=False).why


def test_the_rung_that_was_reached_is_the_first_whose_checks_passed_and_that_gives_the_score():
    ladder = [
        Rung.model_validate(r)
        for r in ({"score": 3, "if": ["a", "b"]}, {"score": 1, "if": "a"}, {"score": 1}, {"score": 0})
    ]
    outcomes = {"a": Outcome.PASS, "b": Outcome.VACUOUS}
    assert [(s.score, s.wants, s.reached) for s in steps(ladder, outcomes, 1)] == [
        (3, (("a", "pass"), ("b", "vacuous")), False),
        (1, (("a", "pass"),), True),
        (1, (), False),
        (0, (), False),
    ]
    assert not any(step.reached for step in steps(ladder, {}, None))
    assert steps(ladder, {}, None)[0].wants == (("a", "not reported"), ("b", "not reported"))


KINDS = (
    "{id: ok, axis: A, calls: {tool: read, min: 1}}",
    "{id: no, axis: B, calls: {tool: read, max: 0}}",
    "{id: breaks, axis: C, usage: {cost: {max: 1}}}",
    "{id: unsure, axis: D, text: {matches: never, ambiguous: done}}",
    "{id: nothing, axis: E, every_call: {tool: spawn, model: {}}}",
    "{id: shown, axis: F, gating: false, calls: {tool: read, max: 0}}",
)
FACTS = (
    Facts(view(Tape().prompt().read("a").say("done")), ends=(TurnEnd(),)),
    Facts(view(Tape().prompt().read("a").say("done")), ends=(TurnEnd(Reason.WALL, None, 600.0),)),
    Facts(view(Tape().prompt()), ends=(TurnEnd(),)),
    Facts(None, trouble=(Trouble("setup", "no room"),)),
)


@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("late", ["fail", "score", "error"])
def test_every_verdict_that_scoring_gives_follows(facts: Facts, late: str):
    for count in range(len(KINDS) + 1):
        for chosen in combinations(KINDS, count):
            one = scenario(f"{{checks: [{', '.join(chosen)}], limits: {{on_timeout: {late}}}}}")
            found = score(one, facts)
            recorded = rep(found.verdict, *found.checks, error=found.error, message=found.message)
            assert follows(recorded).sound, (chosen, recorded)


def test_what_is_asked_before_the_checks_holds_where_a_check_was_asked():
    one = scenario(
        "{preconditions: [{id: p, file: {path: a}}], validity: [{id: v, error: stub, calls: {tool: read, min: 1}}, "
        "{id: w, error: stub, calls: {tool: read, min: 1}}], checks: [{id: c, axis: A, calls: {tool: read, min: 1}}]}"
    )
    skipped = check("c", "skipped")

    def holds(recorded: Rep) -> list[bool | None]:
        return [question.holds for question in before(one, recorded)]

    assert holds(rep("PASS", check("c", "pass"))) == [True, True, True]
    assert holds(rep("ERROR", skipped, error="stub", message="validity check w: 0 calls")) == [None, None, False]
    assert holds(rep("ERROR", skipped, error="setup", message="precondition p: is not there")) == [False, None, None]
    assert holds(rep("ERROR", error="network", message="down")) == [None, None, None]
