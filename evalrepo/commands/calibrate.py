"""`evalrepo calibrate`: a judge against people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from evalrepo.commands import option
from evalrepo.errors import Exit, HarnessError, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Room, Sheet
    from evalrepo.commands.sides import Place
    from evalrepo.records.calibration import Calibration, Share
    from evalrepo.records.config import Config
    from evalrepo.records.judgement import Judgement, Spent
    from evalrepo.records.labels import Label, Voted
    from evalrepo.records.rubric import Rubric
    from evalrepo.repository.repo import Repository
    from evalrepo.running.judging import Court
    from evalrepo.world import World


@dataclass
class Case:
    """A rubric, its labels, and the votes on them that are known."""

    repo: Repository
    name: str
    rubric: Rubric
    labels: Sequence[Label]
    votes: dict[tuple[str, str, str], Voted] = field(default_factory=dict)
    """(question, transcript, judge) → vote by this very rubric."""
    others: list[Voted] = field(default_factory=list)
    """Votes by other texts of the rubric, which stay in the file."""
    sheets: list[Sheet] = field(default_factory=list)
    """The labelled reps that are at hand."""
    lacking: dict[str, str] = field(default_factory=dict)
    """Why a transcript cannot be had → the way to get it."""
    room: Room | None = None
    """Where the labelled reps were read."""
    today: str = ""
    """Whom the config asks by this rubric, "" for nobody."""

    def by_today(self, question: str, judge: str) -> bool:
        """Whether this judge's votes are those of the judge that is asked today, as far as is known."""
        mine = [vote for (asked, _, by), vote in self.votes.items() if (asked, by) == (question, judge)]
        return not self.today or any(vote.whom in ("", self.today) for vote in mine)


@click.command("calibrate")
@click.argument("rubric")
@option.live
@click.option("--no-ask", is_flag=True, help="Ask no judge: only what was recorded or voted before.")
@click.option("--again", is_flag=True, help="Ask also where it has voted, as its model moved; an answer given stands.")
@option.text_or_json
@click.pass_obj
def command(world: World, *, rubric: str, live: bool, no_ask: bool, again: bool, format: str) -> int:  # noqa: A002
    """Compare a judge with people, question by question, on the reps that people labelled (`score --label`).

    Its answers are those that runs recorded by this very rubric; where there are none it is asked now, and its votes go
    to `rubrics/RUBRIC.votes.yaml`. Printed are the matrix, agreement, Cohen's κ (weighted for 0-3), Gwet's AC1 and
    their 95 % intervals, and where they disagree. A judge that is not calibrated (`judge.calibration` in evalrepo.yaml)
    is advisory: shown, in no verdict and no gate.

    Exit 0: the judge decides every labelled question. Exit 1: one of them is advisory. Exit 2: there is no label, no
    judge, or a paid judge without --live.
    """
    from evalrepo.comparing.calibration import of_rubric
    from evalrepo.records.calibration import Rule
    from evalrepo.repository.repo import Repository
    from evalrepo.store import load, usable

    if no_ask and again:
        raise UsageError("--no-ask and --again want two different things", hint="give one of them")
    repo = Repository.open(world)
    tree = repo.tree("WORKTREE")
    loaded = usable(load(tree, repo))
    case = _case(repo, rubric, loaded.rubrics)
    case.today = asked_today(loaded.config, case.rubric, world.environ)
    recorded(case)
    try:
        if not no_ask:
            _ask(case, live=live, again=again)
    finally:
        _write(case)
    rule = Rule(**loaded.config.judge.calibration.model_dump())
    found = of_rubric(rubric, case.rubric, case.labels, case.votes.values(), rule)
    _say_json(case, found) if format == "json" else _say(case, found)
    return Exit.YES if _decides(case, found) else Exit.NO


def asked_today(config: Config, rubric: Rubric, environ: Mapping[str, str]) -> str:
    """The name of the judge that would be asked by this rubric."""
    from evalrepo.records.judges import judge_name
    from evalrepo.running.judging import overridden

    judge = overridden(config.judge, environ)
    return judge_name(config.model_copy(update={"judge": judge}), rubric.head.judge.model)


def _decides(case: Case, found: Mapping[tuple[str, str, str], Calibration]) -> bool:
    """Whether today's judge decides every question that was labelled."""
    mine = {key: one for key, one in found.items() if case.by_today(key[1], key[2])}
    return {q for _, q, _ in found} == {q for _, q, _ in mine} and all(one.decides for one in mine.values())


