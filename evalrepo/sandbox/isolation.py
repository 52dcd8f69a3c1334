"""bubblewrap around what an agent does: whether it works here, and the command line that does it.

As root, bubblewrap mounts as root (so that programs below directories closed to others can be bound) and `setpriv`
then becomes an ordinary user without capabilities; as an ordinary user it uses a user namespace. Both get their
arguments through a descriptor and the agent's own environment, because process 1 inside shows both.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.processes.tree import MARK
from evalrepo.sandbox import seccomp
from evalrepo.sandbox.masking import masked

if TYPE_CHECKING:
    from evalrepo.sandbox.layout import Sandbox

NOBODY = 65534
"""The uid and gid of an agent that root runs."""
MODEL_SOCKET = "/run/model"
"""Where the socket of a model server is, inside."""
RLIMITS: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 1 << 30,
    resource.RLIMIT_NOFILE: 4096,
}
"""For `processes.run(rlimits=…)`."""
PROCESSES = 1024
"""The most processes and threads of all agents that root runs; an ordinary user's count includes their own."""
_LIMIT_NAMES = {resource.RLIMIT_CORE: "core", resource.RLIMIT_FSIZE: "fsize", resource.RLIMIT_NOFILE: "nofile"}

INSIDE = {"work": "/srv/project", "home": "/home/dev", "tmp": "/tmp", "bin": "/opt/bin", "var": "/opt/var"}  # noqa: S108
"""What each directory of a sandbox is called inside the isolation."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("alternatives", "crypto-policies", "ld.so.cache", "localtime", "pki", "ssl")
"""Few: each mount costs a third of a millisecond."""
_ETC_NETWORK = ("gai.conf", "hosts", "nsswitch.conf", "protocols", "resolv.conf", "services")
_HOSTS = b"127.0.0.1 localhost\n::1 localhost\n"


@dataclass(frozen=True)
class Isolation:
    """What the probe found. `why` says in words what holds or what is in the way.

    `uid` is the real user id that the agent runs as when we are root, None otherwise. `mask`: directories that are
    never visible, even below something that is bound. The rest is how to start bubblewrap.
    """

    level: str
    why: str
    uid: int | None = None
    mask: tuple[Path, ...] = ()
    program: str = ""
    setpriv: str = ""
    prlimit: str = ""
    disable_userns: bool = False


NONE = Isolation("none", "isolation was not asked for")


@dataclass(frozen=True)
class Launch:
    """What to start; `cleanup` (twice does no harm) when it has been started."""

    argv: tuple[str, ...]
    env: dict[str, str]
    pass_fds: tuple[int, ...] = ()
    _open: list[int] = field(default_factory=list, repr=False)

    def cleanup(self) -> None:
        """Close our side of the descriptors."""
        while self._open:
            os.close(self._open.pop())

    def __enter__(self) -> Launch:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def readable_python() -> tuple[str, tuple[Path, ...]]:
    """The base interpreter (not a virtual environment's) and the directories that it needs to run."""
    executable = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    prefixes = {Path(sys.base_prefix).resolve(), Path(sys.base_exec_prefix).resolve(), executable.parent.parent}
    system = tuple(Path(p) for p in ("/usr", "/bin", "/lib"))
    return str(executable), tuple(sorted(p for p in prefixes if not any(p.is_relative_to(s) for s in system)))


def wrap(
    isolation: Isolation,
    box: Sandbox,
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    readable: Sequence[Path] = (),
    network: bool = False,
    server: Path | None = None,
    cwd: str | None = None,
) -> Launch:
    """The launch of `argv` in the sandbox with `env`, no hidden command on its PATH, in its work directory or `cwd` (an
    inside path).

    `readable`: further paths, bound read-only where they are. `server`: a unix socket, bound at MODEL_SOCKET.
    """
    env = masked(box, env)
    if isolation.level == "none":
        return Launch(tuple(argv), env)
    opened: list[int] = []

    def data(content: bytes) -> str:
        fd = os.memfd_create("data", os.MFD_CLOEXEC)
        opened.append(fd)
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        return str(fd)

    arguments = [
        *_namespaces(isolation, network=network),
        *_files(isolation, box, readable, server, network=network),
        *_identity(isolation, data, network=network),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        "--chdir",
        cwd or box.inside(box.work),
    ]
    if (program := seccomp.program()) is not None:
        arguments += ["--seccomp", data(program)]
    given = data(b"".join(os.fsencode(a) + b"\0" for a in arguments))
    command = (isolation.program, "--args", given, "--", *_limits(isolation), *_drop(isolation), *argv)
    return Launch(command, env, tuple(opened), opened)


def _namespaces(isolation: Isolation, *, network: bool) -> list[str]:
    kinds = ["ipc", "pid", "uts", "cgroup-try", *([] if network else ["net"])]
    if isolation.uid is None:
        kinds.append("user")
    options = [f"--unshare-{kind}" for kind in kinds]
    options += ["--hostname", "dev", "--new-session", "--die-with-parent", "--cap-drop", "ALL", "--unsetenv", MARK]
    if isolation.uid is not None:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            options += ["--cap-add", capability]
    elif isolation.disable_userns:
        options.append("--disable-userns")
    return options


def _limits(isolation: Isolation) -> list[str]:
    """By a program: what is set on bubblewrap from outside comes too late for its children."""
    if not isolation.prlimit:
        return []
    own = [] if isolation.uid is None else [f"--nproc={PROCESSES}"]
    return [isolation.prlimit, *(f"--{_LIMIT_NAMES[which]}={value}" for which, value in RLIMITS.items()), *own, "--"]


def _drop(isolation: Isolation) -> list[str]:
    if isolation.uid is None:
        return []
    own = str(isolation.uid)
    return [isolation.setpriv, "--reuid", own, "--regid", own, "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all", "--no-new-privs", "--"]  # fmt: skip


def _files(
    isolation: Isolation, box: Sandbox, readable: Sequence[Path], server: Path | None, *, network: bool
) -> list[str]:
    etc = (*_ETC, *(_ETC_NETWORK if network else ()))
    mounts = [("--ro-bind", Path(name), name) for name in _SYSTEM]
    mounts += [("--ro-bind-try", Path("/etc", name), f"/etc/{name}") for name in etc]
    mounts += [("--ro-bind", path.resolve(), str(path)) for path in readable]
    for name, place in INSIDE.items():
        mounts.append(("--ro-bind" if name == "bin" else "--bind", getattr(box, name), place))
    if server is not None:
        mounts.append(("--bind", server, MODEL_SOCKET))
    mounts.sort(key=lambda mount: mount[2].count("/"))
    options = [
        "--perms",
        "0755",
        "--dir",
        "/etc",
        "--proc",
        "/proc",
        "--ro-bind",
        "/proc/sys",
        "/proc/sys",
        "--dev",
        "/dev",
        *("--perms", "1777", "--tmpfs", "/dev/shm"),  # noqa: S108 - inside
    ]
    made = {"/etc"}
    for how, source, place in mounts:
        if source.is_symlink() and place in _SYSTEM:
            options += ["--symlink", str(source.readlink()), place]
        elif how == "--ro-bind-try" or place not in _SYSTEM or source.exists():
            options += [*_parents(place, made), how, str(source), place]
    for _, source, place in mounts:
        options += _hidden(isolation.mask, source, place)
    return options


def _hidden(mask: Sequence[Path], source: Path, place: str) -> list[str]:
    """What must not be seen of a bound directory is covered."""
    options: list[str] = []
    for hidden in mask:
        if hidden.is_relative_to(source):
            there = str(Path(place, hidden.relative_to(source)))
            if hidden.is_dir():
                options += ["--perms", "0000", "--tmpfs", there, "--remount-ro", there]
            elif hidden.exists():
                options += ["--ro-bind", os.devnull, there]
    return options


def _parents(place: str, made: set[str]) -> list[str]:
    """bubblewrap makes missing parents of a mount point for its own user alone; these are for everybody."""
    options: list[str] = []
    for parent in reversed(Path(place).parents[:-1]):
        if str(parent) not in made:
            made.add(str(parent))
            options += ["--perms", "0755", "--dir", str(parent)]
    return options


def _identity(isolation: Isolation, data: Callable[[bytes], str], *, network: bool) -> list[str]:
    """Our own user database: the real one names people and their directories."""
    own = isolation.uid if isolation.uid is not None else os.getuid()
    group = isolation.uid if isolation.uid is not None else os.getgid()
    users = f"root:x:0:0:root:/:/bin/sh\ndev:x:{own}:{group}:dev:{INSIDE['home']}:/bin/sh\n"
    groups = f"root:x:0:\ndev:x:{group}:\n"
    files = {"passwd": users.encode(), "group": groups.encode()} | ({} if network else {"hosts": _HOSTS})
    options: list[str] = []
    for name, content in files.items():
        options += ["--perms", "0644", "--ro-bind-data", data(content), f"/etc/{name}"]
    return options
