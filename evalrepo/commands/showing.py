"""How a verdict, a text or data reaches the terminal: colours only there, and never with NO_COLOR."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalrepo.records.verdict import Verdict
    from evalrepo.world import World

FORMATS = ("text", "markdown", "json", "junit", "github")
COLOURS: dict[str, str] = {
    "suspect": "red",
    "worse": "yellow",
    "gone": "red",
    "missing": "magenta",
    "stale": "magenta",
    "not-comparable": "magenta",
    "better": "green",
    "new": "cyan",
    "invalid": "red",
    "block": "red",
    "finding": "red",
    "inconclusive": "yellow",
    "unknown": "yellow",
    "pass": "green",
    "same": "green",
    "fresh": "green",
    "partly": "yellow",
}


def coloured(environ: Mapping[str, str]) -> Any:
    """The style for the terminal that standard output is, or the plain one."""
    from evalrepo.render.text import plain

    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return plain

    def style(text: str, role: str) -> str:
        return click.style(text, fg=COLOURS.get(role), bold=role == "heading" or None)

    return style


def show_verdict(world: World, verdict: Verdict, form: str) -> None:
    """Print it in the form asked for."""
    if form == "json":
        from evalrepo.render.json import verdict_json

        click.echo(verdict_json(verdict), nl=False)
    elif form == "markdown":
        from evalrepo.render.markdown import verdict_markdown

        click.echo(verdict_markdown(verdict), nl=False)
    elif form == "junit":
        from evalrepo.render.junit import verdict_junit

        click.echo(verdict_junit(verdict), nl=False)
    elif form == "github":
        from evalrepo.render.github import verdict_github

        click.echo(verdict_github(verdict), nl=False)
    else:
        from evalrepo.render.text import verdict_text

        click.echo(verdict_text(verdict, coloured(world.environ)), nl=False)
