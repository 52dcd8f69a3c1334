"""How axes and verdict of a recorded rep follow from its checks, in sentences. Pure.

The steps are those of `scoring.verdict`, read backwards: what is recorded is held against them, and a verdict that does
not follow from its checks is said to be one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalrepo.records.checks import Condition
from evalrepo.records.record import CheckResult, ErrorKind, Outcome, Rep, Verdict
from evalrepo.records.scenario import Rung, Scenario
from evalrepo.scoring.facts import KINDS
from evalrepo.scoring.verdict import TIMEOUT

WORST = (Outcome.FAIL, Outcome.ERROR, Outcome.AMBIGUOUS, Outcome.PASS, Outcome.VACUOUS, Outcome.SKIPPED)
_UNANSWERED = (Outcome.ERROR, Outcome.AMBIGUOUS)
_OF_CHECKS = frozenset(map(str, (ErrorKind.CHECK, ErrorKind.AMBIGUOUS, ErrorKind.JUDGE, ErrorKind.VACUOUS)))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: the worst outcome of its gating checks (of all of them where none is gating, which decides nothing), and
    the checks that make it so."""

    name: str
    outcome: Outcome
    gating: bool
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Follows:
    """Why the verdict is what it is; not `sound`: by its checks it would be another."""

    why: str
    sound: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """A rung of a ladder: its score, each check that it wants with its outcome, and whether it is the one reached."""

    score: int
    wants: tuple[tuple[str, str], ...]
    reached: bool


@dataclass(frozen=True, slots=True)
class Before:
    """A question that is put before the checks: `holds` None where nobody came to it."""

    id: str
    kind: str
    condition: Condition
    holds: bool | None


def before(scenario: Scenario, rep: Rep) -> tuple[Before, ...]:
    """Preconditions and validity checks. The record holds no results of theirs: all of them hold where a check was
    asked, and where none was the message names the one that does not."""
    asked = any(check.outcome is not Outcome.SKIPPED for check in rep.checks)
    questions = [
        *(("precondition", one.id, one) for one in scenario.preconditions),
        *(("validity check", one.id, one) for one in scenario.validity),
    ]
    return tuple(
        Before(name, kind, one, holds=True if asked else False if rep.message.startswith(f"{kind} {name}: ") else None)
        for kind, name, one in questions
    )


def axes(checks: Iterable[CheckResult]) -> tuple[Axis, ...]:
    """Every axis in order of first appearance."""
    found: dict[str, list[CheckResult]] = {}
    for check in checks:
        found.setdefault(check.axis, []).append(check)
    return tuple(_axis(name, of) for name, of in found.items())


def _axis(name: str, checks: Sequence[CheckResult]) -> Axis:
    counted = [check for check in checks if check.gating] or list(checks)
    worst = next(outcome for outcome in WORST if any(check.outcome is outcome for check in counted))
    by = tuple(check.id for check in counted if check.outcome is worst)
    return Axis(name, worst, any(check.gating for check in checks), by)


def follows(rep: Rep, *, told: bool = True) -> Follows:
    """Why the rep has its verdict. `told`: with messages, which may say what the agent did."""
    gating = [check for check in rep.checks if check.gating]
    failed = [check for check in gating if check.outcome is Outcome.FAIL]
    open_ = [check for check in gating if check.outcome in _UNANSWERED]
    if rep.verdict is Verdict.FAIL:
        return _fail(failed, open_)
    if rep.verdict is Verdict.PASS:
        return _pass(gating, failed, open_)
    message = f": {rep.message}" if told and rep.message else ""
    asked = any(check.outcome is not Outcome.SKIPPED for check in rep.checks)
    if asked and rep.error in _OF_CHECKS:
        return _unanswered(rep, gating, failed, open_, message)
    return Follows(_error(rep, message, asked=asked))


