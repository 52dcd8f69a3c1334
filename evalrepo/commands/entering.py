"""The end of every command that leaves an event: write it, stage it, say so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from evalrepo.records.event import Event
    from evalrepo.repository.repo import Repository

FORMAT = click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
WHY = click.option("--why", required=True, metavar="REASON", help="The reason, for whoever reviews it.")


def enter(
    repo: Repository, event: Event, format_: str, lines: Sequence[str], files: Mapping[str, bytes] | None = None
) -> int:
    """Append the event, and say its path and `lines`, or the event as JSON."""
    from evalrepo.render.safe import safe, wrapped
    from evalrepo.store.ledger import append

    path = append(repo, event, files)
    if format_ == "json":
        said = event.model_dump(mode="json", exclude_defaults=True)
        click.echo(json.dumps({"schema": 1, "path": path, **said}, indent=2))
    else:
        for line in lines:
            click.echo("\n".join(wrapped(safe(line), then="  ")))
        click.echo(f"staged: {path}\nnext: git commit")
    return Exit.YES
