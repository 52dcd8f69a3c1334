"""`evalrepo plan`: what more reps would tell, and at what price."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalrepo.commands import option
from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalrepo.commands.sides import Place
    from evalrepo.comparing.grid import Grid
    from evalrepo.comparing.grid import Place as GridPlace
    from evalrepo.comparing.planning import Known
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.world import World

REPS = (3, 5, 8)


@click.command("plan")
@click.argument("suite", required=False)
@click.option("--reps", multiple=True, type=click.IntRange(min=1, max=100), help="Reps to look at; default 3, 5, 8.")
@option.jobs
@option.text_or_json
@click.pass_obj
def command(world: World, *, suite: str | None, reps: tuple[int, ...], jobs: int | None, format: str) -> int:  # noqa: A002
    """Say what so many reps of a suite (default: of every scenario) could show, what they cost, and where they lack.

    From what is recorded: pass rates, and medians of cost and time. Both sides of the comparison with the gate's
    baseline are priced. Runs nothing; exit 0 when it can tell.
    """
    from evalrepo.commands.baseline import next_baseline
    from evalrepo.commands.showing import coloured
    from evalrepo.commands.sides import place
    from evalrepo.commands.status import WORKTREE, grid_of
    from evalrepo.comparing.planning import Question, outlook
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world)
    here = place(repo, WORKTREE)
    grid = grid_of(here, suite)
    if not grid:
        raise UsageError("there is no cell to plan for", hint="evalrepo list says what there is")
    gate = here.config.gate
    base = next_baseline(repo, here)
    name = base.name if base is not None else ""
    reps, jobs = tuple(sorted(set(reps))) or REPS, jobs or _jobs(here, grid)
    asked = Question(reps, gate.alpha, gate.margin, jobs, suite or "", name)
    found = outlook(_known(repo, here, base, grid), asked)
    if format == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json({"schema": 1, "plan": found}), nl=False)
    else:
        from evalrepo.render.planning import outlook_text

        click.echo(outlook_text(found, coloured(world.environ)))
    return Exit.YES


def _jobs(here: Place, grid: Grid) -> int:
    from evalrepo.comparing.grid import model_free
    from evalrepo.registry import module
    from evalrepo.running.jobs import default_jobs

    agents = {agent: here.config.agents[agent] for _, agent, _ in grid}
    need = max(module(name, settings).traits(settings).memory for name, settings in agents.items())
    return default_jobs(model_free=all(model_free(agent, tier) for _, agent, tier in grid), need=need)


def _known(repo: Repository, here: Place, base: Place | None, grid: Grid) -> list[Known]:
    from evalrepo.commands.finding_records import at_hand

    held = at_hand(repo).select(dict.fromkeys(grid))
    return [_of_cell(here, base, cell, asked, held[cell]) for cell, asked in grid.items()]


def _of_cell(here: Place, base: Place | None, cell: Cell, asked: GridPlace, rows: Sequence[Row]) -> Known:
    from evalrepo.commands.releases import counts_of
    from evalrepo.commands.sides import identity_of, subject_of
    from evalrepo.comparing.grid import model_free
    from evalrepo.comparing.planning import Known, used

    today = identity_of(here, cell)
    others = [r for r in rows if r.subject != today.subject and (r.stimulus, r.instrument) == today.key()[1:]]
    there = subject_of(base, here.scenarios[cell[0]].subject) if base is not None else None
    at_base = (counts_of(here, cell, rows, there) or (0, 0)) if there not in (None, today.subject) else None
    newest = counts_of(here, cell, rows, others[-1].subject) if others else None
    usd, seconds = used(rows, free=model_free(*cell[1:]))
    return Known(
        *cell,
        want=asked.reps,
        bar=asked.bar,
        here=counts_of(here, cell, rows, today.subject) or (0, 0),
        before=at_base if at_base and at_base[1] else newest or (0, 0),
        usd=usd,
        seconds=seconds,
        base=at_base[1] if at_base is not None else None,
    )
