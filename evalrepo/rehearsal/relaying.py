"""A launch whose program finds the model server on loopback, where the sandbox has nothing but a unix socket."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from evalrepo.agents.base import Box, Launch, place
from evalrepo.agents.executable import interpreter

PORT = 8787
"""Inside a network of its own no other program has it."""
_PLACE = ".cache/agent/relay.py"


def relayed(launch: Launch, box: Box, socket: str, port: int = PORT) -> Launch:
    """The launch behind a relay from 127.0.0.1:`port` to the unix socket at `socket` (both as the agent sees them).

    Writes the relay into the box's HOME (HarnessError when that cannot be).
    """
    python = interpreter()
    place(box, _PLACE, _relay())
    command = (str(python.path), "-I", "-S", f"{box.home_inside}/{_PLACE}", str(port), socket, "--")
    readable = tuple(dict.fromkeys((*launch.readable, *python.readable)))
    return replace(launch, argv=(*command, *launch.argv), readable=readable)


@cache
def _relay() -> bytes:
    return Path(__file__).with_name("relay.py").read_bytes()
