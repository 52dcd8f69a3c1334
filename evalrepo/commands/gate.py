"""`evalrepo gate`: decide about a release."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands import option
from evalrepo.commands.diff import say_findings
from evalrepo.commands.showing import FORMATS, show_verdict
from evalrepo.errors import GitError, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.grid import Grid
    from evalrepo.records.inference import Background
    from evalrepo.records.verdict import CellResult, Policy, Verdict
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.world import World


@click.command("gate")
@click.option("--baseline", metavar="REV", help="Compare with this commit; default: what the policy names (last-tag).")
@click.option("--confirm", is_flag=True, help="Take fresh reps of suspects and failed golden cells on both commits.")
@click.option("--budget", type=click.IntRange(min=0), metavar="N", help="Most fresh reps; default: the policy's.")
@option.jobs
@option.no_commit
@option.live
@click.option("--format", "format", type=click.Choice(FORMATS), default="text", show_default=True)
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Decide whether HEAD may be released, by the policy that its baseline holds.

    The baseline is a strict ancestor of HEAD; the first release is held to its own policy. The grid is that of both
    sides' gate suites; the first N valid reps of each cell decide. Model-free results count only for suites that list
    that agent or tier. Mechanical checks are asked again of the transcripts at hand.

    With --confirm, fresh reps on both commits, in turns, decide about suspects and golden cells that failed, and they
    alone; they are recorded, count for nothing else, and are used again at the same contents. None are taken where
    something else blocks, or makes the gate invalid.

    Exit 0: pass. Exit 1: block (a golden scenario with any FAIL, more cells below their bar than chance makes, a drop
    overall or in a tier, a confirmed suspect). Exit 3: inconclusive (too few reps, an unresolved suspect, a metric to
    be investigated, a drop of the margin or more not excluded, a pass that hangs on ERRORs, a required canary that
    nobody looked at). Exit 4: invalid (frozen files, a missing, stale or not comparable cell, ERRORs over the bound, an
    agent that saw what it must not see, a degenerate suite, results that are not as they were written or cannot be
    reproduced). Exit 2: it cannot answer.
    """
    from evalrepo.repository.repo import Repository

    options = Options(**given)
    if not options.confirm and (options.budget is not None or options.live or options.jobs):
        raise UsageError("--budget, --jobs and --live are for fresh reps", hint="add --confirm")
    repo = Repository.open(world)
    if repo.head() is None:
        raise GitError("the repository has no commit yet", hint="commit what is to be released")
    decision = _decide(repo, options.baseline)
    if options.confirm and _confirm(repo, decision, options):
        decision = _decide(repo, options.baseline)
    show_verdict(world, decision.verdict, options.format)
    say_findings(decision.rows)
    return decision.verdict.exit


@dataclass(frozen=True)
class Options:
    """The command line of `gate`."""

    baseline: str | None
    confirm: bool
    budget: int | None
    jobs: int | None
    commit: bool
    live: bool
    format: str


@dataclass(frozen=True)
class Decision:
    """A verdict and what it was made of."""

    verdict: Verdict
    rows: Rows
    asked: Question
    cells: Sequence[CellResult]
    base: Place | None
    candidate: Place


def _decide(repo: Repository, baseline: str | None) -> Decision:
    from evalrepo.commands.background import since, today, with_masks
    from evalrepo.commands.baseline import baseline_of
    from evalrepo.commands.by_hand import by_hand
    from evalrepo.commands.canary_gate import unseen
    from evalrepo.commands.confirming import taken
    from evalrepo.commands.evidence import evidence
    from evalrepo.commands.frozen_gate import history
    from evalrepo.commands.leaked import leak_evidence
    from evalrepo.commands.question import compared, remembered
    from evalrepo.commands.rescoring import Ground
    from evalrepo.commands.sides import place
    from evalrepo.comparing.gate import gate
    from evalrepo.results import rows

    candidate = place(repo, "HEAD")
    name = baseline_of(repo, baseline or candidate.config.gate.baseline, named=baseline is not None)
    base = place(repo, name, lenient=True) if name is not None else None
    trees = [p.tree for p in (base, candidate) if p is not None]
    found = rows(repo, trees)
    asked = remembered(repo, found, trees, ["gate", name], lambda: _question(base, candidate))
    known = today(repo, asked.background)._replace(versions=since(repo, found, asked))
    known = with_masks(found, asked, known._replace(by_hand=by_hand(repo, found, base, candidate)))
    cells = compared(found, asked)
    past = history(repo, base)
    verdict = gate(
        asked.before,
        asked.after,
        cells,
        asked.policy,
        past.wrong,
        confirmed=taken(found, asked, cells),
        background=known,
        evidence=[
            *past.notes,
            *leak_evidence(Ground(repo, found, asked, candidate)),
            *evidence(Ground(repo, found, asked, candidate)),
            *unseen(_judge(base, candidate), candidate, asked.cells, cells),
        ],
    )
    return Decision(verdict, found, asked, cells, base, candidate)


