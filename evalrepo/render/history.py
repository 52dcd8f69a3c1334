"""A cell over time, as text."""

from __future__ import annotations

from typing import Protocol

from evalrepo.records.verdict import Score
from evalrepo.render.safe import wrapped
from evalrepo.render.text import Style, score_text, table


class PointShown(Protocol):
    """What is shown of a point."""

    @property
    def commit(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def subject_line(self) -> str: ...
    @property
    def score(self) -> Score: ...
    @property
    def why(self) -> str: ...


class TrendShown(Protocol):
    """What is shown of a trend."""

    @property
    def name(self) -> str: ...
    @property
    def sparkline(self) -> str: ...
    @property
    def elsewhere(self) -> int: ...
    @property
    def points(self) -> tuple[PointShown, ...]: ...


def trend_text(trend: TrendShown, style: Style) -> str:
    """Sparkline, oldest first, above a table, newest first."""
    lines = [style(line, "heading") for line in wrapped(f"{trend.name}  {trend.sparkline}".rstrip())]
    if trend.points:
        rows = [(_commit(p.commit), p.date[:10], score_text(p.score), p.why, p.subject_line) for p in trend.points]
        lines += table(rows, ("commit", "date", "passed", "", "what"), shrink=4)
    if trend.elsewhere:
        noun = "subject" if trend.elsewhere == 1 else "subjects"
        lines += wrapped(f"{trend.elsewhere} measured {noun} that this history does not hold")
    return "\n".join(lines)


def _commit(commit: str) -> str:
    return commit[:7] if len(commit) >= 40 else commit
