"""`evalrepo run`: measure cells and commit the results."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands.ending import nothing_chosen, show_end, show_nothing, show_plan
from evalrepo.errors import DataError, Interrupted, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.change import Change
    from evalrepo.commands.counting import Counts
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.running.bench import Bench
    from evalrepo.running.plan import Asked, Plan
    from evalrepo.running.recover import Recovered
    from evalrepo.running.session import Session
    from evalrepo.store import Loaded
    from evalrepo.world import World


UNTOUCHED = "nothing to do: no scenario is touched"


@dataclass(frozen=True)
class Options:
    """The command line of `run`."""

    ids: tuple[str, ...]
    since: str | None
    suite: str | None
    agents: tuple[str, ...]
    tiers: tuple[str, ...]
    reps: int | None
    fresh: int | None
    jobs: int | None
    dry_run: bool
    commit: bool
    live: bool
    format: str


@click.command("run")
@click.argument("ids", nargs=-1)
@click.option("--since", metavar="REV", help="Only what a change since REV touches; HEAD~1 passes over result commits.")
@click.option("--suite", metavar="NAME", help="The scenarios, agents, tiers and reps of a suite.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Who runs it; default: the subject's agents.")
@click.option("--tier", "tiers", multiple=True, metavar="NAME", help="Which tiers; default: all of the agent's.")
@click.option("--reps", type=click.IntRange(min=1), metavar="N", help="Bring each cell up to so many valid reps.")
@click.option("--fresh", type=click.IntRange(min=1), metavar="N", help="Run so many new reps, shown and never counted.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Reps at a time; default from cores and memory.")
@click.option("--dry-run", is_flag=True, help="Show what would run and why, and run nothing.")
@click.option("--no-commit", "commit", is_flag=True, flag_value=False, default=True, help="Keep it in the run's ref.")
@click.option("--live", is_flag=True, help="Yes to agents that cost money; EVALREPO_LIVE=1 says the same.")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Measure scenarios (ids, aliases, globs; default: all) and commit the results.

    Brings each cell up to its reps and does nothing where there is nothing to do. Exit: 0 every cell has its reps and
    is at its bar, 1 a cell is below its bar, 2 it cannot run, 4 ERRORs left a cell without its reps.
    """
    options = Options(**given)
    if options.reps and options.fresh:
        raise UsageError("--reps and --fresh do not go together", hint="--fresh runs reps that are never counted")
    if options.since and (options.ids or options.suite):
        raise UsageError("--since chooses scenarios by itself", hint="leave out the ids and --suite")
    if options.suite and options.ids:
        raise UsageError("ids and --suite do not go together", hint="say one of them")
    cancel = threading.Event()
    with _signals(cancel):
        return _run(world, options, cancel)


class _signals:  # noqa: N801 - used as a word
    """SIGTERM is Ctrl-C."""

    def __init__(self, cancel: threading.Event) -> None:
        self._cancel = cancel

    def __enter__(self) -> None:
        self._old = {s: signal.signal(s, self._stop) for s in (signal.SIGTERM, signal.SIGINT)}

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        if self._cancel.is_set():
            raise KeyboardInterrupt
        self._cancel.set()

    def __exit__(self, *_: object) -> None:
        for number, old in self._old.items():
            signal.signal(number, old)


def _run(world: World, options: Options, cancel: threading.Event) -> int:
    from evalrepo.commands.change import has_dead_runs, since
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world)
    change = since(repo, options.since) if options.since else None
    if change is not None and change.nothing and (options.dry_run or not has_dead_runs(repo)):
        return nothing_chosen(UNTOUCHED, options.format, dry_run=options.dry_run)
    return _select(world, repo, options, change, cancel)


def _select(world: World, repo: Repository, options: Options, change: Change | None, cancel: threading.Event) -> int:
    from evalrepo.commands.counting import Counts
    from evalrepo.running import preflight
    from evalrepo.running.session import begin
    from evalrepo.store import load, usable

    preflight.git_at_rest(repo)
    tree = repo.tree("WORKTREE")
    loaded = usable(load(tree, repo, only=change.files if change is not None and options.dry_run else None))
    if not options.dry_run:
        preflight.writable(repo)
        _recover(repo, world)
    asked = _asked(repo, tree, loaded, options, change)
    session = begin(repo, tree, loaded)
    counts = Counts(repo, tree)
    if not asked.scenarios:
        why = UNTOUCHED if options.since else "nothing to do: no scenarios; evalrepo new ID writes one"
        return nothing_chosen(why, options.format, dry_run=options.dry_run)
    return _measure(session, counts, asked, options, cancel)


