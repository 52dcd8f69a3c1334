"""The rows of a long log, a piece at a time, so that no more than a piece of it is held as objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalrepo.agents import jsonl
from evalrepo.agents.base import ReadError
from evalrepo.agents.jsonl import Row

PIECE = 1 << 16
"""Bytes of whole lines that are read at once."""

_TIME = re.compile(rb'"timestamp":"([^"]+)"')


class Lines:
    """Iterated, the rows of a file with their 1-based lines; afterwards `torn` says whether its last line is broken.

    ReadError as `jsonl.rows`.
    """

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data
        self.torn = False

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        before = 0
        for piece, last in _pieces(self.data):
            found, self.torn = self._read(piece, last=last)
            for line, row in found:
                yield before + line, row
            if self.torn:
                return
            before += piece.count(b"\n")

    def _read(self, piece: bytes, *, last: bool) -> tuple[list[tuple[int, Row]], bool]:
        try:
            found, torn = jsonl.rows(self.name, piece)
        except ReadError:
            jsonl.rows(self.name, self.data)  # the same error, with the line in the whole file
            raise
        if torn and not last:  # an error too, unless nothing follows
            jsonl.rows(self.name, self.data)
        return found, torn

    @property
    def began(self) -> str:
        """The time of its first row, "" when none says it."""
        found = _TIME.search(self.data, 0, PIECE)
        return found[1].decode("ascii", "replace") if found else ""


def _pieces(data: bytes) -> Iterator[tuple[bytes, bool]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + PIECE) + 1 or len(data)
        yield (data if (start, end) == (0, len(data)) else data[start:end]), end == len(data)
        start = end
