"""`evalrepo run`: measure cells and commit the results."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands import option
from evalrepo.commands.ending import Part, nothing_chosen, show_end, show_nothing, show_plan
from evalrepo.commands.looking import refuse_options
from evalrepo.commands.signals import signals
from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.commands.change import Change
    from evalrepo.commands.counting import Counts
    from evalrepo.commands.measuring import Means
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.running.plan import Asked, Plan
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
    at: str | None
    against: str | None
    jobs: int | None
    dry_run: bool
    commit: bool
    live: bool
    format: str
    max_cost: float | None
    max_reps: int | None
    canary: bool
    accept: bool
    reserve: bool
    why: str | None
    allow_unmasked: bool

    def words(self) -> list[str]:
        """What a person types to have the same cells measured."""
        from evalrepo.commands.canary import words

        chosen = [("since", self.since), ("suite", self.suite), ("reps", self.reps)]
        many = [*(("agent", a) for a in self.agents), *(("tier", t) for t in self.tiers)]
        return words(self.ids, [*chosen, *many], live=self.live)

    def means(self) -> Means:
        """How reps are run, with a budget that nothing was spent of."""
        from evalrepo.commands.measuring import Means
        from evalrepo.running.budget import Budget

        return Means(self.jobs, self.commit, self.live, self.format, Budget(self.max_cost, self.max_reps))


@click.command("run")
@click.argument("ids", nargs=-1)
@click.option("--since", metavar="REV", help="Only what a change since REV touches; HEAD~1 passes over result commits.")
@click.option("--suite", metavar="NAME", help="The scenarios, agents, tiers and reps of a suite.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Who runs it; default: the subject's agents.")
@click.option("--tier", "tiers", multiple=True, metavar="NAME", help="Which tiers; default: all of the agent's.")
@click.option("--reps", type=click.IntRange(min=1), metavar="N", help="Bring each cell up to so many valid reps.")
@click.option("--fresh", type=click.IntRange(min=1), metavar="N", help="Run so many new reps, shown and never counted.")
@click.option("--at", metavar="REV", help="Measure the subject of REV, with today's scenarios.")
@click.option("--against", metavar="REV", help="Measure the subject of REV too, its reps and those here in turns.")
@option.jobs
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Stop when it is spent.")
@click.option("--max-reps", type=click.IntRange(min=1), metavar="N", help="Start at most N reps, retries included.")
@click.option("--dry-run", is_flag=True, help="Show what would run, why and at what cost, and run nothing.")
@option.no_commit
@option.live
@option.canary
@option.accept
@click.option("--reserve", is_flag=True, help="One look at the whole reserve of a subject; IDS name it.")
@click.option("--why", metavar="REASON", help="With --reserve: what is to be decided by the look, for the ledger.")
@click.option("--allow-unmasked", is_flag=True, help="With --reserve: without isolation too; the claim is weaker then.")
@option.text_or_json
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Measure scenarios (ids, aliases, globs; default: all) and commit the results.

    Brings each cell up to its reps and does nothing where there is nothing to do. Where a canary is asked for, or
    `discipline.canary: required` wants one that nobody looked at, a cell gets one rep and waits.

    With --reserve it takes one look at a subject's reserve: spent when it starts, counted in the ledger, completed by
    the retries of its ERRORs; asked again at the same content it prints what is recorded.

    Exit: 0 every cell has its reps and is at its bar, 1 a cell is below its bar, 2 it cannot run, 3 a limit
    (--max-cost, --max-reps) left a cell without its reps or a canary waits for a person's look, 4 ERRORs left a cell
    without its reps, an instrument is not proven, or the suite is degenerate.
    """
    options = Options(**given)
    if options.reps and options.fresh:
        raise UsageError("--reps and --fresh do not go together", hint="--fresh runs reps that are never counted")
    if options.since and (options.ids or options.suite):
        raise UsageError("--since chooses scenarios by itself", hint="leave out the ids and --suite")
    if options.suite and options.ids:
        raise UsageError("ids and --suite do not go together", hint="say one of them")
    if options.since and (options.at or options.against):
        raise UsageError("--since does not go with --at and --against", hint="name ids or a suite")
    if options.fresh and options.against:
        raise UsageError("--fresh and --against do not go together", hint="reps of both sides count; leave out --fresh")
    if options.accept and not options.canary:
        raise UsageError("--accept is of a canary", hint="--canary --accept")
    if options.canary and (options.fresh or options.at or options.against):
        raise UsageError("a canary is a counted rep of what is here", hint="leave out --fresh, --at and --against")
    if options.accept and options.dry_run:
        raise UsageError("--accept writes to the ledger", hint="leave out --dry-run")
    if options.max_cost is not None and not isfinite(options.max_cost):
        raise UsageError("--max-cost is an amount of USD", hint="--max-cost 2.50")
    refuse_options(options)
    cancel = threading.Event()
    with signals(cancel):
        return _run(world, options, cancel)


