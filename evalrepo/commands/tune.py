"""`evalrepo tune`: begin and end a tuning loop."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evalrepo.commands.entering import FORMAT, WHY
from evalrepo.errors import Exit

if TYPE_CHECKING:
    from evalrepo.store.tuning import Loop
    from evalrepo.world import World


@click.group("tune")
def command() -> None:
    """Hold the run-set still while wording is tuned.

    Between start and stop the run-set's scenarios of a subject are frozen, with their fixtures, rubrics, hidden files
    and check modules: better scores then come from the wording. The subject itself stays free.
    """


@command.command("start")
@click.argument("name")
@click.option("--subject", metavar="NAME", help="What is tuned; default: the subject called NAME, or the only one.")
@WHY
@FORMAT
@click.pass_obj
def start(world: World, *, name: str, subject: str | None, why: str, format_: str) -> int:
    """Begin the loop NAME: lock, as it is staged, what the run-set measures the subject by.

    Several loops may be open. An edit of what they hold is found by `evalrepo verify`; `thaw` and `freeze` open and
    close it as for the reserve. A scenario that is added meanwhile is not held.

    Exit 0: locked and staged. Exit 1: never. Exit 2: it cannot begin (open already, unknown subject, work that is not
    staged, no reason).
    """
    from evalrepo.records.base import NAME
    from evalrepo.repository.repo import Repository
    from evalrepo.store import tuning

    if not NAME.fullmatch(name):
        raise click.BadParameter("a loop is named by letters, digits, '.', '_' and '-'", param_hint="NAME")
    loop = tuning.start(Repository.open(world), name, subject, why)
    _say(loop, format_, "frozen until", f"next: git commit; tune {loop.subject}; evalrepo tune stop {name}")
    return Exit.YES


@command.command("stop")
@click.argument("name")
@WHY
@FORMAT
@click.pass_obj
def stop(world: World, *, name: str, why: str, format_: str) -> int:
    """End the loop NAME: let go of what only it holds. What the reserve or another loop needs stays frozen.

    Exit 0: let go and staged. Exit 2: no such loop, something of it is thawed or was changed, no reason.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.store import tuning

    _say(tuning.stop(Repository.open(world), name, why), format_, "free again after", "next: git commit")
    return Exit.YES


def _say(loop: Loop, format_: str, what: str, then: str) -> None:
    from evalrepo.render.safe import safe, wrapped

    if format_ == "json":
        click.echo(json.dumps({"schema": 1, **asdict(loop)}, indent=2))
        return
    click.echo(f"{what} loop {loop.name}:")
    for path in loop.paths:
        click.echo(f"  {safe(path)}")
    click.echo(f"staged: evalrepo.lock, {loop.event}")
    click.echo("\n".join(wrapped(then, then="  ")))
