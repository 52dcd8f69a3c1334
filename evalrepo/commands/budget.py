"""`evalrepo budget`: allow more looks at a subject's reserve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalrepo.commands.entering import FORMAT, WHY, enter
from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.world import World


@click.command("budget")
@click.argument("subject")
@click.option("--add", "amount", required=True, type=click.IntRange(1, 100), help="How many looks more.")
@WHY
@FORMAT
@click.pass_obj
def command(world: World, *, subject: str, amount: int, why: str, format_: str) -> int:
    """Allow more looks at the reserve of SUBJECT than `reserve.looks` says, as an event of the ledger.

    Every look makes the next one prove less: the error rate is split over all that are allowed, and every report says
    how many there were. New twins (`evalrepo retire`) are the better way.

    Exit 0: written and staged. Exit 2: no such subject, no reason.
    """
    from evalrepo.discipline.said import raised
    from evalrepo.repository.repo import Repository
    from evalrepo.store.ledger import signed
    from evalrepo.store.loading import load, read_events

    repo = Repository.open(world)
    tree = repo.tree("WORKTREE")
    config = load(tree, repo, only=()).config
    if subject not in config.subjects:
        raise UsageError(f"unknown subject {subject}", hint=f"known: {', '.join(config.subjects) or 'none'}")
    event = signed(repo, "budget", why, subject=subject, amount=amount)
    total = config.reserve.looks + raised(read_events(tree)[0], subject) + amount
    return enter(repo, event, format_, [f"{subject}: {total} looks are allowed now, {amount} more than before"])
