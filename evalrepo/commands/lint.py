"""`evalrepo lint`: everything that is wrong in the files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit, Finding, UsageError

if TYPE_CHECKING:
    from evalrepo.world import World


@click.command("lint")
@click.option("--staged", is_flag=True, help="What is about to be committed, instead of the work tree.")
@click.option("--rev", metavar="REV", help="A commit, instead of the work tree.")
@click.option("--explain", metavar="CODE", help="Say what a finding means and what to do.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, staged: bool, rev: str | None, explain: str | None, format_: str) -> int:
    """Find everything that is wrong in the files, each with its place and the next step.

    Exit 0: nothing, or warnings only. Exit 1: findings.
    """
    if explain is not None:
        click.echo(_explained(explain))
        return Exit.YES
    if staged and rev is not None:
        raise UsageError("--staged and --rev ask for two different things", hint="give one of them")
    findings = _findings(world, "INDEX" if staged else rev or "WORKTREE", hook=staged)
    click.echo(_json(findings) if format_ == "json" else _text(findings))
    return Exit.NO if any(not f.warning for f in findings) else Exit.YES


def _findings(world: World, rev: str, *, hook: bool) -> list[Finding]:
    from evalrepo.commands.chain import broken
    from evalrepo.linting import lint
    from evalrepo.repository.repo import Repository

    repo = Repository.open(world, hook=hook)
    tree = repo.tree(rev)
    return sorted({*lint(tree, repo), *broken(repo, tree)})


def _explained(code: str) -> str:
    from evalrepo.codes import CODES
    from evalrepo.linting.ground import near

    if code.upper() not in CODES:
        raise UsageError(f'there is no finding code "{code}"', hint=near(code.upper(), list(CODES)))
    import textwrap

    return f"{code.upper()}\n" + textwrap.fill(CODES[code.upper()], 80, initial_indent="  ", subsequent_indent="  ")


def _json(findings: list[Finding]) -> str:
    from evalrepo.render.findings import finding_json

    return json.dumps({"schema": 1, "findings": [finding_json(f) for f in findings]}, indent=2)


def _text(findings: list[Finding]) -> str:
    from evalrepo.render.findings import shown, summary

    return "\n".join([*map(shown, findings), summary(findings)])
