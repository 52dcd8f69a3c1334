"""`evalrepo status`: what is fresh, stale, missing, and what `run` would do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from evalrepo.commands.diff import say_findings
from evalrepo.commands.showing import coloured
from evalrepo.errors import EvalrepoError, Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.grid import Grid
    from evalrepo.comparing.grid import Place as GridPlace
    from evalrepo.comparing.pool import Cell, Group
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.running.recover import DeadRun
    from evalrepo.world import World

WORKTREE = "WORKTREE"


@dataclass(frozen=True)
class Line:
    """A cell's state: `fresh` has its reps, `partly` some of them, `stale` only older records, `missing` none.

    `run` reps would be run by `evalrepo run`; `score` is `2/3 PFP` of the counted reps, `why` says what a state is by.
    """

    scenario: str
    agent: str
    tier: str
    state: str
    have: int
    want: int
    run: int
    score: str
    why: str


@click.command("status")
@click.option("--suite", metavar="NAME", help="Only the cells of a suite.")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, suite: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """Say for each cell of the work tree whether its scores are fresh, stale or missing, and what `run` would do.

    Always exit 0 when it can tell; runs that died are reported, the next `run` recovers them.
    """
    from evalrepo.commands import auditing
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.commands.sides import place
    from evalrepo.discipline.said import standing
    from evalrepo.repository.repo import Repository
    from evalrepo.running.recover import dead_runs

    repo = Repository.open(world)
    rows = at_hand(repo)
    here = place(repo, WORKTREE)
    lines, notes = _lines(repo, here, rows, grid_of(here, suite))
    notes += [*standing(here.ledger), *auditing.note(repo), *_reserves(repo, here)]
    dead = dead_runs(repo)
    if format == "json":
        from evalrepo.render.json import to_json

        data = {"schema": 1, "cells": lines, "notes": notes, "dead_runs": [_dead(d) for d in dead]}
        click.echo(to_json(data), nl=False)
    else:
        _print(world, lines, [*notes, *map(_dead, dead)])
        say_findings(rows)
    return Exit.YES


def grid_of(here: Place, suite: str | None) -> Grid:
    """The cells of a suite, or of the whole run-set. UsageError for a suite that there is not."""
    from evalrepo.comparing.grid import open_grid

    if suite is None:
        return open_grid(here.config, here.scenarios, here.run_set())
    if suite not in here.config.suites:
        raise UsageError(f"unknown suite {suite}", hint=f"suites in evalrepo.yaml: {', '.join(here.config.suites)}")
    chosen = here.config.suites[suite]
    return open_grid(here.config, here.scenarios, here.ids(chosen.scenarios), chosen)


def _lines(repo: Repository, here: Place, rows: Rows, grid: Grid) -> tuple[list[Line], list[str]]:
    held = rows.select(dict.fromkeys(grid))
    versions, notes = _versions(repo, here, {cell[1] for cell in grid})
    return [_line(here, cell, asked, held[cell], versions) for cell, asked in grid.items()], notes


def _reserves(repo: Repository, here: Place) -> list[str]:
    """Each subject's reserve, how many looks are left, and whether this version was looked at."""
    from evalrepo.commands.background import looks
    from evalrepo.commands.known_looks import known
    from evalrepo.render.findings import counted
    from evalrepo.repository.digests import subject_part

    if not here.loaded.of_set("reserve"):
        return []
    held = known(repo, here.loaded)
    out = []
    for one in looks(here, held):
        now = subject_part(here.tree, one.subject, here.config.subjects[one.subject])[0]
        seen = any((look.subject, look.digest) == (one.subject, now) for look in held.every_look(one.subject))
        what = "this version was looked at" if seen else "this version was not looked at"
        spent = f"{one.spent} of {counted(one.allowed, 'look')} spent"
        end = "" if seen or not one.exhausted else "; RESERVE EXHAUSTED"
        more = "".join(f"; {remark}" for remark in one.remarks)
        out.append(f"reserve of {one.subject}: {counted(len(one.scenarios), 'scenario')}, {spent}, {what}{end}{more}")
    return out


