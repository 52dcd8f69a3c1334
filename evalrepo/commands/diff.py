"""`evalrepo diff`: compare the scores of two revisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from evalrepo.commands.showing import FORMATS, show_verdict
from evalrepo.errors import GitError, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.cells import Planned
    from evalrepo.comparing.grid import Grid
    from evalrepo.comparing.grid import Place as GridPlace
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.config import Suite
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.world import World

WORKTREE = "WORKTREE"
LOOKED_BACK = 500
"""Commits that touch a subject and are looked at for the last measured one."""


@dataclass(frozen=True)
class Options:
    """The command line of `diff`."""

    a: str | None
    b: str | None
    suite: str | None
    agents: tuple[str, ...]
    tiers: tuple[str, ...]
    format: str
    rescore: bool = False


@click.command("diff")
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option("--suite", metavar="NAME", help="Only the cells of a suite, with its reps and bar.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Only these agents.")
@click.option("--tier", "tiers", multiple=True, metavar="NAME", help="Only these tiers.")
@click.option("--rescore", is_flag=True, help="Judge both sides' stored transcripts by B's checks first.")
@click.option("--format", "format", type=click.Choice(FORMATS), default="text", show_default=True)
@click.pass_obj
def command(
    world: World,
    *,
    a: str | None,
    b: str | None,
    suite: str | None,
    agents: tuple[str, ...],
    tiers: tuple[str, ...],
    rescore: bool,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Compare the scores at A with those at B (revisions, or WORKTREE).

    Without B: the work tree. Without A: on a branch its merge base with the default branch; on the default branch the
    last measured commit with another subject. Both sides are judged by B's scenarios. With --rescore, records whose
    checks alone are others are judged again by B's, from stored transcripts; nothing is recorded (`evalrepo rescore`
    does), and what could not be judged is said on standard error.

    Exit 0: comparable, and nothing worse than noise. Exit 1: a suspect (P(worse) 0.95 or more; at three reps a fall of
    two), a cell that fell below its bar, or a drop overall or in a tier that noise does not explain. Exit 2: nothing
    comparable. Cells that are missing, stale or not comparable are listed and change no exit code; `gate` is strict
    about them.
    """
    from evalrepo.commands.background import today, with_masks
    from evalrepo.commands.by_hand import by_hand
    from evalrepo.commands.question import compared, remembered
    from evalrepo.commands.rejudged import rejudged
    from evalrepo.comparing.diff import diff
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world)
    base, candidate, rows = _sides(repo, options := Options(a, b, suite, agents, tiers, format, rescore))
    line = ["diff", base.name, candidate.name, suite, agents, tiers]
    asked = remembered(repo, rows, [base.tree, candidate.tree], line, lambda: _question(base, candidate, rows, options))
    told = today(repo, asked.background)._replace(by_hand=by_hand(repo, rows, base, candidate))
    known = with_masks(rows, asked, told)
    cells = compared(rows, asked, rejudged(repo, rows, candidate, asked) if rescore else None)
    verdict = diff(asked.before, asked.after, cells, asked.policy, background=known)
    show_verdict(world, verdict, options.format)
    say_findings(rows)
    return verdict.exit


def _sides(repo: Repository, options: Options) -> tuple[Place, Place, Rows]:
    from evalrepo.commands.sides import place
    from evalrepo.results import rows

    candidate = place(repo, options.b or WORKTREE)
    if options.a is not None:
        base = place(repo, options.a, lenient=True)
        return base, candidate, rows(repo, [base.tree, candidate.tree])
    start = _merge_base(repo) if options.b is None else None
    if start is None:
        found = rows(repo, [repo.tree("HEAD"), candidate.tree])
        start = last_measured(repo, candidate, found)
    base = place(repo, start, lenient=True)
    return base, candidate, rows(repo, [base.tree, candidate.tree])


def _merge_base(repo: Repository) -> str | None:
    """Where this branch left the default branch; None on the default branch itself."""
    head, branch, default = repo.head(), repo.branch(), repo.default_branch()
    if head is None:
        raise GitError("the repository has no commit yet", hint="commit something, measure it: evalrepo run")
    if default is None or (branch or "").rpartition("/")[2] == default.rpartition("/")[2]:
        return None
    base = repo.merge_base(default, "HEAD")
    if base is None:
        raise GitError(f"HEAD and {default} have no common history", hint="name the base: evalrepo diff REV")
    return base


