"""Measuring one content or two that are compared, for every command that does: what must hold, the reps, the end."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from evalrepo.errors import DataError, Interrupted
from evalrepo.running.budget import Budget

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.running.bench import Bench
    from evalrepo.running.keep import Landed
    from evalrepo.running.plan import Plan
    from evalrepo.running.recover import Recovered
    from evalrepo.running.session import Session
    from evalrepo.world import World


@dataclass(frozen=True)
class Means:
    """How reps are run: at a time (None: from cores and memory), whether results are committed, consent, output, and
    what may be spent."""

    jobs: int | None = None
    commit: bool = True
    live: bool = False
    format: str = "text"
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Wanted:
    """One content to be measured, and its plan by what is recorded now."""

    session: Session
    replan: Callable[[], Plan]


def recovered(repo: Repository) -> None:
    """Finish dead runs, each said."""
    from evalrepo.running.recover import recover

    for done in recover(repo, repo.world):
        click.echo(f"run {done.run} had died: {_what_became(done)}", err=True)


def _what_became(done: Recovered) -> str:
    if done.error is not None:
        return f"not recovered yet, nothing is lost: {done.error}"
    if done.landed is None or not done.landed.records:
        return "it had no reps"
    reps = sum(len(record.reps) for record in done.landed.records.values())
    recorded = f"{reps} reps are" if reps != 1 else "one rep is"
    return f"its {recorded} recorded, {done.interrupted} ERROR(interrupted)"


def measured(
    here: Session,
    wanted: Sequence[Wanted],
    means: Means,
    cancel: threading.Event,
    *,
    sound: bool = False,
    begin: Callable[[], object] = lambda: None,
) -> list[Landed]:
    """Bring every content to its plan, their reps in turns. `here`: the work tree, whose files must be sound; `sound`:
    this process has seen that they are, and said what there is to say before the first rep; `begin` is called when
    everything holds, before the first rep.

    Raises what the preflight refuses, and Interrupted after Ctrl-C with what was kept.
    """
    from evalrepo.commands.progress import shown
    from evalrepo.running.rounds import How, Side, measure_sides
    from evalrepo.running.session import bench, snapshot

    plans = [want.replan() for want in wanted]
    _may_start(here, plans, means, sound=sound)
    jobs = jobs_for(plans, means)
    with contextlib.ExitStack() as benches:
        sides = []
        for want, made in zip(wanted, plans, strict=True):
            workbench = benches.enter_context(bench(want.session))
            _proven(want.session, workbench, made, jobs, cancel)
            tree = snapshot(want.session, made) if made.reps else ""
            sides.append(Side(want.session, workbench, want.replan, tree))
        begin()
        with shown(means.format, here.world.environ.get("TERM", "")) as show:
            landed = measure_sides(sides, How(jobs, means.commit, budget=means.budget), show, cancel)
    if cancel.is_set():
        raise _interrupted(landed)
    return landed


def _may_start(here: Session, plans: Sequence[Plan], means: Means, *, sound: bool) -> None:
    """What needs no bench: consent, rehearsals, the judge, canaries; and unless they are `sound`, the files."""
    from evalrepo.commands.limits import say_limits, untested
    from evalrepo.running import judging, preflight

    preflight.consent(_paid(here, plans), live=consented(here.world, live=means.live))
    preflight.rehearsable(plans)
    if any(_judged(plans)):
        judging.ready(here.loaded.config.judge, here.world.environ)
    preflight.looked_at(here, plans)
    if not sound:
        well_formed(here)
        untested(here, plans)
        say_limits(here, plans, means.budget)


def _interrupted(landed: Sequence[Landed]) -> Interrupted:
    kept = sum(len(record.reps) for one in landed for record in one.records.values())
    said = f"interrupted; {'one rep is' if kept == 1 else f'{kept} reps are'} kept"
    return Interrupted(said, hint="the same command goes on where it stopped")


def jobs_for(plans: Iterable[Plan], means: Means) -> int:
    """Reps at a time."""
    from evalrepo.running.jobs import GIB, default_jobs

    cells = [cell for made in plans for cell in made.cells]
    need = max((cell.memory for cell in cells), default=GIB)
    return means.jobs or default_jobs(model_free=all(cell.header.model_free for cell in cells), need=need)


def announce(session: Session, means: Means) -> None:
    """Say how reps are isolated."""
    from evalrepo.render.safe import wrapped

    if means.format == "text":
        found = session.isolation
        click.echo("\n".join(wrapped(f"isolation: {found.level} ({found.why})", then="  ")), err=True)


def well_formed(here: Session) -> None:
    """DataError when something frozen was touched, or the files have findings."""
    from evalrepo.linting import lint
    from evalrepo.running import preflight

    preflight.nothing_frozen_touched(here.repo, here.tree)
    wrong = [f for f in lint(here.tree, here.repo, here.loaded) if not f.warning]
    if wrong:
        raise DataError(wrong, hint="evalrepo lint shows everything that is wrong; --explain CODE says what one means")


def consented(world: World, *, live: bool) -> bool:
    """Whether what costs money may be asked."""
    return live or world.environ.get("EVALREPO_LIVE") == "1"


def _paid(here: Session, plans: Iterable[Plan]) -> list[str]:
    from evalrepo.registry import module

    agents = here.loaded.config.agents
    cells = (cell.header for made in plans for cell in made.cells if cell.need)
    running = dict.fromkeys(header.agent for header in cells if not header.model_free)
    judge = here.loaded.config.judge
    judged = judge.costs and any(_judged(plans))
    paid = [name for name in running if module(name, agents[name]).traits(agents[name]).paid]
    return [*paid, *([f"the judge {judge.model or judge.agent}"] if judged else [])]


def _judged(plans: Iterable[Plan]) -> Iterator[bool]:
    """Of every cell that is to be measured, whether a judge is asked about it."""
    from evalrepo.records.names import asks_a_judge

    return (asks_a_judge(cell.scenario) for made in plans for cell in made.cells if cell.need)


def _proven(session: Session, workbench: Bench, made: Plan, jobs: int, cancel: threading.Event) -> None:
    from evalrepo.running import preflight

    names = dict.fromkeys(cell.header.scenario for cell in made.cells if cell.need)
    preflight.instrument_proven(workbench, [session.loaded.scenarios[i] for i in names], jobs, cancel)
