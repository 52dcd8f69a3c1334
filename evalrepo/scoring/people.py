"""Scores by people: which metrics of a rep are theirs to give, and a rep with what they gave. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalrepo.records.record import MetricScore, Rating, Record, Rep

Given = Mapping[str, tuple[int | None, str]]
"""Metric → score from 0 to 3, and evidence. None takes back what the person gave before."""


def open_metrics(rep: Rep) -> tuple[str, ...]:
    """Metrics that a person may score: those that are people's, and those that nothing else could score. An ERROR has
    none: it says nothing of the agent."""
    if not rep.valid:
        return ()
    return tuple(name for name, found in rep.metrics.items() if found.source == "human" or found.score is None)


def rated(rep: Rep, by: str, given: Given, day: str) -> Rep:
    """The rep with these scores of a person, who replaces what the same person gave before. `day`: YYYY-MM-DD, UTC."""
    metrics = {name: _rated(found, by, given.get(name), day) for name, found in rep.metrics.items()}
    return rep.model_copy(update={"metrics": metrics})


def rating(found: MetricScore, by: str) -> Rating | None:
    """What this person gave."""
    return next((one for one in found.ratings if one.by == by), None)


def _rated(found: MetricScore, by: str, given: tuple[int | None, str] | None, day: str) -> MetricScore:
    before = rating(found, by)
    if given is None or (given[0] is None and before is None):
        return found
    score, evidence = given
    new = None if score is None else Rating(by=by, score=score, evidence=evidence, on=day)
    every = [new if one is before else one for one in found.ratings] + ([new] if before is None else [])
    ratings = tuple(one for one in every if one is not None)
    if not ratings:
        return MetricScore(score=None, source="human", evidence=f"taken back by {by}")
    return _of(ratings)


def _of(ratings: tuple[Rating, ...]) -> MetricScore:
    """The lowest of what people gave counts."""
    said = "; ".join(f"{r.by} {r.score}: {r.evidence}" for r in ratings) if len(ratings) > 1 else ratings[0].evidence
    return MetricScore(score=min(r.score for r in ratings), source="human", evidence=said, ratings=ratings)


def joined(rep: Rep, others: Iterable[Rep]) -> Rep:
    """The rep with what people gave in other records of it as well; of one person the later day counts, or the lower
    score."""
    metrics = dict(rep.metrics)
    for other in others:
        for name, found in other.metrics.items():
            if found.ratings and name in open_metrics(rep):
                metrics[name] = _joined(metrics[name], found)
    return rep.model_copy(update={"metrics": metrics})


def _joined(found: MetricScore, other: MetricScore) -> MetricScore:
    held = {one.by: one for one in found.ratings}
    for one in other.ratings:
        mine = held.setdefault(one.by, one)
        held[one.by] = max((mine, one), key=lambda r: (r.on, -r.score))
    return _of(tuple(held.values())) if tuple(held.values()) != found.ratings else found


def raters(reps: Iterable[Rep]) -> list[str]:
    """Everybody who scored any of the reps, in order of first appearance."""
    return list(dict.fromkeys(r.by for rep in reps for found in rep.metrics.values() for r in found.ratings))


def pairs(record: Record, one: str, other: str) -> list[tuple[int, int]]:
    """Scores of the same metric in the same rep by these two people."""
    found: list[tuple[int, int]] = []
    for rep in record.reps:
        for score in rep.metrics.values():
            by = {rating.by: rating.score for rating in score.ratings}
            if one in by and other in by:
                found.append((by[one], by[other]))
    return found


def matrix(found: Sequence[tuple[int, int]], size: int = 4) -> list[list[int]]:
    """Pairs of scores from 0, counted: rows are the first's."""
    counts = [[0] * size for _ in range(size)]
    for a, b in found:
        counts[a][b] += 1
    return counts
