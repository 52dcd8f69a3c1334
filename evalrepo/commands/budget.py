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

    They are for the twins of today: once every one of them is replaced, the budget is `reserve.looks` again. Every look
    makes the next one prove less: the error rate is split over all that are allowed, and every report says how many
    there were. New twins (`evalrepo retire`) are the better way.

    Exit 0: written and staged. Exit 2: no such subject, no reserve, no reason.
    """
    from evalrepo.commands.background import looks
    from evalrepo.commands.known_looks import Known
    from evalrepo.commands.sides import WORKTREE, place
    from evalrepo.repository.digests import stimulus_digest
    from evalrepo.repository.repo import Repository
    from evalrepo.store.ledger import signed

    repo = Repository.open(world)
    here = place(repo, WORKTREE)
    if subject not in here.config.subjects:
        raise UsageError(f"unknown subject {subject}", hint=f"known: {', '.join(here.config.subjects) or 'none'}")
    found = next((one for one in looks(here, Known(here.ledger)) if one.subject == subject), None)
    if found is None:
        hint = "evalrepo new ID-reserve --reserve-of ID writes a twin"
        raise UsageError(f"{subject} has no reserve, so there is nothing to look at", hint=hint)
    digests = {name: stimulus_digest(here.tree, here.scenarios[name]) for name in sorted(found.scenarios)}
    twins = tuple(f"{name} {digest}" for name, digest in digests.items())
    event = signed(repo, "budget", why, subject=subject, amount=amount, twins=twins)
    total = found.allowed + amount
    said = [f"{subject}: {total} looks are allowed now, {amount} more than before", _worth(len(twins), total)]
    return enter(repo, event, format_, said)


def _worth(twins: int, looks: int) -> str:
    """How little so many looks at so few scenarios leave to be believed."""
    from evalrepo.comparing.statistics import deviation

    count = "1 scenario" if twins == 1 else f"{twins} scenarios"
    off = min(1.0, deviation(twins, looks))
    return f"{looks} looks at {count} may leave a pass rate off by {off:.0%} (union bound)"
