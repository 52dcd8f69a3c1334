"""`evalrepo show`: explain one record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalrepo.commands.showing import coloured
from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.world import World


@click.command("show")
@click.argument("what", nargs=-1, required=True, metavar="ID|RUN|PATH…")
@click.option("--unseal", is_flag=True, help="Read transcripts of the reserve; the ledger keeps that somebody did.")
@click.option("--why", metavar="REASON", help="With --unseal: what for.")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, what: tuple[str, ...], unseal: bool, why: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """Explain records: identity, what every check saw, attempts, where the transcripts are.

    A scenario (id or alias) means the newest record of each of its cells, a run all its records, a path that file;
    several words together mean what all of them fit. A reserve's transcripts are sealed; --unseal opens them for good,
    with a reason, and shows what happened. Exit 2 when there is no such record.
    """
    from evalrepo.commands.finding_records import at_hand, named, superseded
    from evalrepo.commands.unsealing import Seals, told
    from evalrepo.commands.unsealing import unseal as open_seals
    from evalrepo.repository.repo import Repository
    from evalrepo.results import records

    if bool(why) != unseal:
        raise UsageError("--unseal and --why go together", hint='--unseal --why "what cannot be decided without"')
    repo = Repository.open(world)
    rows = at_hand(repo)
    found = named(rows, what)
    whole = records(rows.git, found)
    later = superseded(rows, found)
    if unseal:
        open_seals(repo, whole, why or "")
    if format == "json":
        from evalrepo.render.json import to_json

        data = [
            {"path": row.path, **r.model_dump(mode="json", by_alias=True), "superseded_by": later[row.oid]}
            for row, r in zip(found, whole, strict=True)
        ]
        click.echo(to_json({"schema": 1, "records": data}), nl=False)
        return Exit.YES
    from evalrepo.render.record import record_text

    style, seals = coloured(world.environ), Seals(repo)
    for n, (row, record) in enumerate(zip(found, whole, strict=True)):
        text = record_text(record, row.path, style, later[row.oid], sealed=not seals.opened(record))
        click.echo("\n" * bool(n) + text, nl=False)
        if unseal:
            click.echo("\n".join(["", *told(repo, record)]))
    return Exit.YES
