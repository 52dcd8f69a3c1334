"""`evalrepo doctor`: can the agents be used here?"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from evalrepo.errors import DataError, Exit, GitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalrepo.records.checkup import AgentCheck, Checkup
    from evalrepo.records.config import Agent
    from evalrepo.running.doctor import Known
    from evalrepo.world import World


@dataclass(frozen=True)
class Place:
    """Where doctor was called: the config's path ("" for none) and agents, and what no agent may see."""

    config: str
    agents: dict[str, Agent]
    hidden: list[Path]


@click.command("doctor")
@click.argument("agents", nargs=-1, metavar="[AGENT]…")
@click.option("--live", is_flag=True, help="Demand a login that reps are given, as live reps need one.")
@click.option("--no-rehearsal", "rehearsal", is_flag=True, flag_value=False, default=True, help="Run no rep.")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(world: World, *, agents: tuple[str, ...], live: bool, rehearsal: bool, format: str) -> int:  # noqa: A002
    """Say of each agent whether it can be used here, and what to do where it cannot: the CLI and its version, Node.js,
    a login, isolation, and one rehearsal rep of the real CLI, which needs no model and no key.

    All built-in agents and those of evalrepo.yaml, or the named ones; works outside of a repository too. Exit: 0 every
    agent that the config or the command line names is usable, 1 one is not, 2 it cannot tell, 4 a rehearsal broke.
    """
    found = _checkup(world, agents, rehearsal=rehearsal)
    code = _exit(found, live=live)
    if format == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json({"schema": 1, "doctor": found, "exit": int(code)}), nl=False)
    else:
        from evalrepo.commands.showing import coloured
        from evalrepo.render.doctor import doctor_text

        click.echo(doctor_text(found, code, coloured(world.environ)), nl=False)
    return code


def _checkup(world: World, names: Sequence[str], *, rehearsal: bool) -> Checkup:
    from evalrepo.commands.signals import signals
    from evalrepo.errors import Interrupted
    from evalrepo.records.checkup import Checkup
    from evalrepo.running.doctor import check, tools, ward
    from evalrepo.sandbox.probe import probe

    place = _place(world)
    known = _known(place, names)
    isolation = probe(world, place.hidden)
    cancel = threading.Event()
    checked: list[AgentCheck] = []
    with signals(cancel), ward(world, isolation, cancel) as there:
        for one in known:
            if sys.stderr.isatty():
                click.echo(f"looking at {one.name} …", err=True)
            checked.append(check(one, world, there if rehearsal else None))
            if cancel.is_set():
                raise Interrupted("interrupted")
    needed = tools(world, [one.name for one in known])
    return Checkup(place.config, isolation.level, isolation.why, needed, tuple(checked))


def _place(world: World) -> Place:
    """The repository around here, if there is one; DataError when its config cannot be used."""
    from pathlib import Path

    from evalrepo.discipline.places import CONFIG
    from evalrepo.repository.repo import Repository
    from evalrepo.running.session import hidden
    from evalrepo.store import load

    try:
        repo = Repository.open(world)
    except GitError:
        home = world.environ.get("HOME", "")
        return Place("", {}, [Path(home)] if home not in ("", "/") else [])
    tree = repo.tree("WORKTREE")
    if CONFIG not in tree:
        return Place("", {}, hidden(repo))
    loaded = load(tree, repo, only=())
    wrong = [f for f in loaded.findings if f.place.file == CONFIG and not f.warning]
    if wrong:
        raise DataError(wrong, hint="evalrepo lint explains")
    return Place(str(repo.top / CONFIG), dict(loaded.config.agents), hidden(repo))


def _known(place: Place, names: Sequence[str]) -> list[Known]:
    """The agents to look at: those that were named, or the config's and the other built-in ones."""
    from evalrepo.records.config import Agent, Tier
    from evalrepo.registry import AGENTS
    from evalrepo.running.doctor import PLAYER, Known

    built_in = [name for name in AGENTS if name not in (PLAYER, "command")]
    every = dict.fromkeys([*place.agents, *built_in])
    for name in names:
        if name not in every and name != PLAYER:
            raise UsageError(f"there is no agent {name}", hint=f"agents: {', '.join([*every, PLAYER])}")
    bare = Agent(tiers={"any": Tier()})
    return [
        Known(name, place.agents.get(name, bare), asked=name in names or name in place.agents)
        for name in (dict.fromkeys(names) or every)
    ]


def _exit(found: Checkup, *, live: bool) -> Exit:
    """By the agents that are asked for: one that cannot be used, one whose rehearsal broke."""
    asked = [agent for agent in found.agents if agent.asked]
    problems = [problem for agent in asked for problem in agent.problems]
    no_git = bool(asked) and not found.tools[0].ok
    logged_out = live and any(agent.login is not None and not agent.login.ok for agent in asked)
    if no_git or any(not problem.harness for problem in problems):
        return Exit.NO
    if problems:
        return Exit.INVALID
    return Exit.NO if logged_out else Exit.YES
