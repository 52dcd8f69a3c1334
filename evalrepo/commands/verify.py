"""`evalrepo verify`: what is frozen against git."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.store.frozen import Verified
    from evalrepo.world import World


ADD = "git add evalrepo.lock evalrepo.ledger"


@click.command("verify")
@click.option("--staged", is_flag=True, help="In a hook: what is about to be committed, as git hands it to the hook.")
@click.option("--rev", metavar="REV", help="A commit, against each of its parents.")
@click.option("--deep", is_flag=True, help="Read every locked file's content and compare its SHA-256 too.")
@click.option("--since", metavar="REV", help="With --records: what commits since REV did to results; default: all.")
@click.option("--records", is_flag=True, help="The results instead: none edited, removed, made up or left out.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    world: World, *, staged: bool, rev: str | None, deep: bool, since: str | None, records: bool, format_: str
) -> int:
    """Check frozen files, the lock and the ledger: what is staged (the default), or a commit.

    Exit 0: as frozen. Exit 1: something was edited, added, removed, renamed or re-moded, or the lock changed without
    a thaw and a freeze in the ledger.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.store.frozen import verify

    if staged and rev is not None:
        raise UsageError("--staged and --rev ask for two different things", hint="give one of them")
    repo = Repository.open(world, hook=staged)
    if records:
        from evalrepo.commands.auditing import show

        return show(repo, since, rev or "HEAD", format_)
    result = verify(repo, rev=rev, deeply=deep)
    loose = rev is None and _loose_lock(repo)
    click.echo(_json(result) if format_ == "json" else _text(result, loose=loose))
    return Exit.YES if result.intact else Exit.NO


def _json(result: Verified) -> str:
    from evalrepo.render.findings import finding_json

    data: dict[str, Any] = {
        "schema": 1,
        "intact": result.intact,
        "locked": result.locked,
        "thawed": list(result.thawed),
        "findings": [finding_json(f) for f in result.findings],
    }
    return json.dumps(data, indent=2)


def _loose_lock(repo: Repository) -> bool:
    """Whether a lock lies on the disk that git does not know: it freezes nothing yet."""
    from evalrepo.discipline.places import LOCK

    return (repo.top / LOCK).exists() and not repo.git("ls-files", "-z", "--", LOCK)


def _text(result: Verified, *, loose: bool) -> str:
    from evalrepo.render.findings import counted, shown, summary

    intact = f"{counted(result.locked, 'frozen file')}, as frozen" if result.locked else "nothing is frozen"
    if loose:
        intact = f"{intact}: evalrepo.lock is here, but git does not know it\n  hint: {ADD}"
    return "\n".join([*map(shown, result.findings), intact if result.intact else summary(result.findings)])
