"""A cell or a suite over time, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from evalrepo.records.unset import UNSET
from evalrepo.records.verdict import Score
from evalrepo.render.safe import wrapped
from evalrepo.render.text import Style, command_lines, score_text, table


class Moment(Protocol):
    """What is shown of any point: the newest commit of its subjects."""

    @property
    def commit(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def subject_line(self) -> str: ...


class PointShown(Moment, Protocol):
    """What is shown of a cell's point."""

    @property
    def score(self) -> Score: ...
    @property
    def why(self) -> str: ...
    @property
    def corrections(self) -> tuple[str, ...]: ...


class SlideShown(Protocol):
    """What is shown of a slide."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def rates(self) -> tuple[float, ...]: ...
    @property
    def p_step(self) -> float: ...
    @property
    def p_drop(self) -> float: ...


class SuitePointShown(Moment, Protocol):
    """What is shown of a suite's point."""

    @property
    def counts(self) -> Mapping[Any, tuple[int, int]]: ...
    @property
    def cells(self) -> int: ...
    @property
    def rate(self) -> float | None: ...


class Timeline(Protocol):
    """What is shown of a cell or a suite over time."""

    @property
    def name(self) -> str: ...
    @property
    def sparkline(self) -> str: ...
    @property
    def points(self) -> Sequence[Moment]: ...
    @property
    def slide(self) -> SlideShown | None: ...


class SuiteShown(Timeline, Protocol):
    """What is shown of a suite's trend."""

    @property
    def points(self) -> Sequence[SuitePointShown]: ...


class TrendShown(Timeline, Protocol):
    """What is shown of a cell's trend."""

    @property
    def elsewhere(self) -> int: ...
    @property
    def points(self) -> Sequence[PointShown]: ...


def trend_text(trend: TrendShown, style: Style) -> str:
    """Sparkline, oldest first, above a table, newest first."""
    rows = [(score_text(p.score), p.why) for p in trend.points]
    lines = _timeline(trend, ("passed", ""), rows, style)
    lines += _metrics(trend.points)
    for text in dict.fromkeys(text for p in trend.points for text in p.corrections):
        lines += wrapped(f"corrected: {text}", then="  ")
    if trend.elsewhere:
        noun = "subject" if trend.elsewhere == 1 else "subjects"
        lines += wrapped(f"{trend.elsewhere} measured {noun} that this history does not hold")
    return "\n".join([*lines, *slide_lines(trend.slide, style)])


def _metrics(points: Sequence[PointShown]) -> list[str]:
    """Means of the 0-3 metrics, a line a point, `–` where nobody scored; and the people who did."""
    names = sorted({name for p in points for name in p.score.metrics})
    if not names:
        return []
    rows = [(_commit(p.commit), p.date[:10], *(_metric(p.score, name) for name in names)) for p in points]
    raters = dict.fromkeys(one for p in points for people in p.score.raters.values() for one in people)
    by = wrapped(f"scored by {', '.join(raters)}", then="  ") if raters else []
    return ["", *table(rows, ("commit", "date", *names), shrink=1), *by]


def _metric(score: Score, name: str) -> str:
    value = score.metrics.get(name)
    return UNSET if value is None else f"{value:.2f}".removesuffix(".00")


def suite_text(trend: SuiteShown, style: Style) -> str:
    """The same of a suite; a point lacks cells where not all of them were measured with its subjects."""
    rows = [(f"{p.rate:.1%}" if p.rate is not None else "", _passed(p), _cells(p)) for p in trend.points]
    lines = _timeline(trend, ("rate", "passed", "cells"), rows, style)
    if any(len(p.counts) < p.cells for p in trend.points):
        lines += wrapped("Points that lack cells are not drawn: their rates are of other scenarios.", then="  ")
    return "\n".join([*lines, *slide_lines(trend.slide, style)])


def _timeline(shown: Timeline, heads: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> list[str]:
    """The heading with its sparkline, and a line a point: its commit, the columns of `rows`, what the commit says."""
    lines = [style(line, "heading") for line in wrapped(f"{shown.name}  {shown.sparkline}".rstrip())]
    if not shown.points:
        return lines
    told = [(_commit(p.commit), p.date[:10], *row, p.subject_line) for p, row in zip(shown.points, rows, strict=True)]
    return [*lines, *table(told, ("commit", "date", *heads, "what"), shrink=len(heads) + 2)]


def _passed(point: SuitePointShown) -> str:
    return f"{sum(p for p, _ in point.counts.values())}/{sum(n for _, n in point.counts.values())}"


def _cells(point: SuitePointShown) -> str:
    return f"{len(point.counts)} of {point.cells}"


def slide_lines(slide: SlideShown | None, style: Style) -> list[str]:
    """What is said of releases that became worse each time."""
    if slide is None:
        return []
    steps = " → ".join(f"{name} {rate:.1%}" for name, rate in zip(slide.names, slide.rates, strict=True))
    fall = (slide.rates[0] - slide.rates[-1]) * 100
    text = (
        f"slow slide: {steps}: each release a little worse, together {fall:.1f} points (exact p {small(slide.p_drop)}; "
        f"the last step alone, against {slide.names[-2]}, {small(slide.p_step)})"
    )
    first, *rest = wrapped(text, then="  ")
    return [style(first, "worse"), *rest, *command_lines(f"evalrepo diff {slide.names[0]}")]


def small(p: float) -> str:
    """A probability that is never said to be zero."""
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def _commit(commit: str) -> str:
    return commit[:7] if len(commit) >= 40 else commit
