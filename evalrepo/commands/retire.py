"""`evalrepo retire`: take scenarios out of the reserve's service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evalrepo.commands.entering import FORMAT, WHY, enter
from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.world import World


@click.command("retire")
@click.argument("ids", nargs=-1, required=True)
@WHY
@FORMAT
@click.pass_obj
def command(world: World, *, ids: tuple[str, ...], why: str, format_: str) -> int:
    """Retire reserve scenarios (IDS, aliases, globs): they are held out no more, and new twins take their place.

    Their sealed transcripts may be read from then on, and the files may move to the run-set by thaw, `git mv` and
    freeze. What was measured stays.

    Exit 0: written and staged. Exit 2: no such reserve scenario, one that is retired already, no reason.
    """
    from evalrepo.discipline.said import retired
    from evalrepo.repository.repo import Repository
    from evalrepo.store.choose import select_ids
    from evalrepo.store.ledger import signed
    from evalrepo.store.loading import load, read_events

    repo = Repository.open(world)
    tree = repo.tree("WORKTREE")
    loaded = load(tree, repo)
    chosen = tuple(select_ids(loaded, ids, reserve=True))
    for id_, event in retired(read_events(tree)[0]).items():
        if id_ in chosen:
            raise UsageError(f"{id_} was retired on {event.at[:10]} ({event.why})", hint="evalrepo ledger retire")
    paths = tuple(sorted({loaded.scenarios[id_].path for id_ in chosen}))
    event = signed(repo, "retire", why, scenarios=chosen, paths=paths)
    lines = [
        *(f"retired: {id_}" for id_ in chosen),
        f"to tune on them: evalrepo thaw {' '.join(paths)} --kind loosen --why REASON, git mv to scenarios/",
        "to hold out others in their place: evalrepo new ID-reserve --reserve-of ID, evalrepo freeze",
    ]
    return enter(repo, event, format_, lines)