def _confirm(repo: Repository, decision: Decision, options: Options) -> int:
    """Fresh reps of what is open; how many attempts were made. None where they could not change the answer."""
    from evalrepo.commands.confirming import Sides, confirm
    from evalrepo.commands.measuring import Means, recovered
    from evalrepo.commands.signals import signals
    from evalrepo.comparing.confirm_plan import settled
    from evalrepo.running import preflight

    base, candidate = decision.base, decision.candidate
    why = settled(decision.verdict) if base is not None else "there is no baseline"
    if base is None or why:
        click.echo(f"nothing is confirmed: {why}", err=True)
        return 0
    policy = (base if base.has_config else candidate).config.gate.confirm
    means = Means(options.jobs, options.commit, options.live, "json" if options.format == "json" else "text")
    budget = policy.budget if options.budget is None else options.budget
    sides = Sides(repo, base, candidate, decision.asked, decision.cells)
    cancel = threading.Event()
    preflight.git_at_rest(repo)
    preflight.writable(repo)
    recovered(repo)
    with signals(cancel):
        return confirm(sides, decision.rows, means, budget, cancel)


def _question(base: Place | None, candidate: Place) -> Question:
    from evalrepo.commands.background import background
    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import parts_of, planned
    from evalrepo.records.verdict import Side

    judge = _judge(base, candidate)
    cells = planned(base, candidate, _grids(base, candidate, judge), _golden(base, candidate, judge))
    before = base.side() if base is not None else Side("no baseline", "", {})
    known = background(base, candidate)
    policy = _policy(base, candidate, judge, known)
    return Question(before, candidate.side(), policy, cells, lambda: parts_of(candidate, cells), known)


def _judge(base: Place | None, candidate: Place) -> Place:
    """The side whose policy decides."""
    return base if base is not None and base.has_config else candidate


def _grids(base: Place | None, candidate: Place, judge: Place) -> tuple[Grid, Grid]:
    """The policy's suites, as each side's files define and resolve them."""
    suites, reserve = judge.config.gate.suites, judge.config.gate.reserve
    return (_grid(base, suites, reserve) if base is not None else {}, _grid(candidate, suites, reserve))


def _grid(place: Place, names: Sequence[str], reserve: bool) -> Grid:
    from evalrepo.comparing.grid import gate_grid

    chosen: Mapping[str, Sequence[str]] = {
        name: place.ids(place.config.suites[name].scenarios, strict=False)
        for name in names
        if name in place.config.suites
    }
    if names and not chosen:
        return {}
    known = [*place.run_set(), *(place.loaded.of_set("reserve") if reserve else ())]
    if reserve:
        chosen = {name: [*ids, *_twins(place, ids)] for name, ids in chosen.items()}
    return gate_grid(place.config, {i: place.scenarios[i] for i in known}, chosen)


def _twins(place: Place, ids: Sequence[str]) -> list[str]:
    """The reserve of the subjects of these scenarios."""
    subjects = {name for i in ids for name in place.scenarios[i].subject}
    return [i for i, one in place.loaded.of_set("reserve").items() if subjects & set(one.scenario.subject)]


def _golden(base: Place | None, candidate: Place, judge: Place) -> frozenset[str]:
    patterns = judge.config.gate.golden
    return frozenset(i for p in (base, candidate) if p is not None for i in p.ids(patterns, strict=False))


def _policy(base: Place | None, candidate: Place, judge: Place, known: Background) -> Policy:
    from evalrepo.comparing.statistics import alpha_per_look
    from evalrepo.records.verdict import Policy

    gate = judge.config.gate
    looks = max((one.allowed for one in known.looks), default=1) if gate.reserve else 1
    return Policy(
        read_at=judge.name,
        suites=gate.suites,
        golden=gate.golden,
        max_error_rate=gate.max_error_rate,
        changed=base is not None and judge is base and _rules_of(base) != _rules_of(candidate),
        own=base is None or judge is candidate,
        alpha=alpha_per_look(gate.alpha, max(1, looks)),
        margin=gate.margin,
        bar=gate.bar,
        metric_drop=gate.metrics.drop,
        by_hand=gate.by_hand,
        metric_when=gate.metrics.when,
        confirm_reps=gate.confirm.reps,
    )


def _rules_of(place: Place) -> tuple[object, ...]:
    """All that decides beside scenarios and results."""
    config = place.config
    canary = config.discipline.canary
    return (config.gate, config.reps, config.bar, canary, {n: config.suites.get(n) for n in config.gate.suites})
