"""A cell over time: one point a measured subject, and what the line looks like. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalrepo.records.verdict import Score

BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Point:
    """A subject's score at the newest commit that holds it. `comparable`: by today's stimulus and instrument."""

    commit: str
    date: str
    subject_line: str
    subject: str
    score: Score
    comparable: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """A cell's points, newest first; `elsewhere` counts measured subjects that this history does not hold."""

    scenario: str
    agent: str
    tier: str
    points: tuple[Point, ...]
    elsewhere: int

    @property
    def name(self) -> str:
        """`SCENARIO · AGENT/TIER`."""
        return f"{self.scenario} · {self.agent}/{self.tier}"

    @property
    def sparkline(self) -> str:
        """Pass rates of the comparable points, oldest first."""
        return sparkline([p.score.rate for p in reversed(self.points) if p.comparable and p.score.rate is not None])


def sparkline(rates: Sequence[float | None]) -> str:
    """One block a rate in [0, 1]; a space where there is none."""
    return "".join(" " if r is None else BARS[min(len(BARS) - 1, int(r * len(BARS)))] for r in rates)