def _run(world: World, options: Options, cancel: threading.Event) -> int:
    from evalrepo.commands.change import has_dead_runs, since
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world)
    change = since(repo, options.since) if options.since else None
    if change is not None and change.nothing and (options.dry_run or not has_dead_runs(repo)):
        return nothing_chosen(UNTOUCHED, options.format, options.means, dry_run=options.dry_run)
    return _select(repo, options, change, cancel)


def _select(repo: Repository, options: Options, change: Change | None, cancel: threading.Event) -> int:
    from evalrepo.commands.counting import Counts
    from evalrepo.commands.measuring import recovered
    from evalrepo.running import preflight
    from evalrepo.running.session import begin
    from evalrepo.store import load, usable

    preflight.git_at_rest(repo)
    tree = repo.tree("WORKTREE")
    loaded = usable(load(tree, repo, only=change.files if change is not None and options.dry_run else None))
    if not options.dry_run:
        preflight.writable(repo)
        recovered(repo)
    subject, asked = _asked(repo, tree, loaded, options, change)
    session = begin(repo, tree, loaded)
    counts = Counts(repo, tree)
    if not asked.scenarios:
        why = UNTOUCHED if options.since else "nothing to do: no scenarios; evalrepo new ID writes one"
        return nothing_chosen(why, options.format, options.means, dry_run=options.dry_run)
    if subject:
        return _look(session, counts, subject, asked, options, cancel)
    return _measure(session, counts, asked, options, cancel)


def _asked(repo: Repository, tree: Tree, loaded: Loaded, options: Options, change: Change | None) -> tuple[str, Asked]:
    """What is to be measured; the subject whose reserve is looked at, or ""."""
    from evalrepo.commands.change import touched
    from evalrepo.commands.looking import chosen
    from evalrepo.running.plan import Asked

    subject = ""
    if change is not None:
        scenarios = touched(repo, tree, loaded, change)
    elif options.reserve:
        subject, scenarios = chosen(loaded, options.ids)
    else:
        scenarios = _scenarios(loaded, options)
    return subject, Asked(
        scenarios=scenarios,
        suite=options.suite,
        agents=options.agents,
        tiers=options.tiers,
        reps=options.reps,
        fresh=options.fresh,
        canary=options.canary,
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
    from evalrepo.commands.canary import Looked
    from evalrepo.commands.measuring import Wanted, announce, measured
    from evalrepo.running.plan import plan
    from evalrepo.running.session import ground

    means = options.means()
    if options.at or options.against:
        from evalrepo.commands.run_sides import Revisions, measure_sides

        revisions = Revisions(options.at, options.against, dry_run=options.dry_run)
        return measure_sides(session, counts, asked, revisions, means, cancel)
    if options.accept:
        from evalrepo.commands.canary import accept

        session, asked = accept(session, counts, asked, options.words(), options.format)

    def replan() -> Plan:
        return plan(ground(session, counts.again().settled), asked)

    made = replan()
    if options.dry_run:
        return show_plan([Part(made)], counts, means)
    looked = Looked(session, options.words())
    if not made.reps:
        return show_nothing([Part(made)], counts, means, looked=looked)
    announce(session, means)
    landed = measured(session, [Wanted(session, replan)], means, cancel)
    return show_end([Part(made)], counts.again(), landed, means, looked=looked)


def _look(
    session: Session, counts: Counts, subject: str, asked: Asked, options: Options, cancel: threading.Event
) -> int:
    """One look at a subject's reserve: spent before its first rep, or what an earlier call recorded of it."""
    from evalrepo.commands.looking import allowed, campaign, for_look, spend
    from evalrepo.commands.measuring import Wanted, announce, measured
    from evalrepo.running.plan import plan
    from evalrepo.running.session import ground

    means = options.means()
    made = plan(ground(session, counts.valid), asked)
    look = campaign(session, subject, made, options)
    session = for_look(session, look)

    def replan() -> Plan:
        return plan(ground(session, counts.again().valid), asked)

    made = replan()
    part = Part(made, look=look.told)
    if options.dry_run:
        return show_plan([part], counts, means)
    if not made.reps:
        if look.taken is not None and look.open:
            spend(session, look)
        return show_nothing([part], counts, means)
    allowed(session, look, asked.scenarios, options)
    announce(session, means)
    begin = (lambda: spend(session, look)) if look.open else (lambda: None)
    landed = measured(session, [Wanted(session, replan)], means, cancel, begin=begin)
    return show_end([part], counts.again(), landed, means)