def _error(rep: Rep, message: str, *, asked: bool) -> str:
    if rep.error == ErrorKind.DEFECT:
        return f"a person declared the rep bad{message}; its checks count no more"
    if not asked:
        return f"{_harness(rep)}{message}; that comes before every check, so none was asked"
    if rep.error == ErrorKind.TIMEOUT:
        return f"the wall deadline was met, which the scenario makes an ERROR where its checks pass{message}"
    return f"{_harness(rep)}{message}"


def _harness(rep: Rep) -> str:
    if rep.error == ErrorKind.LEAK:
        return "the agent reached what it must not see"
    if rep.error == ErrorKind.EMPTY:
        return "an empty transcript never passes"
    if rep.error in _OF_CHECKS:
        return "a validity check has no answer"
    return "trouble of the harness, not the agent's" if rep.error in KINDS else "a validity check failed"


def _fail(failed: Sequence[CheckResult], open_: Sequence[CheckResult]) -> Follows:
    if not failed:
        return Follows("no gating check of the record failed, so FAIL does not follow from it", sound=False)
    also = f"; {_named(open_)} had no answer" if open_ else ""
    return Follows(f"{_named(failed)} failed: one gating check that fails makes FAIL, whatever the others say{also}")


def _pass(gating: Sequence[CheckResult], failed: Sequence[CheckResult], open_: Sequence[CheckResult]) -> Follows:
    if failed or open_:
        wrong = _named([*failed, *open_])
        return Follows(f"{wrong} did not pass, so PASS does not follow from the record", sound=False)
    if not gating:
        return Follows("no check is gating, so there is nothing that could fail")
    passed = [check for check in gating if check.outcome is Outcome.PASS]
    if not passed:
        return Follows("no gating check passed, so PASS does not follow from the record", sound=False)
    silent = [check for check in gating if check.outcome is not Outcome.PASS]
    rest = f"; {_named(silent)} had nothing to say" if silent else ""
    many = "the one gating check" if len(gating) == 1 else f"{len(passed)} of {len(gating)} gating checks"
    return Follows(f"{many} passed, none failed, none is without an answer{rest}")


def _unanswered(
    rep: Rep,
    gating: Sequence[CheckResult],
    failed: Sequence[CheckResult],
    open_: Sequence[CheckResult],
    message: str,
) -> Follows:
    failed = [check for check in failed if check.id != TIMEOUT]  # the deadline counts only where the checks pass
    if failed:
        return Follows(f"{_named(failed)} failed, so it should be FAIL, not ERROR({rep.error})", sound=False)
    if rep.error == ErrorKind.VACUOUS:
        passed = [check for check in gating if check.outcome is Outcome.PASS]
        if passed:
            return Follows(f"{_named(passed)} passed, so ERROR(vacuous) does not follow", sound=False)
        return Follows("no gating check failed and none passed: nothing was measured")
    if not open_:
        return Follows(f"every gating check has an answer, so ERROR({rep.error}) does not follow{message}", sound=False)
    why = {ErrorKind.JUDGE: "the judge gave none", ErrorKind.AMBIGUOUS: "it is ambiguous, and nothing decided it"}
    how = next((text for kind, text in why.items() if rep.error == kind), "the check itself broke")
    return Follows(f"no gating check failed, and {_named(open_)} has no answer: {how}{message}")


def _named(checks: Sequence[CheckResult]) -> str:
    return ", ".join(f"{check.id} (axis {check.axis})" for check in checks)


def steps(ladder: Sequence[Rung], outcomes: Mapping[str, Outcome], score: int | None) -> tuple[Step, ...]:
    """The rungs with what each wants; reached is the first of the recorded score whose checks all passed."""
    out: list[Step] = []
    for rung in ladder:
        fits = rung.score == score and all(outcomes.get(name) is Outcome.PASS for name in rung.if_)
        wants = tuple((name, str(outcomes.get(name, "not reported"))) for name in rung.if_)
        out.append(Step(rung.score, wants, fits and not any(step.reached for step in out)))
    return tuple(out)