def _recover(repo: Repository, world: World) -> None:
    from evalrepo.running.recover import recover

    for done in recover(repo, world):
        click.echo(f"run {done.run} had died: {_what_became(done)}", err=True)


def _what_became(done: Recovered) -> str:
    if done.error is not None:
        return f"not recovered yet, nothing is lost: {done.error}"
    if done.landed is None or not done.landed.records:
        return "it had no reps"
    reps = sum(len(record.reps) for record in done.landed.records.values())
    recorded = f"{reps} reps are" if reps != 1 else "one rep is"
    return f"its {recorded} recorded, {done.interrupted} ERROR(interrupted)"


def _asked(repo: Repository, tree: Tree, loaded: Loaded, options: Options, change: Change | None) -> Asked:
    from evalrepo.commands.change import touched
    from evalrepo.running.plan import Asked

    return Asked(
        scenarios=touched(repo, tree, loaded, change) if change is not None else _scenarios(loaded, options),
        suite=options.suite,
        agents=options.agents,
        tiers=options.tiers,
        reps=options.reps,
        fresh=options.fresh,
    )


def _scenarios(loaded: Loaded, options: Options) -> Mapping[str, tuple[str, ...]]:
    from evalrepo.store import select_ids

    if options.suite:
        if options.suite not in loaded.config.suites:
            known = ", ".join(loaded.config.suites) or "none"
            raise UsageError(f"unknown suite {options.suite}", hint=f"suites in evalrepo.yaml: {known}")
        chosen = select_ids(loaded, loaded.config.suites[options.suite].scenarios)
        return dict.fromkeys(chosen, (f"suite {options.suite}",))
    if options.ids:
        return dict.fromkeys(select_ids(loaded, options.ids), ("named",))
    return dict.fromkeys(loaded.of_set("run-set"), ("all scenarios",))


def _measure(session: Session, counts: Counts, asked: Asked, options: Options, cancel: threading.Event) -> int:
    from evalrepo.commands.progress import shown
    from evalrepo.running.plan import plan
    from evalrepo.running.rounds import How, measure_all
    from evalrepo.running.session import bench, ground, snapshot

    def replan() -> Plan:
        return plan(ground(session, counts.again().valid), asked)

    made = replan()
    if options.dry_run:
        return show_plan(made, options.format)
    if not made.reps:
        return show_nothing(made, counts, options.format)
    _announce(session, options)
    with bench(session) as workbench:
        _prove(session, workbench, made, options, cancel)
        how = How(_jobs(made, options), options.commit, snapshot(session, made))
        with shown(options.format, session.world.environ.get("TERM", "")) as show:
            landed = measure_all(session, workbench, replan, how, show, cancel)
    if cancel.is_set():
        kept = sum(len(record.reps) for one in landed for record in one.records.values())
        raise Interrupted(f"interrupted; {kept} reps are kept", hint="the same command goes on where it stopped")
    return show_end(made, counts.again(), landed, options.format)


def _announce(session: Session, options: Options) -> None:
    from evalrepo.render.safe import wrapped

    if options.format == "text":
        found = session.isolation
        click.echo("\n".join(wrapped(f"isolation: {found.level} ({found.why})", then="  ")), err=True)


def _jobs(made: Plan, options: Options) -> int:
    from evalrepo.running.jobs import default_jobs

    return options.jobs or default_jobs(model_free=all(c.header.model_free for c in made.cells))


def _prove(session: Session, bench: Bench, made: Plan, options: Options, cancel: threading.Event) -> None:
    """What must hold before the first rep."""
    from evalrepo.linting import lint
    from evalrepo.running import preflight

    preflight.consent(_paid(session, made), live=options.live or session.world.environ.get("EVALREPO_LIVE") == "1")
    preflight.nothing_frozen_touched(session.repo, session.tree)
    wrong = [f for f in lint(session.tree, session.repo, session.loaded) if not f.warning]
    if wrong:
        raise DataError(wrong, hint="evalrepo lint shows everything that is wrong; --explain CODE says what one means")
    wanted = dict.fromkeys(cell.header.scenario for cell in made.cells if cell.need)
    scenarios = [session.loaded.scenarios[i] for i in wanted]
    preflight.instrument_proven(bench, scenarios, _jobs(made, options), cancel)


def _paid(session: Session, made: Plan) -> list[str]:
    from evalrepo.registry import module

    agents = session.loaded.config.agents
    running = dict.fromkeys(cell.header.agent for cell in made.cells if cell.need)
    return [name for name in running if module(name, agents[name]).traits(agents[name]).paid]
