"""`evalrepo import`: scenario files and results of documents that evals were kept in before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalrepo.commands.init import write
from evalrepo.errors import DataError, Exit, UsageError
from evalrepo.importing.found import FIELDS, Asked, Imported
from evalrepo.importing.read import FORMATS, read

if TYPE_CHECKING:
    from evalrepo.world import World

_LONGEST = 160


@dataclass(frozen=True)
class Done:
    """An import, and which of its files were written (`kept`: one of that name was there)."""

    source: str
    imported: Imported
    wrote: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def exit(self) -> Exit:
        """NO when a file was kept, or there was nothing to write."""
        return Exit.YES if self.wrote and not self.kept else Exit.NO


@click.command("import", epilog="Formats: " + "; ".join(f"{name}: {f.about}" for name, f in FORMATS.items()) + ".")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--from", "wanted", type=click.Choice([*FORMATS]), help="The format; default: by what is in FILE.")
@click.option("--subject", metavar="NAME", help="What is under test; default: the config's only one, or as FILE says.")
@click.option("--date", metavar="YYYY-MM-DD", help="When results were measured; default: the date in FILE's name.")
@click.option("--output", metavar="DIR", type=click.Path(path_type=Path), help="Default: the repository's top.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    world: World,
    *,
    source: Path,
    wanted: str | None,
    subject: str | None,
    date: str | None,
    output: Path | None,
    format_: str,
) -> int:
    """Make scenario files, rubrics and results of a document, and list what has no place in them.

    A file that exists is never written over, evalrepo.yaml never changed. Exit: 0 all was written, 1 a file was there
    already or there was nothing to write, 2 the document is in no format that is known.
    """
    asked = _asked(world, source, subject, date, output)
    imported = read(_bytes(world.cwd / source), asked, wanted or "")
    done = _written(_top(world, output), str(source), imported)
    click.echo(_json(done) if format_ == "json" else _text(done))
    return done.exit


def _asked(world: World, source: Path, subject: str | None, date: str | None, output: Path | None) -> Asked:
    from evalrepo.importing.writing import is_name

    if subject is not None and not is_name(subject):
        raise UsageError(f'"{subject}" is no name of a subject', hint="letters, digits, '.', '_' and '-'")
    named = subject or (_only_subject(world) if output is None else "")
    return Asked(source.name, named, _date(date) if date is not None else _date_in(source.name))


def _only_subject(world: World) -> str:
    """The config's, where it has just one."""
    from evalrepo.repository.repo import Repository
    from evalrepo.store import load

    repo = Repository.open(world)
    loaded = load(repo.tree("WORKTREE"), repo, only=())
    broken = [f for f in loaded.findings if f.place.file == "evalrepo.yaml" and not f.warning]
    if broken:
        raise DataError(broken)
    return next(iter(loaded.config.subjects)) if len(loaded.config.subjects) == 1 else ""


def _date(text: str) -> str:
    from datetime import datetime

    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()  # noqa: DTZ007 - a day has no zone
    except ValueError:
        raise UsageError(f"{text} is no day", hint="--date YYYY-MM-DD, by UTC") from None


def _date_in(name: str) -> str:
    from re import search

    found = search(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", name)
    return _date(found[0]) if found else ""


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", hint="name the document to import") from None


def _top(world: World, output: Path | None) -> Path:
    from evalrepo.repository.repo import Repository

    if output is None:
        return Repository.open(world).top
    top = world.cwd / output
    try:
        top.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{output} cannot be made: {error.strerror}", hint="--output names a directory") from None
    return top


def _written(top: Path, source: str, imported: Imported) -> Done:
    wrote: list[str] = []
    kept: list[str] = []
    for file in imported.files:
        (wrote if write(top, file.path, file.text.encode()) else kept).append(file.path)
    return Done(source, imported, tuple(wrote), tuple(kept))


def _json(done: Done) -> str:
    found = done.imported
    fields = {name: found.filled.get(name, 0) for name in FIELDS}
    return json.dumps(
        {
            "schema": 1,
            "source": done.source,
            "format": found.format,
            "scenarios": found.scenarios,
            "counted": found.counted,
            "results": found.results,
            "fields": fields if found.scenarios else {},
            "wrote": done.wrote,
            "kept": done.kept,
            "config": found.config,
            "left": [asdict(one) for one in found.left],
        },
        indent=2,
        ensure_ascii=False,
    )


def _text(done: Done) -> str:
    from evalrepo.render.safe import safe

    found = done.imported
    lines = [safe(f"{done.source}: {FORMATS[found.format].about}"), *_counts(found), ""]
    lines += [safe(f"wrote {path}") for path in done.wrote]
    lines += [safe(f"kept as it was: {path}, which was there already") for path in done.kept]
    lines += [] if found.files else ["wrote nothing"]
    lines += ["", *_fields(found)] if found.scenarios else []
    if found.config:
        lines += ["", "for evalrepo.yaml, which is never written:"]
        lines += [safe(f"  {line}") for line in found.config.splitlines()]
    lines += ["", *_left(done)]
    if found.scenarios:
        lines += ["", "next: evalrepo lint says what each file still needs"]
    return "\n".join(lines)


def _counts(found: Imported) -> Iterator[str]:
    from evalrepo.render.findings import counted

    if found.scenarios:
        yield f"{counted(len(found.scenarios), 'scenario')} found"
    if found.results:
        yield f"{counted(found.results, 'result')} found"
    if not found.files:
        yield "no scenario found" + (
            f"; of {found.counted} it is said that they are elsewhere" if found.counted else ""
        )


def _fields(found: Imported) -> list[str]:
    from tabulate import tabulate

    count = len(found.scenarios)
    rows = [(name, f"{found.filled.get(name, 0)} of {count}") for name in FIELDS]
    return tabulate(rows, headers=("field", "filled"), tablefmt="simple", disable_numparse=True).splitlines()


def _left(done: Done) -> Iterator[str]:
    """What has no place, by what can be done about it."""
    from evalrepo.render.safe import safe, wrapped

    left = done.imported.left
    whole = " (--format json has all words)" if any(len(one.text) > _LONGEST for one in left) else ""
    yield f"left for a person: {len(left)}{whole}" if left else "nothing is left"
    for why in dict.fromkeys(one.why for one in left):
        same = [one for one in left if one.why == why]
        yield from wrapped(f"{why} ({len(same)})", first="  ", then="    ")
        for one in same:
            text = " ".join(one.text.split())
            shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
            yield from wrapped(safe(f"{done.source}:{one.line}  {shown}"), first="    ", then="      ")
