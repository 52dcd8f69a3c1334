"""`evalrepo score --label`: people answer a judge's questions, blind and in a shuffled order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Room, Sheet
    from evalrepo.records.rubric import Question, Rubric
    from evalrepo.repository.repo import Repository


@dataclass(frozen=True)
class Asked:
    """A question of a rubric, and what the rubric says to whoever answers."""

    rubric: str
    name: str
    question: Question
    prose: str


def label(repo: Repository, words: Sequence[str], name: str, by: str, rep: int | None) -> int:
    """Ask one question of a rubric about every rep that words mean and this person has not labelled; each answer is in
    `rubrics/NAME.labels.yaml` at once. Nothing shows whose rep it is, or what a judge said."""
    from evalrepo.commands.scoring import readable
    from evalrepo.commands.scoring_walk import Stopped
    from evalrepo.commands.sheets import Room
    from evalrepo.store.labels import labels_of, labels_path

    room = Room(repo)
    asked = question_of(room.loaded.rubrics, name)
    at = room.desk(words, rep=rep, wanted=lambda one: (asked.name,) if one.valid and one.transcript else ())
    at = readable(at)
    held = [one for one in labels_of(repo.tree("WORKTREE"), asked.rubric) if one.by == by]
    known = {(one.question, one.transcript) for one in held if one.wording in ("", asked.question.wording)}
    sheets = list({_sha(sheet): sheet for sheet in at.sheets}.values())
    rest = [sheet for sheet in shuffled(sheets, f"{name} {by}") if (asked.name, _sha(sheet)) not in known]
    if rest and asked.prose.strip():
        click.echo("\n".join(_prose(asked.prose)))
    done: set[str] = set()
    try:
        _walk(room, asked, rest, by, done)
    except Stopped:
        where = f"; the labels so far are in {labels_path(asked.rubric)}" if done else ""
        click.echo(f"stopped after {len(done)} of {len(rest)}{where}")
        return Exit.INTERRUPTED
    click.echo(f"{len(done)} labels added to {labels_path(asked.rubric)}, {len(sheets) - len(rest)} were there before")
    click.echo(f"next: git add {labels_path(asked.rubric)}; evalrepo calibrate {asked.rubric}")
    return Exit.YES


def _walk(room: Room, asked: Asked, sheets: Sequence[Sheet], by: str, done: set[str]) -> None:
    """Ask about every rep, going back where that is wished; `done` gains the transcripts that were labelled."""
    at = 0
    while at < len(sheets):
        told = _Rep(f"rep {at + 1} of {len(sheets)}", _reference(room, asked, sheets[at]))
        if _one(room.repo, asked, sheets[at], by, told):
            done.add(_sha(sheets[at]))
            at += 1
        else:
            at = max(0, at - 1)


def question_of(rubrics: Mapping[str, Rubric], name: str) -> Asked:
    """`RUBRIC/QUESTION`, or a rubric that asks one thing. UsageError."""
    rubric, _, question = name.partition("/")
    found = rubrics.get(rubric)
    if found is None:
        raise UsageError(f"there is no rubric {rubric}", hint=f"rubrics: {', '.join(rubrics) or 'none'}")
    asked = found.head.asked
    if not question and len(asked) == 1:
        question = next(iter(asked))
    if question not in asked:
        hint = " or ".join(f"{rubric}/{one}" for one in asked)
        raise UsageError(f"{name} names no question" if question else f"{name} asks several questions", hint=hint)
    return Asked(rubric, question, asked[question], found.body)


def shuffled(sheets: Sequence[Sheet], seed: str) -> list[Sheet]:
    """In an order that depends on the seed and each transcript alone."""
    return sorted(sheets, key=lambda sheet: sha256(f"{seed} {_sha(sheet)}".encode()).digest())


def _sha(sheet: Sheet) -> str:
    assert sheet.rep.transcript is not None
    return sheet.rep.transcript.sha256


@dataclass(frozen=True)
class _Rep:
    """What is said of a rep beside what happened in it: its place in the row, what is known to be right."""

    which: str
    reference: str


def _reference(room: Room, asked: Asked, sheet: Sheet) -> str:
    """What the rep's scenario says is right, where the question is answered beside that."""
    from evalrepo.records.asking import as_asked

    one = room.loaded.scenarios.get(sheet.record.scenario)
    found = as_asked(one.scenario if one is not None else None, asked.rubric, asked.name)
    return (found.asked.reference or "").strip() if asked.question.reference else ""


def _one(repo: Repository, asked: Asked, sheet: Sheet, by: str, rep: _Rep) -> bool:
    """Whether the rep was labelled; otherwise the person wants to go back to the one before."""
    from evalrepo.records.labels import Label
    from evalrepo.store.labels import add_label

    click.echo(f"\n{rep.which}\n" + "\n".join(_shown(asked.question, sheet, rep.reference)))
    said = _answer(asked, sheet)
    if said is None:
        return False
    answer, evidence = said
    given = Label(
        question=asked.name,
        transcript=_sha(sheet),
        run=sheet.record.executed,
        scenario=sheet.record.scenario,
        rep=sheet.rep.rep,
        by=by,
        answer=answer,
        evidence=evidence,
        wording=asked.question.wording,
    )
    add_label(repo, asked.rubric, given)
    return True


def _answer(asked: Asked, sheet: Sheet) -> tuple[str, str] | None:
    """One of the answers that are offered, and evidence for it; None for b, back. `Stopped` on q.

    A key that is itself an answer of the question is the answer.
    """
    from evalrepo.commands.scoring_walk import Stopped, evidence, line, whole

    while True:
        answer = line(
            f"{asked.name} ({', '.join(asked.question.offered)}; t whole transcript, b back, q stop):"
        ).strip()
        if answer in asked.question.offered:
            if text := evidence(sheet):
                return answer, text
        elif answer == "q":
            raise Stopped
        elif answer == "b":
            return None
        elif answer == "t":
            whole(sheet)
        else:
            click.echo(f"  {answer[:20]!r} is not offered")


def _prose(text: str) -> Iterator[str]:
    from evalrepo.render.safe import wrapped

    for line in text.strip().split("\n"):
        yield from wrapped(line) if line.strip() else [""]


def _shown(question: Question, sheet: Sheet, reference: str) -> Iterator[str]:
    from evalrepo.render.safe import wrapped
    from evalrepo.render.told import told

    assert sheet.transcript is not None
    yield from told(sheet.transcript)
    yield ""
    yield from wrapped(question.ask, then="  ")
    if reference:
        yield from wrapped(f"known to be right: {' '.join(reference.split())}", first="  ", then="    ")
    for score, meaning in question.scale.items():
        yield from wrapped(meaning, first=f"  {score}  ", then="     ")
