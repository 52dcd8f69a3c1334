"""`show --explain`: one rep of one record, with the words of its checks, what they rest on, and what a judge said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.records.judgement import Judgement, Vote
    from evalrepo.records.record import MetricScore, Record, Rep
    from evalrepo.records.row import Row
    from evalrepo.records.scenario import MetricSpec
    from evalrepo.render.explained import Attempt, AxisSheet, BeforeSheet, Explained, JudgeSheet, MetricSheet, VoteSheet
    from evalrepo.render.resting import RestsOn
    from evalrepo.repository.repo import Repository
    from evalrepo.running.quoting import Quotes
    from evalrepo.running.then import Then

NO_WORDS = (
    "the words of its checks are not at hand: neither its run's reference, nor the work tree, nor its commits hold the "
    "scenario that judged it"
)


@dataclass(frozen=True)
class Meant:
    """The one record that words mean. `later`: the run whose record supersedes it, "" for none."""

    row: Row
    record: Record
    later: str


def one_record(found: Sequence[Row], whole: Sequence[Record], later: Mapping[str, str], words: Sequence[str]) -> Meant:
    """The only record. UsageError that names all, when there are several."""
    if len(found) > 1:
        cells = len({row.cell for row in found})
        what = f"{cells} cells" if cells > 1 else f"{len(found)} records"
        some = "; ".join(f"run {row.run} {row.scenario} {row.agent}/{row.tier}" for row in found[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        raise UsageError(
            f"{' '.join(words)} means {what}, and one rep is explained at a time: {some}{more}",
            hint=f"evalrepo show {_choice(found)} --explain",
        )
    return Meant(found[0], whole[0], later[found[0].oid])


def _choice(found: Sequence[Row]) -> str:
    """The words that mean the first of these alone."""
    first, *others = found
    alike = [row for row in others if (row.run, row.scenario) == (first.run, first.scenario)]
    return first.path if alike else f"{first.run} {first.scenario}"


def one_rep(record: Record, number: int | None) -> tuple[Rep, str]:
    """The last attempt of the rep asked for, else of the first that did not pass; why it was chosen, "" when it was
    named. UsageError when there is none of this number."""
    last = record.last_attempts()
    if not last:
        raise UsageError(f"run {record.run} has no rep of {record.scenario}", hint=f"evalrepo show {record.run}")
    if number is None:
        rep = next((rep for rep in last if rep.verdict != "PASS"), last[0])
        why = "" if len(last) == 1 else "the first that did not pass" if rep.verdict != "PASS" else "all passed"
        return rep, f"{why}; --rep N explains another" if why else ""
    found = next((rep for rep in last if rep.rep == number), None)
    if found is None:
        there = ", ".join(str(rep.rep) for rep in last)
        raise UsageError(f"run {record.run} has no rep {number} of {record.scenario}", hint=f"it has {there}")
    return found, ""


def explained(repo: Repository, meant: Meant, number: int | None, *, opened: bool) -> Explained:
    """The rep with everything that its verdict rests on; of a reserve's, unless it is `opened`, only its outcomes."""
    from evalrepo.running.quoting import quotes
    from evalrepo.running.then import Then, then, with_evidence

    rep, chosen = one_rep(meant.record, number)
    found = quotes(repo, meant.record, rep, opened=opened)
    asked = Then() if found.sealed else then(repo, meant.record, meant.row.path)
    if meant.record.set == "reserve" and not found.sealed:
        rep = with_evidence(meant.record, rep, asked, found)
    return _Explaining(meant, rep, found, asked).sheet(chosen)


