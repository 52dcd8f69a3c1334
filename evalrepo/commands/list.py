"""`evalrepo list`: what there is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evalrepo.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalrepo.repository.tree import Tree
    from evalrepo.store.loading import Loaded
    from evalrepo.world import World

Row = dict[str, Any]


@click.command("list")
@click.argument("what", type=click.Choice(["scenarios", "suites", "agents", "subjects"]), default="scenarios")
@click.option("--rev", metavar="REV", help="A commit, instead of the work tree.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "ids"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, what: str, rev: str | None, format_: str) -> int:
    """List scenarios (the default), suites, agents or subjects. `ids` prints names only, one a line."""
    from evalrepo.repository.repo import Repository
    from evalrepo.store import load, usable

    repo = Repository.open(world)
    tree = repo.tree(rev or "WORKTREE")
    rows = list(ROWS[what](usable(load(tree, repo))))
    click.echo(FORMATS[format_](what, rows), nl=bool(rows) or format_ != "ids")
    if format_ == "text" and what == "scenarios":
        _say_standing(tree)
    return Exit.YES


def _say_standing(tree: Tree) -> None:
    """Generation of what is frozen, open thaws and tuning loops, below the table."""
    from evalrepo.discipline.said import standing
    from evalrepo.render.safe import safe, wrapped
    from evalrepo.store.loading import read_events

    for line in standing(read_events(tree)[0]):
        click.echo("\n".join(wrapped(safe(line), then="  ")))


UNSAID = ("path",)
"""Keys that only JSON has: what a person can tell from the others."""

GIVES_WAY = {"scenarios": "title", "suites": "scenarios", "agents": "tiers", "subjects": "scenarios"}
"""The column that is shortened to keep a table within 80 columns."""


def _scenarios(loaded: Loaded) -> Iterable[Row]:
    from evalrepo.store.choose import alias, aliases, stem

    for which in ("run-set", "reserve"):
        own = loaded.of_set(which)
        short = aliases(own)
        for one in own.values():
            name = alias(one.id)
            yield {
                "id": one.id,
                "alias": name if len(short[name]) == 1 and name != stem(one.id) else "",
                "set": which,
                "polarity": one.scenario.polarity,
                "subject": list(one.scenario.subject),
                "title": "" if which == "reserve" else one.scenario.title,
                "path": one.path,
            }


def _suites(loaded: Loaded) -> Iterable[Row]:
    from evalrepo.store.choose import pick

    ids = list(loaded.of_set("run-set"))
    for name, suite in loaded.config.suites.items():
        bar = suite.bar or loaded.config.bar
        yield {
            "id": name,
            "scenarios": pick(ids, suite.scenarios, where="run-set"),
            "agents": list(suite.agents),
            "tiers": list(suite.tiers),
            "reps": suite.reps or loaded.config.reps,
            "bar": f"{bar.passes} of {bar.of}",
            "gate": name in loaded.config.gate.suites,
        }


def _agents(loaded: Loaded) -> Iterable[Row]:
    for name, agent in loaded.config.agents.items():
        yield {"id": name, "kind": agent.kind, "tiers": list(agent.tiers), "paid": agent.paid, "network": agent.network}


def _subjects(loaded: Loaded) -> Iterable[Row]:
    for name, subject in loaded.config.subjects.items():
        own = [one.id for one in loaded.scenarios.values() if name in one.scenario.subject]
        yield {
            "id": name,
            "paths": list(subject.paths),
            "agents": list(subject.agents),
            "on_change": subject.on_change or "",
            "scenarios": own,
        }


def _text(what: str, rows: list[Row]) -> str:
    from evalrepo.render.safe import shortened
    from evalrepo.render.text import table

    if not rows:
        return f"no {what}"
    keys = [key for key in rows[0] if key not in UNSAID and any(_cell(row[key]) for row in rows)]
    for key, usual in (("set", "run-set"), ("subject", rows[0].get("subject"))):
        if all(row.get(key) == usual for row in rows) and key in keys:
            keys.remove(key)
    give = keys.index(GIVES_WAY[what]) if GIVES_WAY[what] in keys else 0
    cells = [
        [_cell(row[key]) if at in (0, give) else shortened(_cell(row[key]), 22) for at, key in enumerate(keys)]
        for row in rows
    ]
    heads = ["name" if key == "id" and what != "scenarios" else key for key in keys]
    return "\n".join(table(cells, heads, shrink=give, least=12))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return ", ".join(value) if isinstance(value, list) else str(value)


def _json(what: str, rows: list[Row]) -> str:
    return json.dumps({"schema": 1, what: rows}, indent=2)


def _ids(what: str, rows: list[Row]) -> str:  # noqa: ARG001 - one signature for every format
    return "\n".join(row["id"] for row in rows)


ROWS = {"scenarios": _scenarios, "suites": _suites, "agents": _agents, "subjects": _subjects}
FORMATS = {"text": _text, "json": _json, "ids": _ids}
