"""`evalrepo calibrate`: a judge against people's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from evalrepo.commands import option
from evalrepo.errors import Exit, HarnessError, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Sheet
    from evalrepo.records.calibration import Calibration
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


@click.command("calibrate")
@click.argument("rubric")
@option.live
@click.option("--no-ask", is_flag=True, help="Ask no judge: only what was recorded or voted before.")
@option.text_or_json
@click.pass_obj
def command(world: World, *, rubric: str, live: bool, no_ask: bool, format: str) -> int:  # noqa: A002
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

    repo = Repository.open(world)
    tree = repo.tree("WORKTREE")
    loaded = usable(load(tree, repo))
    case = _case(repo, rubric, loaded.rubrics)
    recorded(case)
    if not no_ask:
        _ask(case, live=live)
    _write(case)
    rule = Rule(**loaded.config.judge.calibration.model_dump())
    found = of_rubric(rubric, case.rubric, case.labels, case.votes.values(), rule)
    _say_json(case, found) if format == "json" else _say(case, found)
    return Exit.YES if found and all(one.decides for one in found.values()) else Exit.NO


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
    from evalrepo.records.labels import Voted
    from evalrepo.running.judging import identity

    wanted = {(label.question, label.transcript) for label in case.labels}
    for sheet in case.sheets:
        sha = sheet.rep.transcript.sha256 if sheet.rep.transcript is not None else ""
        for one in sheet.rep.judged:
            if (one.question, sha) in wanted and one.rubric_sha256 == case.rubric.sha256 and one.rubric == case.name:
                judge = identity(one.judge, one.model)
                vote = Voted(
                    question=one.question,
                    transcript=sha,
                    rubric=one.rubric_sha256,
                    judge=judge,
                    answer=one.answer,
                    votes=tuple(v.answer for v in one.votes),
                )
                case.votes.setdefault((one.question, sha, judge), vote)


def _sheets(case: Case) -> list[Sheet]:
    """The labelled reps that are at hand, each once."""
    from evalrepo.commands.sheets import Room

    room = Room(case.repo)
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


def _ask(case: Case, *, live: bool) -> None:
    """Put the questions of labelled reps without an answer to the judge of today."""
    from evalrepo.commands.measuring import consented
    from evalrepo.running.session import begin, bench
    from evalrepo.store import load, usable

    tree = case.repo.tree("WORKTREE")
    session = begin(case.repo, tree, usable(load(tree, case.repo)))
    config = session.loaded.config.judge
    if not (config.command or config.model or config.agent):
        if not case.votes:
            raise UsageError("no judge is configured, and none was asked before", hint="judge: in evalrepo.yaml")
        return
    asked = {(question, transcript) for question, transcript, _ in case.votes}
    rest = [one for one in case.labels if (one.question, one.transcript) not in asked]
    if rest and config.costs and not consented(case.repo.world, live=live):
        raise UsageError(f"the judge costs money, and {len(rest)} reps have no vote", hint="--live, or --no-ask")
    if rest:
        with bench(session) as made:
            if made.court is None:
                raise HarnessError("the judge cannot be asked", hint="evalrepo doctor")
            _put(case, rest, made.court)


def _put(case: Case, rest: Sequence[Label], court: Court) -> None:
    from evalrepo.checks.view import View
    from evalrepo.records.kinds import Asked
    from evalrepo.records.labels import Voted
    from evalrepo.running.judging import Hearing, identity

    questions: dict[tuple[str, str, int], list[str]] = {}
    for label in rest:
        questions.setdefault((label.transcript, label.scenario, label.rep), []).append(label.question)
    for sheet in case.sheets:
        if sheet.transcript is None or sheet.rep.transcript is None:
            continue
        sha = sheet.rep.transcript.sha256
        for question in dict.fromkeys(questions.get((sha, sheet.record.scenario, sheet.rep.rep), ())):
            hearing = Hearing(court, sha)
            hearing(Asked(rubric=case.name, question=question), View(sheet.transcript))
            for one in hearing.judged:
                judge = identity(one.judge, one.model)
                said = tuple(vote.answer for vote in one.votes)
                case.votes[question, sha, judge] = Voted(
                    question=question, transcript=sha, rubric=one.rubric_sha256, judge=judge, answer=one.answer,
                    votes=said,
                )  # fmt: skip


def _write(case: Case) -> None:
    from evalrepo.store.labels import put_votes, votes_of

    found = (*case.others, *case.votes.values())
    if found and found != votes_of(case.repo.tree("WORKTREE"), case.name):
        put_votes(case.repo, case.name, found)


def _say(case: Case, found: Mapping[tuple[str, str, str], Calibration]) -> None:
    from evalrepo.render.calibration import calibration_text
    from evalrepo.render.safe import wrapped
    from evalrepo.store.labels import votes_path

    by = {label.transcript: f"{label.scenario} run {label.run} rep {label.rep}" for label in case.labels}
    for (_, _, judge), one in found.items():
        click.echo("\n".join(calibration_text(one, judge, by)) + "\n")
    for name, how in case.lacking.items():
        click.echo("\n".join(wrapped(f"not at hand: {name}: {how}", then="  ")), err=True)
    decides = bool(found) and all(one.decides for one in found.values())
    click.echo(f"calibrate: {'the judge decides' if decides else 'advisory: shown, in no verdict'}")
    if case.votes:
        click.echo(f"next: git add {votes_path(case.name)}, git commit")


def _say_json(case: Case, found: Mapping[tuple[str, str, str], Calibration]) -> None:
    from evalrepo.render.json import plain, to_json

    rows = [{"judge": judge, "decides": one.decides, **plain(one)} for (_, _, judge), one in found.items()]
    data = {"schema": 1, "rubric": case.name, "rubric_sha256": case.rubric.sha256, "questions": rows}
    click.echo(to_json({**data, "not_at_hand": case.lacking}), nl=False)
