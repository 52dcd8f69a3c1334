"""The name of whom a question is put to, as it is recorded: argv, PROVIDER:MODEL, or agent, tier and model."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from evalrepo.records.config import Config

MODEL = "{model}"
"""In a command's argv: the model that the rubric wishes, else the config's."""


def command_argv(argv: Sequence[str], model: str | None) -> list[str]:
    """The command's words with its model in them."""
    return [word.replace(MODEL, model or "") for word in argv]


def command_name(argv: Sequence[str], model: str | None) -> str:
    """A command is named by what is called."""
    return shlex.join(command_argv(argv, model))


def agent_name(agent: str, tier: str, model: str | None) -> str:
    """An agent by its tier, and by the model where one is named."""
    return f"{agent}/{tier}" + (f" ({model})" if model else "")


def judge_name(config: Config, wish: str | None = None) -> str:
    """Whom the config's judge asks by a rubric that wishes for a model or not; "" when it names nobody."""
    own = config.judge
    if own.command:
        return command_name(own.command, wish or own.model)
    if own.agent:
        agent = config.agents.get(own.agent)
        tier = agent.tiers.get(own.tier) if agent is not None else None
        return agent_name(own.agent, own.tier, wish or (tier.model if tier is not None else None))
    return (wish or own.model or "") if own.model else ""
