"""`evalrepo log`: follow a cell or a suite over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from evalrepo.commands.showing import coloured
from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell
    from evalrepo.comparing.trend import Point, Slide, Trend
    from evalrepo.records.hand import HandResult
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.world import World

WORKTREE = "WORKTREE"


@dataclass(frozen=True)
class Version:
    """A subject digest, and the newest place of this history that holds it."""

    subject: str
    commit: str
    date: str
    line: str


@click.command("log")
@click.argument("scenario", metavar="ID", required=False)
@click.option("--suite", metavar="NAME", help="Follow a suite as a whole; without an ID: every scenario.")
@click.option("--agent", metavar="NAME", help="Only this agent.")
@click.option("--tier", metavar="NAME", help="Only this tier.")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    world: World,
    *,
    scenario: str | None,
    suite: str | None,
    agent: str | None,
    tier: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Follow a scenario's cells, or a suite, along first-parent history: passes of each measured subject, newest first.

    Points by another stimulus or instrument than today's are shown and marked. Releases (tags, and what is here) that
    became worse three times in a row are named, though no step alone may show it. Exit 2 when nothing was measured.
    """
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world)
    if scenario is None:
        from evalrepo.commands.log_suite import follow

        follow(repo, suite, agent, tier, format)
    elif suite is not None:
        raise UsageError("an ID and --suite do not go together", hint="say one of them")
    else:
        _follow(repo, scenario, agent, tier, format)
    if repo.shallow:
        click.echo("note: the clone is shallow, so the history ends early: git fetch --unshallow --tags", err=True)
    return Exit.YES


def _follow(repo: Repository, scenario: str, agent: str | None, tier: str | None, form: str) -> None:
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.commands.sides import place

    candidate, rows = place(repo, WORKTREE), at_hand(repo)
    trends = _trends(repo, candidate, rows, scenario, agent, tier)
    hands = _by_hand(repo, candidate, rows, scenario)
    if form == "json":
        from evalrepo.render.json import to_json

        data = [{"name": t.name, "sparkline": t.sparkline, "trend": t} for t in trends]
        click.echo(to_json({"schema": 1, "cells": data, "by_hand": hands}), nl=False)
    else:
        from evalrepo.render.by_hand import hand_lines
        from evalrepo.render.history import trend_text

        style = coloured(repo.world.environ)
        blocks = [*(trend_text(t, style) for t in trends), "\n".join(hand_lines(hands))]
        click.echo("\n\n".join(filter(None, blocks)))


def _by_hand(repo: Repository, candidate: Place, rows: Rows, scenario: str) -> list[HandResult]:
    """What people wrote about the scenario in files of their own."""
    from evalrepo.commands.by_hand import results

    ids = candidate.ids([scenario])
    return [one for one in results(repo, rows.by_hand, [candidate]) if one.scenario in ids and one.metrics]


def _trends(
    repo: Repository, candidate: Place, rows: Rows, scenario: str, agent: str | None, tier: str | None
) -> list[Trend]:
    chosen = candidate.ids([scenario])
    cells = [
        c
        for c in rows.cells()
        if c[0] in chosen and (agent is None or c[1] == agent) and (tier is None or c[2] == tier)
    ]
    if not cells:
        raise _no_record(scenario, agent, tier, sorted({f"{c[1]}/{c[2]}" for c in rows.cells() if c[0] in chosen}))
    held = rows.select(dict.fromkeys(cells))
    versions = {i: list(_versions(repo, candidate, candidate.scenarios[i].subject)) for i in {c[0] for c in cells}}
    return [
        replace(_trend(candidate, cell, held[cell], versions[cell[0]]), slide=_slide(repo, candidate, cell, held[cell]))
        for cell in cells
    ]


def _slide(repo: Repository, here: Place, cell: Cell, rows: Sequence[Row]) -> Slide | None:
    """Of the cell's releases."""
    from evalrepo.commands.releases import Names, counts_of, slide_of
    from evalrepo.comparing.trend import Release

    if cell[1] not in here.config.agents:
        return None
    names = tuple(sorted(set(here.scenarios[cell[0]].subject)))

    def release(subjects: Mapping[Names, str | None]) -> Release | None:
        counts = counts_of(here, cell, rows, subjects[names])
        return Release("", counts[0] / counts[1], {cell: counts}) if counts else None

    return slide_of(repo, here, release)


def _no_record(scenario: str, agent: str | None, tier: str | None, there: list[str]) -> UsageError:
    if there:
        asked = "/".join(word for word in (agent, tier) if word)
        return UsageError(f"no record of {scenario} is by {asked}", hint=f"there are: {', '.join(there)}")
    return UsageError(f"no record of {scenario} is at hand", hint=f"evalrepo run {scenario}")


def _versions(repo: Repository, candidate: Place, subjects: Sequence[str]) -> Iterator[Version]:
    """Every subject of this history, newest first, the work tree's before all."""
    from evalrepo.commands.diff import touching
    from evalrepo.commands.sides import place, subject_of

    seen: set[str] = set()
    for name in (WORKTREE, *touching(repo, candidate)):
        at = candidate if name == WORKTREE else place(repo, name, lenient=True)
        subject = subject_of(at, subjects)
        if subject is None or subject in seen:
            continue
        if name == WORKTREE and _at_head(repo, subjects, subject):
            continue
        seen.add(subject)
        info = None if name == WORKTREE else repo.commit(name)
        yield Version(subject, name, info.date if info else "", info.subject if info else "not committed")


def _at_head(repo: Repository, subjects: Sequence[str], subject: str) -> bool:
    from evalrepo.commands.sides import place, subject_of

    return repo.head() is not None and subject_of(place(repo, "HEAD", lenient=True), subjects) == subject


def _trend(candidate: Place, cell: Cell, rows: Sequence[Row], versions: Sequence[Version]) -> Trend:
    from evalrepo.comparing.trend import Trend

    points = [p for v in versions for p in _points(candidate, cell, [r for r in rows if r.subject == v.subject], v)]
    known = {v.subject for v in versions}
    elsewhere = len({r.subject for r in rows} - known)
    return Trend(*cell, points=tuple(points), elsewhere=elsewhere)


def _points(candidate: Place, cell: Cell, rows: Sequence[Row], version: Version) -> Iterator[Point]:
    """By today's digests where there are such records, else by the newest others."""
    from evalrepo.commands.sides import identity_of
    from evalrepo.comparing.pool import Identity, Pool, pool, score
    from evalrepo.comparing.trend import Point

    if not rows:
        return
    known = cell[1] in candidate.config.agents
    today = identity_of(candidate, cell) if known else None
    wanted = Identity(version.subject, today.stimulus, today.instrument, today.apparatus) if today else None
    found = pool(rows, wanted) if wanted else Pool()
    why = ""
    if not found.groups:
        newest = rows[-1]
        found = pool(rows, Identity(newest.subject, newest.stimulus, newest.instrument))
        why = _why(newest, today)
    for group in found.groups[:1]:
        shown = score(group, max(len(group.reps), 1))
        at = (version.commit, version.date, version.line, version.subject)
        corrections = tuple(
            f"{e.reps} reps {e.why}" for e in found.excluded if "superseded" in e.why or "declared bad" in e.why
        )
        yield Point(*at, shown, comparable=not why, why=why, corrections=corrections)


def _why(row: Row, today: object) -> str:
    names = [
        name for name in ("stimulus", "instrument") if today is not None and getattr(row, name) != getattr(today, name)
    ]
    return "another " + " and ".join(names) if names else "another apparatus"