def _case(repo: Repository, name: str, rubrics: Mapping[str, Rubric]) -> Case:
    from evalrepo.store.labels import labels_of, votes_of

    if name not in rubrics:
        raise UsageError(f"there is no rubric {name}", hint=f"rubrics: {', '.join(rubrics) or 'none'}")
    tree = repo.tree("WORKTREE")
    labels = labels_of(tree, name)
    if not labels:
        first = next(iter(rubrics[name].head.asked))
        raise UsageError(f"nobody has labelled reps by {name}", hint=f"evalrepo score SCENARIO --label {name}/{first}")
    case = Case(repo, name, rubrics[name], labels)
    for vote in votes_of(tree, name):
        if vote.rubric == case.rubric.sha256:
            case.votes[vote.question, vote.transcript, vote.judge] = vote
        else:
            case.others.append(vote)
    case.sheets = _sheets(case)
    return case


def recorded(case: Case) -> None:
    """Add the answers that runs recorded by this very rubric about the labelled transcripts."""
    wanted = {(label.question, label.transcript) for label in case.labels}
    for sheet in case.sheets:
        sha = sheet.rep.transcript.sha256 if sheet.rep.transcript is not None else ""
        for one in sheet.rep.judged:
            if (one.question, sha) in wanted and one.rubric_sha256 == case.rubric.sha256 and one.rubric == case.name:
                vote = _voted(one, sha)
                case.votes.setdefault((one.question, sha, vote.judge), vote)


def _sheets(case: Case) -> list[Sheet]:
    """The labelled reps that are at hand, each once."""
    from evalrepo.commands.sheets import Room

    case.room = room = Room(case.repo)
    found: list[Sheet] = []
    for run, scenario, number in dict.fromkeys((one.run, one.scenario, one.rep) for one in case.labels):
        try:
            found += room.desk([run, scenario], rep=number, wanted=lambda _: ("label",)).sheets
        except UsageError:
            case.lacking[f"run {run} of {scenario}"] = "its record is not at hand"
    for sheet in found:
        if sheet.lacking is not None:
            case.lacking[sheet.name] = sheet.lacking.how or sheet.lacking.why
    return found


def _ask(case: Case, *, live: bool, again: bool) -> None:
    """Put the questions of labelled reps that today's judge did not answer to it."""
    from evalrepo.commands.measuring import consented
    from evalrepo.running.session import begin, bench
    from evalrepo.store import load, usable

    tree = case.repo.tree("WORKTREE")
    session = begin(case.repo, tree, usable(load(tree, case.repo)))
    config = session.loaded.config.judge
    if not case.today:
        if not case.votes:
            raise UsageError("no judge is configured, and none was asked before", hint="judge: in evalrepo.yaml")
        return
    rest = _unanswered(case, again=again)
    if rest and config.costs and not consented(case.repo.world, live=live):
        reps = "1 rep has" if len(rest) == 1 else f"{len(rest)} reps have"
        raise UsageError(f"the judge costs money, and {reps} no vote of it", hint="--live, or --no-ask")
    if rest:
        with bench(session) as made:
            if made.court is None:
                raise HarnessError("the judge cannot be asked", hint="evalrepo doctor")
            _put_all(case, rest, made.court)


def _unanswered(case: Case, *, again: bool) -> list[tuple[Sheet, str]]:
    """Labelled reps at hand with a question that today's judge gave no answer to, or all of them `again`."""
    answered = {(q, sha) for (q, sha, _), vote in case.votes.items() if vote.answer and vote.whom in ("", case.today)}
    questions: dict[str, dict[str, None]] = {}
    for label in case.labels:
        if label.question in case.rubric.head.asked and (again or (label.question, label.transcript) not in answered):
            questions.setdefault(label.transcript, {})[label.question] = None
    at_hand = {s.rep.transcript.sha256: s for s in case.sheets if s.transcript is not None and s.rep.transcript}
    return [(sheet, question) for sha, sheet in at_hand.items() for question in questions.get(sha, ())]


def _put_all(case: Case, rest: Sequence[tuple[Sheet, str]], court: Court) -> None:
    from evalrepo.commands.sides import WORKTREE, place
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import wrapped

    click.echo("\n".join(wrapped(f"asking {case.today} {counted(len(rest), 'question')}", then="  ")), err=True)
    today = place(case.repo, WORKTREE)
    calls, costs = 0, []
    for sheet, question in rest:
        for spent in _put(case, today, sheet, question, court):
            calls += spent.calls
            costs.append(spent.cost_usd)
    known = [cost for cost in costs if cost is not None]
    cost = f"${sum(known):.4f}" if len(known) == len(costs) else "cost unknown"
    click.echo(f"{counted(calls, 'call')}, {cost}", err=True)


