"""A suite over time: what `evalrepo log` without an ID shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from evalrepo.commands.showing import coloured
from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.commands.releases import Names, Version
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell
    from evalrepo.comparing.statistics import Counts
    from evalrepo.comparing.trend import Release, SuitePoint
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository

Held = Mapping["Cell", Sequence["Row"]]


def follow(repo: Repository, suite: str | None, agent: str | None, tier: str | None, form: str) -> None:
    """Print the trend of a suite, or of every scenario. UsageError when none of its cells was measured."""
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.commands.releases import slide_of, versions
    from evalrepo.commands.sides import place
    from evalrepo.commands.status import WORKTREE, grid_of
    from evalrepo.comparing.trend import SuiteTrend

    here = place(repo, WORKTREE)
    cells = [c for c in grid_of(here, suite) if (agent is None or c[1] == agent) and (tier is None or c[2] == tier)]
    held = at_hand(repo).select(dict.fromkeys(cells))
    points = [point for v in versions(repo, here) if (point := _point(here, held, v)).counts]
    if not points:
        raise UsageError("none of these cells was measured", hint="evalrepo run measures, evalrepo status says what")
    sliding = slide_of(repo, here, lambda subjects: _release(here, held, subjects))
    trend = SuiteTrend(f"suite {suite}" if suite else "every scenario", tuple(points), sliding)
    if form == "json":
        from evalrepo.render.json import to_json

        data = {"schema": 1, "name": trend.name, "sparkline": trend.sparkline, "slide": trend.slide}
        click.echo(to_json(data | {"points": [_data(point) for point in points]}), nl=False)
    else:
        from evalrepo.render.history import suite_text

        click.echo(suite_text(trend, coloured(repo.world.environ)))


def _data(point: SuitePoint) -> dict[str, object]:
    counts = [{"cell": list(cell), "passes": p, "valid": n} for cell, (p, n) in point.counts.items()]
    told = {"commit": point.commit, "date": point.date, "subject_line": point.subject_line, "rate": point.rate}
    return told | {"whole": point.whole, "cells": point.cells, "counts": counts}


def _point(here: Place, held: Held, version: Version) -> SuitePoint:
    from evalrepo.comparing.trend import SuitePoint

    counts = _counts(here, held, version.subjects)
    return SuitePoint(version.commit, version.date, version.line, counts, len(held))


def _counts(here: Place, held: Held, subjects: Mapping[Names, str | None]) -> dict[Cell, Counts]:
    from evalrepo.commands.releases import counts_of

    found = {}
    for cell, rows in held.items():
        names = tuple(sorted(set(here.scenarios[cell[0]].subject)))
        counts = counts_of(here, cell, rows, subjects[names])
        if counts is not None:
            found[cell] = counts
    return found


def _release(here: Place, held: Held, subjects: Mapping[Names, str | None]) -> Release | None:
    """A release of which every cell was measured; the rates of others are of other scenarios."""
    from evalrepo.comparing.trend import Release, SuitePoint

    point = SuitePoint("", "", "", _counts(here, held, subjects), len(held))
    return Release("", point.rate, point.counts) if point.whole and point.rate is not None else None
