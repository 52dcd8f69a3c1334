"""`evalrepo bisect`: which commit changed the behaviour."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands import option
from evalrepo.comparing.advice import plural
from evalrepo.comparing.bisect import (
    STOP,
    Belief,
    Seen,
    Stand,
    believe,
    beside,
    chosen,
    decided,
    placed,
    prior,
)
from evalrepo.errors import UsageError
from evalrepo.records.bisection import Answer, Bisection, Candidate

if TYPE_CHECKING:
    from evalrepo.commands.measuring import Means
    from evalrepo.commands.sides import Place
    from evalrepo.commands.stands import History
    from evalrepo.commands.stepping import Records
    from evalrepo.repository.repo import Repository
    from evalrepo.running.session import Session
    from evalrepo.world import World

WORKTREE = "WORKTREE"
NO_VALID = "none of its reps was valid"
BROKEN = 2
"""Commits in a row without a valid rep from which on it is the harness, not the commits."""


@dataclass(frozen=True)
class Options:
    """The command line of `bisect`."""

    scenario: str
    axis: str
    good: str
    bad: str
    agent: str | None
    tier: str | None
    budget: int
    skip: tuple[str, ...]
    reps_per_step: int
    jobs: int | None
    dry_run: bool
    commit: bool
    live: bool
    format: str

    def means(self) -> Means:
        """How reps are run."""
        from evalrepo.commands.measuring import Means

        return Means(self.jobs, self.commit, self.live, self.format)


@click.command("bisect")
@click.argument("scenario", metavar="SCENARIO")
@click.option("--good", required=True, metavar="REV", help="An older commit without the behaviour.")
@click.option("--bad", default="HEAD", show_default=True, metavar="REV", help="A newer commit with it.")
@click.option("--axis", default="", metavar="A", help="Follow this axis; default: the verdict.")
@click.option("--agent", metavar="NAME", help="Whose cell, where there are several.")
@click.option("--tier", metavar="NAME", help="Which tier, where there are several.")
@click.option("--budget", type=click.IntRange(min=0), default=100, show_default=True, help="Reps to run at most.")
@click.option("--skip", multiple=True, metavar="REV", help="A commit that cannot be measured; may be repeated.")
@click.option("--reps-per-step", type=click.IntRange(min=1), default=3, show_default=True, help="Reps of one commit.")
@option.jobs
@click.option("--dry-run", is_flag=True, help="Say what is known by what is recorded, and run nothing.")
@click.option("--commit", is_flag=True, help="Commit each step's results; default: only the runs' refs keep them.")
@option.live
@option.text_or_json
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Find the commit of the first-parent history with which a scenario began to behave otherwise.

    Reps are noisy, so no single one decides: Bayes' rule gives each commit its probability, and the next reps go where
    they are expected to tell most, until one commit has 95 % or the budget is spent. Each commit's subject is measured
    with today's scenario; what is recorded counts, so the same command goes on where it stopped. Exit: 0 a commit is
    named, 1 the good commit behaves like the bad one, 3 the budget is spent, 4 the reps were not valid.
    """
    from evalrepo.commands.showing import coloured
    from evalrepo.commands.signals import signals
    from evalrepo.repository.repo import Repository

    options = Options(**given)
    cancel = threading.Event()
    with signals(cancel):
        found = _bisect(Repository.open(world), options, cancel)
    if options.format == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json({"schema": 1, "exit": found.exit, "bisect": found}), nl=False)
    else:
        from evalrepo.render.bisection import bisection_text

        click.echo(bisection_text(found, coloured(world.environ)))
    return found.exit


