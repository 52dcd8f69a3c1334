"""The union of records at hand: asked by cell and subject, read when asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from evalrepo.errors import Finding, Place
from evalrepo.records.row import BadRecord, Row, from_record, pack, unpack
from evalrepo.results.table import Table

if TYPE_CHECKING:
    from evalrepo.repository.runner import Git
    from evalrepo.results.shelf import Shelf

FOLDER = "AgentsReport/evaluation"
RUNS = "refs/evalrepo/runs/"

Cell = tuple[str, str, str]
"""Scenario, agent, tier."""

OPEN, _CLOSE = b"```json evalrepo-record\n", b"\n```"


def sliced(data: bytes) -> bytes:
    """The JSON in the last fence of a result file, as `formats.result` writes it. LookupError when there is none."""
    start = data.rfind(OPEN)
    if start < 0:
        if b"\r\n" in data:
            return sliced(data.replace(b"\r\n", b"\n"))
        raise LookupError
    start += len(OPEN)
    end = data.find(_CLOSE, start)
    return data[start : end if end >= 0 else len(data)]


_Held = tuple[str, str, str, str]
"""Start, subject, blob id, path."""


class Rows:
    """All records of some trees and of the run refs, each blob once; a blob id is `in` it when it is one of them.

    `findings`: files that hold no usable record (more may join when records are read); `by_hand`: results that a
    person wrote, noticed and not scored; `git` sees every blob. `keep` is held on to: a work tree's blobs last only as
    long as the tree.
    """

    def __init__(
        self, tables: Iterable[tuple[str, Table]], git: Git, *, shelf: Shelf | None = None, keep: object = None
    ) -> None:
        self.git = git
        self._shelf = shelf
        self._keep = keep
        self.findings: tuple[Finding, ...] = ()
        self.by_hand: tuple[str, ...] = ()
        self._held: dict[Cell, list[_Held]] = {}
        self._seen: set[str] = set()
        for prefix, table in tables:
            self._fill(prefix, table)

    def _fill(self, prefix: str, table: Table) -> None:
        seen = self._seen
        lists = [self._held.setdefault(cell, []) for cell in table.cells]
        subjects = [key[0] for key in table.keys]
        columns = zip(table.cell, table.key, table.start, table.oid, table.path, strict=True)
        for cell, key, start, oid, path in columns:
            if oid not in seen:
                seen.add(oid)
                lists[cell].append((start, subjects[key], oid, prefix + path))
        for path, _, code, message in table.bad:
            self._report(prefix + path, code, message)
        self.by_hand = tuple(dict.fromkeys((*self.by_hand, *(prefix + path for path in table.hand))))

    def _report(self, path: str, code: str, message: str) -> None:
        hint = "results never change: restore the file from the commit that added it; free text goes into ….notes.md"
        found = Finding(Place(path), code, message, hint)
        if found not in self.findings:
            self.findings = tuple(sorted((*self.findings, found)))

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    def __contains__(self, oid: object) -> bool:
        return oid in self._seen

    def blobs(self) -> dict[str, str]:
        """Blob id → path of every record."""
        return {held[2]: held[3] for cell in self._held.values() for held in cell}

    def cells(self) -> list[Cell]:
        """Every cell that has a record."""
        return sorted(cell for cell, held in self._held.items() if held)

    def subjects(self) -> set[str]:
        """Every subject digest that was measured."""
        return {held[1] for cell in self._held.values() for held in cell}

    def subjects_of(self, cells: Iterable[Cell]) -> dict[Cell, set[str]]:
        """Cell → the subject digests that were measured in it."""
        return {cell: {held[1] for held in self._held.get(cell, ())} for cell in cells}

    def measured_since(self, cells: Iterable[Cell], start: str) -> set[str]:
        """The subject digests that records of these cells which started after `start` (UTC, RFC 3339) measured."""
        return {held[1] for cell in cells for held in self._held.get(cell, ()) if held[0] > start}

    def paths(self) -> dict[str, Cell]:
        """Every record's path → its cell."""
        return {held[3]: cell for cell in self.cells() for held in self._held[cell]}

    def select(self, wanted: Mapping[Cell, Sequence[str] | None], *, others: bool = True) -> dict[Cell, list[Row]]:
        """Cell → its rows in `order`: all, or those of these subjects and (`others`) the newest of any other.

        One read of git for all of them, or none when these very records were the last to be asked for. A record that
        turns out to be broken becomes a finding.
        """
        chosen = {cell: self._chosen(cell, subjects, others=others) for cell, subjects in wanted.items()}
        places = {held[2]: held[3] for found in chosen.values() for held in found}
        by_oid = self._kept(places) or self._read(places)
        out = {cell: [by_oid[h[2]] for h in found if h[2] in by_oid] for cell, found in chosen.items()}
        for found in out.values():
            found.sort(key=order)
        return out

    def _chosen(self, cell: Cell, subjects: Sequence[str] | None, *, others: bool) -> list[_Held]:
        held = self._held.get(cell, [])
        if subjects is None:
            return held
        rest = [h for h in held if h[1] not in subjects] if others else []
        return [h for h in held if h[1] in subjects] + ([max(rest)] if rest else [])

    def _kept(self, places: Mapping[str, str]) -> dict[str, Row] | None:
        """The rows of exactly these records, as they were read before."""
        data = self._shelf.bytes_of("selected", _name(places)) if self._shelf and places else None
        if data is None:
            return None
        try:
            found = {row.oid: row for row in map(unpack, json.loads(data))}
        except (ValueError, TypeError, IndexError):
            return None
        return {oid: row._replace(path=places[oid]) for oid, row in found.items() if oid in places}

    def _read(self, places: Mapping[str, str]) -> dict[str, Row]:
        """Blob id → row, read from git in the order of paths (its delta cache likes it)."""
        found: dict[str, Row] = {}
        for oid, data in self.git.blobs(sorted(places, key=lambda o: places[o])) if places else ():
            row = self._row(data, places[oid], oid)
            if row is not None:
                found[oid] = row
        if self._shelf and len(found) == len(places) and places:
            self._shelf.put_bytes("selected", _name(places), json.dumps([pack(r) for r in found.values()]).encode())
        return found

    def _row(self, data: bytes, path: str, oid: str) -> Row | None:
        try:
            return from_record(json.loads(sliced(data)), path, oid)
        except BadRecord as wrong:
            self._report(path, "RES004", str(wrong))
        except (ValueError, RecursionError):
            self._report(path, "RES002", "the record is not JSON")
        return None


def _name(oids: Iterable[str]) -> str:
    return sha256("".join(sorted(oids)).encode()).hexdigest()


def order(row: Row) -> tuple[str, str, bool, str]:
    """By start; of two copies of one record the one in the run's own ref stands before a file."""
    return (row.start, row.run, not row.path.startswith(RUNS), row.path)
