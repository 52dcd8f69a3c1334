"""The agents: name → module. A new agent is one module and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from evalrepo.errors import UsageError
from evalrepo.records.base import REHEARSAL

if TYPE_CHECKING:
    from evalrepo.agents.base import AgentModule
    from evalrepo.records.config import Agent, Tier

AGENTS: dict[str, str] = {
    "scripted": "evalrepo.agents.scripted",
    "claude": "evalrepo.agents.claude",
    "opencode": "evalrepo.agents.opencode",
    "pi": "evalrepo.agents.pi",
    "codex": "evalrepo.agents.codex",
    "command": "evalrepo.agents.command",
}
"""Built-in agents by the name they have in `evalrepo.yaml`; `command` is what `kind: command` stands for."""


def module(name: str, agent: Agent) -> AgentModule:
    """The module of the config's agent `name`. UsageError when nothing is known under that name."""
    key = "command" if agent.kind == "command" else name
    if key not in AGENTS or (key == "command" and agent.kind != "command"):
        known = ", ".join(n for n in AGENTS if n != "command")
        raise UsageError(
            f"there is no built-in agent {name!r}",
            hint=f"built in: {known}; any other CLI is described with `kind: command` and `argv`",
        )
    return cast("AgentModule", importlib.import_module(AGENTS[key]))


def tier(agent: str, settings: Agent, name: str) -> Tier | None:
    """What a tier's name stands for: the config's tier, a script for `scripted`, `rehearsal:SCRIPT` for a real CLI.

    None when the agent has no such tier. Whether a scenario has the script is another question.
    """
    from evalrepo.records.config import Tier

    if name in settings.tiers:
        return settings.tiers[name]
    if settings.kind == "builtin" and agent == "scripted":
        return Tier(script=name)
    if not name.startswith(REHEARSAL):
        return None
    model = module(agent, settings).traits(settings).rehearsal_model
    return Tier(model=model, script=name.removeprefix(REHEARSAL)) if model else None


def rehearsed(tier_name: str) -> bool:
    """Whether a real CLI plays this tier's script."""
    return tier_name.startswith(REHEARSAL)
