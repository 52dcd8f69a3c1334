"""A stored rep made anew by today's instrument: its transcript and what was kept of its sandbox, and no agent.

A check that cannot be asked again (a person's, a judge's who is not asked, one of a content that was not kept) keeps
its recorded word where the question is the same today; otherwise the rep stays as it is, and why is said. An ERROR of
the harness is carried over; one that came of the instrument (a broken check, a validity check, a judge) is looked at
again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalrepo.checks.asking import all_checks, evaluate_all
from evalrepo.checks.registry import evaluate
from evalrepo.checks.view import Ran, View, cite
from evalrepo.processes import Reason
from evalrepo.records.judgement import Judgement
from evalrepo.records.names import asks_a_judge, with_nested
from evalrepo.records.record import CheckResult, ErrorKind, MetricScore, Outcome, Rep
from evalrepo.running.kept import Kept, folder_of
from evalrepo.running.opened import Before, Lacking, seen
from evalrepo.running.rescore import asks_of_files
from evalrepo.running.words import ASK, ASKED_FOR, UNASKED, Hear, Words, asked_key, stands
from evalrepo.scoring.facts import KINDS, Facts, Trouble, TurnEnd
from evalrepo.scoring.trouble import validity
from evalrepo.scoring.verdict import Scored, settled, unasked

if TYPE_CHECKING:
    from evalrepo.records.checks import Check, Condition
    from evalrepo.records.config import Agent
    from evalrepo.records.kinds import Asked, Command, Python
    from evalrepo.records.scenario import Scenario
    from evalrepo.running.kept import Files
    from evalrepo.running.words import Rehearing

OF_THE_INSTRUMENT = frozenset({ErrorKind.CHECK, ErrorKind.AMBIGUOUS, ErrorKind.JUDGE, ErrorKind.VACUOUS})
"""Kinds of ERROR that other checks may answer; so may those that validity checks give names of their own."""
NO_JUDGE = "no judge is configured"
_GIT = re.compile(r"\bgit\b")

Shell = Callable[["Command", Kept], Ran]
"""Runs a command in a copy of the sandbox that was kept."""
Call = Callable[["Python", View], Any]


@dataclass(frozen=True)
class Doors:
    """What asks outside: a sandbox for commands, check modules, the judge (None where nobody is named)."""

    shell: Shell | None = None
    python: Call | None = None
    hear: Hear | None = None


@dataclass(frozen=True)
class Instrument:
    """Today's checks for the reps of one record.

    `ground`: what was in the work directory before the agent. `before`: the scenario by which they were judged, None
    when it is not at hand; it is asked for only where something is to be carried over. `same`: parts of the instrument
    digest that are as they were. `words`: what judges like today's said of a rep, in any record of it;
    `files` as in `rejudge`.
    """

    scenario: Scenario
    name: str
    agent: Agent
    ground: Before = field(default_factory=Before)
    before: Callable[[], Scenario | None] = lambda: None
    same: frozenset[str] = frozenset()
    words: Callable[[Rep, Files], Words] = lambda rep, files: Words()  # noqa: ARG005
    doors: Doors = Doors()

    @cached_property
    def old(self) -> Scenario | None:
        """The scenario by which the reps were judged."""
        return self.scenario if {"checks", "trigger", "metrics"} <= self.same else self.before()


@dataclass(frozen=True, slots=True)
class Anew:
    """The rep by today's checks, with what a judge read and said of it now (path in the run's tree → content); or None,
    why, and what would change that ("" when nothing does).

    `pretended`: questions that would be put to the judge first; without them nothing is known of the rep.
    """

    rep: Rep | None
    why: str = ""
    how: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    pretended: tuple[str, ...] = ()


class _Stays(Exception):  # noqa: N818 - it says what becomes of the rep
    """The rep stays as it is, for this reason."""


def harness_error(rep: Rep) -> bool:
    """Whether the rep is an ERROR that no check can answer."""
    return not rep.valid and rep.error in KINDS - {str(kind) for kind in OF_THE_INSTRUMENT}


def rejudge(by: Instrument, rep: Rep, files: Files) -> Anew:
    """The rep by today's instrument. `files`: those of its folder in the run's ref, by path below it. Never raises for
    what is stored."""
    if harness_error(rep):
        stopped = unasked(by.scenario, Facts(None), Trouble(rep.error, rep.message))
        return Anew(_updated(rep, stopped, dict(stopped.metrics)))
    found = seen(by.name, by.agent, rep, files, by.scenario.faults, by.ground)
    if isinstance(found, Lacking):
        return Anew(None, found.why, found.how)
    assert rep.transcript is not None
    hear = by.doors.hear
    hearing = hear(rep.transcript.sha256, by.words(rep, files), found.kept) if hear is not None else None
    doors = _Doors(by, found.kept)
    view = replace(found.view, shell=doors.shell, python=doors.python, ask=hearing)
    try:
        anew = _Judging(by, rep, view, found.kept, hearing).rep()
    except _Stays as why:
        return Anew(None, str(why), _way(str(why)))
    if hearing is not None and hearing.pretended:
        return Anew(None, pretended=tuple(hearing.pretended))
    folder = folder_of(rep.transcript.path)
    return Anew(anew, files={folder + name: data for name, data in hearing.files.items()} if hearing else {})


def _way(why: str) -> str:
    """What would change that a rep stays as it is."""
    if NO_JUDGE in why:
        return "`judge:` in evalrepo.yaml names one"
    return ASK if any(one in why for one in ASKED_FOR) else ""


class _Doors:
    """What a check may ask beyond the transcript; what cannot be had is noted in `kept.lacking`."""

    def __init__(self, by: Instrument, kept: Kept) -> None:
        self._by, self._kept = by, kept

    def _refuse(self, why: str) -> FileNotFoundError:
        self._kept.lacking.append(why)
        return FileNotFoundError(why)

    def shell(self, command: Command) -> Ran:
        """The command in a copy made again."""
        if self._by.doors.shell is None:
            raise self._refuse("a sandbox to run a command in was not kept")
        if _GIT.search(command.run):
            raise self._refuse("it asks git, and the sandbox's own repository was not kept")
        return self._by.doors.shell(command, self._kept)

    def python(self, check: Python, view: View) -> Any:
        """The function's answer."""
        if self._by.doors.python is None or not self._kept.known:
            raise self._refuse("which files there were was not kept, and a check module is told")
        return self._by.doors.python(check, view)


