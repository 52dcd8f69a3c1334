"""`evalrepo schema [KIND]`: the JSON Schema of a file kind, or the kinds there are."""

from __future__ import annotations

import json

import click


@click.command("schema", short_help="print the JSON Schema of a file kind")
@click.argument("kind", required=False)
def command(kind: str | None) -> None:
    """Print the JSON Schema of a file KIND; without KIND, list the kinds."""
    from evalrepo.errors import UsageError
    from evalrepo.formats import schema

    if kind is None:
        for name, (where, _) in schema.KINDS.items():
            click.echo(f"{name:<10}{where}")
    elif kind in schema.KINDS:
        click.echo(json.dumps(schema.schema(kind), indent=2, ensure_ascii=False))
    else:
        raise UsageError(f'no file kind "{kind}"', hint="one of " + ", ".join(schema.KINDS))
