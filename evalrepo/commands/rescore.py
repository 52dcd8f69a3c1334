"""`evalrepo rescore`: today's checks, rubric and judge on stored transcripts."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands import option
from evalrepo.commands.signals import signals
from evalrepo.errors import Exit, Interrupted, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.rejudging import Rejudging
    from evalrepo.commands.rejudging_parts import Outcome, Task
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.running.keep import Landed
    from evalrepo.running.rejudge import Doors
    from evalrepo.running.session import Session
    from evalrepo.running.words import Leave
    from evalrepo.world import World

WHY = "judged again by another instrument"
AGAIN = "judged again where a judge had given no answer, or its answers count otherwise now"


@dataclass(frozen=True)
class Options:
    """The command line of `rescore`."""

    what: tuple[str, ...]
    since: str | None
    judge: bool
    jobs: int | None
    max_cost: float | None
    live: bool
    dry_run: bool
    commit: bool
    format: str


@click.command("rescore")
@click.argument("what", nargs=-1, metavar="[ID|RUN|PATH]…")
@click.option("--since", metavar="REV", help="Scenarios whose checks, rubric or judge are others than at REV.")
@click.option("--judge", is_flag=True, help="Put questions that nobody answered yet to the judge.")
@click.option(
    "--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Ask no more when it is spent."
)
@option.jobs
@option.live
@click.option("--dry-run", is_flag=True, help="Say what would come out, and what would be asked; record nothing.")
@option.no_commit
@option.text_or_json
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Judge recorded reps by today's checks, from their stored transcripts; no agent runs.

    Words choose records as for `show`, a scenario all of its records; without any, every record of this repository.
    What comes out is recorded anew and committed, beside the old records, which never change: the subject and the
    task are as they were measured, the instrument is today's. A rep that today's instrument has judged already is
    left alone, so that asking twice makes nothing new.

    What a judge said stands where exactly the same is asked, and so do scores of people. Where today's rubric asks
    something else, or a judge had given no answer, --judge asks it now (EVALREPO_JUDGE_CMD names another); without it
    such reps are listed. An answer that was given is not asked for again.

    What cannot be judged again is listed with the way to get it: a transcript that was not fetched or was pruned, a
    command's sandbox that was not kept whole, another task, a frozen scenario that was tightened. Of the reserve only
    verdicts are told.

    Exit: 0 all that was asked for is judged by today's instrument, 1 some is not, 2 nothing is, or it cannot answer,
    3 --max-cost kept the judge from being asked, 4 the instrument is not proven, 130 interrupted: what had been judged
    is recorded.
    """
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.commands.measuring import recovered
    from evalrepo.repository.repo import Repository
    from evalrepo.running import preflight

    options = Options(**given)
    if options.max_cost is not None and not options.judge:
        raise UsageError("--max-cost is for what the judge costs", hint="--judge --max-cost 2.50")
    if options.max_cost is not None and not isfinite(options.max_cost):
        raise UsageError("--max-cost is an amount of USD", hint="--max-cost 2.50")
    repo = Repository.open(world)
    if not options.dry_run:
        preflight.git_at_rest(repo)
        preflight.writable(repo)
        recovered(repo)
    cancel = threading.Event()
    with signals(cancel), contextlib.ExitStack() as benches:
        return _rescored(_session(repo), at_hand(repo), options, cancel, benches)


def _session(repo: Repository) -> Session:
    from evalrepo.commands.measuring import well_formed
    from evalrepo.running.session import begin
    from evalrepo.store import load, usable

    tree = repo.tree("WORKTREE")
    session = begin(repo, tree, usable(load(tree, repo)))
    well_formed(session)
    return session


def _rescored(
    session: Session, rows: Rows, options: Options, cancel: threading.Event, benches: contextlib.ExitStack
) -> int:
    from evalrepo.commands.rejudging import Rejudging
    from evalrepo.commands.rejudging_parts import Outcome
    from evalrepo.commands.rescored import say
    from evalrepo.commands.sides import Place

    place = Place(session.repo, "WORKTREE", session.tree)
    place.loaded = session.loaded  # with the judge that is asked
    leave = _leave(session, options, cancel)
    judging = Rejudging(session.repo, rows, place, doors(session, benches, leave))
    out = Outcome()
    chosen = _chosen(session.repo, rows, place, options)
    held = rows.select(dict.fromkeys(chosen))
    tasks = [task for cell, wanted in chosen.items() for task in judging.plan(cell, held[cell], out, wanted)]
    landed = _judge(session, judging, tasks, out, options, leave, benches)
    say(out, landed, leave, dry_run=options.dry_run, output=options.format)
    if cancel.is_set():
        reps = sum(len(one.reps) for one in out.made)
        what = "nothing was" if not reps else "one rep is" if reps == 1 else f"{reps} reps are"
        said = f"interrupted; {what} judged again and recorded"
        raise Interrupted(said, hint="the same command goes on where it stopped")
    if leave.stopped:
        return Exit.INCONCLUSIVE
    if not out.left:
        return Exit.YES
    return Exit.NO if out.made or out.there or out.open else Exit.CANNOT


