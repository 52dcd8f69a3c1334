"""What a run's journal says: the header, every start and end, and which steps of the landing are done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evalrepo.errors import HarnessError
from evalrepo.records.record import CellHeader, Rep
from evalrepo.running import lines

VERSION = 1
"""Of the journal's format; a newer one is refused by its number."""


class Origin(NamedTuple):
    """Where reps come from that this run does not execute: the run that did, the run whose record is superseded ("" for
    none), and why there is another record."""

    executed: str
    supersedes: str
    reason: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A cell of the run: what its record will say beside the reps, and how many reps were planned. `origin`: of reps
    that were executed before, and are only recorded again."""

    header: CellHeader
    reps: int
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """What is known before the first rep.

    `start` is UTC, RFC 3339; `branch` the reference that results land on (`refs/heads/x`), None on a detached HEAD;
    `commit` False keeps them in the run's reference alone; `snapshot` is the id of a tree that goes there too.
    """

    run: str
    start: str
    evalrepo: str
    clone: str
    branch: str | None
    commit: bool
    cells: tuple[Planned, ...]
    snapshot: str = ""


class Key(NamedTuple):
    """One attempt: cell by its place in the header, rep and attempt from 1."""

    cell: int
    rep: int
    attempt: int


@dataclass
class Story:
    """The lines of a journal, folded. `files` maps paths in the run's tree to blob ids."""

    header: Header
    clock: float
    """When the run began by the file system's clock, in seconds since the epoch."""
    starts: dict[Key, str] = field(default_factory=dict)
    ends: dict[Key, Rep] = field(default_factory=dict)
    files: dict[Key, dict[str, str]] = field(default_factory=dict)
    notes: list[tuple[int | None, str]] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    """Commits that the run's reference was to be made at, one a try."""
    told: list[dict[str, Any]] = field(default_factory=list)
    """Lines of the landing, in order: `locking`, `committing`."""
    landed: str | None = None
    """The commit that holds the results, "" when none was wanted; None before the landing was done."""

    @property
    def unended(self) -> tuple[Key, ...]:
        """Attempts that were executed, and never ended, in order of their start."""
        return tuple(k for k in self.starts if k not in self.ends and self.header.cells[k.cell].origin is None)

    @property
    def counted(self) -> tuple[Key, ...]:
        """Attempts that get a place in a record: all that ended or were executed. One that was only to be recorded
        again, and was not, stands as it did."""
        return tuple(k for k in self.starts if k in self.ends or self.header.cells[k.cell].origin is None)


@dataclass(frozen=True, slots=True)
class Read:
    """The JSON of a journal's good lines; `seals[i]` closes `bodies[i]`, `segments` counts the files they came from."""

    bodies: list[bytes]
    seals: tuple[str, ...]
    segments: int
    torn: bool


def segment_path(path: Path, number: int) -> Path:
    """`RUN.jsonl` is segment 0; `RUN.1.jsonl`, … were begun after a write had failed or a run had died."""
    return path.with_name(f"{path.stem}.{number}.jsonl") if number else path


def read(path: Path) -> Read:
    """Every good line of a journal. Raises HarnessError for damage elsewhere than at an end, or a newer version."""
    data = _bytes(path)
    _known_version(data, path)
    first = lines.read(data, str(path))
    bodies, seals, torn = list(first.bodies), list(first.seals), first.torn
    number = 1
    while (segment := segment_path(path, number)).exists():
        torn = _append_segment(segment, bodies, seals) or torn
        number += 1
    return Read(bodies, tuple(seals), number, torn)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise HarnessError(f"{path}: cannot be read: {error.strerror}") from None


def _known_version(data: bytes, path: Path) -> None:
    try:
        version = json.loads(data.partition(b"\n")[0])["journal"]
    except (ValueError, KeyError, TypeError):
        return
    if isinstance(version, int) and version > VERSION:
        raise HarnessError(
            f"{path}: the journal has version {version}, newer than this evalrepo reads ({VERSION})",
            hint="finish this run with the evalrepo that began it",
        )


