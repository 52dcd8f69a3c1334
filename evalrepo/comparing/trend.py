"""A cell over time: one point a measured subject, and what the line looks like. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalrepo.comparing.pool import Cell
from evalrepo.comparing.statistics import Counts, mean, stratified
from evalrepo.records.verdict import Score

BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Point:
    """A subject's score at the newest commit that holds it. `comparable`: by today's stimulus and instrument;
    `corrections`: reps whose first record another superseded, a sentence each."""

    commit: str
    date: str
    subject_line: str
    subject: str
    score: Score
    comparable: bool
    why: str = ""
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trend:
    """A cell's points, newest first; `elsewhere` counts measured subjects that this history does not hold; `slide`
    when its releases became worse each time."""

    scenario: str
    agent: str
    tier: str
    points: tuple[Point, ...]
    elsewhere: int
    slide: Slide | None = None

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


@dataclass(frozen=True, slots=True)
class SuitePoint:
    """The scores of a suite's cells by one version of the subjects, at the newest commit that holds it.

    `counts`: (passes, valid) of each cell that has valid reps by today's stimulus, instrument and apparatus.
    """

    commit: str
    date: str
    subject_line: str
    counts: Mapping[Cell, Counts]
    cells: int

    @property
    def whole(self) -> bool:
        """Every cell is measured, so that rates of points can be compared."""
        return len(self.counts) == self.cells

    @property
    def rate(self) -> float | None:
        """Mean over scenarios of their mean pass rate, None when nothing is measured."""
        rates: dict[str, list[float]] = {}
        for (scenario, _, _), (passes, valid) in self.counts.items():
            rates.setdefault(scenario, []).append(passes / valid)
        return mean([mean(held) for held in rates.values()]) if rates else None


@dataclass(frozen=True, slots=True)
class SuiteTrend:
    """A suite over time, newest first; `slide` when its releases became worse each time."""

    name: str
    points: tuple[SuitePoint, ...]
    slide: Slide | None = None

    @property
    def sparkline(self) -> str:
        """Pass rates of the whole points, oldest first."""
        return sparkline([p.rate for p in reversed(self.points) if p.whole])


@dataclass(frozen=True, slots=True)
class Release:
    """A tag, or what is here now; `counts` as in `SuitePoint`."""

    name: str
    rate: float
    counts: Mapping[Cell, Counts]


@dataclass(frozen=True, slots=True)
class Slide:
    """Releases, oldest first, of which each was worse than the one before. `p_step`: one-sided exact p of the last
    step alone, against the last tag; `p_drop` of the whole way."""

    names: tuple[str, ...]
    rates: tuple[float, ...]
    p_step: float
    p_drop: float


LONG = 3
"""Releases in a row, each a little worse, that make a slide."""


def slide(releases: Sequence[Release]) -> Slide | None:
    """The slide that the last of these releases (oldest first) ends, None when there is none."""
    start = len(releases) - 1
    while start > 0 and releases[start - 1].rate > releases[start].rate:
        start -= 1
    run = releases[max(start, 0) :]
    if len(run) < LONG:
        return None
    return Slide(tuple(r.name for r in run), tuple(r.rate for r in run), _fell(*run[-2:]), _fell(run[0], run[-1]))


def _fell(before: Release, after: Release) -> float:
    return stratified([(before.counts[c], after.counts[c]) for c in before.counts if c in after.counts]).p_drop