def _versions(repo: Repository, here: Place, agents: set[str]) -> tuple[dict[str, str], list[str]]:
    """Agent → its CLI version here; a note for each that is not here."""
    from evalrepo.registry import module

    found: dict[str, str] = {}
    notes = []
    for agent in sorted(agents):
        settings = here.config.agents[agent]
        try:
            found[agent] = module(agent, settings).version(settings, repo.world)
        except EvalrepoError as error:
            notes.append(f"{agent} cannot run here: {error}")
    return found, notes


def _line(here: Place, cell: Cell, asked: GridPlace, rows: Sequence[Row], versions: Mapping[str, str]) -> Line:
    from evalrepo.commands.sides import digests_of, identity_of
    from evalrepo.comparing.lacking import Differences, Known, unmeasured
    from evalrepo.comparing.pool import pool, score
    from evalrepo.render.text import score_text

    identity = identity_of(here, cell)
    found = pool(_requested(here, cell, rows), identity)
    group = _here(here, cell, found.groups, versions)
    if group is not None and group.valid:
        shown, have = score(group, asked.reps), min(group.valid, asked.reps)
        state = "fresh" if have == asked.reps else "partly"
        return Line(*cell, state, have, asked.reps, asked.reps - have, score_text(shown), "")
    known = Known(found, score(group, asked.reps) if group is not None else None)
    if group is None and found.groups:
        cli = found.groups[0].parts.get("cli", "")
        return Line(*cell, "stale", 0, asked.reps, asked.reps, "", f"measured with CLI {cli}")
    label, why = unmeasured(known, identity, Differences(digests_of(here, cell).parts, {}, here.thaws(cell[0])))
    return Line(*cell, str(label), 0, asked.reps, asked.reps, score_text(known.score) if known.score else "", why)


def _requested(here: Place, cell: Cell, rows: Sequence[Row]) -> list[Row]:
    """Rows by the model that this tier asks for, as `run` counts them."""
    from evalrepo.registry import tier

    settings = tier(cell[1], here.config.agents[cell[1]], cell[2])
    model = (settings.model if settings else None) or ""
    return [row for row in rows if row.requested == model]


def _here(here: Place, cell: Cell, groups: Sequence[Group], versions: Mapping[str, str]) -> Group | None:
    """The newest group by the CLI that is here; the newest of all when there is none to ask."""
    from evalrepo.repository.digests import comparable

    if cell[1] not in versions:
        return groups[0] if groups else None
    cli = comparable(versions[cell[1]], here.config.agents[cell[1]].comparable.get("cli", "exact"))
    return next((g for g in groups if g.parts.get("cli") == cli), None)


def _dead(dead: DeadRun) -> str:
    if dead.problem:
        return f"run {dead.run} died and its journal cannot be read: {dead.problem}"
    return f"run {dead.run} died after {dead.ended} of {dead.started} started reps; the next evalrepo run recovers them"


def _print(world: World, lines: Sequence[Line], notes: Sequence[str]) -> None:
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import wrapped
    from evalrepo.render.text import table

    style = coloured(world.environ)
    if lines:
        shown = [
            (f"{x.scenario} · {x.agent}/{x.tier}", x.state, f"{x.have}/{x.want}", f"+{x.run}" if x.run else "", x.score,
             x.why)
            for x in lines
        ]  # fmt: skip
        head, rule, *body = table(
            shown,
            ("cell", "state", "reps", "run", "passed", "why" if any(x.why for x in lines) else ""),
            shrink=0,
            least=12,
        )
        click.echo("\n".join([head, rule, *(style(t, x.state) for t, x in zip(body, lines, strict=True))]))
    else:
        click.echo("no cells: evalrepo list says what there is")
    for note in notes:
        click.echo("\n".join(wrapped(note, then="  ")))
    reps, cells = sum(x.run for x in lines), sum(x.run > 0 for x in lines)
    done = f"evalrepo run would run {counted(reps, 'rep')} in {cells} of {counted(len(lines), 'cell')}"
    click.echo(done if reps else "every cell has its reps: evalrepo diff compares")
