"""A stored rep judged again: its transcript and what was kept of its sandbox, by a scenario's mechanical checks.

Nothing is played and nothing is asked of a judge. What a check needs and was not kept (a sandbox to run commands in,
a file's content) is said for each check, and its recorded result stands; so does what a judge said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalrepo.checks.asking import all_checks, evaluate_all
from evalrepo.checks.registry import evaluate
from evalrepo.records.record import CheckResult, Outcome, Rep, Verdict
from evalrepo.records.unset import score_word
from evalrepo.running.opened import Before, Lacking, seen
from evalrepo.scoring.metrics import metrics
from evalrepo.scoring.verdict import decide

if TYPE_CHECKING:
    from evalrepo.checks.view import View
    from evalrepo.records.checks import Check, Condition
    from evalrepo.records.config import Agent
    from evalrepo.records.scenario import Scenario
    from evalrepo.running.kept import Files, Kept

RESCORER = 2
"""Of what is remembered: another version judges again."""


@dataclass(frozen=True, slots=True)
class Again:
    """A rep judged again. `verdict`: by today's scenario, the recorded one where nothing could be asked.

    `differs`: how the record disagrees, one sentence each. `beyond`: check → why it could not be asked again; with the
    key "" the whole rep could not.
    """

    verdict: Verdict
    differs: tuple[str, ...] = ()
    beyond: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> bool:
        """Whether the transcript could be reached at all."""
        return "" not in self.beyond


@dataclass(frozen=True, slots=True)
class Judged:
    """By what a rep is judged again: scenario, agent's name and settings, what was there before the agent."""

    scenario: Scenario
    name: str
    agent: Agent
    before: Before = field(default_factory=Before)


def rescore(by: Judged, rep: Rep, files: Files) -> Again:
    """Judge a recorded PASS or FAIL again. `files`: those of the rep's folder in the run's ref, by path below it.

    Pure. Never raises for what is stored: what cannot be read is a difference, what is missing is `beyond`.
    """
    if not rep.valid:
        return Again(rep.verdict, beyond={"": "an ERROR is the harness's, and not judged again"})
    found = seen(by.name, by.agent, rep, files, by.scenario.faults, by.before)
    if isinstance(found, Lacking):
        return Again(rep.verdict, (found.why,)) if found.wrong else Again(rep.verdict, beyond={"": found.why})
    kept = found.kept
    view = replace(
        found.view,
        shell=kept.refuses("a sandbox to run a command in was not kept"),
        python=kept.refuses("a check module runs in a sandbox, and none was kept"),
    )
    return _compared(by.scenario, rep, view, kept)


def _compared(scenario: Scenario, rep: Rep, view: View, kept: Kept) -> Again:
    checks = all_checks(scenario)
    recorded = {check.id: check for check in rep.checks}
    beyond = {check.id: why for check in checks if (why := _beyond(check, view, kept, recorded.get(check.id)))}
    now = {result.id: result for result in evaluate_all(checks, view)}
    differs: list[str] = []
    merged: list[CheckResult] = []
    for check in checks:
        old = recorded.get(check.id)
        if old is None:
            differs.append(f"the record has no result of the check {check.id}")
            merged.append(now[check.id])
        elif check.id in beyond or _follows(check, beyond, checks):
            merged.append(old)
        else:
            merged.append(now[check.id])
            if now[check.id].outcome is not old.outcome:
                differs.append(f"check {check.id}: {old.outcome} is recorded, {now[check.id].outcome} comes out")
    verdict = _verdict(checks, merged, rep)
    if verdict is not rep.verdict:
        differs.append(f"{rep.verdict} is recorded, {verdict} comes out")
    differs += [*_validity(scenario, view), *_scores(scenario, rep, merged)]
    return Again(verdict, tuple(differs), beyond)


def _beyond(check: Check, view: View, kept: Kept, old: CheckResult | None) -> str:
    """Why a check cannot be asked again, "" when it can."""
    if check.judge is not None or (old is not None and old.by != "mechanical"):
        return "a judge or a person decided it"
    if not kept.known and asks_of_files(check):
        return "which files there were was not kept"
    kept.lacking.clear()
    answer = evaluate(check, view.narrowed(check.scope, check.turn))
    if answer.outcome is not Outcome.ERROR:
        return ""
    return kept.lacking[0] if kept.lacking else answer.evidence[0].text if answer.evidence else "it broke"


def asks_of_files(condition: Condition) -> bool:
    """Whether it asks which files there are, or what is in them."""
    return condition.file is not None or any(asks_of_files(inner) for inner in condition.nested())


def _follows(check: Check, beyond: Mapping[str, str], checks: Sequence[Check]) -> bool:
    """Whether it is asked only by the word of a check that could not be asked again."""
    needs = {c.id: c.needs for c in checks}
    above = check.needs
    seen: set[str] = set()
    while above is not None and above not in seen:
        if above in beyond:
            return True
        seen.add(above)
        above = needs.get(above)
    return False


def _verdict(checks: Sequence[Check], results: Sequence[CheckResult], rep: Rep) -> Verdict:
    """By the checks, and by what the record says beside them (a deadline that fails)."""
    verdict, _ = decide(checks, results)
    ids = {check.id for check in checks}
    other = any(c.gating and c.outcome is Outcome.FAIL for c in rep.checks if c.id not in ids)
    return Verdict.FAIL if other and verdict is Verdict.PASS else verdict


def _validity(scenario: Scenario, view: View) -> list[str]:
    """Validity checks that fail: such a rep would be an ERROR."""
    failed = (
        check.id
        for check in scenario.validity
        if evaluate(check, view.narrowed(check.scope, check.turn)).outcome is Outcome.FAIL
    )
    return [f"the validity check {name} fails" for name in failed]


def _scores(scenario: Scenario, rep: Rep, results: Sequence[CheckResult]) -> list[str]:
    """Mechanical metrics that come out otherwise."""
    specs = {n: s for n, s in scenario.metrics.items() if not isinstance(s, str) and s.ladder is not None}
    found = metrics(specs, results, None)
    return [
        f"metric {name}: {score_word(rep.metrics[name].score)} is recorded, {score_word(found[name].score)} comes out"
        for name in specs
        if name in rep.metrics
        and rep.metrics[name].source == "mechanical"
        and rep.metrics[name].score != found[name].score
    ]
