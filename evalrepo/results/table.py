"""An index of records as a file: for each which cell, which identity, when, and which blob. Small, and read whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from evalrepo.records.row import Head

VERSION = 3
"""Of the file and of what it is made from; another version is read anew."""


@dataclass(slots=True)
class Table:
    """Records in a fixed order, as columns: indices into `cells` and `keys` (subject, stimulus, instrument), start,
    blob id, path.

    `bad`: (path, blob id, code, message) of files that hold no usable record; `hand`: paths of results written by hand.
    `sources`: id → number of records, for tables of several trees. Paths are relative to what the table is of.
    """

    cells: list[tuple[str, str, str]] = field(default_factory=list)
    keys: list[tuple[str, str, str]] = field(default_factory=list)
    cell: list[int] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    oid: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    bad: list[tuple[str, str, str, str]] = field(default_factory=list)
    hand: list[str] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)

    def head(self, number: int) -> Head:
        """What the index knows of a record."""
        return Head(self.cells[self.cell[number]], self.keys[self.key[number]], self.start[number])

    def by_source(self) -> dict[str, range]:
        """Source → the numbers of its records."""
        out: dict[str, range] = {}
        at = 0
        for source, count in self.sources.items():
            out[source] = range(at, at + count)
            at += count
        return out


class Builder:
    """Fills a table."""

    def __init__(self) -> None:
        self.table = Table()
        self._cells: dict[tuple[str, str, str], int] = {}
        self._keys: dict[tuple[str, str, str], int] = {}

    def add(self, head: Head, oid: str, path: str) -> None:
        """Append a record."""
        table = self.table
        cell = self._cells.get(head.cell)
        if cell is None:
            cell = _number(self._cells, table.cells, head.cell)
        key = self._keys.get(head.key)
        if key is None:
            key = _number(self._keys, table.keys, head.key)
        table.cell.append(cell)
        table.key.append(key)
        table.start.append(head.start)
        table.oid.append(oid)
        table.path.append(path)


def _number(known: dict[Any, int], values: list[Any], value: Any) -> int:
    known[value] = len(values)
    values.append(value)
    return known[value]


def dump(table: Table) -> bytes:
    """The file: a head with version and checksum, then JSON."""
    columns = [table.cells, table.keys, table.cell, table.key, table.start, table.oid, table.path]
    body = json.dumps([*columns, table.bad, table.hand, table.sources], separators=(",", ":")).encode("ascii")
    return sealed(body)


def sealed(body: bytes) -> bytes:
    """Bytes below a line with version, length and checksum."""
    return _checksum(body) + body


def unsealed(data: bytes) -> bytes | None:
    """The bytes that `sealed` was given, None for anything else."""
    head, _, body = data.partition(b"\n")
    return body if head + b"\n" == _checksum(body) else None


def _checksum(body: bytes) -> bytes:
    return f"evalrepo rows {VERSION} {len(body):x} {crc32(body):08x}\n".encode("ascii")


def load(data: bytes) -> Table | None:
    """The table of a file that `dump` wrote; None for anything else."""
    body = unsealed(data)
    if body is None:
        return None
    try:
        cells, keys, *rest = json.loads(body)
        table = Table([_three(c) for c in cells], [_three(k) for k in keys], *rest)
    except (ValueError, TypeError):
        return None
    return table if _fits(table) else None


def _three(values: Sequence[str]) -> tuple[str, str, str]:
    one, two, three = values
    return (one, two, three)


def _fits(table: Table) -> bool:
    columns: tuple[Sequence[object], ...] = (table.cell, table.key, table.start, table.oid, table.path)
    inside = not table.cell or (max(table.cell) < len(table.cells) and max(table.key) < len(table.keys))
    return len({len(column) for column in columns}) == 1 and inside
