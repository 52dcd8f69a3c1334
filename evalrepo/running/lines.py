"""Append-only lines that tell damage from a torn end: one JSON object a line, sealed by a hash over it and the last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from evalrepo.errors import HarnessError

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Lines:
    """The good lines: the JSON of each, its seal, bytes they take, and whether a torn end was dropped."""

    bodies: tuple[bytes, ...]
    seals: tuple[str, ...]
    size: int
    torn: bool

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every line as an object."""
        return tuple(map(json.loads, self.bodies))


def seal(before: str, row: Mapping[str, Any]) -> tuple[bytes, str]:
    """The line of a row, and its seal; `before` is the seal of the line above. `chain` is no key of a row."""
    body = json.dumps(row, separators=(",", ":"))
    mark = _mark(before, body.encode())
    return f'{body[:-1]},"chain":"{mark}"}}\n'.encode(), mark


def read(data: bytes, name: str, before: str = "", *, first: int = 1) -> Lines:
    """Every line up to a torn or NUL end. A bad line elsewhere raises HarnessError with `name` and the line number
    (`first` is the number of the first line in `data`).
    """
    bodies: list[bytes] = []
    seals: list[str] = []
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        found = _opened(data[at:end], before) if end >= 0 else None
        if found is None:
            _must_be_torn(data[at:], f"{name}:{first + len(bodies)}")
            return Lines(tuple(bodies), tuple(seals), at, torn=True)
        body, before = found
        bodies.append(body)
        seals.append(before)
        at = end + 1
    return Lines(tuple(bodies), tuple(seals), at, torn=False)


def _mark(before: str, body: bytes) -> str:
    return sha256(before.encode() + body).hexdigest()[:16]


TAIL = len(b',"chain":"0123456789abcdef"}')


def _opened(line: bytes, before: str) -> tuple[bytes, str] | None:
    """The JSON of a line, and its seal."""
    body = line[:-TAIL] + b"}"
    mark = _mark(before, body)
    return (body, mark) if line[-TAIL:] == f',"chain":"{mark}"}}'.encode() else None


def _must_be_torn(rest: bytes, place: str) -> None:
    """A write that a crash cut has no line end, or holes of NUL bytes, and nothing behind it."""
    line, newline, behind = rest.partition(b"\n")
    if behind.strip(b"\0") or (newline and b"\0" not in line):
        raise HarnessError(
            f"{place}: this line is damaged, or was edited",
            hint="what stands above it is good; move the file away to go on without it",
        )
