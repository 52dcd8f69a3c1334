"""All checks of a rep together: which are asked, and what a judge decides for another check.

* `needs: ID`: not asked, skipped, when that check failed or was itself skipped.
* `judge: {resolves: ID}`: asked only when that check is ambiguous, otherwise skipped; its answer is then also that
  check's, marked as a judge's. A judge without an answer leaves the check ambiguous.

Each check is asked at most once, whatever the order in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalrepo.checks.registry import evaluate
from evalrepo.checks.view import Answer, View, broken, cite
from evalrepo.records.checks import Check, Condition
from evalrepo.records.record import CheckResult, Outcome
from evalrepo.records.scenario import Scenario
from evalrepo.records.selectors import Selector

TRIGGER = "trigger"
"""Id and axis of the check that a scenario's `trigger` makes."""


def all_checks(scenario: Scenario) -> tuple[Check, ...]:
    """The checks that must report: the trigger first, where there is one."""
    if scenario.trigger is None:
        return scenario.checks
    asked = {name: getattr(scenario.trigger, name) for name in Selector.model_fields}
    called = Condition(any_call=Selector.model_construct(**asked))
    kind = {"any_call": called.any_call} if scenario.should_trigger else {"not_": called}
    return (Check.model_validate({"id": TRIGGER, "axis": TRIGGER, **kind}), *scenario.checks)


def evaluate_all(checks: Sequence[Check], view: View) -> tuple[CheckResult, ...]:
    """One result a check, in their order. Never raises."""
    asking = _Asking(checks, view)
    return tuple(_result(check, asking.answer(check.id)) for check in checks)


def _result(check: Check, answer: Answer) -> CheckResult:
    return CheckResult(
        id=check.id,
        axis=check.axis,
        outcome=answer.outcome,
        gating=check.gating and not answer.advisory,
        by="judge" if answer.judged else "mechanical",
        evidence=answer.evidence,
    )


def _skipped(why: str) -> Answer:
    return Answer(Outcome.SKIPPED, (cite(why),))


def _waits_for(check: Check) -> list[str]:
    resolves = check.judge.resolves if check.judge is not None else None
    return [name for name in (check.needs, resolves) if name is not None]


class _Asking:
    """Answers by id, each found once."""

    def __init__(self, checks: Sequence[Check], view: View) -> None:
        self.checks = {check.id: check for check in checks}
        self.judges = {c.judge.resolves: c for c in reversed(checks) if c.judge is not None and c.judge.resolves}
        self.view = view
        self.views = {(view.scope, view.turn): view}
        self.found: dict[tuple[str, bool], Answer] = {}
        self.open: set[tuple[str, bool]] = set()

    def answer(self, name: str) -> Answer:
        """The final answer of a check, a judge's word included."""
        return self._once(name, final=True)

    def _once(self, name: str, *, final: bool) -> Answer:
        key = (name, final)
        if key in self.open:
            return broken(f"the check {name} waits for itself (needs, resolves)")
        if key not in self.found:
            self.open.add(key)
            self.found[key] = self._resolved(self.checks[name]) if final else self._asked(self.checks[name])
            self.open.discard(key)
        return self.found[key]

    def _resolved(self, check: Check) -> Answer:
        answer = self._once(check.id, final=False)
        judge = self.judges.get(check.id)
        if answer.outcome is not Outcome.AMBIGUOUS or judge is None or judge.id == check.id:
            return answer
        word = self.answer(judge.id)
        if word.outcome not in (Outcome.PASS, Outcome.FAIL):
            return answer
        if word.advisory:
            return replace(answer, evidence=(*answer.evidence, *word.evidence))
        return Answer(word.outcome, (*word.evidence, *answer.evidence), judged=True)

    def _asked(self, check: Check) -> Answer:
        why = self._unasked(check)
        if why is not None:
            return why
        return evaluate(check, self._narrowed(check))

    def _unasked(self, check: Check) -> Answer | None:
        """Why the check is not asked, None when it is."""
        if self._circular(check):
            return broken(f"the check {check.id} waits for itself (needs, resolves)")
        missing = [name for name in _waits_for(check) if name not in self.checks]
        if missing:
            return broken(f"there is no check {missing[0]}, which {check.id} needs or resolves")
        if check.needs is not None:
            needed = self.answer(check.needs).outcome
            if needed in (Outcome.FAIL, Outcome.SKIPPED):
                return _skipped(f"needs {check.needs}, which {'failed' if needed is Outcome.FAIL else 'was skipped'}")
        resolves = check.judge.resolves if check.judge is not None else None
        if resolves is not None and self._once(resolves, final=False).outcome is not Outcome.AMBIGUOUS:
            return _skipped(f"{resolves} was not ambiguous")
        return None

    def _circular(self, check: Check) -> bool:
        seen: set[str] = set()
        ahead = _waits_for(check)
        while ahead:
            name = ahead.pop()
            if name == check.id:
                return True
            if name not in seen and name in self.checks:
                seen.add(name)
                ahead += _waits_for(self.checks[name])
        return False

    def _narrowed(self, check: Check) -> View:
        key = (check.scope, check.turn)
        if key not in self.views:
            self.views[key] = self.view.narrowed(*key)
        return self.views[key]