@dataclass
class Search:
    """The state of a bisect. `recorded` valid reps of each subject were there before; `ran` attempts since."""

    history: History
    records: Records
    stands: tuple[Stand, ...]
    recorded: dict[str, int] = field(default_factory=dict)
    ran: int = 0
    broken: int = 0

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Fails and valid reps of each stand."""
        return placed(self.stands, self.records.seen())

    @property
    def belief(self) -> Belief:
        """What follows from them."""
        return believe(self.seen, prior(self.stands))

    def valid(self, stand: Stand) -> int:
        """Valid reps of a subject."""
        return self.records.seen().get(stand.subject, (0, 0))[1]

    def read(self) -> None:
        """Read what is recorded by now."""
        self.records.read([stand.subject for stand in self.stands if stand.subject])

    def next(self) -> Stand | None:
        """Where the next reps go, None when nothing can be measured."""
        i = chosen(self.stands, self.seen, self.belief)
        return None if i is None else self.stands[i]

    def drop(self, stand: Stand) -> bool:
        """A commit whose reps were all ERRORs is skipped; False when that leaves no question."""
        self.broken += 1
        ends = (self.stands[0].subject, self.stands[-1].subject)
        self.stands = tuple(replace(s, why=NO_VALID) if s.subject == stand.subject else s for s in self.stands)
        return self.broken < BROKEN and stand.subject not in ends


def _bisect(repo: Repository, options: Options, cancel: threading.Event) -> Bisection:
    from evalrepo.commands.measuring import recovered
    from evalrepo.commands.sides import place
    from evalrepo.commands.stands import history
    from evalrepo.commands.stepping import Records, one_cell
    from evalrepo.running import preflight

    here = place(repo, WORKTREE)
    cell = one_cell(here, options.scenario, options.agent, options.tier)
    _check_axis(here, cell[0], options.axis)
    past = history(repo, options.good, options.bad, here.scenarios[cell[0]].subject, options.skip)
    search = Search(past, Records(repo, here, cell, options.axis), past.stands)
    if not options.dry_run:
        preflight.git_at_rest(repo)
        preflight.writable(repo)
        recovered(repo)
    search.read()
    search.recorded = {subject: n for subject, (_, n) in search.records.seen().items()}
    if options.dry_run or decided(search.belief) is not None or not options.budget:
        return _told(repo, search, options, "open" if options.dry_run else "inconclusive")
    return _told(repo, search, options, _search(_begun(repo, here, options), search, options, cancel))


def _check_axis(here: Place, scenario: str, axis: str) -> None:
    known = sorted({check.axis for check in here.scenarios[scenario].checks if check.gating})
    if axis and axis not in known:
        raise UsageError(f"no gating check of {scenario} is of axis {axis}", hint=f"axes: {', '.join(known) or 'none'}")


def _begun(repo: Repository, here: Place, options: Options) -> Session:
    from evalrepo.commands.measuring import announce
    from evalrepo.running.session import begin

    session = begin(repo, here.tree, here.loaded)
    announce(session, options.means())
    return session


def _search(here: Session, search: Search, options: Options, cancel: threading.Event) -> Answer:
    """Step until it is decided, spent or broken."""
    from evalrepo.commands.stepping import more

    while decided(search.belief) is None and search.ran < options.budget:
        stand = search.next()
        if stand is None:
            break
        have = search.valid(stand)
        reps = have + min(options.reps_per_step, options.budget - search.ran)
        means, begun = options.means(), search.ran > 0
        search.ran += more(here, search.records.cell, stand.commit, reps, means, cancel, sound=begun)
        search.read()
        if search.valid(stand) > have:
            search.broken = 0
        elif not search.drop(stand):
            return "invalid"
        _say(search, stand, options)
    return "inconclusive"


def _say(search: Search, stand: Stand, options: Options) -> None:
    if options.format == "text":
        belief, at = search.belief, search.history.commits
        fails, reps = search.records.seen().get(stand.subject, (0, 0))
        best = search.stands[belief.best].commit
        said = f"{stand.commit[:9]}: {fails} of {reps} failed; likeliest {best[:9]} {belief.posterior[belief.best]:.0%}"
        click.echo(f"{said} ({at[best].subject[:30]}), {belief.entropy:.1f} bits left", err=True)


def _told(repo: Repository, search: Search, options: Options, answer: Answer) -> Bisection:
    belief, seen, stands = search.belief, search.seen, search.stands
    best, last = belief.best, len(stands) - 1
    if answer != "invalid" and decided(belief) is not None:
        answer = "nothing-changed" if best == last else "found"
    after = search.next()
    near = beside(stands, best)
    older = (near[-1] if near else best) + 1
    diff = search.history.diff(repo, older, best) if best < last and answer == "found" else ("", "")
    return Bisection(
        *search.records.cell,
        axis=options.axis,
        good=options.good,
        bad=options.bad,
        commits=len(search.history.commits),
        stop=STOP,
        budget=options.budget,
        answer=answer,
        why=_why(search, options, answer),
        candidates=tuple(_candidate(search, i, seen[i], belief.posterior[i]) for i in range(len(stands))),
        best=best,
        beside=near,
        next=after.commit if after is not None and answer in ("open", "inconclusive") else "",
        before=belief.old[best] if best < last else belief.new[best],
        since=belief.new[best],
        bits=belief.entropy,
        ran=search.ran,
        diff=diff[0],
        diff_command=diff[1],
    )


def _why(search: Search, options: Options, answer: Answer) -> str:
    if answer == "invalid":
        return "reps of an end of the range, or of several commits in a row, gave no valid verdict"
    if answer == "inconclusive":
        return f"{search.ran} of a budget of {plural(options.budget, 'rep')} spent, and no commit has {STOP:.0%}"
    return ""


def _candidate(search: Search, i: int, seen: Seen, posterior: float) -> Candidate:
    stand = search.stands[i]
    info = search.history.commits[stand.commit]
    return Candidate(
        commit=stand.commit,
        date=info.date,
        line=info.subject,
        commits=len(stand.commits),
        subject=stand.subject,
        posterior=posterior,
        fails=seen[0],
        reps=seen[1],
        recorded=min(seen[1], search.recorded.get(stand.subject, 0)),
        errors=search.records.errors(stand.subject),
        skipped=stand.why,
    )
