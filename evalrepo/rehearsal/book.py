"""What the model server knows: which part each key plays, what it was asked, what went wrong."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrepo.rehearsal.play import Part


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: `thread` is the prompt or task that it belongs to, `position` the answers that were given before.

    Requests of no thread have `thread` "" and `position` -1. Header names are in lower case.
    """

    protocol: str
    model: str
    tools: frozenset[str]
    thread: str
    position: int
    headers: Mapping[str, str] = field(repr=False)
    raw: bytes = field(repr=False)

    @property
    def body(self) -> dict[str, Any]:
        """The request's JSON."""
        return dict(json.loads(self.raw))


@dataclass(slots=True)
class Entry:
    """One key's part. `trouble`: the first error of our own, as a sentence."""

    part: Part
    name: str
    asked: list[Asked] = field(default_factory=list)
    trouble: str = ""
    served: int = 0

    def seed(self) -> str:
        """What the ids of one answer begin with: never twice the same."""
        self.served += 1
        return f"{self.name}{self.served:04d}"


class Book:
    """Entries by key; used by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}

    def enter(self, key: str, part: Part) -> None:
        """A new entry, in place of the key's old one."""
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        with self._lock:
            self._entries[key] = Entry(part, name)

    def remove(self, key: str) -> None:
        """Forget the key; no harm when it is not known."""
        with self._lock:
            self._entries.pop(key, None)

    def get(self, key: str) -> Entry | None:
        """The key's entry."""
        with self._lock:
            return self._entries.get(key)
