"""The embedded agent: plays a script with real tools, in a process of its own. No model, no key, no network."""

from __future__ import annotations

import importlib.util
import json
import marshal
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from evalrepo.agents import native as log
from evalrepo.agents.base import (
    Box,
    Growing,
    Launch,
    Traits,
    Turn,
    environment,
    place,
    regular_files,
)
from evalrepo.agents.executable import interpreter
from evalrepo.agents.scripted_player import VERSION
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Tier
from evalrepo.records.script import dump
from evalrepo.records.transcript import Transcript
from evalrepo.world import World

MODEL = "scripted"
"""The model's name where a tier gives none."""

_FOLDER = ".cache/agent"
_SESSIONS = ".local/share/agent/sessions"


def traits(agent: Agent) -> Traits:  # noqa: ARG001
    """Model-free, free of charge, offline, tidy."""
    return Traits(model_free=True)


def describe(agent: Agent, tier: Tier) -> dict[str, Any]:
    """The tier's model and the environment; the script itself is the digests' to add."""
    return {
        "kind": "scripted",
        "model": tier.model or MODEL,
        "settings": dict(sorted(tier.settings.items())),
        "env": sorted(agent.env),
        "set": dict(sorted(agent.set.items())),
    }


def version(agent: Agent, world: World) -> str:  # noqa: ARG001
    """The player's own."""
    return VERSION


@cache
def _player() -> bytes:
    """The player's file as the interpreter's own bytecode, which starts a third faster; no path of ours is in it."""
    source = Path(__file__).with_name("scripted_player.py").read_text("utf-8")
    code = compile(source, "main.py", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def launch(agent: Agent, tier: Tier, box: Box, turn: Turn, world: World) -> Launch:
    """Puts the player and the turn's steps into the box's HOME. `turn.script` None is a HarnessError."""
    if turn.script is None:
        raise HarnessError(
            f"the scripted agent has no script to play (tier script {tier.script or 'not named'})",
            hint="name in the tier a script that the scenario has under `behaviours` or `conformance`",
        )
    python = interpreter()
    place(box, f"{_FOLDER}/main.pyc", _player())
    place(box, f"{_FOLDER}/turn.json", json.dumps(_orders(tier, box, turn), ensure_ascii=True).encode())
    return Launch(
        argv=(str(python.path), "-I", "-S", f"{box.home_inside}/{_FOLDER}/main.pyc"),
        env=environment(agent, box, world, (str(python.path.parent),)),
        readable=python.readable,
        watch=Growing((box.home / _SESSIONS,)),
    )


def _orders(tier: Tier, box: Box, turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.number,
        "prompt": turn.prompt,
        "session": turn.session_id or f"session-{turn.number}",
        "resume": turn.session == "resume",
        "model": tier.model or MODEL,
        "cwd": box.work_inside,
        "sessions": f"{box.home_inside}/{_SESSIONS}",
        "steps": dump(turn.script or ()),
    }


def native(agent: Agent, box: Box) -> dict[str, Path]:  # noqa: ARG001
    """Session files first, by the time of their last row, then those of sub-agents."""
    folder = box.home / _SESSIONS
    found = {path.relative_to(folder).as_posix(): path for path in regular_files(folder) if path.suffix == ".jsonl"}
    return dict(sorted(found.items(), key=lambda item: (item[0].count("/"), item[1].stat().st_mtime_ns, item[0])))


def read(agent: Agent, files: Mapping[str, bytes], work: str) -> Transcript:  # noqa: ARG001
    """The session logs as a Transcript."""
    return log.read(files, work, agent="scripted")


def counter(agent: Agent, watch: Growing) -> Callable[[], int]:  # noqa: ARG001
    """Counts the log's tool calls as they come."""
    return log.Counter(watch)