def _put(case: Case, place: Place, sheet: Sheet, question: str, court: Court) -> Iterator[Spent]:
    """One question about one rep, as its scenario asks it; the vote stands in the case, unless the same judge gave an
    answer before: who may be asked until it agrees is not calibrated."""
    from evalrepo.commands.labelled_view import view_of
    from evalrepo.records.asking import as_asked
    from evalrepo.running.judging import Hearing

    assert sheet.transcript is not None
    assert sheet.rep.transcript is not None
    sha = sheet.rep.transcript.sha256
    put = as_asked(place.scenarios.get(sheet.record.scenario), case.name, question)
    hearing = Hearing(court, sha)
    said = hearing(put.asked, view_of(case.repo, place, sheet).narrowed(put.scope, put.turn))
    if not hearing.judged:
        case.lacking[sheet.name] = said.broken
    for one in hearing.judged:
        for key, vote in list(case.votes.items()):
            if key[:2] == (question, sha) and not vote.answer and vote.whom in ("", case.today):
                del case.votes[key]
        vote = _voted(one, sha)
        case.votes.setdefault((question, sha, vote.judge), vote)
        yield one.spent


def _voted(one: Judgement, sha: str) -> Voted:
    from evalrepo.records.labels import Voted
    from evalrepo.running.judging import identity

    return Voted(
        question=one.question,
        transcript=sha,
        rubric=one.rubric_sha256,
        judge=identity(one.judge, one.model),
        answer=one.answer,
        votes=tuple(vote.answer for vote in one.votes),
        whom=one.judge,
    )


def _write(case: Case) -> None:
    from evalrepo.store.labels import put_votes, votes_of

    found = (*case.others, *case.votes.values())
    if found and found != votes_of(case.repo.tree("WORKTREE"), case.name):
        put_votes(case.repo, case.name, found)


def _shares(case: Case, found: Mapping[tuple[str, str, str], Calibration]) -> dict[tuple[str, str], Share]:
    """(question, judge) → what its rate in all runs is worth, where the labels tell."""
    from evalrepo.commands.judged_runs import answered
    from evalrepo.comparing.calibration import LABELS, by_people

    if case.room is None or all(one.n < LABELS for one in found.values()):
        return {}
    said = answered(case.room, case.name, case.rubric)
    made = {(q, judge): by_people(one, said.get((q, judge), {})) for (_, q, judge), one in found.items()}
    return {key: share for key, share in made.items() if share is not None}


def _say(case: Case, found: Mapping[tuple[str, str, str], Calibration]) -> None:
    from evalrepo.render.calibration import calibration_text, share_text
    from evalrepo.render.safe import wrapped
    from evalrepo.store.labels import votes_path

    by = {label.transcript: f"{label.scenario} run {label.run} rep {label.rep}" for label in case.labels}
    shares = _shares(case, found)
    for (_, question, judge), one in found.items():
        click.echo("\n".join(calibration_text(one, judge, by)))
        if (question, judge) in shares:
            click.echo("\n".join(share_text(shares[question, judge])))
        if not case.by_today(question, judge):
            click.echo("\n".join(wrapped(f"not the judge of today: {case.today}", then="  ")))
        click.echo("")
    for name, how in case.lacking.items():
        click.echo("\n".join(wrapped(f"not at hand: {name}: {how}", then="  ")), err=True)
    click.echo(f"calibrate: {'the judge decides' if _decides(case, found) else 'advisory: shown, in no verdict'}")
    if case.votes:
        click.echo(f"next: git add {votes_path(case.name)}, git commit")


def _say_json(case: Case, found: Mapping[tuple[str, str, str], Calibration]) -> None:
    from evalrepo.render.json import plain, to_json

    shares = _shares(case, found)
    rows = [
        {
            "judge": judge,
            "today": case.by_today(question, judge),
            "decides": one.decides,
            **plain(one),
            "by_people": plain(shares.get((question, judge))),
        }
        for (_, question, judge), one in found.items()
    ]
    data = {"schema": 1, "rubric": case.name, "rubric_sha256": case.rubric.sha256, "questions": rows}
    click.echo(to_json({**data, "not_at_hand": case.lacking}), nl=False)
