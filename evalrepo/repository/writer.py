"""Many blobs: loose objects as git writes them, without a process for each, which costs ten times what a blob does."""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from itertools import count
from pathlib import Path

from evalrepo.repository.durable import write_new
from evalrepo.repository.objects import Objects, object_id

SMALL = 16_000_000
"""Bytes; larger blobs are git's to write."""
KNOWN = 10_000
"""Ids that are remembered: reps of one cell often leave the same files."""
_OWN = ("", "false", "no", "off", "umask", "0")
"""Values of `core.sharedRepository` by which new files get their mode from the umask."""


class BlobWriter:
    """Writes blobs as durably as `Objects.blob`, from any number of threads.

    Only the usual case is done here: a small blob that is not there yet, in a repository of one user. Everything else,
    and whatever fails, `Objects.blob` does, with its checks and its errors.
    """

    def __init__(self, objects: Objects, held: Path) -> None:
        """`held`: a directory for second links of what is written, until a reference holds it; see `restore`."""
        self._objects = objects
        self._held = held
        held.mkdir(parents=True, exist_ok=True)
        self._known: set[str] = set()
        self._numbers = count()
        shared = objects.git.code("config", "--get", "core.sharedRepository")[1]
        self._own = shared.decode("utf-8", "replace").strip().lower() in _OWN

    def write(self, data: bytes) -> str:
        """Store bytes; the blob's id. On disk when it returns. GitError."""
        oid = object_id("blob", data, self._objects.object_format)
        if oid not in self._known:
            if not self._written(self._objects.loose(oid), data):
                self._objects.blob(data)
            with suppress(OSError):  # it is in a pack, or there is a link already
                os.link(self._objects.loose(oid), self._held / oid)
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known.add(oid)
        return oid

    def _written(self, loose: Path, data: bytes) -> bool:
        """Whether the object's file is new and ours. Its temporary name is one that `git gc` removes after a crash."""
        if not self._own or len(data) > SMALL:
            return False
        temporary = loose.with_name(f"tmp_obj_{os.getpid()}_{next(self._numbers)}")
        try:
            loose.parent.mkdir(exist_ok=True)
            write_new(temporary, zlib.compress(b"blob %d\0" % len(data) + data, 1), 0o444)
            os.link(temporary, loose)
        except OSError:
            return False
        finally:
            with suppress(OSError):
                temporary.unlink()
        return True


def restore(objects: Objects, held: Path) -> None:
    """Put back what a `git gc --prune=now` took away while no reference held it. OSError."""
    for link in sorted(held.glob("*")):
        loose = objects.loose(link.name)
        loose.parent.mkdir(exist_ok=True)
        with suppress(FileExistsError):
            os.link(link, loose)
