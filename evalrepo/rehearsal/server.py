"""The scripted model server: the vendors' protocols on loopback and on a unix socket, one part for each key."""

from __future__ import annotations

import contextlib
import os
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.errors import HarnessError
from evalrepo.rehearsal import play
from evalrepo.rehearsal.book import Asked, Book
from evalrepo.rehearsal.play import Part

if TYPE_CHECKING:
    from evalrepo.rehearsal.web import Running

PACKAGES = ("starlette", "uvicorn")
"""Of the extra `rehearsal`."""

_SOCKET = "model.sock"
_LONGEST = 100
"""Bytes of a socket's path that every system takes."""


def installed() -> None:
    """HarnessError when a package of the extra is not there. Nothing is imported."""
    lacking = next((name for name in PACKAGES if find_spec(name) is None), "")
    if lacking:
        raise HarnessError(
            f"a rehearsal needs the package {lacking}, which is not installed",
            hint="install evalrepo with its extra: pip install 'evalrepo[rehearsal]'",
        )


class ModelServer:
    """Runs from `with` to its end, in a thread of its own; its methods may be called from any thread.

    `url` is `http://127.0.0.1:PORT`; `socket` a unix socket below `directory` that every user may connect to. A
    request under a key that was not admitted is answered as a vendor answers a wrong key.
    """

    def __init__(self, directory: Path) -> None:
        self.socket = directory / _SOCKET
        self.url = ""
        self._book = Book()
        self._running: Running | None = None

    def admit(self, key: str, part: Part) -> None:
        """Play this part for requests that carry the key. HarnessError when it cannot be played (`play.check`)."""
        play.check(part)
        self._book.enter(key, part)

    def dismiss(self, key: str) -> None:
        """Forget the key and all that it was asked. A key that is not known does no harm."""
        self._book.remove(key)

    def asked(self, key: str) -> tuple[Asked, ...]:
        """What was asked under the key so far, in order."""
        entry = self._book.get(key)
        return tuple(entry.asked) if entry is not None else ()

    def trouble(self, key: str) -> str:
        """Why the key's part could not go on, as a sentence; "" when all is well."""
        entry = self._book.get(key)
        return entry.trouble if entry is not None else ""

    def __enter__(self) -> ModelServer:
        """HarnessError when the extra is not installed, or the sockets cannot be made."""
        installed()
        from evalrepo.rehearsal.web import Running

        with contextlib.ExitStack() as opened:
            # only of a socket that names its protocol does asyncio send every event at once
            loopback = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP))
            local = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            loopback.bind(("127.0.0.1", 0))
            _bind(local, self.socket)
            self.url = f"http://127.0.0.1:{loopback.getsockname()[1]}"
            self._running = Running(self._book, [loopback, local])
            self._running.start()
            opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        if self._running is not None:
            self._running.stop()
        with contextlib.suppress(OSError):
            self.socket.unlink()


def _bind(local: socket.socket, path: Path) -> None:
    """Bind at a path of any length. HarnessError when the directory does not take a socket."""
    try:
        path.unlink(missing_ok=True)
        if len(os.fsencode(path)) <= _LONGEST:
            local.bind(str(path))
        else:
            _bind_in(local, path)
        path.chmod(0o666)
    except OSError as error:
        raise HarnessError(f"cannot make the model server's socket {path}: {error.strerror or error}") from None


def _bind_in(local: socket.socket, path: Path) -> None:
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        local.bind(f"/proc/self/fd/{directory}/{path.name}")
    finally:
        os.close(directory)
