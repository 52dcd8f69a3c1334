"""opencode: a coding agent CLI for models of any provider."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evalrepo.agents.base import Box, Growing
from evalrepo.agents.opencode import database
from evalrepo.agents.opencode.live import Counter
from evalrepo.agents.opencode.read import read
from evalrepo.agents.opencode.start import describe, launch, traits, version
from evalrepo.agents.opencode.tools import uses, waiting
from evalrepo.records.config import Agent

__all__ = ["counter", "describe", "launch", "native", "read", "traits", "uses", "version", "waiting"]


def native(agent: Agent, box: Box) -> dict[str, Path]:  # noqa: ARG001
    """The rep's sessions as JSON lines, taken out of the database now; the CLI must have ended."""
    exported = database.export(box)
    return {} if exported is None else {database.EXPORT: exported}


def counter(agent: Agent, watch: Growing) -> Callable[[], int]:  # noqa: ARG001
    """Counts tool calls as the model makes them, sub-agents' included."""
    return Counter(watch)
