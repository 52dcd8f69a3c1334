"""A judge against people: how far its answers are theirs, and whether it may decide. Pure.

A judge decides a question where its answers agree with people's beyond chance (Cohen's κ, weighted by squared distance
for 0-3) on enough labelled reps of every class. Elsewhere it is advisory: shown, in no verdict and no gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from evalrepo.comparing.statistics import ac1, agreement, corrected, kappa, rogan_gladen
from evalrepo.records.calibration import Calibration, Disagreement, Pair, Rule, Share
from evalrepo.records.labels import Label, Voted
from evalrepo.records.rubric import Question, Rubric

LABELS = 50
"""Least labelled reps by which a rate is corrected for its judge's errors."""


def calibrated(
    question: str,
    answers: Sequence[str],
    people: Mapping[str, Sequence[str]],
    judge: Mapping[str, str],
    rule: Rule,
    *,
    ordinal: bool = False,
) -> Calibration:
    """`people`: transcript → answers, one a person; `judge`: transcript → its answer, "" for none. What is none of the
    `answers` (a rubric that offered others) is no answer. `ordinal`: they are a scale, and near misses count less.
    """
    place = {answer: i for i, answer in enumerate(answers)}
    people = {t: [answer for answer in all_ if answer in place] for t, all_ in people.items()}
    judge = {t: answer if answer in place else "" for t, answer in judge.items()}
    settled = {transcript: said for transcript, all_ in people.items() if (said := _settled(all_))}
    both = {t: (said, judge[t]) for t, said in settled.items() if judge.get(t)}
    matrix = [[0] * len(answers) for _ in answers]
    for said, voted in both.values():
        matrix[place[said]][place[voted]] += 1
    bare = Calibration(
        question=question,
        answers=tuple(answers),
        matrix=tuple(map(tuple, matrix)),
        agreement=agreement(matrix),
        kappa=kappa(matrix, "quadratic" if ordinal else "equal"),
        weighted=ordinal,
        ac1=ac1(matrix),
        disagreements=tuple(Disagreement(t, said, voted) for t, (said, voted) in both.items() if said != voted),
        unanswered=sum(judge.get(t) == "" for t in settled),
        unsettled=sum(bool(all_) for all_ in people.values()) - len(settled),
        unasked=sum(t not in judge for t in settled),
    )
    return bare._replace(why=_lacking(bare, rule))


def by_people(found: Calibration, answered: Mapping[str, int]) -> Share | None:
    """The share of the first answer among all that the judge `answered` (answer → how often), as people would give it.

    None for other than two answers, for fewer labels than `LABELS`, and for a judge no better than chance.
    """
    count, of = answered.get(found.answers[0], 0), sum(answered.get(answer, 0) for answer in found.answers)
    if len(found.answers) != 2 or found.n < LABELS or not of:
        return None
    (hits, missed), (wrong, cleared) = found.matrix
    positives, negatives = hits + missed, wrong + cleared
    if not positives or not negatives:
        return None
    share = rogan_gladen(count / of, hits / positives, cleared / negatives)
    bounds = corrected((count, of), (hits, positives), (cleared, negatives))
    return Share(found.answers[0], count, of, share, *bounds) if share is not None and bounds is not None else None


def _settled(said: Sequence[str]) -> str:
    """What most of them said; "" where as many said something else."""
    counts = Counter(said).most_common(2)
    return counts[0][0] if counts and (len(counts) == 1 or counts[0][1] > counts[1][1]) else ""


def _lacking(found: Calibration, rule: Rule) -> str:
    """The first thing that is missing for it to decide; nothing where the rule asks for no label."""
    if not rule.labels:
        return ""
    classes = sorted((sum(row) for row in found.matrix), reverse=True)
    second = classes[1] if len(classes) > 1 else 0
    if found.n < rule.labels:
        return f"{found.n} of {rule.labels} labelled reps"
    if second < rule.each:
        return f"only {second} of {rule.each} reps outside the commonest class"
    if found.kappa is None:
        return "κ is unknown"
    if found.kappa.value < rule.kappa:
        return f"κ {found.kappa.value:.2f} is below {rule.kappa:g}"
    return ""


def of_rubric(
    name: str, rubric: Rubric, labels: Iterable[Label], votes: Iterable[Voted], rule: Rule
) -> dict[tuple[str, str, str], Calibration]:
    """(rubric, question, judge) → the standing of every judge that voted on labelled reps by this very rubric.

    What was voted by another text of it counts for nothing, and so do labels of another wording of the question.
    """
    held = list(labels)
    found: dict[tuple[str, str, str], Calibration] = {}
    mine = [vote for vote in votes if vote.rubric == rubric.sha256]
    for question, asked in rubric.head.asked.items():
        of_it = [label for label in held if label.question == question]
        answers, stale = _people(of_it, asked.wording)
        people = {transcript: list(by.values()) for transcript, by in answers.items()}
        raters = _raters(answers, asked)
        for judge in dict.fromkeys(vote.judge for vote in mine if vote.question == question) or ("",):
            said = {v.transcript: v.answer for v in mine if (v.question, v.judge) == (question, judge)}
            if people or said or stale:
                one = calibrated(question, asked.offered, people, said, rule, ordinal=bool(asked.scale))
                found[name, question, judge] = one._replace(stale=stale, raters=raters)
    return found


def by_name(
    found: Mapping[tuple[str, str, str], Calibration], name: str, votes: Iterable[Voted]
) -> dict[tuple[str, str, str], Calibration]:
    """(rubric, question, whom) → the standing of whoever answered to this name, of several one that decides.

    Of a judge that gave no answer nobody knows which model it was: it is held to be the one that was calibrated.
    """
    out: dict[tuple[str, str, str], Calibration] = {}
    for vote in votes:
        one, key = found.get((name, vote.question, vote.judge)), (name, vote.question, vote.whom)
        if vote.whom and one is not None and (one.decides or key not in out):
            out[key] = one
    return out


def _raters(answers: Mapping[str, Mapping[str, str]], question: Question) -> tuple[Pair, ...]:
    """How far every two people agree on the reps that both labelled."""
    place = {answer: i for i, answer in enumerate(question.offered)}
    found = []
    for one, other in combinations(dict.fromkeys(by for given in answers.values() for by in given), 2):
        matrix = [[0] * len(place) for _ in place]
        for given in answers.values():
            if given.get(one) in place and given.get(other) in place:
                matrix[place[given[one]]][place[given[other]]] += 1
        same, of = sum(matrix[i][i] for i in range(len(place))), sum(map(sum, matrix))
        if of:
            found.append(Pair(one, other, same, of, kappa(matrix, "quadratic" if question.scale else "equal")))
    return tuple(found)


def _people(labels: Sequence[Label], wording: str) -> tuple[dict[str, dict[str, str]], int]:
    """Transcript → person → answer (the last given), and how many labels answer another wording."""
    said: dict[str, dict[str, str]] = {}
    current = [label for label in labels if label.wording in ("", wording)]
    for label in current:
        said.setdefault(label.transcript, {})[label.by] = label.answer
    return said, len(labels) - len(current)
