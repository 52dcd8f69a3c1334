"""The verdict of one rep. Pure: the same facts give the same verdict, whenever they are looked at again.

The order, first that applies:

1. a leak: ERROR(leak);
2. trouble of the harness: ERROR(kind), see `trouble.py`; a failed `validity` check is ERROR(its kind);
3. nothing said and nothing called: ERROR(empty);
4. a gating check that failed, by itself or by a judge that answered: FAIL, whatever else broke;
5. a gating check that is broken, still ambiguous, or whose judge broke: ERROR(check, ambiguous, judge);
6. gating checks, but none that passed: ERROR(vacuous);
7. the wall deadline, with activity: FAIL on the axis `timeout`, or ERROR(timeout), or nothing, as `on_timeout` says;
8. PASS.

A scenario without any gating check can only PASS or be an ERROR. In cases 1 to 3 no check is asked: all are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evalrepo.checks.asking import all_checks, evaluate_all
from evalrepo.checks.text import stated
from evalrepo.checks.view import View, cite, line
from evalrepo.records.checks import Check
from evalrepo.records.record import CheckResult, ErrorKind, MetricScore, Outcome, SpawnTally, Verdict
from evalrepo.records.scenario import Scenario
from evalrepo.scoring.facts import Facts, Trouble, first_text
from evalrepo.scoring.metrics import metrics
from evalrepo.scoring.trouble import trouble

TIMEOUT = "timeout"
"""Id and axis of the result that says that the wall deadline failed a rep."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A rep's verdict with all that explains it. `error` is "" unless it is ERROR; `status` None when none was said."""

    verdict: Verdict
    error: str = ""
    message: str = ""
    checks: tuple[CheckResult, ...] = ()
    metrics: dict[str, MetricScore] = field(default_factory=dict)
    status: str | None = None
    spawns: tuple[SpawnTally, ...] = ()
    models: tuple[str, ...] = ()


def must_report(scenario: Scenario) -> tuple[str, ...]:
    """Ids of the checks that every rep reports."""
    return tuple(check.id for check in all_checks(scenario))


def score(scenario: Scenario, facts: Facts) -> Scored:
    """The verdict. Never raises for what an agent, a check or a judge did."""
    stopped = _before_checks(scenario, facts)
    if stopped is not None or facts.view is None:
        return unasked(scenario, facts, stopped or _no_transcript(facts))
    return settled(scenario, facts, evaluate_all(all_checks(scenario), facts.view))


def unasked(scenario: Scenario, facts: Facts, why: Trouble) -> Scored:
    """The ERROR of a rep of which no check is asked: all are skipped."""
    skipped = tuple(_skipped(check, why.kind) for check in all_checks(scenario))
    return _scored(scenario, facts, Verdict.ERROR, why, skipped)


def settled(scenario: Scenario, facts: Facts, results: Sequence[CheckResult]) -> Scored:
    """Steps 4 to 8, by these results of the checks."""
    verdict, error = decide(all_checks(scenario), results)
    late = _timed_out(scenario, facts)
    if verdict is Verdict.PASS and facts.timed_out:
        verdict, error = _of_timeout(scenario)
    return _scored(scenario, facts, verdict, error, (*results, *late))


def _no_transcript(facts: Facts) -> Trouble:
    return Trouble(ErrorKind.TRANSCRIPT, facts.read_error or "there is no transcript")


def decide(checks: Sequence[Check], results: Sequence[CheckResult]) -> tuple[Verdict, Trouble | None]:
    """The verdict of the checks alone: steps 4, 5, 6 and 8, with the trouble when it is ERROR."""
    if any(r.gating and r.outcome is Outcome.FAIL for r in results):
        return Verdict.FAIL, None
    error = _unanswered(checks, results) or _nothing_asked(results)
    return (Verdict.ERROR, error) if error else (Verdict.PASS, None)


def _before_checks(scenario: Scenario, facts: Facts) -> Trouble | None:
    if facts.leaks:
        return Trouble(ErrorKind.LEAK, first_text(facts.leaks))
    found = trouble(scenario, facts)
    if found is None and not facts.active and facts.view is not None:
        return Trouble(ErrorKind.EMPTY, "the agent said nothing and called nothing")
    return found


