"""Scores that people gave in result files of their own: whose subject they are about, and what fell. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evalrepo.records.inference import HandScore
from evalrepo.records.verdict import Reason, Verdict


class Hand(NamedTuple):
    """One hand-written result: the scenario's id, its day, the subject's digest at the commit that added it, scores."""

    scenario: str
    day: str
    path: str
    subject: str
    scores: Mapping[str, int]


def hand_scores(found: Iterable[Hand], before: Mapping[str, str], after: Mapping[str, str]) -> tuple[HandScore, ...]:
    """Of each scenario and metric the newest score of either side. `before`, `after`: scenario → subject digest.

    A result about another subject than a side's is none of that side.
    """
    ordered = sorted(found, key=lambda hand: (hand.day, hand.path))
    old, new = _newest(ordered, before), _newest(ordered, after)
    rows = []
    for scenario, metric in sorted({*old, *new}):
        (was, was_in), (now, now_in) = old.get((scenario, metric), _NONE), new.get((scenario, metric), _NONE)
        rows.append(HandScore(scenario, metric, was, now, was_in, now_in))
    return tuple(rows)


_NONE: tuple[int | None, str] = (None, "")


def _newest(ordered: Iterable[Hand], subjects: Mapping[str, str]) -> dict[tuple[str, str], tuple[int | None, str]]:
    out: dict[tuple[str, str], tuple[int | None, str]] = {}
    for hand in ordered:
        if subjects.get(hand.scenario) == hand.subject:
            out |= {(hand.scenario, metric): (score, hand.path) for metric, score in hand.scores.items()}
    return out


def by_hand(bare: Verdict, kind: str) -> list[Reason]:
    """A reason for each score that fell and is not waived."""
    waived = {w.metric for w in bare.background.waivers if not w.problem}
    return [
        Reason(
            kind,
            "by-hand",
            _text(score),
            f"evalrepo waive {score.metric} --why REASON --until YYYY-MM-DD",
            (score.scenario,),
        )
        for score in bare.background.by_hand
        if score.fell and score.metric not in waived
    ]


def _text(score: HandScore) -> str:
    where = f"{score.before_path.rpartition('/')[2]} → {score.after_path.rpartition('/')[2]}"
    return f"{score.scenario} {score.metric}, scored by hand, fell from {score.before} to {score.after} ({where})"