class _Judging:
    """One rep with its view, while its checks are asked."""

    def __init__(self, by: Instrument, rep: Rep, view: View, kept: Kept, hearing: Rehearing | None) -> None:
        self.by, self.old, self.view, self.kept, self.hearing = by, rep, view, kept, hearing
        self.carried: list[Judgement] = []
        self.checks = all_checks(by.scenario)
        self.recorded = {check.id: check for check in rep.checks}

    def rep(self) -> Rep:
        """The rep by today's instrument. `_Stays` when something is lacking that was not recorded alike."""
        ends = (TurnEnd(reason=Reason.WALL),) if self.old.timing.timed_out else ()
        facts = Facts(self.view, ends=ends)
        self.kept.lacking.clear()
        unfit = validity(self.by.scenario, facts)
        if unfit is not None and self.kept.lacking:
            raise _Stays(self.kept.lacking[0])
        if unfit is not None:
            found = unasked(self.by.scenario, facts, unfit)
            return _updated(self.old, found, dict(found.metrics))
        found = settled(self.by.scenario, facts, self._results())
        metrics = self._metrics(found)
        return _updated(self.old, found, metrics, (*(self.hearing.judged if self.hearing else ()), *self.carried))

    def _results(self) -> list[CheckResult]:
        """Today's results, recorded ones where a check could not be asked, and what follows of these."""
        self.kept.lacking.clear()
        results = {result.id: result for result in evaluate_all(self.checks, self.view)}
        mute = self.hearing is None and any(r.by == "judge" and r.outcome is Outcome.ERROR for r in results.values())
        refused = mute or bool(self.kept.lacking)
        blind = [c for c in self.checks if not self.kept.known and asks_of_files(c)]
        if refused or blind:
            self._carry(results, blind)
            self._follow(results)
        return [results[check.id] for check in self.checks]

    def _carry(self, results: dict[str, CheckResult], blind: Sequence[Check]) -> None:
        for check in self.checks:
            why = self._lacks(check, results[check.id], blind)
            if not why:
                continue
            old = self.recorded.get(check.id)
            if old is None or old.outcome is Outcome.SKIPPED or self._wanted(old) or not self._alike(check):
                raise _Stays(f"check {check.id}: {why}")
            results[check.id] = old
            for one in with_nested(check):
                self._carry_words(one.judge, check.scope, check.turn)

    def _wanted(self, old: CheckResult) -> bool:
        """Whether a judge that had given no answer was to be asked again, and was not."""
        why = [] if self.hearing is None else list(self.hearing.refused.values())
        return old.outcome is Outcome.ERROR and old.by == "judge" and bool(why) and UNASKED not in why

    def _carry_words(self, asked: Asked | None, scope: str, turn: int | None) -> None:
        """What a judge said stands beside what stands because of it."""
        if asked is not None and (self.hearing is None or asked_key(asked, scope, turn) in self.hearing.refused):
            self.carried += stands(self.old.judged, asked, scope, turn)

    def _lacks(self, check: Check, result: CheckResult, blind: Sequence[Check]) -> str:
        """Why a check could not be asked, "" when it was."""
        if check in blind:
            return "which files there were was not kept"
        if result.outcome is not Outcome.ERROR:
            return ""
        if self.hearing is None and any(one.judge is not None for one in with_nested(check)):
            return NO_JUDGE
        self.kept.lacking.clear()
        evaluate(check, self.view.narrowed(check.scope, check.turn))
        return self.kept.lacking[0] if self.kept.lacking else ""

    def _follow(self, results: dict[str, CheckResult]) -> None:
        """What is skipped, or decided, by a check that kept its recorded word."""
        for _ in self.checks:
            for check in self.checks:
                needed = results[check.needs].outcome if check.needs in results else None
                if needed in (Outcome.FAIL, Outcome.SKIPPED) and results[check.id].outcome is not Outcome.SKIPPED:
                    why = cite(f"needs {check.needs}, which {'failed' if needed is Outcome.FAIL else 'was skipped'}")
                    skipped = {"outcome": Outcome.SKIPPED, "by": "mechanical", "evidence": (why,)}
                    results[check.id] = results[check.id].model_copy(update=skipped)
        for check in self.checks:
            target = check.judge.resolves if check.judge is not None else None
            word = results[check.id]
            open_ = target in results and results[target].outcome is Outcome.AMBIGUOUS
            if target is not None and open_ and word.outcome in (Outcome.PASS, Outcome.FAIL):
                decided = {"outcome": word.outcome, "by": "judge", "evidence": word.evidence}
                results[target] = results[target].model_copy(update=decided)

    def _alike(self, check: Check) -> bool:
        """Whether the recorded result answers today's question: the same check, by the same files."""
        return _parts(check) <= self.by.same and (
            "checks" in self.by.same or (self.by.old is not None and check in all_checks(self.by.old))
        )

    def _metrics(self, found: Scored) -> dict[str, MetricScore]:
        """Today's scores; those of people, and of a judge who is not asked, as they were recorded."""
        scores = dict(found.metrics)
        for name in scores:
            old, why = self.old.metrics.get(name), "" if found.error else self._refused(name)
            if old is not None and (old.source == "human" or why) and self._same_metric(name):
                scores[name] = old
                spec = self.by.scenario.metrics[name]
                self._carry_words(None if isinstance(spec, str) else spec.judge, "main", None)
            elif why:
                raise _Stays(f"metric {name}: {why}")
        return scores

    def _refused(self, name: str) -> str:
        """Why the judge was not asked for a metric, "" when it was, or is not to be."""
        spec = self.by.scenario.metrics[name]
        if isinstance(spec, str) or spec.judge is None:
            return ""
        if self.hearing is None:
            return NO_JUDGE
        return self.hearing.refused.get(asked_key(spec.judge, "main", None), "")

    def _same_metric(self, name: str) -> bool:
        if not {"rubrics", "judge"} <= self.by.same:
            return False
        old = self.by.old
        return "metrics" in self.by.same or (
            old is not None and old.metrics.get(name) == self.by.scenario.metrics.get(name)
        )


def needs_doors(scenario: Scenario) -> bool:
    """Whether a check or a metric asks beyond transcript and files: a command, a check module, a judge."""
    return asks_a_judge(scenario) or any(_parts(condition) for condition in (*scenario.validity, *scenario.checks))


def _parts(condition: Condition) -> set[str]:
    """Parts of the instrument digest that a check's answer rests on, beside the check itself."""
    found = set().union(*(_parts(inner) for inner in condition.nested())) if condition.nested() else set()
    if condition.judge is not None:
        found |= {"rubrics", "judge"}
    if condition.command is not None:
        found |= {"hidden"}
    if condition.python is not None:
        found |= {"modules"}
    return found


def _updated(rep: Rep, found: Scored, metrics: Mapping[str, MetricScore], judged: tuple[Judgement, ...] = ()) -> Rep:
    """The executed rep with what the instrument says of it."""
    return rep.model_copy(
        update={
            "verdict": found.verdict,
            "error": found.error,
            "message": found.message,
            "checks": found.checks,
            "metrics": dict(metrics),
            "judged": judged,
            "status": found.status if not harness_error(rep) else rep.status,
            "spawns": found.spawns if not harness_error(rep) else rep.spawns,
        }
    )
