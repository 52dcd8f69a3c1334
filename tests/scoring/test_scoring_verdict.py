"""The order in which a verdict is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tape import Tape, check, scenario, view

from evalrepo.checks.view import JudgeAnswer, cite
from evalrepo.processes import Reason
from evalrepo.records.outcome import FileState
from evalrepo.records.record import CheckResult, ErrorKind, Outcome, Rep, Timing, Verdict
from evalrepo.records.transcript import At, Call, EndReason, Prompt, Result, Said, Spawn, Transcript
from evalrepo.scoring.facts import Facts, Trouble, TurnEnd, Wanted, preconditions
from evalrepo.scoring.verdict import decide, must_report, score

PASSES = "{id: ok, axis: A, calls: {tool: read, min: 1}}"
FAILS = "{id: no, axis: B, calls: {tool: read, max: 0}}"
BREAKS = "{id: breaks, axis: C, usage: {cost: {max: 1}}}"
UNSURE = "{id: unsure, axis: D, text: {matches: never, ambiguous: done}}"
VACUOUS = "{id: nothing, axis: E, every_call: {tool: spawn, model: {}}}"
JUDGED = "{id: judged, axis: F, judge: {rubric: r, question: q}}"
DECIDES = "{id: decides, axis: D, judge: {rubric: r, question: q, resolves: unsure}}"
TAPE = Tape().prompt().read("a").say("done")
SEEN = view(TAPE)
ENDED = (TurnEnd(),)
HOOK = Wanted("hook_context", "ORCHESTRATION")
WALL = (TurnEnd(Reason.WALL, None, 600.0),)


def made(*checks, more=""):
    return scenario(f"{{checks: [{', '.join(checks)}]{', ' + more if more else ''}}}")


def word(one, facts):
    scored = score(one, facts)
    axes = [c.axis for c in scored.checks if c.gating and c.outcome is Outcome.FAIL]
    return f"ERROR({scored.error})" if scored.error else " ".join([str(scored.verdict), *axes])


def with_log(**more):
    return replace(SEEN, transcript=TAPE.done(**more))


def with_child(**more):
    child = replace(Tape("c").say("on it").done(), **more)
    return replace(SEEN, transcript=replace(TAPE.done(), children={"c": child}))


@pytest.mark.parametrize(
    ("checks", "seen", "expected"),
    [
        ([PASSES], SEEN, "PASS"),
        ([PASSES, FAILS], SEEN, "FAIL B"),
        ([PASSES, VACUOUS], SEEN, "PASS"),
        ([VACUOUS], SEEN, "ERROR(vacuous)"),
        ([], SEEN, "PASS"),
        ([PASSES, BREAKS], SEEN, "ERROR(check)"),
        ([FAILS, BREAKS], SEEN, "FAIL B"),
        ([BREAKS, FAILS], SEEN, "FAIL B"),
        ([PASSES, UNSURE], SEEN, "ERROR(ambiguous)"),
        ([FAILS, UNSURE], SEEN, "FAIL B"),
        ([PASSES, JUDGED], SEEN, "ERROR(judge)"),
        ([FAILS, JUDGED], SEEN, "FAIL B"),
        ([PASSES, JUDGED], view(TAPE, ask=lambda *_: JudgeAnswer("yes", "e")), "PASS"),
        ([BREAKS, JUDGED], view(TAPE, ask=lambda *_: JudgeAnswer("no", "e")), "FAIL F"),
        ([PASSES, UNSURE, DECIDES], SEEN, "ERROR(ambiguous)"),
        ([PASSES, UNSURE, DECIDES], view(TAPE, ask=lambda *_: JudgeAnswer(broken="?")), "ERROR(judge)"),
        ([PASSES, UNSURE, DECIDES], view(TAPE, ask=lambda *_: JudgeAnswer("yes", "e")), "PASS"),
        ([PASSES, UNSURE, DECIDES], view(TAPE, ask=lambda *_: JudgeAnswer("no", "e")), "FAIL D D"),
        ([PASSES, FAILS.replace("id: no", "id: no, gating: false")], SEEN, "PASS"),
        ([PASSES, BREAKS.replace("id: breaks", "id: breaks, gating: false")], SEEN, "PASS"),
        (
            [FAILS.replace("id: no", "id: no, gating: false"), PASSES.replace("id: ok", "id: ok, needs: no")],
            SEEN,
            "ERROR(vacuous)",
        ),
        ([PASSES], view(Tape().prompt()), "ERROR(empty)"),
        ([FAILS], view(Tape()), "ERROR(empty)"),
    ],
)
def test_what_checks_say(checks, seen, expected):
    assert word(made(*checks), Facts(seen, ends=ENDED)) == expected


LEAK = (cite("saw the reserve"),)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(SEEN, leaks=LEAK), "ERROR(leak)"),
        (Facts(SEEN, leaks=LEAK, trouble=(Trouble(ErrorKind.SETUP, "x"),)), "ERROR(leak)"),
        (Facts(None, leaks=LEAK), "ERROR(leak)"),
        (Facts(None, trouble=(Trouble(ErrorKind.SETUP, "x"), Trouble(ErrorKind.LAUNCH, "y"))), "ERROR(setup)"),
        (Facts(SEEN, trouble=(Trouble(ErrorKind.REDACTION, "x"),)), "ERROR(redaction)"),
        (Facts(None, ends=(TurnEnd(Reason.NOT_STARTED, None),)), "ERROR(launch)"),
        (Facts(None, ends=(TurnEnd(exit_code=1, message="no such model"),)), "ERROR(launch)"),
        (Facts(None, ends=ENDED), "ERROR(transcript)"),
        (Facts(None, "torn", ends=ENDED), "ERROR(transcript)"),
        (Facts(SEEN, ends=(TurnEnd(Reason.STARTUP, None),)), "ERROR(startup)"),
        (Facts(SEEN, ends=(TurnEnd(), TurnEnd(Reason.IDLE, None))), "ERROR(idle)"),
        (Facts(SEEN, ends=(TurnEnd(Reason.CANCELLED, None),)), "ERROR(interrupted)"),
        (Facts(SEEN, ends=(TurnEnd(Reason.LIMIT, None),)), "ERROR(limit)"),
        (Facts(with_log(end=EndReason.ERROR, error_kind="rate-limit"), ends=ENDED), "ERROR(rate-limit)"),
        (Facts(with_log(end=EndReason.ERROR, error_kind="strange"), ends=ENDED), "ERROR(agent)"),
        (Facts(with_log(end=EndReason.UNKNOWN), ends=(TurnEnd(exit_code=3),)), "ERROR(agent)"),
        (Facts(with_log(end=EndReason.UNKNOWN), ends=(TurnEnd(exit_code=None),)), "ERROR(agent)"),
        (Facts(with_log(end=EndReason.DONE), ends=(TurnEnd(exit_code=3),)), "FAIL B"),
        (Facts(with_log(end=EndReason.DONE), ends=(TurnEnd(exit_code=3), TurnEnd())), "ERROR(agent)"),
        (Facts(with_log(end=EndReason.CUT), ends=(TurnEnd(Reason.STOPPED, None, cut=True),)), "FAIL B"),
        (Facts(with_log(truncated=True), ends=ENDED), "ERROR(truncated)"),
        (Facts(with_log(end=EndReason.CUT), ends=ENDED), "ERROR(truncated)"),
        (Facts(with_child(end=EndReason.ERROR, error_kind="rate-limit"), ends=ENDED), "ERROR(rate-limit)"),
        (Facts(with_child(end=EndReason.ERROR, error_kind="truncated"), ends=ENDED), "ERROR(truncated)"),
        (Facts(with_child(end=EndReason.ERROR, error_kind="agent"), ends=ENDED), "FAIL B"),
        (Facts(with_child(end=EndReason.ERROR, error_kind="network"), ends=WALL), "FAIL B timeout"),
        (Facts(with_log(truncated=True, end=EndReason.UNKNOWN), ends=WALL), "FAIL B timeout"),
        (Facts(with_log(end=EndReason.ERROR), ends=WALL), "FAIL B timeout"),
        (Facts(with_log(end=EndReason.ERROR, error_kind="auth"), ends=WALL), "ERROR(auth)"),
        (Facts(SEEN, ends=(TurnEnd(prompt_seen=True), TurnEnd(prompt_seen=False))), "ERROR(prompt-lost)"),
        (Facts(SEEN, ends=ENDED, wanted=(HOOK,)), "ERROR(not-loaded)"),
        (Facts(with_log(loaded=("hook: ORCHESTRATION.md",)), ends=ENDED, wanted=(HOOK,)), "FAIL B"),
        (Facts(with_log(loaded=("skill ORCHESTRATION",)), ends=ENDED, wanted=(HOOK,)), "ERROR(not-loaded)"),
        (Facts(with_log(loaded=("skill run-all",)), ends=ENDED, wanted=(Wanted("skill", "run"),)), "ERROR(not-loaded)"),
        (Facts(with_log(loaded=("skill run",)), ends=ENDED, wanted=(Wanted("skill", "run"),)), "FAIL B"),
        (Facts(with_log(loaded=("tool ask",)), ends=ENDED, wanted=(Wanted("tool", "ask"),)), "FAIL B"),
        (Facts(with_log(loaded=("tool ask-all",)), ends=ENDED, wanted=(Wanted("tool", "ask"),)), "ERROR(not-loaded)"),
        (Facts(with_log(loaded=("seen: run",)), ends=ENDED, wanted=(Wanted("skill", "run"),)), "FAIL B"),
        (Facts(SEEN, ends=(TurnEnd(cut=False), TurnEnd())), "ERROR(not-cut)"),
        (Facts(SEEN, ends=ENDED, denied=("Bash(rm)",)), "ERROR(permission)"),
        (Facts(SEEN, ends=(TurnEnd(Reason.STOPPED, None),), over_limit=True), "ERROR(limit)"),
    ],
)
def test_trouble_of_the_harness_comes_before_any_check(facts, expected):
    scored = score(made(FAILS), facts)
    assert word(made(FAILS), facts) == expected
    if scored.error:
        assert [c.outcome for c in scored.checks] == [Outcome.SKIPPED]
        assert scored.message


@pytest.mark.parametrize(
    ("on_timeout", "checks", "seen", "expected"),
    [
        ("fail", [PASSES], SEEN, "FAIL timeout"),
        ("score", [PASSES], SEEN, "PASS"),
        ("error", [PASSES], SEEN, "ERROR(timeout)"),
        ("fail", [FAILS], SEEN, "FAIL B timeout"),
        ("score", [FAILS], SEEN, "FAIL B"),
        ("error", [FAILS], SEEN, "FAIL B"),
        ("fail", [PASSES, BREAKS], SEEN, "ERROR(check)"),
        ("fail", [VACUOUS], SEEN, "ERROR(vacuous)"),
        ("fail", [PASSES], view(Tape().prompt()), "ERROR(timeout)"),
        ("score", [PASSES], view(Tape().prompt()), "ERROR(timeout)"),
    ],
)
def test_a_wall_timeout_with_activity_is_what_the_scenario_says(on_timeout, checks, seen, expected):
    one = made(*checks, more=f"limits: {{on_timeout: {on_timeout}}}")
    assert word(one, Facts(seen, ends=WALL)) == expected


VALID = "validity: [{{id: stub, error: stub-lost, {question}}}]"


@pytest.mark.parametrize(
    ("question", "seen", "expected"),
    [
        ("spawn_model: {every: {resolved: haiku}}", view(Tape().spawn(resolved="opus")), "ERROR(stub-lost)"),
        ("spawn_model: {every: {resolved: haiku}}", view(Tape().spawn(resolved="haiku")), "PASS"),
        ("spawn_model: {every: {resolved: haiku}}", view(Tape().say("x")), "PASS"),
        ("spawn_model: {every: {resolved: haiku}}", view(Tape()), "ERROR(empty)"),
        ("usage: {cost: {max: 1}}", view(Tape().say("x")), "ERROR(check)"),
    ],
)
def test_a_failed_validity_check_gives_the_error_that_it_names(question, seen, expected):
    one = made("{id: a, axis: A, calls: {tool: x, max: 0}}", more=VALID.format(question=question))
    assert word(one, Facts(seen, ends=ENDED)) == expected


def test_a_precondition_that_does_not_hold_is_a_setup_error_that_names_it():
    one = made(PASSES, more="preconditions: [{id: there, file: {path: README.md}}]")
    before = view(after={"README.md": "x"})
    facts = Facts(SEEN, ends=ENDED, preconditions=preconditions(one, before))
    assert word(one, facts) == "PASS"
    bad = replace(facts, preconditions=preconditions(one, view(after={})))
    assert word(one, bad) == "ERROR(setup)"
    assert "precondition there: README.md" in score(one, bad).message


def test_an_error_says_which_check_of_which_axis_could_not_answer():
    message = score(made(PASSES, BREAKS), Facts(SEEN, ends=ENDED)).message
    assert message == "check breaks, axis C: not known for this rep: cost"


def test_a_check_that_does_not_report_is_an_error_and_never_silence():
    checks = [check(PASSES), check(FAILS)]
    only = (CheckResult(id="ok", axis="A", outcome=Outcome.PASS),)
    verdict, error = decide(checks, only)
    assert (verdict, error) == (Verdict.ERROR, Trouble(ErrorKind.CHECK, "the check no did not report"))


def test_all_that_must_report_is_in_every_result_the_trigger_too():
    one = made(PASSES, FAILS, more="trigger: {tool: subagent}, should_trigger: false")
    assert must_report(one) == ("trigger", "ok", "no")
    for facts in (Facts(SEEN, ends=ENDED), Facts(None), Facts(SEEN, leaks=LEAK)):
        assert tuple(c.id for c in score(one, facts).checks) == must_report(one)


def test_an_agent_that_never_ran_does_not_pass_its_negative_controls():
    one = made(more="trigger: {tool: subagent}, should_trigger: false")
    assert word(one, Facts(view(Tape()), ends=ENDED)) == "ERROR(empty)"
    assert word(one, Facts(view(Tape()), ends=(TurnEnd(exit_code=1),))) != "PASS"
    assert word(one, Facts(view(Tape().say("4")), ends=ENDED)) == "PASS"


def test_status_spawns_and_models_are_told_beside_the_verdict():
    tape = (
        Tape()
        .spawn("builder", model="a", resolved="b", child=Tape("c").spawn("inner", ok=False))
        .say("Status: PARTIAL")
    )
    scored = score(made(), Facts(replace(view(tape), transcript=tape.done(models=("m",))), ends=ENDED))
    assert (scored.status, scored.models) == ("PARTIAL", ("m",))
    assert [(s.agent, s.requested, s.resolved, s.ok) for s in scored.spawns] == [
        ("builder", "a", "b", True),
        ("inner", None, None, False),
    ]


METRICS = """metrics:
  M1: {ladder: [{score: 3, if: [ok, no]}, {score: 2, if: ok}, {score: 0}]}
  M2: {ladder: [{score: 3, if: breaks}, {score: 0}]}
  M3: {ladder: [{score: 3, if: [breaks, no]}, {score: 1}]}
  M4: {judge: {rubric: r, question: q}}
  M5: human
