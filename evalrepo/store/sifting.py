"""What of the reserve stands in which blob, remembered by blob id: a file is read once for each reserve."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evalrepo.discipline.leaks import Guard, Hits
from evalrepo.discipline.shingles import ascii_words, text, words
from evalrepo.store.cache import Cache

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.runner import Git

VERSION = 1
"""Of what is found in a text; another version reads anew."""
LARGEST = 32_000_000
"""Bytes; a larger blob is not looked at, and that is said."""
_HEAD = 8192
_KEPT = 400_000
"""Blob ids that are remembered; above, only those that were asked for last."""


class Sifter:
    """Looks for what `guard` holds in blobs that `git` can read. `unread`: blobs that are too large → bytes."""

    def __init__(self, repo: Repository, git: Git, guard: Guard) -> None:
        self._git, self._guard = git, guard
        self._cache = Cache(repo.home, "leaks", VERSION)
        self._clean: set[str] | None = None
        self._hits: dict[str, Hits] = {}
        self.unread: dict[str, int] = {}
        self._wires = {word: wire for wire in guard.wires or () for word in _spellings(wire)}

    def hits(self, oids: Iterable[str]) -> Mapping[str, Hits]:
        """Blob id → what stands in it; blobs that hold nothing of the reserve are left out."""
        wanted = dict.fromkeys(oids)
        if self._clean is None:
            self._clean = self._recalled()
        new = [oid for oid in wanted if oid not in self._clean and oid not in self._hits and oid not in self.unread]
        if new:
            self._read(new)
            self._remember(wanted)
        return {oid: self._hits[oid] for oid in wanted if oid in self._hits}

    def look(self, data: bytes) -> Hits:
        """What stands in these bytes."""
        binary = b"\0" in data[:_HEAD] and not data.startswith((b"\xff\xfe", b"\xfe\xff"))
        tokens = ascii_words(data) if binary else words(data)
        wires = self._tripped(data, tokens)
        return Hits(wires, () if binary else tuple(self._guard.sieve.find(tokens)))

    def _tripped(self, data: bytes, tokens: list[str]) -> tuple[str, ...]:
        if self._wires.keys().isdisjoint(tokens):
            return ()
        said = text(data).lower()
        found = (w for w in self._guard.wires or () if w.lower() in said or w.lower().replace("-", "") in said)
        return tuple(found)

    def _read(self, oids: list[str]) -> None:
        assert self._clean is not None
        sizes = self._git.sizes(oids)
        self.unread |= {oid: size for oid in oids if (size := sizes[oid] or 0) > LARGEST}
        for oid, data in self._git.blobs([oid for oid in oids if oid not in self.unread]):
            found = self.look(data)
            if found:
                self._hits[oid] = found
            else:
                self._clean.add(oid)

    def _recalled(self) -> set[str]:
        body = self._cache.get([self._guard.digest]).get(self._guard.digest)
        try:
            clean, digits, hits = json.loads(body or '["", 40, {}]')
            self._hits = {oid: Hits(tuple(wires), tuple(numbers)) for oid, (wires, numbers) in hits.items()}
            return {clean[at : at + digits] for at in range(0, len(clean), digits)}
        except (ValueError, TypeError, AttributeError):
            self._hits = {}
            return set()

    def _remember(self, wanted: Mapping[str, None]) -> None:
        assert self._clean is not None
        clean = self._clean if len(self._clean) <= _KEPT else self._clean & wanted.keys()
        digits = len(next(iter(clean), "")) or 40
        hits = {oid: [found.wires, found.numbers] for oid, found in self._hits.items()}
        body = json.dumps(["".join(sorted(clean)), digits, hits], separators=(",", ":"))
        self._cache.put({self._guard.digest: body})


def _spellings(wire: str) -> set[str]:
    """Words without which a text does not hold the tripwire: the one in its middle, or all of them in one."""
    tokens = words(wire.encode("utf-8", "replace"))
    return {*tokens[len(tokens) // 2 :][:1], "".join(tokens)}