def last_measured(repo: Repository, candidate: Place, rows: Rows) -> str:
    """The newest commit whose subject is another one than the candidate's and was measured. UsageError without one."""
    from evalrepo.commands.baseline import SHALLOW
    from evalrepo.commands.sides import place, subject_of

    groups = {tuple(sorted(s.subject)) for s in candidate.scenarios.values()}
    now = {names: subject_of(candidate, names) for names in groups}
    measured = rows.subjects()
    for commit in touching(repo, candidate):
        then = place(repo, commit, lenient=True)
        for names in groups:
            subject = subject_of(then, names)
            if subject is not None and subject != now[names] and subject in measured:
                return commit
    hint = "evalrepo run measures what is here; name a base: evalrepo diff REV"
    raise UsageError(
        "no earlier subject was measured, so there is nothing to compare with",
        hint=f"the clone is shallow: {SHALLOW}" if repo.shallow else hint,
    )


def touching(repo: Repository, candidate: Place) -> Iterator[str]:
    """Commits that changed a subject, newest first, along first parents."""
    from evalrepo.records.globs import base

    paths = sorted({base(p) or "." for s in candidate.config.subjects.values() for p in s.paths})
    out = repo.git("rev-list", "--first-parent", f"--max-count={LOOKED_BACK}", "HEAD", "--", *paths, "evalrepo.yaml")
    yield from out.decode("ascii").split()


def _question(base: Place, candidate: Place, rows: Rows, options: Options) -> Question:
    from evalrepo.commands.background import background
    from evalrepo.commands.moved_goal import moved_goals
    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import parts_of
    from evalrepo.records.verdict import Policy

    cells = _planned(base, candidate, rows, options)
    suites = (options.suite,) if options.suite else ()
    gate = candidate.config.gate
    policy = Policy(
        read_at=candidate.name,
        suites=suites,
        golden=gate.golden,
        max_error_rate=gate.max_error_rate,
        alpha=gate.alpha,
        margin=gate.margin,
        bar=gate.bar,
        metric_drop=gate.metrics.drop,
    )
    known = background(base, candidate)._replace(moved=moved_goals(base, candidate))
    return Question(base.side(), candidate.side(), policy, cells, lambda: parts_of(candidate, cells), known)


def _planned(base: Place, candidate: Place, rows: Rows, options: Options) -> list[Planned]:
    """The cells of both grids, and cells outside them that somebody measured on a side."""
    from evalrepo.commands.sides import planned

    golden = frozenset(candidate.ids(candidate.config.gate.golden, strict=False))
    grids = (_grid(base, options, strict=False), _grid(candidate, options, strict=True))
    more = {} if options.suite else _measured(candidate, rows, {**grids[0], **grids[1]})
    made = planned(base, candidate, (grids[0], {**grids[1], **more}), golden)
    subjects = rows.subjects_of(more)
    found = [p for p in made if p.cell not in more or _known(p, subjects[p.cell])]
    chosen = [p for p in found if _chosen(p, options)]
    if found and not chosen:
        levels = ", ".join(dict.fromkeys(f"{p.agent}/{p.tier}" for p in found))
        raise UsageError("no cell is of this --agent and --tier", hint=f"agents and tiers of the cells: {levels}")
    return chosen


def _chosen(cell: Planned, options: Options) -> bool:
    return (not options.agents or cell.agent in options.agents) and (not options.tiers or cell.tier in options.tiers)


def _known(cell: Planned, subjects: set[str]) -> bool:
    return any(side is not None and side.subject in subjects for side in (cell.before, cell.after))


def _measured(candidate: Place, rows: Rows, grid: Grid) -> Grid:
    """Cells that have records and that this config could run, but nobody asks for by default."""
    from evalrepo.comparing.grid import open_grid
    from evalrepo.records.config import Suite

    cells = [
        c for c in rows.cells() if c not in grid and c[0] in candidate.scenarios and c[1] in candidate.config.agents
    ]
    out: dict[Cell, GridPlace] = {}
    for scenario, agent, tier in cells:
        suite = Suite(scenarios=(scenario,), agents=(agent,), tiers=(tier,))
        out |= open_grid(candidate.config, candidate.scenarios, [scenario], suite)
    return out


def _grid(place: Place, options: Options, *, strict: bool) -> Grid:
    from evalrepo.comparing.grid import open_grid

    suite = _suite(place, options, strict=strict)
    if options.suite and suite is None:
        return {}
    ids = place.ids(suite.scenarios, strict=False) if suite else place.run_set()
    return open_grid(place.config, place.scenarios, ids, suite)


def _suite(place: Place, options: Options, *, strict: bool) -> Suite | None:
    if options.suite is None:
        return None
    found = place.config.suites.get(options.suite)
    if found is None and strict:
        known = ", ".join(place.config.suites) or "none"
        raise UsageError(f"unknown suite {options.suite}", hint=f"suites in evalrepo.yaml: {known}")
    return found


def say_findings(rows: Rows) -> None:
    """Broken result files change no answer, and are never passed over in silence."""
    from evalrepo.render.findings import shown

    for finding in rows.findings[:5]:
        click.echo(shown(finding), err=True)
    if len(rows.findings) > 5:
        click.echo(f"and {len(rows.findings) - 5} more result files without a usable record", err=True)
