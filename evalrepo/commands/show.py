"""`evalrepo show`: explain one record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalrepo.commands.showing import coloured
from evalrepo.errors import Exit

if TYPE_CHECKING:
    from evalrepo.world import World


@click.command("show")
@click.argument("what", nargs=-1, required=True, metavar="ID|RUN|PATH…")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, what: tuple[str, ...], format: str) -> int:  # noqa: A002 - the option's name
    """Explain records: identity, what every check saw, attempts, where the transcripts are.

    A scenario (id or alias) means the newest record of each of its cells, a run all its records, a path that file;
    several words together mean what all of them fit. Exit 2 when there is no such record.
    """
    from evalrepo.commands.finding_records import at_hand, named, superseded
    from evalrepo.repository.repo import Repository
    from evalrepo.results import records

    rows = at_hand(Repository.open(world))
    found = named(rows, what)
    whole = records(rows.git, found)
    later = superseded(rows, found)
    if format == "json":
        from evalrepo.render.json import to_json

        data = [
            {"path": row.path, **r.model_dump(mode="json", by_alias=True), "superseded_by": later[row.oid]}
            for row, r in zip(found, whole, strict=True)
        ]
        click.echo(to_json({"schema": 1, "records": data}), nl=False)
        return Exit.YES
    from evalrepo.render.record import record_text

    style = coloured(world.environ)
    texts = (record_text(r, row.path, style, later[row.oid]) for row, r in zip(found, whole, strict=True))
    click.echo("\n".join(texts), nl=False)
    return Exit.YES
