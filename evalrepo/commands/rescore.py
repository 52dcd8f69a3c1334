"""`evalrepo rescore`: today's checks on stored transcripts."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evalrepo.commands import option
from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.rejudging import Left, Made, Outcome
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.running.keep import Landed
    from evalrepo.running.rejudge import Doors
    from evalrepo.running.session import Session
    from evalrepo.world import World

WHY = "judged again by another instrument"


@dataclass(frozen=True)
class Options:
    """The command line of `rescore`."""

    what: tuple[str, ...]
    since: str | None
    dry_run: bool
    commit: bool
    format: str


@click.command("rescore")
@click.argument("what", nargs=-1, metavar="[ID|RUN|PATH]…")
@click.option("--since", metavar="REV", help="Scenarios whose checks, rubric or judge are others than at REV.")
@click.option("--dry-run", is_flag=True, help="Say what would come out; record nothing.")
@option.no_commit
@option.text_or_json
@click.pass_obj
def command(world: World, /, **given: Any) -> int:
    """Judge recorded reps by today's checks, from their stored transcripts; no agent runs.

    Words choose records as for `show`, a scenario all of its records; without any, every record of this repository.
    What comes out is recorded anew and committed, beside the old records, which never change: the subject and the
    task are as they were measured, the instrument is today's. A rep that today's instrument has judged already is
    left alone, so that asking twice makes nothing new. Judges and people are not asked again: what they said stands
    where the question is still the same, and a rep that needs another word of theirs is listed.

    What cannot be judged again is listed with the way to get it: a transcript that was not fetched or was pruned, a
    command's sandbox that was not kept whole, another task, a frozen scenario that was tightened. Of the reserve only
    verdicts are told.

    Exit: 0 all that was asked for is judged by today's instrument, 1 some is not, 2 nothing is, or it cannot answer.
    """
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.commands.measuring import recovered
    from evalrepo.repository.repo import Repository
    from evalrepo.running import preflight

    options = Options(**given)
    repo = Repository.open(world)
    if not options.dry_run:
        preflight.git_at_rest(repo)
        preflight.writable(repo)
        recovered(repo)
    rows = at_hand(repo)
    session = _session(repo)
    with contextlib.ExitStack() as benches:
        found = judged(session, rows, options, benches)
        landed = _record(session, found, options, benches)
    _say(found, landed, options)
    return _code(found)


def _session(repo: Repository) -> Session:
    from evalrepo.commands.measuring import well_formed
    from evalrepo.running.session import begin
    from evalrepo.store import load, usable

    tree = repo.tree("WORKTREE")
    session = begin(repo, tree, usable(load(tree, repo)))
    well_formed(session)
    return session


def judged(session: Session, rows: Rows, options: Options, benches: contextlib.ExitStack) -> Outcome:
    """All records that are asked for, judged by the session's tree."""
    from evalrepo.commands.rejudging import Outcome, Rejudging
    from evalrepo.commands.sides import Place

    place = Place(session.repo, "WORKTREE", session.tree)
    chosen = _chosen(session.repo, rows, place, options)
    judging = Rejudging(session.repo, rows, place, doors(session, benches))
    out = Outcome()
    held = rows.select(dict.fromkeys(chosen))
    for cell, wanted in chosen.items():
        one = judging.cell(cell, held[cell], wanted)
        out.made += one.made
        out.left += one.left
        out.there += one.there
    return out


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


def doors(session: Session, benches: contextlib.ExitStack) -> Callable[[], Doors]:
    """Makes what is asked outside, on one bench that `benches` closes."""

    def make() -> Doors:
        from evalrepo.running.rejudge import Doors
        from evalrepo.running.session import bench
        from evalrepo.running.views import PythonCheck, Rebuilt

        workbench = benches.enter_context(bench(session, judged=False))
        return Doors(shell=Rebuilt(workbench), python=PythonCheck(workbench))

    return make


