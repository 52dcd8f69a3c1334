"""Does isolation work here? A real command is run in it, and looks at what matters."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evalrepo import processes
from evalrepo.errors import HarnessError
from evalrepo.sandbox.isolation import NOBODY, Isolation, readable_python, wrap
from evalrepo.sandbox.layout import fresh, remove
from evalrepo.world import World

_LOOK = """
[ "$(id -u)" != 0 ] || echo "the agent would be root"
[ ! -e "/proc/$1" ] || [ "$(cat "/proc/$1/comm")" != "$2" ] || echo "the processes of this machine are visible"
if (: >> /proc/sys/kernel/core_pattern) 2>/dev/null; then echo "/proc/sys can be opened for writing"; fi
if grep : /proc/net/dev | grep -qv '^ *lo:'; then echo "the network is reachable"; fi
(echo x > made && rm made) || echo "the work directory cannot be written"
"$3" -c pass || echo "the base Python cannot run"
shift 3
for hidden; do [ ! -r "$hidden" ] || [ -z "$(ls -A "$hidden" 2>/dev/null)" ] || echo "$hidden is visible"; done
"""

_DOCKER = "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN"
_CAUSES = (
    ("RTM_NEWADDR", "AppArmor forbids unprivileged user namespaces (Ubuntu 23.10 and later)",
     "give bwrap an AppArmor profile that allows userns, or sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
    ("setting up uid map", "AppArmor forbids unprivileged user namespaces (Ubuntu 23.10 and later)",
     "give bwrap an AppArmor profile that allows userns, or sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
    ("mount proc", "a container masks parts of /proc",
     "docker run --security-opt systempaths=unconfined, or run outside of the container"),
    ("namespace", "the kernel or a container's filter forbids new namespaces (Docker's default does)",
     f"{_DOCKER}, or sysctl kernel.unprivileged_userns_clone=1"),
    ("Operation not permitted", "a container lacks the right to mount",
     _DOCKER),
    ("nknown option", "this bubblewrap is too old", "install bubblewrap 0.5 or later"),
)  # fmt: skip
"""A word of bubblewrap's message → likely cause and what to do; first match counts."""


def probe(world: World, mask: Sequence[Path], base: Path | None = None) -> Isolation:
    """The isolation that works here, with `mask` (directories) out of reach; level "none" with the reason otherwise.

    `base`: where the sandbox of the trial is made, by default in a temporary directory.
    """
    if sys.platform != "linux":
        return Isolation("none", "bubblewrap exists on Linux only")
    path = world.environ.get("PATH", os.defpath)
    program, setpriv = shutil.which("bwrap", path=path), shutil.which("setpriv", path=path)
    if program is None:
        return Isolation("none", "bubblewrap is not installed; install the package bubblewrap")
    root = os.geteuid() == 0
    if root and setpriv is None:
        return Isolation("none", "setpriv (util-linux) is not installed, and root's agents must not be root")
    wanted = Isolation(
        level="bwrap",
        why="",
        uid=NOBODY if root else None,
        mask=tuple(dict.fromkeys(p.resolve() for p in mask)),
        program=program,
        setpriv=setpriv or "",
        prlimit=shutil.which("prlimit", path=path) or "",
    )
    try:
        wanted = dataclasses.replace(wanted, disable_userns=_knows_disable_userns(program, path))
        found = _try(wanted, base)
    except HarnessError as error:
        return Isolation("none", str(error))
    if found:
        return Isolation("none", "; ".join(found))
    how = f"own uid {NOBODY}" if root else "user namespace"
    return dataclasses.replace(wanted, why=f"bubblewrap, {how}, own processes, /proc/sys read-only, no network")


def _knows_disable_userns(program: str, path: str) -> bool:
    return b"--disable-userns" in processes.capture([program, "--help"], cwd=Path("/"), env={"PATH": path})[1]


def _try(isolation: Isolation, base: Path | None) -> list[str]:
    """What is wrong with it, in words; nothing when it holds."""
    python, prefixes = readable_python()
    own = contextlib.nullcontext(str(base)) if base else tempfile.TemporaryDirectory(prefix="dev")
    with own as place:
        box = fresh(Path(place).resolve(), None, isolation)
        try:
            comm = Path("/proc/self/comm").read_text().strip()
            hidden = _hidden(isolation.mask, prefixes)
            argv = ["sh", "-c", _LOOK, "sh", str(os.getpid()), comm, python, *map(str, hidden)]
            with wrap(isolation, box, argv, box.environment(), readable=prefixes) as launch:
                code, output, errors = processes.capture(
                    launch.argv, cwd=box.root, env=launch.env, pass_fds=launch.pass_fds
                )
        finally:
            remove(box)
    if code:
        return [_explain(errors.decode(errors="replace"))]
    return output.decode(errors="replace").splitlines()


def _hidden(mask: Sequence[Path], readable: Sequence[Path]) -> list[Path]:
    """What must not be seen. Of a masked directory that the way to something readable leads through: all beside it."""
    out: list[Path] = []
    for place in mask:
        if any(path.is_relative_to(place) for path in readable):
            below = sorted(place.iterdir()) if os.access(place, os.R_OK) else []
            out += _hidden([p for p in below if p not in readable], [p for p in readable if p not in below])
        else:
            out.append(place)
    return out


def _explain(message: str) -> str:
    first = (message.strip().splitlines() or ["no message"])[0]
    for word, cause, remedy in _CAUSES:
        if word in message:
            return f"bubblewrap does not work here: {cause}; {remedy} ({first})"
    return f"bubblewrap does not work here ({first})"
