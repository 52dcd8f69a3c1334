"""The agents: name → module. A new agent is one module and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.agents.base import AgentModule
    from evalrepo.records.config import Agent

AGENTS: dict[str, str] = {
    "scripted": "evalrepo.agents.scripted",
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