checks: [%s]"""


def scores(one, facts):
    return {name: (m.score, m.source) for name, m in score(one, facts).metrics.items()}


def test_metrics_are_the_first_rung_that_fits_a_judges_or_a_persons():
    one = scenario(METRICS % ", ".join([PASSES, FAILS, BREAKS]))
    seen = view(TAPE, ask=lambda *_: JudgeAnswer("2", "because"))
    assert scores(one, Facts(seen, ends=ENDED)) == {
        "M1": (2, "mechanical"),
        "M2": (None, "mechanical"),
        "M3": (1, "mechanical"),
        "M4": (2, "judge"),
        "M5": (None, "human"),
    }
    assert scores(one, Facts(SEEN, ends=ENDED))["M4"] == (None, "judge")
    broken = view(TAPE, ask=lambda *_: JudgeAnswer(broken="prose"))
    assert "prose" in score(one, Facts(broken, ends=ENDED)).metrics["M4"].evidence
    odd = view(TAPE, ask=lambda *_: JudgeAnswer("yes", "e"))
    assert scores(one, Facts(odd, ends=ENDED))["M4"] == (None, "judge")


def test_an_error_scores_nothing_and_asks_no_judge():
    asked = []
    one = scenario(METRICS % ", ".join([PASSES, FAILS, BREAKS]))
    seen = view(TAPE, ask=lambda *a: asked.append(a))
    found = score(one, Facts(seen, ends=(TurnEnd(Reason.IDLE, None),)))
    assert {m.score for m in found.metrics.values()} == {None}
    assert "not scored, the rep is ERROR(idle)" in found.metrics["M1"].evidence
    assert asked == []


AT = st.builds(At, st.just("f"), st.integers(1, 9))
TEXTS = st.sampled_from(["", "done", "Status: BLOCKED", "haiku " * 50, "\x00\ud800", "a" * 400])
ARGS = st.dictionaries(
    st.sampled_from(["path", "task", "agent", "tasks", "command"]),
    st.one_of(TEXTS, st.none(), st.integers(), st.lists(TEXTS)),
)
RESULTS = st.builds(Result, st.just("c"), st.booleans(), TEXTS, st.integers(0, 10**6), st.integers(1, 3), AT)
SPAWNS = st.builds(
    Spawn, TEXTS, TEXTS, st.none() | TEXTS, st.none() | TEXTS, st.lists(TEXTS).map(tuple), st.sampled_from(["", "k"])
)
CALLS = st.builds(
    Call,
    st.just("c"),
    st.sampled_from(["Read", "subagent", ""]),
    st.sampled_from(["", "read", "spawn", "edit", "shell"]),
    ARGS,
    ARGS,
    st.integers(1, 3),
    AT,
    st.just("main"),
    st.none() | RESULTS,
    st.none() | SPAWNS,
)
EVENTS = st.lists(
    st.one_of(
        CALLS, RESULTS, st.builds(Said, TEXTS, st.integers(1, 3), AT), st.builds(Prompt, TEXTS, st.integers(1, 3), AT)
    ),
    max_size=8,
)
CHILDREN = st.dictionaries(st.just("k"), EVENTS.map(lambda e: Transcript("t", events=tuple(e))))
TRANSCRIPTS = st.builds(
    lambda events, children, end, torn: Transcript(
        "t", events=tuple(events), children=children, end=end, truncated=torn
    ),
    EVENTS,
    CHILDREN,
    st.sampled_from(list(EndReason)),
    st.booleans(),
)
ENDS = st.lists(
    st.builds(
        TurnEnd, st.sampled_from(list(Reason)), st.none() | st.integers(0, 2), st.just(1.0), st.none() | st.booleans()
    ),
    max_size=2,
)
EVERYTHING = scenario(
    r"""
