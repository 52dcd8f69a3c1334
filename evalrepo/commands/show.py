"""`evalrepo show`: explain one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

import click

from evalrepo.commands.showing import coloured
from evalrepo.errors import Exit, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.explaining import Meant
    from evalrepo.records.record import Record
    from evalrepo.records.row import Row
    from evalrepo.repository.repo import Repository
    from evalrepo.world import World


@click.command("show")
@click.argument("what", nargs=-1, required=True, metavar="ID|RUN|PATH…")
@click.option("--unseal", is_flag=True, help="Read transcripts of the reserve; the ledger keeps that somebody did.")
@click.option("--why", metavar="REASON", help="With --unseal: what for.")
@click.option("--explain", is_flag=True, help="How one rep's verdict came about, with the transcript's lines.")
@click.option("--rep", type=int, metavar="N", help="With --explain: which rep; else the first that did not pass.")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    world: World,
    *,
    what: tuple[str, ...],
    unseal: bool,
    why: str | None,
    explain: bool,
    rep: int | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Explain records: identity, what every check saw, attempts, where the transcripts are.

    A scenario (id or alias) means the newest record of each of its cells, a run all its records, a path that file;
    several words together mean what all of them fit. What a person wrote by hand is named by its file. A reserve's
    transcripts are sealed; --unseal opens them for good, with a reason, and shows what happened.

    --explain takes one rep of one record: each check with its words, its result, why, and the lines and files that it
    rests on; each judge's vote; each metric's rung; then how axes and verdict follow.

    Exit 2 when there is no such record or rep, or --explain could mean several records.
    """
    _fits(what, unseal, why, explain, rep)
    shown = _shown(world, what, recorded=explain)
    if shown.by_hand:
        from evalrepo.commands.by_hand import show

        return show(shown.repo, shown.by_hand, format)
    if explain:
        shown.one(what, rep)
    if unseal:
        from evalrepo.commands.unsealing import unseal as open_seals

        open_seals(shown.repo, shown.records, why or "")
    if explain:
        _explain(shown, what, rep, format)
    elif format == "json":
        _json(shown)
    else:
        _text(shown, happened=unseal)
    return Exit.YES


def _unexplained(path: str) -> UsageError:
    return UsageError(
        f"{path} was scored by a person, by hand: no run, no checks and no transcript are behind it, so there is "
        "nothing to explain beyond what it says",
        hint=f"evalrepo show {quote(path)}",
    )


def _fits(what: Sequence[str], unseal: bool, why: str | None, explain: bool, rep: int | None) -> None:
    if bool(why) != unseal:
        raise UsageError("--unseal and --why go together", hint='--unseal --why "what cannot be decided without"')
    if rep is not None and not explain:
        raise UsageError("--rep goes with --explain", hint=f"evalrepo show {' '.join(what)} --explain --rep {rep}")


@dataclass(frozen=True)
class Shown:
    """The records that are meant, with their rows; `later`: blob id → the run whose record supersedes it; `bad`: blob
    id → reps that another record of them declares bad, and its run.

    `by_hand`: paths of results that people wrote, where these are meant.
    """

    repo: Repository
    rows: Sequence[Row]
    records: Sequence[Record]
    later: Mapping[str, str]
    bad: Mapping[str, Mapping[int, str]]
    by_hand: Sequence[str] = ()

    def one(self, what: Sequence[str], rep: int | None) -> Meant:
        """The only record, which has this rep. UsageError otherwise."""
        from evalrepo.commands.explaining import one_record, one_rep

        meant = one_record(self.rows, self.records, self.later, what)
        one_rep(meant.record, rep)
        return meant


def _shown(world: World, what: Sequence[str], *, recorded: bool) -> Shown:
    """`recorded`: only what a run recorded will do."""
    from evalrepo.commands import by_hand
    from evalrepo.commands.finding_records import at_hand, declared_bad, named, superseded
    from evalrepo.repository.repo import Repository
    from evalrepo.results import records

    repo = Repository.open(world)
    rows = at_hand(repo)
    hands = by_hand.named(rows, what)
    if hands and recorded:
        raise _unexplained(hands[0])
    if hands:
        return Shown(repo, (), (), {}, {}, hands)
    found = named(rows, what)
    return Shown(repo, found, records(rows.git, found), superseded(rows, found), declared_bad(rows, found))


def _explain(shown: Shown, what: Sequence[str], rep: int | None, form: str) -> None:
    from evalrepo.commands.explaining import explained
    from evalrepo.commands.unsealing import Seals
    from evalrepo.render.explained import explained_json, explained_text

    repo, meant = shown.repo, shown.one(what, rep)
    found = explained(repo, meant, rep, opened=Seals(repo).opened(meant.record))
    text = explained_json(found) if form == "json" else explained_text(found, coloured(repo.world.environ))
    click.echo(text, nl=False)


def _json(shown: Shown) -> None:
    from evalrepo.render.json import to_json

    data = [
        {
            "path": row.path,
            **r.model_dump(mode="json", by_alias=True),
            "superseded_by": shown.later[row.oid],
            "declared_bad": {str(rep): by for rep, by in shown.bad.get(row.oid, {}).items()},
        }
        for row, r in zip(shown.rows, shown.records, strict=True)
    ]
    click.echo(to_json({"schema": 1, "records": data}), nl=False)


def _text(shown: Shown, *, happened: bool) -> None:
    """Each record; with `happened` what its transcripts tell."""
    from evalrepo.commands.unsealing import Seals, told
    from evalrepo.render.record import record_text
    from evalrepo.render.safe import wrapped

    repo = shown.repo
    style, seals = coloured(repo.world.environ), Seals(repo)
    for n, (row, record) in enumerate(zip(shown.rows, shown.records, strict=True)):
        text = record_text(record, row.path, style, shown.later[row.oid], sealed=not seals.opened(record))
        click.echo("\n" * bool(n) + text, nl=False)
        for rep, by in shown.bad.get(row.oid, {}).items():
            said = f"rep {rep} was declared bad in run {by}, and counts as ERROR(defect)"
            click.echo("\n".join(wrapped(said, then="  ", cut=False)))
        if happened:
            click.echo("\n".join(["", *told(repo, record)]))
