"""`evalrepo ledger`: what was decided, when, by whom and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

import click

from evalrepo.errors import Exit
from evalrepo.records.event import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalrepo.records.event import Event
    from evalrepo.world import World


@click.command("ledger")
@click.argument("kinds", nargs=-1, type=click.Choice(get_args(EventKind)), metavar="KIND…")
@click.option("--rev", metavar="REV", help="A commit, instead of the work tree.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, kinds: tuple[EventKind, ...], rev: str | None, format_: str) -> int:
    """List the events of the ledger, oldest first: all, or those of some kinds.

    KIND is freeze, thaw, acknowledge, waive, tune, look, budget, unseal or retire. What is open (thawed files, tuning
    loops) stands at the end.

    Exit 0: listed. Exit 2: the revision cannot be read. An event that cannot be read is told by `evalrepo lint`.
    """
    from evalrepo.discipline.said import standing
    from evalrepo.render.safe import safe, wrapped
    from evalrepo.repository.repo import Repository
    from evalrepo.store.loading import read_events

    repo = Repository.open(world)
    events, unread = read_events(repo.tree(rev or "WORKTREE"))
    chosen = {path: event for path, event in events.items() if not kinds or event.event in kinds}
    if format_ == "json":
        click.echo(_json(chosen, events))
    else:
        lines = [part for line in standing(events) for part in wrapped(safe(line), then="  ")]
        click.echo("\n".join([*_text(chosen), *lines]) or "no event")
        for finding in unread:
            click.echo(str(finding), err=True)
    return Exit.YES


def _json(chosen: Mapping[str, Event], events: Mapping[str, Event]) -> str:
    from evalrepo.discipline.history import thawed
    from evalrepo.discipline.said import loops

    rows = [{"path": path, **event.model_dump(mode="json", exclude_defaults=True)} for path, event in chosen.items()]
    return json.dumps({"schema": 1, "events": rows, "thawed": thawed(events), "loops": list(loops(events))}, indent=2)


def _text(events: Mapping[str, Event]) -> Iterator[str]:
    from evalrepo.render.safe import safe, wrapped

    for event in events.values():
        when = f"{event.at[:10]} {event.at[11:16]}"
        yield from wrapped(safe(f"{when}  {_what(event)}"), then="    ")
        yield from wrapped(safe(f"“{event.why}” — {event.by.partition(' <')[0]}"), first="    ", then="    ")


def _what(event: Event) -> str:
    """One line: the kind, and what it speaks of."""
    says = {
        "freeze": lambda e: f"{_few(e.paths)}{f' · generation {e.generation}' if e.generation else ''}",
        "thaw": lambda e: f"{_few(e.paths)}{f' · to {e.kind}' if e.kind else ''}",
        "acknowledge": lambda e: _few([*e.codes, *(c[:12] for c in e.commits), *e.paths, *(h[:12] for h in e.hashes)]),
        "waive": lambda e: f"{e.metric} until {e.until}",
        "tune": lambda e: f"{e.state} {e.name} · {e.subject}",
        "look": lambda e: f"{e.subject} at {(e.digest or '')[:8]} · {_few(e.cells)}",
        "budget": lambda e: f"{e.subject} · {e.amount} more",
        "unseal": lambda e: _few([*e.scenarios, *([f"run {e.run}"] if e.run else [])]),
        "retire": lambda e: _few(e.scenarios),
    }
    return f"{event.event}  {says[event.event](event)}"


def _few(words: tuple[str, ...] | list[str]) -> str:
    return ", ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")
