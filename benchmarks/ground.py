"""Repositories to measure in: real git, a temporary folder, the same content every time."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

SEED = 20261129
MEMORY = Path("/dev/shm")


class Ground:
    """A repository below a temporary folder, with a HOME and a TMPDIR of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repo, self.home, self.tmp = (root / name for name in ("repo", "home", "t"))
        for place in (self.repo, self.home, self.tmp):
            place.mkdir()
        self.env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
        }
        self.random = random.Random(SEED)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Bench")
        self.git("config", "user.email", "bench@example.org")
        self.git("config", "gc.auto", "0")

    def git(self, *args: str, stdin: bytes = b"") -> str:
        """What git prints."""
        done = subprocess.run(["git", *args], cwd=self.repo, env=self.env, input=stdin, capture_output=True, check=True)
        return done.stdout.decode()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Files of the work tree."""
        made: set[Path] = set()
        for name, text in files.items():
            place = self.repo / name
            if place.parent not in made:
                place.parent.mkdir(parents=True, exist_ok=True)
                made.add(place.parent)
            place.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, files: Mapping[str, str | bytes], message: str = "change") -> str:
        """Write, stage and commit; the commit's id."""
        self.write(files)
        self.git("add", "-A")
        self.git("-c", "core.fsync=none", "commit", "-qm", message)
        return self.git("rev-parse", "HEAD").strip()

    def said(self, *argv: str) -> str:
        """Standard output of a command."""
        return subprocess.run(argv, cwd=self.repo, env=self.env, capture_output=True, check=True).stdout.decode()

    def pack(self) -> None:
        """As after a clone: one pack, nothing loose."""
        self.git("repack", "-adq")

    def without(self, program: str) -> dict[str, str]:
        """The environment with a PATH on which all programs are but this one."""
        folder = self.root / f"without-{program}"
        if not folder.exists():
            folder.mkdir()
            for place in self.env["PATH"].split(":"):
                for found in Path(place).iterdir() if Path(place).is_dir() else ():
                    if found.name != program and not (folder / found.name).is_symlink():
                        (folder / found.name).symlink_to(found)
        return {**self.env, "PATH": str(folder)}


@contextlib.contextmanager
def ground(place: Path | None = None) -> Iterator[Ground]:
    """A ground that is removed at the end; in memory where there is room, because a disk's file system is noise."""
    root = Path(tempfile.mkdtemp(prefix="bench", dir=place or (MEMORY if _roomy(MEMORY) else None)))
    try:
        yield Ground(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _roomy(place: Path) -> bool:
    try:
        about = os.statvfs(place)
    except OSError:
        return False
    return os.access(place, os.W_OK) and about.f_bavail * about.f_frsize >= 4 << 30
