"""`evalrepo transcripts`: the runs' references at a remote, and what this clone lets go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evalrepo.commands import option
from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.running.pruning import Choice, Pruned
    from evalrepo.running.transcripts import Left, Outcome
    from evalrepo.world import World

RUNS_OPTION = click.option("--run", "runs", multiple=True, metavar="RUN", help="Only this run; may be repeated.")


@click.group("transcripts")
def command() -> None:
    """Push, fetch and prune what runs keep: records, transcripts and snapshots.

    They stand in one reference a run, refs/evalrepo/runs/RUN, which a plain git push or clone leaves out.
    """


@command.command("push")
@click.argument("remote", required=False)
@RUNS_OPTION
@option.text_or_json
@click.pass_obj
def push(world: World, *, remote: str | None, runs: tuple[str, ...], format: str) -> int:  # noqa: A002
    """Give REMOTE (default: the only one, or origin) the runs of this clone that it lacks.

    Nothing there is replaced but the tombstone of a run that is whole here. What was interrupted goes on when it is
    asked again. A reserve's transcripts are in there: push where those may read who may read the reserve.

    Exit: 0 the remote has all, 1 a run was left (another one of its name is there, the remote refused), 2 it cannot
    answer: no such remote or run, a remote that cannot be reached.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.running import transcripts

    repo = Repository.open(world)
    found = transcripts.push(repo, transcripts.chosen_remote(repo, remote), runs)
    return _moved(found, "pushed", f"to {found.remote}", format)


@command.command("fetch")
@click.argument("remote", required=False)
@RUNS_OPTION
@click.option("--pruned", is_flag=True, help="Bring back all that was pruned here, too.")
@option.text_or_json
@click.pass_obj
def fetch(world: World, *, remote: str | None, runs: tuple[str, ...], pruned: bool, format: str) -> int:  # noqa: A002
    """Bring the runs of REMOTE (default: the only one, or origin) that this clone lacks.

    A run that was pruned here comes back when it is named, or with --pruned. A whole run is never replaced. What was
    interrupted goes on when it is asked again.

    Exit: 0 all that was asked for is here, 1 a run was left (the remote lacks it, or holds another one of its name), 2
    it cannot answer: no such remote, a remote that cannot be reached.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.running import transcripts

    repo = Repository.open(world)
    found = transcripts.fetch(repo, transcripts.chosen_remote(repo, remote), runs, pruned=pruned)
    return _moved(found, "fetched", f"from {found.remote}", format)


@command.command("prune")
@click.argument("runs", nargs=-1, metavar="[RUN]…")
@click.option("--older-than", type=click.IntRange(min=0), metavar="DAYS", help="Runs that ended before that.")
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="All runs but the newest N.")
@click.option("--remote", metavar="REMOTE", help="Who must hold them; default: the only remote, or origin.")
@click.option("--not-pushed", is_flag=True, help="Prune what no remote holds: it is lost for good.")
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
@option.text_or_json
@click.pass_obj
def prune(
    world: World,
    *,
    runs: tuple[str, ...],
    older_than: int | None,
    keep: int | None,
    remote: str | None,
    not_pushed: bool,
    dry_run: bool,
    format: str,  # noqa: A002
) -> int:
    """Let transcripts and snapshots of runs go from this clone. Records stay, and a tombstone says what went.

    Only what the remote holds is pruned, at the very commit that stands here; it is brought back by `evalrepo
    transcripts fetch --run RUN`. A run whose journal is open stays. git gc gives the disk back.

    Exit: 0 all that was chosen is pruned, 1 a run was left (each is listed with the next step), 2 it cannot answer: no
    such run or remote, a remote that cannot be reached, no choice or two of them.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.running import pruning, transcripts

    choice = _choice(runs, older_than, keep)
    if not_pushed and remote is not None:
        raise UsageError("--not-pushed asks no remote, and --remote names one", hint="give one of the two")
    repo = Repository.open(world)
    where = None if not_pushed else transcripts.chosen_remote(repo, remote)
    found = pruning.prune(repo, choice, where, dry_run=dry_run)
    if format == "json":
        _json({"remote": where, "dry_run": dry_run, **asdict(found)})
    else:
        _print(_pruned_lines(found, dry_run=dry_run))
    return Exit.NO if found.left else Exit.YES


def _choice(runs: tuple[str, ...], older_than: int | None, keep: int | None) -> Choice:
    from evalrepo.running.pruning import Choice

    if (bool(runs), older_than is not None, keep is not None).count(True) != 1:
        raise UsageError("say which runs, in one way", hint="--older-than DAYS, --keep N, or RUN…")
    return Choice(runs, older_than, keep)


def _moved(found: Outcome, done: str, where: str, form: str) -> int:
    if form == "json":
        _json(asdict(found))
    else:
        _print(_moved_lines(found, done, where))
    return Exit.NO if found.left else Exit.YES


def _json(data: dict[str, object]) -> None:
    from evalrepo.render.json import to_json

    click.echo(to_json({"schema": 1, **data}), nl=False)


def _print(lines: Iterable[str]) -> None:
    from evalrepo.render.safe import wrapped

    for line in lines:
        click.echo("\n".join(wrapped(line, then="  ", cut=False)))


def _moved_lines(found: Outcome, done: str, where: str) -> Iterator[str]:
    from evalrepo.render.findings import counted

    for one in found.moved:
        only = ", only its tombstone" if one.tombstone else ""
        yield f"{one.run}: {counted(one.files, 'file')}, {size(one.bytes)}{only}"
    if found.moved:
        total = size(sum(one.bytes for one in found.moved))
        yield f"{counted(len(found.moved), 'run')} {done} {where}, {total}"
    if found.there:
        yield f"{counted(found.there, 'run')} {'was' if found.there == 1 else 'were'} there already"
    if found.pruned:
        yield f"{counted(found.pruned, 'run')} pruned here, left so → evalrepo transcripts fetch --pruned"
    yield from _left_lines(found.left, f"not {done}")
    if not (found.moved or found.there or found.pruned or found.left):
        yield f"no run to be {done} {where}"


def _pruned_lines(found: Pruned, *, dry_run: bool) -> Iterator[str]:
    from evalrepo.render.findings import counted

    would = "would be " if dry_run else ""
    for stone in found.stones:
        yield f"{stone.run}: {counted(stone.files, 'file')}, {size(stone.bytes)} {would}pruned"
    if found.stones:
        freed = f"{size(found.freed.bytes)} in {counted(found.freed.blobs, 'file')} that nothing else holds"
        yield f"{counted(len(found.stones), 'run')} {would}pruned: {freed}, {size(found.freed.disk)} on disk"
        if not dry_run:
            yield "git gc frees the disk after two weeks, git gc --prune=now at once"
    if found.there:
        yield f"{counted(found.there, 'run')} with nothing but results"
    yield from _left_lines(found.left, "not pruned")
    if not (found.stones or found.there or found.left):
        yield "no run to prune"


def _left_lines(left: Iterable[Left], what: str) -> Iterator[str]:
    for one in left:
        yield f"{what}: {one.run}: {one.why}" + (f" → {one.how}" if one.how else "")


def size(number: int) -> str:
    """Bytes as a person reads them, by thousands: `812 B`, `3.1 kB`, `12.0 MB`."""
    amount, units = float(number), ["B", "kB", "MB", "GB"]
    while amount >= 999.95 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{number} B" if units[0] == "B" else f"{amount:.1f} {units[0]}"
