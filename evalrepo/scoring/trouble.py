"""What of the harness went wrong, before any check is asked.

The first that applies, in this order: what the harness reports itself; preconditions; each turn's end by process; the
transcript that is missing or says that the agent broke; a log cut short; a sub-agent that the vendor broke; a prompt
that is not in it; a subject that was not loaded; a turn that was to be cut and was not; permissions refused by the
CLI; too many tool calls; validity checks.
"""

from __future__ import annotations

from collections.abc import Callable

from evalrepo.checks.registry import evaluate
from evalrepo.processes import Reason
from evalrepo.records.record import ErrorKind, Outcome
from evalrepo.records.scenario import Scenario
from evalrepo.records.transcript import EndReason
from evalrepo.scoring.facts import KINDS, Facts, Trouble, first_text

ENDS: dict[Reason, tuple[ErrorKind, str]] = {
    Reason.NOT_STARTED: (ErrorKind.LAUNCH, "the agent could not be started"),
    Reason.STARTUP: (ErrorKind.STARTUP, "nothing came from the agent within its start-up time"),
    Reason.IDLE: (ErrorKind.IDLE, "nothing came from the agent within its idle time"),
    Reason.CANCELLED: (ErrorKind.INTERRUPTED, "the run was interrupted"),
    Reason.LIMIT: (ErrorKind.LIMIT, "the agent wrote more than the harness keeps"),
}
"""Process end → what it means. A wall deadline is the agent's where it was active."""


def trouble(scenario: Scenario, facts: Facts) -> Trouble | None:
    """The trouble that makes the rep an ERROR, None when there is none."""
    if facts.trouble:
        return facts.trouble[0]
    steps: tuple[Callable[[Scenario, Facts], Trouble | None], ...] = (
        _preconditions,
        _ends,
        _log,
        _sub_agents,
        _prompts,
        _loaded,
        _cuts,
        _limits,
        validity,
    )
    return next((found for step in steps if (found := step(scenario, facts)) is not None), None)


def _preconditions(_scenario: Scenario, facts: Facts) -> Trouble | None:
    for result in facts.preconditions:
        if result.outcome is not Outcome.PASS:
            why = f"precondition {result.id}: {first_text(result.evidence)}"
            return Trouble(ErrorKind.SETUP, why)
    return None


def _ends(scenario: Scenario, facts: Facts) -> Trouble | None:
    for number, end in enumerate(facts.ends, 1):
        if end.reason in ENDS:
            kind, why = ENDS[end.reason]
            return Trouble(kind, _said(f"turn {number}: {why}", end.message))
    if facts.timed_out and not facts.active:
        return Trouble(ErrorKind.TIMEOUT, f"no activity within {scenario.limits.wall_s:g} s")
    return None


def _said(text: str, message: str) -> str:
    return f"{text}: {message}" if message else text


def _log(_scenario: Scenario, facts: Facts) -> Trouble | None:
    """The transcript: there, whole, and not speaking of an error; and exit codes where it says nothing.

    An agent that we ended may well log that as an error of some kind, or leave half a line.
    """
    if facts.view is None:
        return _crash(facts, ErrorKind.LAUNCH) or Trouble(ErrorKind.TRANSCRIPT, facts.read_error or "there is none")
    log = facts.view.transcript
    if log.end is EndReason.ERROR:
        kind = log.error_kind if log.error_kind in KINDS else ErrorKind.AGENT
        if kind != ErrorKind.AGENT or not _ended_by_us(facts):
            return Trouble(kind, log.error_message or "the agent's log ends with an error")
    if log.end is EndReason.CUT and not _ended_by_us(facts):
        return Trouble(ErrorKind.TRUNCATED, log.error_message or "the agent's log ends in the middle of its work")
    if (crash := _crash(facts, ErrorKind.AGENT if facts.active else ErrorKind.LAUNCH)) is not None:
        return crash
    if log.truncated and not _ended_by_us(facts):
        return Trouble(ErrorKind.TRUNCATED, "the agent's log is cut short")
    return None


def _sub_agents(_scenario: Scenario, facts: Facts) -> Trouble | None:
    """A sub-agent that ended for want of its vendor did not do what it could; the main agent may hide that."""
    if facts.view is None or _ended_by_us(facts):
        return None
    _, *below = facts.view.transcript.walk()
    for child in below:
        if child.end is EndReason.ERROR and child.error_kind in _VENDOR:
            return Trouble(child.error_kind, f"a sub-agent broke: {child.error_message or 'without a word'}")
    return None


_VENDOR = {str(kind) for kind in (ErrorKind.AUTH, ErrorKind.NETWORK, ErrorKind.RATE_LIMIT, ErrorKind.TRUNCATED)}


def _crash(facts: Facts, kind: ErrorKind) -> Trouble | None:
    """An exit code that is not 0. That of the last turn says nothing when the agent's log ends well."""
    done = facts.view is not None and facts.view.transcript.end is EndReason.DONE
    for number, end in enumerate(facts.ends, 1):
        if end.reason is Reason.EXITED and end.exit_code != 0 and not (done and number == len(facts.ends)):
            how = "a signal" if end.exit_code is None else f"exit code {end.exit_code}"
            return Trouble(kind, _said(f"turn {number}: the agent ended with {how}", end.message))
    return None


def _ended_by_us(facts: Facts) -> bool:
    return bool(facts.ends) and facts.ends[-1].reason in (Reason.WALL, Reason.STOPPED)


def _prompts(_scenario: Scenario, facts: Facts) -> Trouble | None:
    lost = [n for n, end in enumerate(facts.ends, 1) if end.prompt_seen is False]
    return Trouble(ErrorKind.PROMPT_LOST, f"the prompt of turn {lost[0]} is not in the agent's log") if lost else None


def _loaded(_scenario: Scenario, facts: Facts) -> Trouble | None:
    if not facts.missing:
        return None
    return Trouble(ErrorKind.NOT_LOADED, f"the agent's log does not show the subject: {', '.join(facts.missing)}")


def _cuts(_scenario: Scenario, facts: Facts) -> Trouble | None:
    for number, end in enumerate(facts.ends, 1):
        if end.cut is False:
            return Trouble(ErrorKind.NOT_CUT, f"turn {number} ended before what was to stop it happened")
    return None


def _limits(scenario: Scenario, facts: Facts) -> Trouble | None:
    if facts.denied:
        return Trouble(ErrorKind.PERMISSION, f"the CLI refused: {', '.join(facts.denied)}")
    if facts.over_limit:
        return Trouble(ErrorKind.LIMIT, f"more than {scenario.limits.tool_calls} tool calls")
    return None


def validity(scenario: Scenario, facts: Facts) -> Trouble | None:
    """The first validity check that fails or cannot be answered."""
    if facts.view is None:
        return None
    for check in scenario.validity:
        answer = evaluate(check, facts.view.narrowed(check.scope, check.turn))
        why = f"validity check {check.id}: {first_text(answer.evidence)}"
        if answer.outcome is Outcome.FAIL:
            return Trouble(check.error, why)
        if answer.outcome in (Outcome.ERROR, Outcome.AMBIGUOUS):
            return Trouble(ErrorKind.CHECK, why)
    return None
