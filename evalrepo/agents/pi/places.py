"""Where pi keeps things below HOME, and what of it is the log of a rep."""

from __future__ import annotations

from pathlib import Path

from evalrepo.agents.base import Box, printed, regular_files
from evalrepo.records.config import Agent

HOME = ".pi/agent"
SESSIONS = f"{HOME}/sessions"
OURS = f"{SESSIONS}/rep"
"""Where we tell pi to keep its sessions: settings of the fixture, which it reads unasked, could name another place."""
AGENTS = f"{HOME}/agents"
EXTENSIONS = f"{HOME}/extensions"
SKILLS = f"{HOME}/skills"
CONTEXT_FILES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""Instruction files that pi reads in the work directory and, without asking, in every directory above it."""

CHILD = "session.jsonl"
"""What extensions call the log of a sub-agent, in directories of their own beside the main one."""


def sessions(box: Box) -> Path:
    """The directory of a rep's session logs."""
    return box.home / SESSIONS


def native(agent: Agent, box: Box) -> dict[str, Path]:  # noqa: ARG001
    """The main sessions by the time of their start, those of sub-agents, and what pi said on its error output.

    A session's name is its path below the directory of its project.
    """
    folder = sessions(box)
    logs = {Path(*place.parts[1:]).as_posix(): path for path in regular_files(folder)
            if path.suffix == ".jsonl" and len((place := path.relative_to(folder)).parts) > 1}  # fmt: skip
    mains = {name: path for name, path in sorted(logs.items()) if "/" not in name}
    children = {name: path for name, path in sorted(logs.items()) if name.endswith("/" + CHILD)}
    said = {name: path for name, path in printed(box, "err").items() if path.stat().st_size}
    return {**mains, **children, **said}