def _append_segment(path: Path, bodies: list[bytes], seals: list[str]) -> bool:
    """Add a later segment's lines; a line above it that was never acknowledged gives way. Says whether it is torn."""
    data = _bytes(path)
    end = data.find(b"\n") + 1
    head = lines.read(data[:end] if end else data, str(path), "segment")
    if not head.bodies:
        return True
    told = head.rows[0]
    after, before = told["after"], told["before"]
    if not len(bodies) - 1 <= after <= len(bodies) or (seals[after - 1] if after else "") != before:
        raise HarnessError(f"{path}:1: this segment does not follow the one before it")
    del bodies[after:], seals[after:]
    body = lines.read(data[end:], str(path), before, first=2)
    bodies += body.bodies
    seals += body.seals
    return body.torn


def header_row(header: Header, clock: float) -> lines.Row:
    """The journal's first line. `clock`: the file system's, in seconds since the epoch."""
    return {
        "clock": clock,
        "journal": VERSION,
        "line": "run",
        "run": header.run,
        "start": header.start,
        "evalrepo": header.evalrepo,
        "clone": header.clone,
        "branch": header.branch,
        "commit": header.commit,
        "snapshot": header.snapshot,
        "cells": [_cell_row(cell) for cell in header.cells],
    }


def _cell_row(cell: Planned) -> dict[str, Any]:
    row = {"reps": cell.reps, "header": cell.header.model_dump(mode="json")}
    return row | ({"origin": cell.origin._asdict()} if cell.origin is not None else {})


def _planned(row: Mapping[str, Any]) -> Planned:
    origin = Origin(**row["origin"]) if "origin" in row else None
    return Planned(CellHeader.model_validate_json(json.dumps(row["header"])), row["reps"], origin)


def _header(row: Mapping[str, Any]) -> Header:
    cells = tuple(map(_planned, row["cells"]))
    names = ("run", "start", "evalrepo", "clone", "branch", "commit", "snapshot")
    return Header(**{name: row[name] for name in names}, cells=cells)


def fold(found: Read, path: Path) -> Story | None:
    """What the lines say; None when not even the header was acknowledged. Takes the lines out of `found`: a thousand
    reps are not held twice.

    Raises HarnessError with file and line for lines that contradict each other.
    """
    if not found.bodies:
        return None
    number = 1
    found.bodies.reverse()
    try:
        first = json.loads(found.bodies.pop())
        story = Story(_header(first), first["clock"])
        while found.bodies:
            number += 1
            row = json.loads(found.bodies.pop())
            _APPLY[row["line"]](story, row)
    except (KeyError, TypeError, ValueError) as error:
        why = f"an unknown line: {error}" if isinstance(error, KeyError) else str(error).splitlines()[0]
        raise HarnessError(f"{path}: line {number} does not fit the journal: {why}") from None
    return story


def _key(row: Mapping[str, Any]) -> Key:
    return Key(row["cell"], row["rep"], row["attempt"])


def _start(story: Story, row: Mapping[str, Any]) -> None:
    key = _key(row)
    if key in story.starts:
        raise ValueError(f"{key} starts a second time")
    story.starts[key] = row["at"]


def _end(story: Story, row: Mapping[str, Any]) -> None:
    rep = Rep.model_validate_json(json.dumps(row["result"]))
    key = Key(row["cell"], rep.rep, rep.attempt)
    if key not in story.starts:
        raise ValueError(f"{key} ends and never started")
    if story.ends.setdefault(key, rep) != rep:
        raise ValueError(f"{key} ends a second time, differently")
    story.files.setdefault(key, {}).update(row["files"])


def _kept(story: Story, row: Mapping[str, Any]) -> None:
    story.files.setdefault(_key(row), {}).update(row["files"])


def _landed(story: Story, row: Mapping[str, Any]) -> None:
    story.landed = row["commit"]


def _ref(story: Story, row: Mapping[str, Any]) -> None:
    story.refs.append(row["commit"])


_APPLY = {
    "start": _start,
    "end": _end,
    "kept": _kept,
    "note": lambda story, row: story.notes.append((row["cell"], row["text"])),
    "ref": _ref,
    "locking": lambda story, row: story.told.append(dict(row)),
    "committing": lambda story, row: story.told.append(dict(row)),
    "landed": _landed,
}
