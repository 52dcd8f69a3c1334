"""Many blobs at once: git inflates the next ones into memory while those before are looked at."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, TYPE_CHECKING

from evalrepo.errors import GitError
from evalrepo.repository.runner import failure

if TYPE_CHECKING:
    from subprocess import Popen

    from evalrepo.repository.runner import Git

Blobs = tuple[mmap.mmap, Iterator[tuple[str, int, int]]]
"""Bytes, and for each blob its id and where its content begins and ends in them."""

_FIRST_CHUNK, _MOST_IN_CHUNK, _CHUNK_BYTES = 512, 16384, 24_000_000
_AHEAD = 2
"""Chunks that git works on while one is looked at."""


def contents(git: Git, oids: Iterable[str]) -> Iterator[Blobs]:
    """The blobs in chunks of about 24 MB, in the order given; a chunk's bytes last until the next is asked for.

    Memory does not grow with the number of blobs. GitError for one that is missing, broken or no blob, when it is
    reached.
    """
    rest, size = iter(oids), _FIRST_CHUNK
    free: list[_Spool] = []
    begun: deque[tuple[list[str], _Spool]] = deque()
    try:
        while True:
            while len(begun) <= _AHEAD and (chunk := list(islice(rest, size))):
                spool = free.pop() if free else _Spool()
                begun.append((chunk, spool))
                spool.begin(git, chunk)
            if not begun:
                return
            chunk, spool = begun[0]
            data, total = spool.end()
            yield data, _spans(data, total, chunk)
            begun.popleft()
            free.append(spool)
            size = max(16, min(_MOST_IN_CHUNK, _CHUNK_BYTES * len(chunk) // total))
    finally:
        for spool in (*free, *(spool for _, spool in begun)):
            spool.close()


class _Spool:
    """An unlinked file that one git at a time fills; its pages are used again and again."""

    def __init__(self) -> None:
        self._files = _unlinked(), _unlinked(), _unlinked()
        self._feed, self._out, self._errors = (file.fileno() for file in self._files)
        self._map: mmap.mmap | None = None
        self._git: Popen[bytes] | None = None

    def begin(self, git: Git, oids: list[str]) -> None:
        """Have git write these blobs."""
        with open(self._feed, "wb", closefd=False) as feed:
            feed.seek(0)
            feed.truncate()
            feed.write("\n".join((*oids, "")).encode("ascii", "surrogateescape"))
        for file in (self._feed, self._out, self._errors):
            os.lseek(file, 0, os.SEEK_SET)
        argv = ("cat-file", "--batch", "--buffer")
        self._git = git.start(*argv, stdin=self._feed, stdout=self._out, stderr=self._errors)

    def end(self) -> tuple[mmap.mmap, int]:
        """The file as bytes, and how many of them are of this time. GitError when git failed."""
        code = self._git.wait() if self._git is not None else 0
        if code:
            said = os.lseek(self._errors, 0, os.SEEK_CUR)
            raise failure(("cat-file",), code, os.pread(self._errors, said, 0))
        total = os.lseek(self._out, 0, os.SEEK_CUR)  # git moved it: the file's position is one for both
        if not total:
            raise GitError("git cat-file: no answer", hint="git fsck says what is broken")
        if self._map is None or len(self._map) < total:
            self._unmap()
            self._map = mmap.mmap(self._out, 0, access=mmap.ACCESS_READ)
        return self._map, total

    def _unmap(self) -> None:
        if self._map is not None:
            self._map.close()

    def close(self) -> None:
        """End git, should it still be at work; nothing stays."""
        if self._git is not None and self._git.poll() is None:
            self._git.kill()
            self._git.wait()
        self._unmap()
        for file in self._files:
            file.close()


def _unlinked() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("blobs"), "w+b")
    return tempfile.TemporaryFile()


def _spans(data: mmap.mmap, total: int, oids: list[str]) -> Iterator[tuple[str, int, int]]:
    at = 0
    for oid in oids:
        start = data.find(b"\n", at, total) + 1
        head = data[at:start].split() if start else []
        if len(head) != 3 or head[1] != b"blob":
            raise _no_blob(oid, b" ".join(head[1:2]).decode("ascii", "replace"))
        at = start + int(head[2])
        yield oid, start, at
        at += 1


def _no_blob(oid: str, what: str) -> GitError:
    said = {"missing": "is missing or broken in the object store", "": "could not be read"}
    return GitError(f"object {oid} {said.get(what, f'is a {what}, not a file')}", hint="git fsck says what is broken")