trigger: {tool: subagent}
should_trigger: true
checks:
  - {id: a, axis: A, scope: all, calls: {tool: read, path: {pattern: ^d}, max: 3}}
  - {id: b, axis: A, scope: all, turn: 2, order: {last: {tool: edit}, then: {tool: shell}}}
  - {id: c, axis: A, needs: a, scope: all, no_repeat: {times: 2}}
  - {id: d, axis: A, bytes_before: {of: read, first: {tool: spawn}, max: 5}}
  - {id: e, axis: A, not_named_again: {min_bytes: 1}}
  - {id: f, axis: A, scope: all, spawn_model: {every: {served: {pattern: haiku}, agent: {type: string}}}}
  - {id: g, axis: A, spawns: {order: [a, b]}}
  - {id: h, axis: A, text: {where: visible, matches: never, ambiguous: haiku}}
  - {id: i, axis: A, judge: {resolves: h, rubric: r, question: q}}
  - {id: j, axis: A, status: BLOCKED}
  - {id: k, axis: A, file: {path: '*', matches: x}}
  - {id: l, axis: A, total: {tool: subagent, of: length(tasks), min: 1}}
  - {id: m, axis: A, usage: {tokens: {max: 1}}}
  - {id: n, axis: A, command: {run: x}}
  - {id: o, axis: A, python: {call: 'a.py:f'}}
  - {id: p, axis: A, every_call: {tool: [read, subagent], args: {properties: {tasks: {uniqueItems: true}}}}}
