"""People's labels and judges' votes beside a rubric: they can be read, fit their rubric, and still say something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evalrepo.errors import DataError, Finding, Place
from evalrepo.formats.labels import labels_file, votes_file
from evalrepo.linting.ground import Ground, near
from evalrepo.records.judges import judge_name
from evalrepo.records.labels import Label, Voted
from evalrepo.records.names import rubric_path
from evalrepo.records.rubric import Rubric
from evalrepo.store.loading import RUBRICS

Kind = Literal["labels", "votes"]
WRITERS = {"labels": "evalrepo score SCENARIO --label {}", "votes": "evalrepo calibrate {}"}
"""What writes a file of either kind, for a rubric."""


@dataclass(frozen=True)
class File:
    """A file of entries and the rubric that they answer."""

    path: str
    name: str
    kind: Kind
    rubric: Rubric
    entries: Sequence[Label | Voted]


def labels(ground: Ground) -> Iterator[Finding]:
    """Every file of labels or votes."""
    for path in ground.tree.under(RUBRICS):
        inner = path.removeprefix(f"{RUBRICS}/")
        name, _, kind = inner.removesuffix(".yaml").rpartition(".")
        if not inner.endswith((".yaml", ".yml")):
            continue
        if "/" in inner or not name or not inner.endswith(".yaml") or kind not in WRITERS:
            hint = f"labels are {RUBRICS}/NAME.labels.yaml, votes {RUBRICS}/NAME.votes.yaml; move what is neither"
            yield Finding(Place(path), "RUB114", "is not read", hint, True)
            continue
        yield from _file(ground, path, name, "labels" if kind == "labels" else "votes")


def _file(ground: Ground, path: str, name: str, kind: Kind) -> Iterator[Finding]:
    text = ground.tree.read(path)
    entries: Sequence[Label | Voted]
    try:
        entries = labels_file(text, path).labels if kind == "labels" else votes_file(text, path).votes
    except DataError as error:
        yield from error.findings
        return
    rubric = ground.loaded.rubrics.get(name)
    if rubric is not None:
        found = File(path, name, kind, rubric, entries)
        yield from _entries(ground, found)
        yield from _stale_labels(ground, found)
        yield from _stale_votes(ground, found)
    elif rubric_path(name) not in ground.broken:
        hint = near(name, list(ground.loaded.rubrics), f"git mv it to the rubric's new name, or git rm {path}")
        yield Finding(Place(path, 1, 1), "RUB108", f"there is no {rubric_path(name)}", hint)


def _entries(ground: Ground, file: File) -> Iterator[Finding]:
    """What is wrong with one entry by itself, or beside one before it."""
    first: dict[Hashable, int] = {}
    for number, entry in enumerate(file.entries):
        current = isinstance(entry, Label) or entry.rubric == file.rubric.sha256
        if current:
            yield from _answers(ground, file, number, entry)
        if isinstance(entry, Voted) and (said := _majority(entry.votes)) != entry.answer and entry.votes:
            message = f'the answer is "{entry.answer}", and its votes say {said or "nothing"}'
            hint = "restore the line from git, or remove it and run evalrepo calibrate " + file.name
            yield Finding(_at(ground, file, number, "answer"), "RUB111", message, hint)
        before = first.setdefault(_key(entry), number)
        if before != number:
            line = _at(ground, file, before).line
            who = entry.by if isinstance(entry, Label) else entry.judge
            message = f"{who} answers {entry.question} for the second time about one rep; the first is in line {line}"
            yield Finding(_at(ground, file, number), "RUB110", message, f"keep line {line} or this one")


def _key(entry: Label | Voted) -> Hashable:
    if isinstance(entry, Label):
        return entry.question, entry.transcript, entry.by
    return entry.question, entry.transcript, entry.rubric, entry.judge


def _answers(ground: Ground, file: File, number: int, entry: Label | Voted) -> Iterator[Finding]:
    """The question is the rubric's, and the answer one of its answers."""
    asked = file.rubric.head.asked
    place = rubric_path(file.name)
    if entry.question not in asked:
        hint = near(entry.question, list(asked))
        message = f'{place} has no question "{entry.question}"'
        yield Finding(_at(ground, file, number, "question"), "RUB109", message, hint)
        return
    question = asked[entry.question]
    given = [entry.answer] if isinstance(entry, Label) else [a for a in (entry.answer, *entry.votes) if a]
    odd = [answer for answer in given if answer not in question.offered]
    if odd and not (isinstance(entry, Label) and entry.wording not in ("", question.wording)):
        hint = f"the answers are {', '.join(question.offered)}"
        message = f'"{odd[0]}" is no answer to the question "{entry.question}"'
        yield Finding(_at(ground, file, number, "answer"), "RUB109", message, hint)


def _stale_labels(ground: Ground, file: File) -> Iterator[Finding]:
    """Labels of another wording, one finding a question."""
    asked = file.rubric.head.asked
    old: dict[str, list[int]] = {}
    for number, entry in enumerate(file.entries):
        if not isinstance(entry, Label) or entry.question not in asked:
            continue
        if entry.wording not in ("", asked[entry.question].wording):
            old.setdefault(entry.question, []).append(number)
    for question, numbers in old.items():
        message = f'{_counted(len(numbers), "label")} of "{question}" as it was worded before: they count for nothing'
        hint = f"evalrepo score SCENARIO --label {file.name}/{question}"
        yield Finding(_at(ground, file, numbers[0]), "RUB112", message, hint, True)


def _stale_votes(ground: Ground, file: File) -> Iterator[Finding]:
    """Votes that say nothing of the judge that would be asked now, one finding a question."""
    votes = [(number, one) for number, one in enumerate(file.entries) if isinstance(one, Voted)]
    now = judge_name(ground.config, file.rubric.head.judge.model)
    hint = f"evalrepo calibrate {file.name}"
    for question in dict.fromkeys(one.question for _, one in votes):
        if question not in file.rubric.head.asked:
            continue
        mine = [(number, one) for number, one in votes if one.question == question]
        current = [(number, one) for number, one in mine if one.rubric == file.rubric.sha256]
        if not current:
            message = f'{_counted(len(mine), "vote")} on "{question}" by another text of the rubric'
            yield Finding(_at(ground, file, mine[0][0]), "RUB113", message, hint, True)
        elif now and all(one.whom not in ("", now) for _, one in current):
            number, one = current[0]
            message = f'the votes on "{question}" are by {one.whom}, and evalrepo.yaml asks {now}'
            yield Finding(_at(ground, file, number), "RUB113", message, hint, True)


def _majority(votes: Sequence[str]) -> str:
    """What more than half of all votes say, "" when there is no such answer."""
    said = Counter(vote for vote in votes if vote).most_common(1)
    return said[0][0] if said and 2 * said[0][1] > len(votes) else ""


def _at(ground: Ground, file: File, number: int, *keys: str) -> Place:
    return ground.at(file.path, file.kind, number, *keys)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


RULES: tuple[Callable[[Ground], Iterator[Finding]], ...] = (labels,)
