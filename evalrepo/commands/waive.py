"""`evalrepo waive`: excuse a metric's drop for a while."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

import click

from evalrepo.commands.entering import FORMAT, WHY, enter
from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.store.loading import Loaded
    from evalrepo.world import World


HOW = "it counts from a baseline that holds it: commit it upon what was released, tag that, and merge the tag"


@click.command("waive")
@click.argument("metric")
@WHY
@click.option("--until", required=True, metavar="YYYY-MM-DD", help="The last day on which it counts.")
@FORMAT
@click.pass_obj
def command(world: World, *, metric: str, why: str, until: str, format_: str) -> int:
    """Excuse a drop of METRIC at the gate until a day, as an event of the ledger.

    It counts once the baseline holds it: a release cannot waive its own drop. Commit it on a branch from what was
    released, tag that commit, and merge the tag; the gate of the merge then rests on it.

    Exit 0: written and staged. Exit 2: no such metric, no such day, no reason.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.store.ledger import signed
    from evalrepo.store.loading import load

    repo = Repository.open(world)
    _known(metric, load(repo.tree("WORKTREE"), repo))
    event = signed(repo, "waive", why, metric=metric, until=_day(until, repo.world.timestamp()[:10]))
    lines = [f"a drop of {metric} is excused until {until}", HOW]
    return enter(repo, event, format_, lines)


def _known(metric: str, loaded: Loaded) -> None:
    known = sorted({name for one in loaded.scenarios.values() for name in one.scenario.metrics})
    if metric not in known:
        raise UsageError(f"no scenario has a metric {metric}", hint=f"known: {', '.join(known) or 'none'}")


def _day(until: str, today: str) -> str:
    try:
        day = date.fromisoformat(until) if re.fullmatch(r"\d{4}-\d\d-\d\d", until) else None
    except ValueError:
        day = None
    if day is None:
        raise UsageError(f"--until {until} is no day", hint="--until 2027-01-31")
    if until < today:
        raise UsageError(f"--until {until} has passed", hint=f"today is {today}, in UTC")
    return until
