"""Scores from 0 to 3, 3 always good. A score that could not be had is None with the reason, never a low score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from evalrepo.checks.judged import ask, sentence
from evalrepo.checks.view import JudgeAnswer, View, line
from evalrepo.records.record import CheckResult, MetricScore, Outcome
from evalrepo.records.rubric import SCORES
from evalrepo.records.scenario import JudgeMetric, MetricSpec, Rung


def metrics(
    specs: Mapping[str, MetricSpec], checks: Sequence[CheckResult], view: View | None, *, error: str = ""
) -> dict[str, MetricScore]:
    """One score a metric. `error`: the rep is an ERROR of this kind, so nothing is scored."""
    by_id = {check.id: check for check in checks}
    return {name: _score(spec, by_id, view, error) for name, spec in specs.items()}


def _score(spec: MetricSpec, checks: Mapping[str, CheckResult], view: View | None, error: str) -> MetricScore:
    if spec == "human":
        return MetricScore(score=None, source="human", evidence="not scored yet")
    assert not isinstance(spec, str)
    if error:
        source: Literal["judge", "mechanical"] = "judge" if spec.judge is not None else "mechanical"
        return MetricScore(score=None, source=source, evidence=f"not scored, the rep is ERROR({error})")
    if spec.ladder is not None:
        return _climb(spec.ladder, checks)
    assert spec.judge is not None
    return _judged(spec.judge, view)


def _climb(ladder: Sequence[Rung], checks: Mapping[str, CheckResult]) -> MetricScore:
    """The score of the first rung whose checks all passed; vacuous and skipped ones have not passed.

    A check that is broken or ambiguous makes its rung unknown, and then the score is, unless another check of the
    rung did not pass anyway.
    """
    for rung in ladder:
        outcomes = {name: checks[name].outcome if name in checks else Outcome.ERROR for name in rung.if_}
        missed = {name: outcome for name, outcome in outcomes.items() if outcome is not Outcome.PASS}
        if not missed:
            why = f"passed: {', '.join(rung.if_)}" if rung.if_ else "no other rung fits"
            return MetricScore(score=rung.score, source="mechanical", evidence=why)
        if all(outcome in (Outcome.ERROR, Outcome.AMBIGUOUS) for outcome in missed.values()):
            return MetricScore(score=None, source="mechanical", evidence=f"not known: {', '.join(missed)}")
    return MetricScore(score=None, source="mechanical", evidence="no rung fits")


def _judged(spec: JudgeMetric, view: View | None) -> MetricScore:
    if view is None:
        return MetricScore(score=None, source="judge", evidence="not scored: there is no transcript")
    said = ask(spec, view)
    if said.broken:
        return MetricScore(score=None, source="judge", evidence=line(said.broken))
    if said.answer not in SCORES:
        why = f"the judge answered {said.answer!r}, wanted 0 to 3"
        return MetricScore(score=None, source="judge", evidence=line(why))
    if said.advisory:
        why = f"not counted, the judge is advisory ({said.advisory}): {sentence(said)}"
        return MetricScore(score=None, source="judge", evidence=line(why), places=said.places)
    if not said.evidence.strip():
        return MetricScore(score=None, source="judge", evidence=f"the judge gave {said.answer} without evidence")
    return MetricScore(score=int(said.answer), source="judge", evidence=_why(said), places=said.places)


def _why(said: JudgeAnswer) -> str:
    """The reason; the votes where they differed."""
    return sentence(said) if len(set(said.votes)) > 1 else line(said.evidence)