def _skipped(check: Check, kind: str) -> CheckResult:
    evidence = (cite(f"not asked, the rep is ERROR({kind})"),)
    return CheckResult(id=check.id, axis=check.axis, outcome=Outcome.SKIPPED, gating=check.gating, evidence=evidence)


def _unanswered(checks: Sequence[Check], results: Sequence[CheckResult]) -> Trouble | None:
    """The first gating check without an answer, or one that did not report at all."""
    reported = {result.id: result for result in results}
    for check in checks:
        result = reported.get(check.id)
        if result is None:
            return Trouble(ErrorKind.CHECK, f"the check {check.id} did not report")
        if result.gating and result.outcome in (Outcome.ERROR, Outcome.AMBIGUOUS):
            return _broken(check, result, checks, reported)
    return None


def _broken(check: Check, result: CheckResult, checks: Sequence[Check], reported: dict[str, CheckResult]) -> Trouble:
    where = f"check {check.id}, axis {check.axis}: {first_text(result.evidence)}"
    if result.outcome is Outcome.ERROR:
        return Trouble(ErrorKind.JUDGE if result.by == "judge" else ErrorKind.CHECK, where)
    for judge in checks:
        if judge.judge is not None and judge.judge.resolves == check.id:
            word = reported.get(judge.id)
            if word is not None and word.outcome is Outcome.ERROR:
                return Trouble(ErrorKind.JUDGE, f"check {check.id}, axis {check.axis}: {first_text(word.evidence)}")
    return Trouble(ErrorKind.AMBIGUOUS, where)


def _nothing_asked(results: Sequence[CheckResult]) -> Trouble | None:
    gating = [r for r in results if r.gating]
    if gating and not any(r.outcome is Outcome.PASS for r in gating):
        return Trouble(ErrorKind.VACUOUS, "no gating check had anything to ask about")
    return None


def _timed_out(scenario: Scenario, facts: Facts) -> tuple[CheckResult, ...]:
    if not facts.timed_out or scenario.limits.on_timeout != "fail":
        return ()
    evidence = (cite(_deadline(scenario)),)
    return (CheckResult(id=TIMEOUT, axis=TIMEOUT, outcome=Outcome.FAIL, gating=True, evidence=evidence),)


def _of_timeout(scenario: Scenario) -> tuple[Verdict, Trouble | None]:
    if scenario.limits.on_timeout == "error":
        return Verdict.ERROR, Trouble(ErrorKind.TIMEOUT, _deadline(scenario))
    return (Verdict.FAIL if scenario.limits.on_timeout == "fail" else Verdict.PASS), None


def _deadline(scenario: Scenario) -> str:
    return f"was still at work after {scenario.limits.wall_s:g} s"


def _scored(
    scenario: Scenario, facts: Facts, verdict: Verdict, error: Trouble | None, results: tuple[CheckResult, ...]
) -> Scored:
    found = stated(facts.view) if facts.view is not None else None
    kind = str(error.kind) if error else ""
    return Scored(
        verdict=verdict,
        error=kind,
        message=line(error.message) if error else "",
        checks=results,
        metrics=metrics(scenario.metrics, results, facts.view, error=kind),
        status=found[0] if found else None,
        spawns=tally(facts.view) if facts.view is not None else (),
        models=tuple(line(m) for m in facts.view.transcript.models) if facts.view is not None else (),
    )


def tally(view: View) -> tuple[SpawnTally, ...]:
    """The sub-agents that were dispatched, by anyone, in order."""
    calls = (c for c in view.narrowed("all", None).calls if c.kind == "spawn")
    return tuple(
        SpawnTally(
            agent=line((spawn.agent if spawn else "") or str(call.canonical.get("agent") or "")),
            requested=_known(spawn.requested if spawn else None),
            resolved=_known(spawn.resolved if spawn else None),
            ok=call.ok,
        )
        for call in calls
        for spawn in call.spawns or (None,)
    )


def _known(text: str | None) -> str | None:
    return None if text is None else line(text)
