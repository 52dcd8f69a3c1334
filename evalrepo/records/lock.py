"""`evalrepo.lock`: what is frozen, as git sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True, order=True)
class LockLine:
    """One frozen file: path, git mode (six octal digits), blob id (40 or 64 hex), SHA-256 of its content (64 hex)."""

    path: str
    mode: str
    oid: str
    sha256: str


@dataclass(frozen=True)
class Lock:
    """Header, the frozen roots (directories or single files, sorted), and one line a file in git's byte order.

    A file below a root that has no line, and a line whose file is not there, are both findings.
    """

    roots: tuple[str, ...] = ()
    lines: tuple[LockLine, ...] = ()
    object_format: str = "sha1"
    version: int = field(default=1)

    def by_path(self) -> Mapping[str, LockLine]:
        """Path → line; made once."""
        return self._by_path

    @cached_property
    def _by_path(self) -> dict[str, LockLine]:
        return {line.path: line for line in self.lines}
