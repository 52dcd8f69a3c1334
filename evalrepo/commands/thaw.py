"""`evalrepo thaw`: open frozen files, with a reason."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from evalrepo.records.event import ThawKind
    from evalrepo.store.freezing import Written
    from evalrepo.world import World


@click.command("thaw")
@click.argument("paths", nargs=-1, required=True)
@click.option("--why", required=True, help="The reason, for the ledger.")
@click.option(
    "--kind",
    type=click.Choice(["loosen", "tighten", "repair"]),
    help="What the change does to the question; without it, it counts as tighten.",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, paths: tuple[str, ...], why: str, kind: ThawKind | None, format_: str) -> int:
    """Open frozen PATHS (files or directories), so that they may be changed until the next freeze.

    Takes their lines out of evalrepo.lock, writes an event in evalrepo.ledger/, and stages these two files. Results
    from before stay, and are not comparable with later ones. After `--kind repair` and `loosen` their transcripts may
    be judged again by the new question; after `tighten` they are stale.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.store.freezing import thaw

    written = thaw(Repository.open(world), paths, why, kind)
    click.echo(json.dumps({"schema": 1, **asdict(written)}, indent=2) if format_ == "json" else _text(written, kind))
    return Exit.YES


def _text(written: Written, kind: ThawKind | None) -> str:
    from evalrepo.render.safe import safe

    opened = "\n".join(f"thawed: {safe(path)}" for path in written.lost)
    return (
        f"{opened}\nstaged: evalrepo.lock, {written.event}\n"
        "next: change the files, git add them, evalrepo freeze, git commit\n"
        "until then the reserve is not measured and the gate answers invalid\n"
        f"{_LATER[kind]}"
    )


_OLD = "results so far will not be comparable"
_LATER: dict[str | None, str] = {
    None: f"{_OLD}, nor judged again: no --kind was said, which counts as tighten",
    "tighten": f"{_OLD}, nor judged again: they were asked less",
    "loosen": f"{_OLD}; their transcripts may be judged again",
    "repair": f"{_OLD}; their transcripts may be judged again",
}
"""Kind of a thaw → what becomes of results."""
