"""Where things are in a sandbox, outside and as the agent sees it; making one from a template and removing it.

Nothing in a path or variable says what the sandbox is for. Under isolation every rep sees the same paths; without it,
the real ones. `out` is the harness's own and not visible under isolation.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalrepo.errors import HarnessError
from evalrepo.sandbox import trees
from evalrepo.sandbox.isolation import INSIDE, Isolation
from evalrepo.world import World

SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
ROOMY = 4 << 30
"""Free bytes that a memory file system needs before sandboxes go there."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """One rep's directories (real paths).

    `work` is the project that the agent is let loose on, `bin` holds the fault shims and comes first in PATH, `var`
    what the shims note. `uid` is the owner of what the agent may write, None for our own.
    """

    root: Path
    work: Path
    home: Path
    tmp: Path
    bin: Path
    var: Path
    out: Path
    isolated: bool = False
    uid: int | None = None

    def inside(self, path: Path | str) -> str:
        """The path as the agent sees it. Paths outside of the sandbox stay as they are."""
        if self.isolated:
            for name, place in INSIDE.items():
                real: Path = getattr(self, name)
                if Path(path).is_relative_to(real):
                    return str(Path(place, Path(path).relative_to(real)))
        return str(path)

    @property
    def hidden(self) -> Path:
        """The file with the names of commands that the sandbox is without; nobody inside sees it."""
        return self.root / "hidden"

    def outside(self, path: str) -> Path | None:
        """The real path of an absolute path that the agent named, None when it is not in the sandbox."""
        for name, place in INSIDE.items():
            real: Path = getattr(self, name)
            seen = Path(place) if self.isolated else real
            if Path(path).is_relative_to(seen):
                return real / Path(path).relative_to(seen)
        return None

    def environment(self, extra: Mapping[str, str] | None = None, *, path: Sequence[str] = ()) -> dict[str, str]:
        """The whole environment of a process in the sandbox; `path` comes after the shims and before the system's."""
        home = self.inside(self.home)
        return {
            "HOME": home,
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "TMPDIR": self.inside(self.tmp),
            "PATH": ":".join([self.inside(self.bin), *path, *SYSTEM_PATH]),
            "USER": "dev",
            "LOGNAME": "dev",
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "GIT_CEILING_DIRECTORIES": str(Path(self.inside(self.work)).parent),
            **(extra or {}),
        }


def base_directory(world: World) -> Path:
    """Where a new directory for the sandboxes of one run goes: in TMPDIR, in roomy memory, or in the system's place.

    It is not made here: whoever makes it says first that it is theirs. A copy in memory costs a tenth of one on a
    disk whose directories were used before.
    """
    given = world.environ.get("TMPDIR", "")
    memory = Path("/dev/shm")  # noqa: S108
    parent = Path(given) if given else memory if _roomy(memory) else Path(tempfile.gettempdir())
    if not os.access(parent, os.W_OK):
        why = "it cannot be written" if parent.is_dir() else "there is no such directory"
        raise HarnessError(f"{parent}: no sandboxes can be made here: {why}", hint="set TMPDIR")
    return parent.resolve() / f"dev{world.random(6).hex()}"


def _roomy(place: Path) -> bool:
    try:
        about = os.statvfs(place)
    except OSError:
        return False
    runs_programs = not about.f_flag & getattr(os, "ST_NOEXEC", 8)
    return runs_programs and os.access(place, os.W_OK) and about.f_bavail * about.f_frsize >= ROOMY


def fresh(base: Path, template: Path | None, isolation: Isolation) -> Sandbox:
    """A new sandbox below `base` that holds a copy of the template (None: an empty directory without git)."""
    root = _new_root(base)
    own = isolation.uid if isolation.uid is not None else -1
    box = Sandbox(
        root=root,
        work=root / "project",
        home=root / "home",
        tmp=root / "tmp",
        bin=root / "bin",
        var=root / "var",
        out=root / "out",
        isolated=isolation.level != "none",
        uid=isolation.uid,
    )
    for directory in (box.bin, box.out):
        directory.mkdir(mode=0o755)
    for directory in (box.work, box.home, box.tmp):
        directory.mkdir(mode=0o755)
        if own >= 0:
            os.chown(directory, own, own)
    box.var.mkdir()
    box.var.chmod(0o1733 if own >= 0 else 0o700)
    if template is not None:
        trees.copy(template, box.work, own)
    return box


def _new_root(base: Path) -> Path:
    for number in itertools.count(1):
        root = base / f"{number:04d}"
        try:
            root.mkdir(mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise HarnessError(f"{base}: no sandbox can be made here: {error.strerror}") from None
        return root
    raise AssertionError


def remove(box: Sandbox) -> None:
    """Remove a sandbox, whatever the agent left in it."""
    trees.remove(box.root)