def _leave(session: Session, options: Options, cancel: threading.Event) -> Leave:
    """Whether the judge may be asked. UsageError when it is to be and cannot be."""
    from evalrepo.running.judging import VERSION
    from evalrepo.running.words import Leave
    from evalrepo.store.cache import Cache

    judge = session.loaded.config.judge
    if options.judge and not (judge.command or judge.model or judge.agent):
        raise UsageError("no judge is configured, so none can be asked", hint="`judge:` in evalrepo.yaml names one")
    return Leave(
        asks=options.judge,
        pretends=options.judge and options.dry_run,
        max_usd=options.max_cost,
        paid=judge.costs,
        cancel=cancel,
        answered=Cache(session.repo.home, "answered", VERSION),
    )


def _chosen(repo: Repository, rows: Rows, place: Place, options: Options) -> dict[Cell, list[Row] | None]:
    """Cell → its records that are asked for, None for all of them. UsageError when there are none."""
    from evalrepo.commands.finding_records import every

    if options.what:
        found: dict[Cell, list[Row] | None] = {}
        for row in every(rows, options.what):
            found.setdefault(row.cell, []).append(row)  # type: ignore[union-attr]
    else:
        found = dict.fromkeys(rows.cells())
        if not found:
            raise UsageError("nothing is recorded yet", hint="evalrepo run measures")
    if options.since is None:
        return found
    touched = _since(repo, place, options.since)
    return {cell: wanted for cell, wanted in found.items() if cell[0] in touched}


def _since(repo: Repository, place: Place, rev: str) -> set[str]:
    """Scenarios whose instrument is another than at the revision."""
    from evalrepo.commands.sides import place as at
    from evalrepo.repository.digests import instrument_digest

    base = at(repo, rev, lenient=True)
    then = {i: instrument_digest(base.tree, base.config, s) for i, s in base.scenarios.items()}
    now = {i: instrument_digest(place.tree, place.config, s) for i, s in place.scenarios.items()}
    return {i for i, digest in now.items() if then.get(i) != digest}


def doors(session: Session, benches: contextlib.ExitStack, leave: Leave) -> Callable[[], Doors]:
    """Makes what is asked outside, on one bench that `benches` closes."""

    def make() -> Doors:
        from evalrepo.running.rejudge import Doors
        from evalrepo.running.session import bench
        from evalrepo.running.views import PythonCheck, Rebuilt
        from evalrepo.running.words import hears

        workbench = benches.enter_context(bench(session))
        hear = hears(workbench.court, leave) if workbench.court is not None else None
        return Doors(Rebuilt(workbench), PythonCheck(workbench), hear)

    return make


def _judge(
    session: Session,
    judging: Rejudging,
    tasks: Sequence[Task],
    out: Outcome,
    options: Options,
    leave: Leave,
    benches: contextlib.ExitStack,
) -> list[Landed]:
    """Judge each rep, sorted into `out`, and record it; nothing is recorded by a dry run."""
    from evalrepo.commands.rejudging_parts import Made
    from evalrepo.commands.rescored import Progress
    from evalrepo.running.restate import Restating, Wanted

    wanted = [Wanted(task.record, task.header, AGAIN if task.again else WHY) for task in tasks]
    with Restating(session.repo, wanted, commit=options.commit) as restating:
        order = restating.order
        numbers = {id(tasks[number]): number for number in order}
        if tasks and not options.dry_run:
            _may_begin(session, tasks, options, leave, benches)
        progress = Progress(sum(len(task.numbers) for task in tasks), quiet=options.format == "json")
        for task, found in judging.judged((tasks[n] for n in order), _jobs(options, leave), leave.cancel):
            progress.step()
            out.add(found)
            if isinstance(found, Made):
                out.there -= len({rep.rep for rep in found.reps}) * task.again
                if not options.dry_run:
                    restating.put(numbers[id(task)], found.reps, found.files)
        return restating.land()


def _jobs(options: Options, leave: Leave) -> int:
    """Reps at a time: one where nobody is waited for."""
    from evalrepo.running.jobs import default_jobs

    return options.jobs or (default_jobs(model_free=False) if leave.asks and not leave.pretends else 1)


def _may_begin(
    session: Session, tasks: Sequence[Task], options: Options, leave: Leave, benches: contextlib.ExitStack
) -> None:
    """The instrument must be proven first, as before a run, and who pays for the judge must have said yes."""
    from evalrepo.commands.measuring import consented
    from evalrepo.records.names import asks_a_judge
    from evalrepo.running import judging, preflight
    from evalrepo.running.session import bench

    names = dict.fromkeys(task.row.scenario for task in tasks)
    scenarios = [session.loaded.scenarios[name] for name in names]
    if leave.asks and any(asks_a_judge(one.scenario) for one in scenarios):
        judge = session.loaded.config.judge
        paid = [f"the judge {judge.model or judge.agent or 'of evalrepo.yaml'}"] if judge.costs else []
        preflight.consent(paid, live=consented(session.world, live=options.live))
        judging.ready(judge, session.world.environ)
    workbench = benches.enter_context(bench(session, judged=False))
    preflight.instrument_proven(workbench, scenarios, 2, leave.cancel)