class _Explaining:
    """One rep, while it is put together."""

    def __init__(self, meant: Meant, rep: Rep, quotes: Quotes, then: Then) -> None:
        self.meant, self.record, self.rep, self.quotes, self.then = meant, meant.record, rep, quotes, then

    def sheet(self, chosen: str) -> Explained:
        from evalrepo.render.explained import Explained
        from evalrepo.scoring.following import follows

        record, rep, lacking = self.record, self.rep, self.quotes.lacking
        sealed = self.quotes.sealed
        why = follows(rep, told=not sealed)
        return Explained(
            record.scenario, record.agent, record.tier, record.run, self.meant.row.path, record.title,
            rep.rep, len(record.last_attempts()), chosen, _verdict(rep), "" if sealed else rep.message,
            self.meant.later, self._origin(), why.why, why.sound, sealed, self._words(),
            before=tuple(self._before()),
            axes=tuple(self._axes()),
            metrics=tuple(self._metric(name, score) for name, score in rep.metrics.items()),
            judged=self.judged,
            attempts=self._attempts(),
            notes=() if sealed else rep.remarks,
            place=self.quotes.place,
            redactions=rep.transcript.redactions if rep.transcript is not None else 0,
            files=() if sealed else self._files(),
            asked_later=tuple(sorted(self.quotes.later)),
            lacking=lacking.why if lacking is not None else "",
            bring=lacking.how if lacking is not None else "",
        )  # fmt: skip

    def _origin(self) -> str:
        record = self.record
        judged = f"judged again from run {record.rescored_from}" if record.rescored_from else ""
        return "; ".join(filter(None, (judged, record.reason)))

    def _words(self) -> str:
        if self.quotes.sealed:
            return ""
        return f"the scenario's words: {self.then.where}" if self.then.scenario is not None else NO_WORDS

    def _attempts(self) -> tuple[Attempt, ...]:
        from evalrepo.render.explained import Attempt

        before = [r for r in self.record.reps if r.rep == self.rep.rep and r.attempt != self.rep.attempt]
        return tuple(Attempt(r.attempt, _verdict(r), "" if self.quotes.sealed else r.message) for r in before)

    def _files(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.quotes.files if name != self.quotes.main))

    def _before(self) -> Iterator[BeforeSheet]:
        from evalrepo.formats.words import check_words
        from evalrepo.render.explained import BeforeSheet
        from evalrepo.scoring.following import before

        for one in before(self.then.scenario, self.rep) if self.then.scenario is not None else ():
            yield BeforeSheet(one.id, one.kind, check_words(one.condition), one.holds)

    def _axes(self) -> Iterator[AxisSheet]:
        from evalrepo.commands.resting import of_check
        from evalrepo.formats.words import check_words
        from evalrepo.render.explained import AxisSheet
        from evalrepo.scoring.following import axes

        asks = {check.id: check_words(check) for check in self.then.checks}
        for axis in axes(self.rep.checks):
            mine = tuple(
                of_check(check, self.quotes, asks.get(check.id, ""))
                for check in self.rep.checks
                if check.axis == axis.name
            )
            yield AxisSheet(axis.name, str(axis.outcome), axis.gating, axis.by, mine)

    def _metric(self, name: str, found: MetricScore) -> MetricSheet:
        from evalrepo.commands.resting import rests_on
        from evalrepo.render.explained import MetricSheet, RatingSheet, RungSheet
        from evalrepo.scoring.following import steps

        spec = self.then.metrics.get(name)
        if self.quotes.sealed:
            return MetricSheet(name, found.score, found.source, "")
        outcomes = {check.id: check.outcome for check in self.rep.checks}
        ladder = spec.ladder if spec is not None and not isinstance(spec, str) else None
        rungs = () if found.source != "mechanical" else steps(ladder or (), outcomes, found.score)
        return MetricSheet(
            name,
            found.score,
            found.source,
            found.evidence,
            self._asks(name, spec),
            tuple(RungSheet(step.score, step.wants, step.reached) for step in rungs),
            tuple(RatingSheet(one.by, one.score, one.evidence) for one in found.ratings),
            (*rests_on(found.places, self.quotes), *self._rests(found)),
        )

    def _asks(self, name: str, spec: MetricSpec | None) -> str:
        from evalrepo.formats.words import flow

        if spec is None:
            return ""
        if isinstance(spec, str):
            return f"a person: {self.then.anchored(name)}".removesuffix(": ")
        if spec.judge is not None:
            return f"judge: {flow(spec.judge.model_dump(mode='json', exclude_unset=True))}"
        return "ladder: the first rung whose checks all passed"

    def _rests(self, found: MetricScore) -> Iterator[RestsOn]:
        """The lines of the log that a person's evidence names."""
        from evalrepo.render.resting import RestsOn, excerpt
        from evalrepo.scoring.grounds import named_lines

        main = self.quotes.main
        for number in dict.fromkeys(n for one in found.ratings for n in named_lines(one.evidence)):
            row = self.quotes.row(main, number)
            if row is not None:
                yield RestsOn("", main, number, excerpt(row))

    @cached_property
    def judged(self) -> tuple[tuple[str, JudgeSheet], ...]:
        """Each question with what it was asked for: `check ID`, `metric NAME`, or "" when that is not known."""
        left = list(self.rep.judged)
        out = []
        for name, key in self.then.questions():
            one = next((j for j in left if (j.rubric, j.question, j.scope, j.turn) == key), None)
            if one is not None:
                left.remove(one)
                out.append((name, self._judge(one)))
        return (*out, *(("", self._judge(one)) for one in left))

    def _judge(self, one: Judgement) -> JudgeSheet:
        from evalrepo.render.explained import JudgeSheet
        from evalrepo.render.record import judge_name, judge_told

        votes = tuple(map(self._vote, one.votes))
        asks = "" if self.quotes.sealed else self.then.ask(one)
        return JudgeSheet(
            one.rubric, one.question, asks, judge_name(one), one.answer, one.broken, one.split, judge_told(one), votes
        )

    def _vote(self, vote: Vote) -> VoteSheet:
        from evalrepo.render.explained import VoteSheet

        names = [
            self.quotes.name_of(digest) if self.quotes.said(digest) else "" for digest in (vote.prompt, vote.reply)
        ]
        places = tuple(self._place(place, vote) for place in vote.places)
        return VoteSheet(vote.answer, self._reason(vote), vote.broken, vote.tries, places, *names)

    def _reason(self, vote: Vote) -> str:
        """As it is recorded; of a reserve that was opened, as the reply has it."""
        from evalrepo.scoring.judge.answer import reason_of

        return vote.reason or (reason_of(self.quotes.said(vote.reply)) if vote.answer else "")

    def _place(self, place: str, vote: Vote) -> str:
        """`p2 the agent says`, as the prompt heads this piece."""
        head = next((row for row in self.quotes.said(vote.prompt).split("\n") if row.startswith(f"[{place}] ")), "")
        return f"{place} {head.removeprefix(f'[{place}] ')}".strip()


def _verdict(rep: Rep) -> str:
    return f"ERROR({rep.error})" if rep.error else str(rep.verdict)
