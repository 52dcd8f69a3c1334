"""Rehearsals in a run: one model server for all its reps, started when the first turn needs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from evalrepo.agents.base import Box, Endpoint, Launch, Turn
from evalrepo.errors import HarnessError
from evalrepo.sandbox.isolation import MODEL_SOCKET

if TYPE_CHECKING:
    from evalrepo.agents.speech import Rehearsable
    from evalrepo.rehearsal.server import ModelServer
    from evalrepo.running.bench import Prepared
    from evalrepo.world import World


@dataclass(frozen=True)
class Staged:
    """A turn as the agent is started: with an endpoint when it is a rehearsal. `socket`: to be bound in the sandbox."""

    turn: Turn
    socket: Path | None = None

    def launch(self, launch: Launch, box: Box) -> Launch:
        """The launch with what carries its requests out of an isolated sandbox."""
        if self.socket is None:
            return launch
        from evalrepo.rehearsal.relaying import relayed

        return relayed(launch, box, MODEL_SOCKET)


class Stage(AbstractContextManager["Stage"]):
    """Holds the server; ends it when the run ends. Used by many threads."""

    def __init__(self, world: World, base: Path) -> None:
        self._world, self._base = world, base
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._server: ModelServer | None = None

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._open.close()
            self._server = None

    @contextmanager
    def admitted(self, cell: Prepared, box: Box, turn: Turn) -> Iterator[Staged]:
        """While it lasts, the server plays the turn's script. HarnessError when it cannot be played or the script was
        not what the CLI can do; a turn that is no rehearsal passes as it is."""
        if not cell.rehearsed:
            yield Staged(turn)
            return
        from evalrepo.rehearsal.play import Part
        from evalrepo.rehearsal.relaying import PORT

        server = self._started()
        key = self._world.random(16).hex()
        agent = cast("Rehearsable", cell.played)
        part = Part(agent, turn.script or (), turn.prompt, box.work_inside, box.home_inside, tools=turn.tools)
        server.admit(key, part)
        url = f"http://127.0.0.1:{PORT}" if box.isolated else server.url
        try:
            yield Staged(replace(turn, endpoint=Endpoint(url, key)), server.socket if box.isolated else None)
            if trouble := server.trouble(key):
                raise HarnessError(trouble, hint="change the script, or rehearse it with another agent")
        finally:
            server.dismiss(key)

    def _started(self) -> ModelServer:
        with self._lock:
            if self._server is None:
                from evalrepo.rehearsal.server import ModelServer

                self._server = self._open.enter_context(ModelServer(self._base))
            return self._server
