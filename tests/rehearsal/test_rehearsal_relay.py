"""The relay: the program is the process that was started, its bytes reach the socket, and nothing outlives it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalrepo import processes
from evalrepo.agents.base import Box, Launch
from evalrepo.agents.executable import interpreter
from evalrepo.agents.speech import Scene, Use
from evalrepo.records.steps import Step
from evalrepo.rehearsal.play import Part
from evalrepo.rehearsal.relaying import PORT, relayed
from evalrepo.rehearsal.server import ModelServer
from evalrepo.running.turns import seen_by
from evalrepo.sandbox import trees
from evalrepo.sandbox.isolation import MODEL_SOCKET, wrap
from evalrepo.sandbox.layout import base_directory, fresh
from evalrepo.sandbox.probe import probe
from evalrepo.sandbox.template import template
from evalrepo.world import World


@pytest.fixture
def box(tmp_path: Path) -> Box:
    for name in ("work", "home", "tmp", "out"):
        (tmp_path / name).mkdir()
    return Box.bare(tmp_path / "work", tmp_path / "home", tmp_path / "tmp", tmp_path / "out")


@pytest.fixture
def port() -> int:
    with socket.socket() as probe_:
        probe_.bind(("127.0.0.1", 0))
        return probe_.getsockname()[1]


Serve = Callable[[Callable[[socket.socket], None]], str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """A unix socket whose every connection is handled by a function, in a thread."""
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as opened:

        def start(handle: Callable[[socket.socket], None]) -> str:
            listener.bind(str(tmp_path / "model"))
            listener.listen(64)

            def accept() -> None:
                with contextlib.suppress(OSError):
                    while True:
                        connection, _ = listener.accept()
                        opened.enter_context(connection)
                        threading.Thread(target=handle, args=(connection,), daemon=True).start()

            threading.Thread(target=accept, daemon=True).start()
            return str(tmp_path / "model")

        yield start
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def echo(connection: socket.socket) -> None:
    """Everything that came, backwards, once the other side has said all."""
    data = b""
    while got := connection.recv(65536):
        data += got
    connection.sendall(data[::-1])
    connection.shutdown(socket.SHUT_WR)


def started(box: Box, port: int, path: str, *argv: str, **how: Any) -> subprocess.Popen[bytes]:
    launch = relayed(Launch(argv, {"PATH": "/usr/bin:/bin"}), box, path, port)
    streams: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(launch.argv, env=launch.env, cwd=box.work, start_new_session=True, **streams | how)


def children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for(met: Callable[[], Any], within_s: float = 5) -> Any:
    end = time.monotonic() + within_s
    while not (found := met()) and time.monotonic() < end:
        time.sleep(0.005)
    return found


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


SLEEPER = ("/bin/sh", "-c", "echo up; exec sleep 30")


def sleeper(box: Box, port: int) -> tuple[subprocess.Popen[bytes], int]:
    """A program that runs, and the pid of its relay."""
    process = started(box, port, "/nowhere", *SLEEPER)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process, wait_for(lambda: children(process.pid))[0]


def test_streams_arguments_environment_and_exit_code_are_the_programs(box: Box, port: int):
    script = 'read line; echo "$line $1 $HOME_IS"; echo oops >&2; exit 7'
    launch = relayed(Launch(("/bin/sh", "-c", script, "sh", "a b"), {"HOME_IS": "here"}), box, "/nowhere", port)
    done = subprocess.run(launch.argv, env=launch.env, input=b"hello\n", capture_output=True, check=False, timeout=10)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"hello a b here\n", b"oops\n")


def test_nothing_is_added_to_the_programs_environment_signals_and_limits(box: Box, port: int):
    program = ("/bin/sh", "-c", "env; grep -E '^Sig(Ign|Blk)' /proc/self/status; ulimit -a; ls /proc/self/fd")
    launch = relayed(Launch(program), box, "/nowhere", port)
    own, behind = (
        subprocess.run(argv, env={"LANG": "C.UTF-8"}, capture_output=True, check=True, timeout=10).stdout
        for argv in (program, launch.argv)
    )
    assert behind == own


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_the_program_and_the_relay_with_it(box: Box, port: int, number: signal.Signals):
    process, relay = sleeper(box, port)
    process.send_signal(number)
    assert process.wait(5) == -number
    assert wait_for(lambda: gone(relay), 1)


def test_the_relay_ends_at_once_when_the_program_does(box: Box, port: int):
    process = started(box, port, "/nowhere", "/bin/sh", "-c", "echo up; read line")
    assert process.stdout is not None
    process.stdout.readline()
    relay = wait_for(lambda: children(process.pid))[0]
    process.communicate(b"\n", timeout=5)
    assert wait_for(lambda: gone(relay), 0.3)


def test_the_relay_outlives_a_signal_to_the_group_as_long_as_the_program_does(box: Box, port: int, serve: Serve):
    path = serve(echo)
    process = started(box, port, path, "/bin/sh", "-c", "trap '' TERM INT; echo up; read line")
    assert process.stdout is not None
    process.stdout.readline()
    for number in (signal.SIGTERM, signal.SIGINT):
        os.killpg(process.pid, number)
    time.sleep(0.05)
    assert said(port, b"still") == b"llits"
    process.communicate(b"\n", timeout=5)


def test_the_relay_holds_none_of_the_programs_files(box: Box, port: int):
    reading, writing = os.pipe()
    process = started(box, port, "/nowhere", *SLEEPER, pass_fds=(writing,))
    assert process.stdout is not None
    process.stdout.readline()
    relay = wait_for(lambda: children(process.pid))[0]
    links = wait_for(lambda: [x for x in _links(relay) if x == "/dev/null"] and _links(relay))
    assert [link for link in links if link.startswith("pipe:")] == []
    assert Path(f"/proc/{process.pid}/fd/{writing}").exists()
    process.kill()
    process.communicate()
    os.close(reading)
    os.close(writing)


def _links(pid: int) -> list[str]:
    return [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]


def said(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while got := connection.recv(65536):
            answer += got
        return answer


@contextlib.contextmanager
def relaying(box: Box, port: int, path: str) -> Iterator[int]:
    """A relay that listens; its pid."""
    process = started(box, port, path, *SLEEPER)
    assert process.stdout is not None
    process.stdout.readline()
    yield wait_for(lambda: children(process.pid))[0]
    process.kill()
    process.communicate()


def test_an_end_of_what_is_said_is_no_end_of_the_answer(box: Box, port: int, serve: Serve):
    data = os.urandom(3_000_000)
    with relaying(box, port, serve(echo)):
        assert said(port, data) == data[::-1]


def test_many_connections_at_once_keep_apart(box: Box, port: int, serve: Serve):
    wrong: list[int] = []

    def one(number: int) -> None:
        data = f"{number} ".encode() * 20_000
        wrong.extend([] if said(port, data) == data[::-1] else [number])

    with relaying(box, port, serve(echo)) as relay:
        clients = [threading.Thread(target=one, args=(n,)) for n in range(40)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert wrong == []
        assert wait_for(lambda: len(_links(relay)) < 8)


def test_a_cut_is_passed_on(box: Box, port: int, serve: Serve):
    def half(connection: socket.socket) -> None:
        connection.recv(10)
        connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel")
        connection.close()

    with relaying(box, port, serve(half)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/")
        with pytest.raises(http.client.IncompleteRead):
            connection.getresponse().read()


def test_a_client_that_gives_up_is_told_to_the_server(box: Box, port: int, serve: Serve):
    ended = threading.Event()

    def wait(connection: socket.socket) -> None:
        while connection.recv(10):
            pass
        ended.set()

    with relaying(box, port, serve(wait)) as relay:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"?")
        assert ended.wait(5)
        assert relay


def test_without_a_server_a_connection_is_closed(box: Box, port: int):
    with relaying(box, port, "/nowhere"):
        assert said(port, b"") == b""


def test_a_port_that_is_taken_and_a_program_that_is_not_there_are_said(box: Box, port: int):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        process = started(box, port, "/nowhere", "/bin/true")
        assert (
            process.communicate(timeout=5)[1] == f"cannot listen on 127.0.0.1:{port}: Address already in use\n".encode()
        )
        assert process.returncode == 126
    process = started(box, port, "/nowhere", "/no/such/program")
    assert process.communicate(timeout=5)[1] == b"cannot start /no/such/program: No such file or directory\n"
    assert process.returncode == 127


def test_what_the_relay_needs_is_readable_and_only_that_is_added(box: Box):
    launch = Launch(("/opt/cli", "run"), {"A": "1"}, b"prompt", (Path("/opt/cli"),))
    changed = relayed(launch, box, MODEL_SOCKET)
    python = interpreter()
    relay = f"{box.home_inside}/.cache/agent/relay.py"
    assert changed.argv == (str(python.path), "-I", "-S", relay, str(PORT), MODEL_SOCKET, "--", "/opt/cli", "run")
    assert changed.readable == (Path("/opt/cli"), *python.readable)
    assert (changed.env, changed.stdin, changed.watch) == (launch.env, launch.stdin, launch.watch)
    assert "evalrepo" not in (box.home / ".cache/agent/relay.py").read_text()


class Cli:
    """The words of a command line tool that can only speak."""

    def uses(self, steps: Sequence[Step], scene: Scene) -> Sequence[Sequence[Use]]:
        raise LookupError("it can only speak")

    def waiting(self, scene: Scene) -> bool:
        return False


ASK = """
import json, os, sys, urllib.request
body = {"model": "big", "messages": [{"role": "user", "content": "Hello?"}], "tools": [{"function": {"name": "x"}}]}
asked = urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(body).encode())
asked.add_header("authorization", "Bearer k")
answer = json.load(urllib.request.urlopen(asked))
json.dump([os.getuid(), answer["choices"][0]["message"]["content"]], sys.stdout)
"""


@pytest.mark.isolation
def test_an_isolated_program_reaches_the_model_server_and_nothing_else(tmp_path: Path):
    world = World(tmp_path, {**os.environ, "TMPDIR": ""}, lambda: datetime.now(UTC), os.urandom)
    isolation = probe(world, [])
    if isolation.level == "none":
        pytest.skip(isolation.why)
    base = base_directory(world)
    base.mkdir()
    python = interpreter()
    try:
        sandbox = fresh(base, template({"a": ("100644", b"")}, tmp_path / "cache", "key"), isolation)
        with ModelServer(base) as server:
            step = Step.model_validate({"say": "Hello from outside."})
            server.admit("k", Part(Cli(), (step,), "Hello?", "/srv/project", "/home/dev"))  # type: ignore[arg-type]
            program = Launch((str(python.path), "-I", "-c", ASK, f"http://127.0.0.1:{PORT}"), {})
            launch = relayed(program, seen_by(sandbox), MODEL_SOCKET)
            with wrap(isolation, sandbox, launch.argv, {}, readable=launch.readable, server=server.socket) as wrapped:
                code, output, errors = processes.capture(
                    wrapped.argv, cwd=sandbox.work, env=wrapped.env, pass_fds=wrapped.pass_fds, timeout_s=20
                )
    finally:
        trees.remove(base)
    assert (code, errors) == (0, b"")
    assert json.loads(output) == [isolation.uid if isolation.uid is not None else os.getuid(), "Hello from outside."]
