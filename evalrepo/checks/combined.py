"""Answers made of answers.

| | any_of | all_of | not |
|---|---|---|---|
| a pass among them | pass | | fail |
| a fail among them | | fail | pass |
| else an error | error | error | error |
| else an ambiguous one | ambiguous | ambiguous | ambiguous |
| else a fail (any_of), a pass (all_of) | fail | pass | |
| all vacuous | vacuous | vacuous | vacuous |

What decides is asked no further: `any_of` stops at the first pass, `all_of` at the first fail, so a broken part does
not hide an answer that is certain without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evalrepo.checks.view import Answer
from evalrepo.records.record import Evidence, Outcome

LIMIT = 8
"""Most pieces of evidence of a combined answer."""


def any_of(answers: Iterable[Answer]) -> Answer:
    """One of them holds."""
    return _combine(answers, Outcome.PASS, Outcome.FAIL)


def all_of(answers: Iterable[Answer]) -> Answer:
    """All of them hold."""
    return _combine(answers, Outcome.FAIL, Outcome.PASS)


def _combine(answers: Iterable[Answer], decisive: Outcome, otherwise: Outcome) -> Answer:
    seen: list[Answer] = []
    for answer in answers:
        if answer.outcome is decisive:
            return answer
        seen.append(answer)
    for outcome in (Outcome.ERROR, Outcome.AMBIGUOUS, otherwise, Outcome.VACUOUS):
        same = [a for a in seen if a.outcome is outcome]
        if same:
            judged, advisory = any(a.judged for a in same), any(a.advisory for a in same)
            return Answer(outcome, _evidence(same), judged=judged, advisory=advisory)
    raise AssertionError("a combination has at least one part, and a part is never skipped")


def _evidence(answers: Sequence[Answer]) -> tuple[Evidence, ...]:
    return tuple(e for answer in answers for e in answer.evidence)[:LIMIT]


def not_(answer: Answer) -> Answer:
    """It does not hold; what is not known stays unknown."""
    swapped = {Outcome.PASS: Outcome.FAIL, Outcome.FAIL: Outcome.PASS}
    return replace(answer, outcome=swapped.get(answer.outcome, answer.outcome))
