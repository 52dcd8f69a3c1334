"""Counting tool calls while opencode runs, without opening its database."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO

from evalrepo.agents.base import Growing

_CALL = re.compile(rb'"type":"tool","tool":"[^"]{1,200}","callID":"([^"]{1,200})","state":\{(?!"status":"pending")')
_OVERLAP = 512
"""Bytes of the output that are looked at again, since a call may lie across two readings."""

_HEADER, _FRAME_HEADER = 32, 24
_AGAIN = 2
"""Frames that are looked at again, since the last one may have been half written."""


class Counter:
    """Called, it says how many tool calls the watched files name by now, sub-agents' included, each id once.

    The database and its write-ahead log are read as bytes, so that no lock of ours can get into the CLI's way: a part's
    row holds its JSON as text, and what is new in the database has been in the write-ahead log first.
    """

    def __init__(self, watch: Growing) -> None:
        self._watch = watch
        self._calls: set[bytes] = set()
        self._read: dict[Path, int] = {}
        self._salts: dict[Path, bytes] = {}

    def __call__(self) -> int:
        """Calls so far; one is there as soon as the model has made it, before it is run."""
        for path in self._watch():
            self._look(path)
        return len(self._calls)

    def _look(self, path: Path) -> None:
        if path.suffix == ".err" or (path.suffix == ".db" and path in self._read):
            return
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                new = self._frames(path, file) if path.suffix == ".db-wal" else self._grown(path, file)
        except OSError:  # gone or not ours to read: nothing to count
            return
        self._calls.update(_CALL.findall(new))

    def _grown(self, path: Path, file: BinaryIO) -> bytes:
        file.seek(max(0, self._read.get(path, 0) - _OVERLAP))
        new = file.read()
        self._read[path] = file.tell()
        return new

    def _frames(self, path: Path, file: BinaryIO) -> bytes:
        """The new pages of a write-ahead log (sqlite.org/fileformat2.html#walformat).

        After a checkpoint it is written again from its start, with new salts in its header; what is not of this round
        has other salts.
        """
        header = file.read(_HEADER)
        page, salts = int.from_bytes(header[8:12], "big"), header[16:24]
        if len(header) < _HEADER or not 512 <= page <= 65536:
            return b""
        if salts != self._salts.get(path):
            self._salts[path], self._read[path] = salts, _HEADER
        file.seek(self._read[path])
        pages: list[bytes] = []
        while file.read(_FRAME_HEADER)[8:16] == salts:
            pages.append(file.read(page))
        self._read[path] += max(0, len(pages) - _AGAIN) * (_FRAME_HEADER + page)
        return b"".join(pages)
