"""Scores by people: whose they are to give, and what stands when two differ."""

from __future__ import annotations

from typing import Literal

from evalrepo.records.record import MetricScore, Rating, Rep, Timing, Verdict
from evalrepo.scoring.people import open_metrics, rated, raters

Source = Literal["mechanical", "judge", "human"]
DAY = "2026-11-30"


def rep(verdict: Verdict = Verdict.PASS, **metrics: tuple[int | None, Source]) -> Rep:
    scores = {name: MetricScore(score=score, source=source) for name, (score, source) in metrics.items()}
    error = "idle" if verdict is Verdict.ERROR else ""
    when = Timing(start="2026-11-30T05:00:00Z", seconds=1.0)
    return Rep(rep=1, attempt=1, verdict=verdict, error=error, metrics=scores, timing=when)


def test_people_score_what_is_theirs_and_what_nothing_else_could_score() -> None:
    seen = rep(M1=(None, "human"), M3=(2, "mechanical"), M4=(None, "judge"), M6=(None, "mechanical"))
    assert open_metrics(seen) == ("M1", "M4", "M6")
    assert open_metrics(rep(Verdict.ERROR, M1=(None, "human"))) == ()


def test_a_score_keeps_who_gave_it_and_its_evidence() -> None:
    found = rated(rep(M1=(None, "human"), M2=(None, "human")), "Ann", {"M1": (2, "line 4")}, DAY)
    assert found.metrics["M1"].score == 2
    assert found.metrics["M1"].evidence == "line 4"
    assert found.metrics["M1"].ratings == (Rating(by="Ann", score=2, evidence="line 4", on=DAY),)
    assert found.metrics["M2"].score is None
    assert raters([found]) == ["Ann"]


def test_where_two_people_differ_the_lower_score_counts_and_both_stand() -> None:
    first = rated(rep(M1=(None, "human")), "Ann", {"M1": (3, "line 4")}, DAY)
    both = rated(first, "Bob", {"M1": (1, "line 9")}, DAY)
    assert both.metrics["M1"].score == 1
    assert both.metrics["M1"].evidence == "Ann 3: line 4; Bob 1: line 9"
    assert raters([both]) == ["Ann", "Bob"]


def test_a_person_who_scores_again_replaces_the_own_score_and_nobody_elses() -> None:
    both = rated(rated(rep(M1=(None, "human")), "Ann", {"M1": (3, "line 4")}, DAY), "Bob", {"M1": (1, "line 9")}, DAY)
    again = rated(both, "Bob", {"M1": (3, "line 5")}, DAY)
    assert again.metrics["M1"].score == 3
    assert [(r.by, r.score) for r in again.metrics["M1"].ratings] == [("Ann", 3), ("Bob", 3)]


def test_a_record_without_ratings_is_written_as_before() -> None:
    assert "ratings" not in rep(M1=(2, "human")).metrics["M1"].model_dump()
