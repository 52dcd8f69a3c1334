"""`evalrepo freeze`: lock files by content."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from evalrepo.store.freezing import Written
    from evalrepo.world import World


@click.command("freeze")
@click.argument("paths", nargs=-1)
@click.option("--why", default="frozen", show_default=True, help="The reason, for the ledger.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, paths: tuple[str, ...], why: str, format_: str) -> int:
    """Lock what is staged: PATHS, or the reserve and everything that it names.

    Writes evalrepo.lock and an event in evalrepo.ledger/, and stages these two files; nothing else changes. A file that
    is locked already changes only after `evalrepo thaw`.
    """
    from evalrepo.repository.repo import Repository
    from evalrepo.store.freezing import freeze

    written = freeze(Repository.open(world), paths, why)
    click.echo(json.dumps({"schema": 1, **asdict(written)}, indent=2) if format_ == "json" else _text(written))
    return Exit.YES


def _text(written: Written) -> str:
    from evalrepo.render.findings import counted
    from evalrepo.render.safe import wrapped

    locked = counted(written.locked, "file")
    if not written.event:
        return "\n".join([f"nothing to freeze: {locked} locked, all as staged", *_unfrozen(written)])
    counts = [(len(written.gained), "new"), (len(written.changed), "changed"), (len(written.lost), "gone")]
    said = ", ".join(f"{n} {what}" for n, what in counts if n) or "the same as before"
    roots = [line for root, why in written.why.items() for line in wrapped(f"{root}: {why}", first="  ", then="    ")]
    return "\n".join(
        [
            f"{locked} locked: {said}",
            *roots,
            *_generation(written),
            *_unfrozen(written),
            f"staged: evalrepo.lock, {written.event}",
            "next: git commit",
        ]
    )


_REJUDGED = {
    "yes": "their transcripts may be judged again: evalrepo rescore",
    "stale": "they are stale: the question was tightened, or the thaw said no --kind",
    "unknown": "whether their transcripts may be judged again, the ledger cannot say",
}


def _generation(written: Written) -> list[str]:
    """The generation, and what becomes of earlier results of the scenarios that are judged otherwise now."""
    from evalrepo.render.safe import wrapped

    lines = [f"generation {written.generation}"]
    for answer, what in _REJUDGED.items():
        ids = [id_ for id_, found in written.rejudged.items() if found == answer]
        if ids:
            text = f"{', '.join(ids)}: another instrument; earlier results are not comparable, and {what}"
            lines += wrapped(text, first="  ", then="    ")
    return lines


def _unfrozen(written: Written) -> list[str]:
    from evalrepo.render.safe import wrapped

    lines = [f"not frozen: {path} ({why})" for path, why in written.unfrozen.items()]
    hint = ["hint: evalrepo freeze, without paths, freezes all that the reserve rests on"] if lines else []
    return [part for line in lines for part in wrapped(line, then="  ")] + hint