def _record(session: Session, found: Outcome, options: Options, benches: contextlib.ExitStack) -> list[Landed]:
    """The new records; none for a dry run. The instrument must be proven first, as before a run."""
    from evalrepo.running import preflight
    from evalrepo.running.restate import Restated, restate
    from evalrepo.running.session import bench

    if options.dry_run or not found.made:
        return []
    workbench = benches.enter_context(bench(session, judged=False))
    names = dict.fromkeys(one.row.scenario for one in found.made)
    scenarios = [session.loaded.scenarios[name] for name in names]
    preflight.instrument_proven(workbench, scenarios, 2, threading.Event())
    wanted = [Restated(one.old, one.header, one.reps, WHY) for one in found.made]
    return restate(session.repo, wanted, commit=options.commit)


def _code(found: Outcome) -> int:
    if not found.left:
        return Exit.YES
    return Exit.NO if found.made or found.there else Exit.CANNOT


def _say(found: Outcome, landed: Sequence[Landed], options: Options) -> None:
    if options.format == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json(_data(found, landed)), nl=False)
        return
    from evalrepo.render.safe import wrapped

    for line in _lines(found, landed, options):
        click.echo("\n".join(wrapped(line, then="  ", cut=False)))


def _data(found: Outcome, landed: Sequence[Landed]) -> dict[str, Any]:
    paths = {(r.scenario, r.agent, r.tier, r.supersedes): (p, r.run) for one in landed for p, r in one.records.items()}
    made = []
    for one in found.made:
        path, run = paths.get((*one.row.cell, one.row.run), ("", ""))
        before = {(r.rep, r.attempt): r for r in one.old.reps}
        reps = [
            {"rep": r.rep, "attempt": r.attempt, "before": _word(before[r.rep, r.attempt]), "after": _word(r)}
            for r in one.reps
        ]
        made.append({**_named(one.row), "path": path, "record": run, "reps": reps})
    left = [{**_named(one.row), "reps": list(one.reps), "why": one.why, "how": one.how} for one in found.left]
    return {"schema": 1, "made": made, "left": left, "there": found.there}


def _named(row: Row) -> dict[str, str]:
    return {"run": row.run, "scenario": row.scenario, "agent": row.agent, "tier": row.tier}


def _word(rep: Any) -> str:
    return f"ERROR({rep.error})" if rep.error else str(rep.verdict)


def _lines(found: Outcome, landed: Sequence[Landed], options: Options) -> Iterator[str]:
    from evalrepo.render.findings import counted

    reps = sum(len(one.reps) for one in found.made)
    changed = sum(one.changed for one in found.made)
    for one in found.made:
        yield _cell_line(one)
    if reps:
        would = "would be " if options.dry_run else ""
        yield f"{counted(reps, 'rep')} {would}judged again, {changed} with another verdict"
    if found.there:
        yield f"{counted(found.there, 'rep')} judged by today's instrument already"
    yield from left_lines(found.left)
    commits = ", ".join(one.commit[:7] for one in landed if one.commit)
    if landed:
        yield f"committed: {commits}" if commits else "kept in the runs' refs, not committed"
    if not (reps or found.there or found.left):
        yield "nothing to judge again"


def _cell_line(one: Made) -> str:
    row = one.row
    before = {(r.rep, r.attempt): _word(r) for r in one.old.reps}
    moves: dict[str, int] = {}
    for rep in one.reps:
        was, now = before[rep.rep, rep.attempt], _word(rep)
        if was != now:
            moves[f"{was} → {now}"] = moves.get(f"{was} → {now}", 0) + 1
    said = ", ".join(f"{move} ×{count}" for move, count in moves.items()) or "the same verdicts"
    return f"{row.scenario} · {row.agent}/{row.tier} run {row.run}: {len(one.reps)} reps, {said}"


def left_lines(left: Iterable[Left]) -> Iterator[str]:
    """What stays as it is, and the way; the same reason of several records in one line."""
    heaps: dict[tuple[str, str, str], list[Left]] = {}
    for one in left:
        heaps.setdefault((one.row.scenario, one.why, one.how), []).append(one)
    for (scenario, why, how), ones in heaps.items():
        runs = ", ".join(dict.fromkeys(f"run {one.row.run} rep {', '.join(map(str, one.reps))}" for one in ones[:3]))
        more = f" and {len(ones) - 3} more" if len(ones) > 3 else ""
        yield f"not judged: {scenario}, {runs}{more}: {why}" + (f" → {how}" if how else "")
