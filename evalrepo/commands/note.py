"""`evalrepo note`: write a note beside a result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.world import World


@click.command("note")
@click.argument("what", nargs=-1, required=True, metavar="ID|RUN|PATH…")
@click.option(
    "--message", "-m", metavar="TEXT", help="What to write; without it only the file with its heading is made."
)
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, what: tuple[str, ...], message: str | None, format: str) -> int:  # noqa: A002
    """Write a note to a result, in `….notes.md` beside it in the work tree. The result itself never changes.

    Commit the note as any other file. Exit 2 when the words mean no result, or several.
    """
    from evalrepo.commands.finding_records import at_hand, named
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world)
    try:
        found = named(at_hand(repo), what)
    except UsageError as error:
        raise UsageError(
            error.message, hint=_text_given(what) if len(what) > 1 and message is None else error.hint
        ) from None
    row = _one(repo, [r for r in found if not r.path.startswith("refs/")], what)
    path = row.path.removesuffix(".md") + ".notes.md"
    _write(repo, row, path, message)
    if format == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json({"schema": 1, "note": path, "result": row.path}), nl=False)
    else:
        from evalrepo.render.safe import safe

        click.echo(safe(path))
    return Exit.YES


def _text_given(what: tuple[str, ...]) -> str:
    """For `note E1 hello`: words name results, text has an option."""
    name, *text = what
    return f'words name the result; the text goes behind -m: evalrepo note {name} -m "{" ".join(text)}"'


def _one(repo: Repository, found: list[Row], what: tuple[str, ...]) -> Row:
    if len(found) > 1:
        names = "; ".join(row.path for row in found[:4])
        raise UsageError(
            f"{' '.join(what)} means {len(found)} results: {names}", hint="add the scenario, or name the file"
        )
    if not found or not (repo.top / found[0].path).is_file():
        raise UsageError(
            f"the result of {' '.join(what)} is not in the work tree", hint="notes stand beside committed results"
        )
    return found[0]


def _write(repo: Repository, row: Row, path: str, message: str | None) -> None:
    file = repo.top / path
    if file.is_symlink() or file.parent.resolve() != repo.top.resolve() / Path(path).parent:
        raise UsageError(f"{path} is a symbolic link, or lies behind one", hint="notes are plain files beside results")
    heading = "" if file.exists() else f"# Notes to {row.scenario} · {row.agent}/{row.tier} · run {row.run}\n"
    text = heading + (f"\n{_signed(repo)}\n\n{message.rstrip()}\n" if message else "")
    with file.open("a", encoding="utf-8") as notes:
        notes.write(text)


def _signed(repo: Repository) -> str:
    who = repo.identity()
    return f"**{repo.world.timestamp()[:10]}**" + (f", {who[0]}" if who else "")
