"""`evalrepo export`: recorded transcripts, and reps as rows, for other tools."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.records.record import Record, Rep
    from evalrepo.records.transcript import Transcript
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.running.stored import Lacking
    from evalrepo.world import World

_HEAD = ("run", "scenario", "title", "agent", "tier", "cli_version", "model_free", "purpose", "commit", "evalrepo")
_REP = (
    "rep", "attempt", "verdict", "error", "message", "notes", "status", "exit_code", "isolation", "timing",
    "transcript",
)  # fmt: skip
FORMATS = ("atif", "tsv", "csv", "jsonl")
_FILE = re.compile(r"[^A-Za-z0-9._~+-]")


@dataclass(frozen=True)
class Wanted:
    """A rep that is asked for; `rep` None: a result that has none of this number, or (`record` None) none at all."""

    name: str
    number: int = 0
    record: Record | None = None
    rep: Rep | None = None


@dataclass(frozen=True)
class Asked:
    """What is asked for, and how many reserve cells were left out because nobody named them."""

    wanted: tuple[Wanted, ...]
    sealed: int = 0


@click.command("export")
@click.argument("what", nargs=-1, metavar="[ID|RUN|PATH]…")
@click.option(
    "--format", "format", type=click.Choice(["atif", "tsv", "csv", "jsonl"]), default="atif", show_default=True
)
@click.option("--rep", type=click.IntRange(min=1), metavar="N", help="Only the rep of this number.")
@click.option("--output", metavar="DIR|FILE", type=click.Path(path_type=Path), help="Default: standard output.")
@click.pass_obj
def command(world: World, *, what: tuple[str, ...], format: str, rep: int | None, output: Path | None) -> int:  # noqa: A002
    """Write recorded transcripts as ATIF v1.8 documents, one a rep (its last attempt), sub-agents inside; or recorded
    reps as rows.

    Words mean what they mean to `show`; without any, the newest record of each cell of the run-set. A reserve's
    transcripts are sealed. `tsv` has scenario, model, rep, verdict, axes and info of each rep; `csv` and `jsonl` have
    every attempt with all its numbers (docs/formats.md); without words these are of everything recorded.

    Exit: 0 all were written, 1 some cannot be had (each is listed with the way to get it), 2 none can, or the command
    line does not fit.
    """
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world)
    if format != "atif":
        from evalrepo.commands.exporting_rows import export_rows

        if rep is not None:
            raise UsageError("--rep is of transcripts", hint="leave it out; rows name their rep")
        return export_rows(repo, what, format, output)
    asked = _asked(at_hand(repo), what, rep)
    _fits(asked, output, world)
    written, lacking = 0, []
    for one, found in _found(repo, asked):
        if isinstance(found, dict):
            _write(one, found, output, world)
            written += 1
        else:
            lacking.append((one, found))
    _say(written, lacking, asked.sealed, output)
    return Exit.YES if not lacking else Exit.NO if written else Exit.CANNOT


def _asked(rows: Rows, words: Sequence[str], number: int | None) -> Asked:
    from evalrepo.commands.finding_records import named
    from evalrepo.results import records

    by_hand = tuple(Wanted(p) for p in rows.by_hand if p in words or p.rpartition("/")[2] in words)
    if by_hand:
        return Asked(by_hand)
    if words:
        chosen, sealed = named(rows, words), 0
    else:
        newest = [held[-1] for held in rows.select(dict.fromkeys(rows.cells())).values() if held]
        chosen = [row for row in newest if row.set != "reserve"]
        sealed = len(newest) - len(chosen)
        if not newest:
            raise UsageError("nothing is recorded yet", hint="evalrepo run measures")
    wanted = tuple(w for record in records(rows.git, chosen) for w in _of_record(record, number))
    return Asked(wanted, sealed)


def _of_record(record: Record, number: int | None) -> Iterator[Wanted]:
    name = f"{record.scenario} · {record.agent}/{record.tier} run {record.run}"
    last = [rep for rep in record.last_attempts() if number in (None, rep.rep)]
    if not last:
        yield Wanted(name, number or 0, record)
    yield from (Wanted(name, rep.rep, record, rep) for rep in last)


def _fits(asked: Asked, output: Path | None, world: World) -> None:
    """UsageError when there are more documents than the output can take."""
    many = len(asked.wanted) > 1
    if many and output is None:
        raise UsageError(
            f"{len(asked.wanted)} reps are asked for, and one goes to standard output",
            hint="--output DIR writes a file for each; or name a run and a scenario, and --rep N",
        )
    if many and output is not None and _is_file(world.cwd / output):
        raise UsageError(f"{output} is one file, for {len(asked.wanted)} reps", hint="--output DIR, or --rep N")


def _is_file(path: Path) -> bool:
    return path.suffix == ".json" and not path.is_dir()


def _found(repo: Repository, asked: Asked) -> Iterator[tuple[Wanted, dict[str, Any] | Lacking]]:
    """Each rep with its document, or why there is none; one transcript at a time is held."""
    from evalrepo.commands.unsealing import Seals
    from evalrepo.results import RUNS
    from evalrepo.running.stored import Lacking, transcript_of

    refs, agents, seals = repo.refs(RUNS), _agents(repo), Seals(repo)
    tree = cache(repo.tree)
    for one in asked.wanted:
        if one.record is None:
            yield one, Lacking("it was written by hand, and no transcript belongs to it")
        elif one.rep is None:
            yield one, Lacking("the record has no such rep", f"evalrepo show {one.record.run} {one.record.scenario}")
        else:
            commit = refs.get(RUNS + one.record.executed)
            opened = seals.opened(one.record)
            found = transcript_of(one.record, one.rep, tree(commit) if commit else None, agents, opened=opened)
            yield one, found if isinstance(found, Lacking) else _document(found, one.record, one.rep)


def _agents(repo: Repository) -> Any:
    from evalrepo.store import load

    return load(repo.tree("WORKTREE"), repo, only=()).config.agents


def _document(transcript: Transcript, record: Record, rep: Rep) -> dict[str, Any]:
    from evalrepo.render.atif import About, trajectory

    ident = f"{record.run}/{record.scenario}/{record.agent}-{record.tier}/{rep.rep}-{rep.attempt}"
    return trajectory(transcript, About(ident, record.model, {"evalrepo": _facts(record, rep)}))


def _facts(record: Record, rep: Rep) -> dict[str, Any]:
    """What the record says of the rep."""
    facts, found = record.model_dump(mode="json", include=set(_HEAD)), rep.model_dump(mode="json", include=set(_REP))
    checks = [{"id": c.id, "axis": c.axis, "outcome": str(c.outcome), "gating": c.gating} for c in rep.checks]
    return {**{k: facts[k] for k in _HEAD}, **{k: found[k] for k in _REP}, "checks": checks}


def _write(one: Wanted, document: dict[str, Any], output: Path | None, world: World) -> None:
    from evalrepo.render.json import to_json

    text = to_json(document)
    if output is None:
        click.echo(text, nl=False)
        return
    assert one.record is not None
    assert one.rep is not None
    path = world.cwd / output
    path = path if _is_file(path) else path / _file_name(one.record, one.rep)
    making = path.with_name(f".{path.name}.{world.random(4).hex()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        making.write_text(text, "utf-8")
        os.replace(making, path)  # noqa: PTH105 - a link is replaced, never followed
    except OSError as error:
        with contextlib.suppress(OSError):
            making.unlink()
        said = f"{path}: cannot be written: {error.strerror}"
        raise UsageError(said, hint="--output DIR names another place") from None


def _file_name(record: Record, rep: Rep) -> str:
    """As the result file is called, with the rep."""
    from evalrepo.formats.result import file_name

    stem = file_name(record).rpartition("/")[2].removesuffix(".md")
    return _FILE.sub("_", f"{stem}_{rep.rep}-{rep.attempt}.json")


def _say(written: int, lacking: Sequence[tuple[Wanted, Lacking]], sealed: int, output: Path | None) -> None:
    """On standard error, which no document goes to."""
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import safe, wrapped

    if output is not None and written:
        click.echo(safe(f"{counted(written, 'document')} in {output}"), err=True)
    reps: dict[tuple[str, Lacking], list[str]] = {}
    for one, why in lacking:
        reps.setdefault((one.name, why), []).extend([str(one.number)] * bool(one.number))
    for (name, why), numbers in reps.items():
        which = f" rep {', '.join(numbers)}" if numbers else ""
        click.echo("\n".join(wrapped(f"not written: {name}{which}: {why.why}", then="  ")), err=True)
        if why.how:
            click.echo(safe(f"  → {why.how}"), err=True)
    if sealed:
        click.echo(f"left out: {counted(sealed, 'reserve cell')}, whose transcripts are sealed", err=True)