validity: [{id: v, error: stub, spawn_model: {where: {ok: true}, every: {resolved: {}}}}]
metrics: {M1: {ladder: [{score: 1, if: [a, k]}, {score: 0}]}, M2: {judge: {rubric: r, question: q}}}
"""
)


def _raise(*_):
    raise RuntimeError("an outside thing broke")


@settings(max_examples=80, deadline=None)
@given(TRANSCRIPTS, ENDS, st.booleans())
def test_score_never_raises_and_gives_what_a_record_can_hold(transcript, ends, breaks):
    seen = view(before={"x": "x"})
    outside = {"ask": _raise, "python": _raise, "shell": _raise, "read": _raise} if breaks else {}
    seen = replace(seen, transcript=transcript, after={"x": FileState("100644", 1, "1")}, **outside)
    scored = score(EVERYTHING, Facts(seen, ends=tuple(ends)))
    rep = Rep(
        rep=1,
        attempt=1,
        verdict=scored.verdict,
        error=scored.error,
        message=scored.message,
        checks=scored.checks,
        metrics=scored.metrics,
        status=scored.status,
        spawns=scored.spawns,
        timing=Timing(start="", seconds=1.0),
    )
    assert [c.id for c in rep.checks if c.id != "timeout"] == list(must_report(EVERYTHING))
    assert all(c.evidence for c in rep.checks)
    assert Rep.model_validate_json(rep.model_dump_json()) == rep
    assert score(EVERYTHING, Facts(seen, ends=tuple(ends))) == scored
