"""A port on loopback that leads to a unix socket, for a program that can reach nothing else; stdlib only.

Started as `python -I -S FILE PORT SOCKET -- PROGRAM ARGUMENT…`. It becomes the program, so that signals, exit code,
stdin and output are the program's; a child of its own forwards the bytes and ends when the program does. Of socket and
signal CPython's C parts do: the rest costs start-up time.
"""

from __future__ import annotations

import _signal as signals  # type: ignore[import-not-found]
import _socket
import _thread
import os
import select
import sys

ENDING = (signals.SIGINT, signals.SIGTERM, signals.SIGHUP, signals.SIGQUIT)
"""What ends the program's group is for the program: the child never sees it, from its first moment on."""


def main(argv: list[str]) -> None:
    """Binds the port, forks, becomes the program. Exit code 126 or 127 when it cannot."""
    port, path, _, *program = argv
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(port)))
        listener.listen(128)
    except OSError as error:
        give_up(126, f"cannot listen on 127.0.0.1:{port}: {error.strerror}")
    parent = os.getpid()
    before = signals.pthread_sigmask(signals.SIG_BLOCK, ENDING)
    if os.fork() == 0:
        serve(listener, path, parent)
        os._exit(0)
    signals.pthread_sigmask(signals.SIG_SETMASK, before)
    listener.close()
    for ignored in (signals.SIGPIPE, signals.SIGXFSZ):  # by Python, not by whoever started us
        signals.signal(ignored, signals.SIG_DFL)
    try:
        os.execvp(program[0], program)  # noqa: S606
    except OSError as error:
        give_up(127, f"cannot start {program[0]}: {error.strerror}")


def give_up(code: int, why: str) -> None:
    """Ends the process with a sentence."""
    sys.stderr.write(why + "\n")
    sys.stderr.flush()
    os._exit(code)


def serve(listener: _socket.socket, path: str, parent: int) -> None:
    """Forwards connections until the parent is gone."""
    let_go(listener.fileno())
    poll = select.poll()
    poll.register(listener.fileno(), select.POLLIN)
    try:  # noqa: SIM105 - contextlib costs start-up time
        poll.register(os.pidfd_open(parent), select.POLLIN)
    except (AttributeError, OSError):  # an old system: it is noticed within half a second
        pass
    while os.getppid() == parent:
        if any(fd == listener.fileno() for fd, _ in poll.poll(500)):
            opened, _ = listener._accept()  # type: ignore[attr-defined]
            _thread.start_new_thread(forward, (_socket.socket(fileno=opened), path))


def let_go(kept: int) -> None:
    """Holds none of the program's files, its streams included."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def forward(client: _socket.socket, path: str) -> None:
    """One connection, both ways, until both sides have said all."""
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        client.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        server.connect(path)
        answered = _thread.allocate_lock()
        answered.acquire()
        _thread.start_new_thread(answer, (server, client, answered))
        copy(client, server)
        answered.acquire()
    except OSError:
        pass
    finally:
        client.close()
        server.close()


def answer(server: _socket.socket, client: _socket.socket, answered: _thread.LockType) -> None:
    """The way back."""
    copy(server, client)
    answered.release()


def copy(source: _socket.socket, sink: _socket.socket) -> None:
    """Bytes one way. An end is passed on as an end; a break, by breaking both connections."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(_socket.SHUT_WR)
    except OSError:
        for end in (source, sink):
            try:  # noqa: SIM105
                end.shutdown(_socket.SHUT_RDWR)
            except OSError:
                pass


if __name__ == "__main__":
    main(sys.argv[1:])
