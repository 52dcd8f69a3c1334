"""What was read once: text by key, in one SQLite file of ours. A cache may vanish at any moment and changes no answer.

A file that is stale, damaged or not ours is thrown away; an entry is believed only when its checksum fits; no error of
reading or writing surfaces.
"""

from __future__ import annotations

import os
import sqlite3
from hashlib import blake2b

from evalrepo import __version__

TYPE_CHECKING = False  # typing, pathlib and contextlib are slow to import, and a hook reads this
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

LAYOUT = 1
_TABLE = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, body TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID"
_CHUNK = 500
_KEEP = 60_000
"""Entries; above, the file is begun anew."""


class Cache:
    """Entries of one kind (a file name without suffix) and one version of the reader."""

    def __init__(self, home: str | Path, kind: str, version: int) -> None:
        self._path = os.path.join(home, "cache", f"{kind}.sqlite")  # noqa: PTH118
        self._prefix = f"{LAYOUT}.{version}.{__version__}:"

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """Bodies of the keys that are there."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, str] = {}
        if not wanted or not os.path.isfile(self._path):  # noqa: PTH113
            return found
        try:
            base = self._open()
            try:
                for at in range(0, len(wanted), _CHUNK):
                    found.update(self._some(base, wanted[at : at + _CHUNK]))
            finally:
                base.close()
        except (sqlite3.Error, OSError, ValueError, TypeError, UnicodeError):
            self._discard()
            return {}
        return found

    def put(self, bodies: Mapping[str, str]) -> None:
        """Keep these; when that does not work, nothing is kept."""
        if not bodies:
            return
        import contextlib

        with contextlib.suppress(sqlite3.Error, OSError, UnicodeError):
            os.makedirs(os.path.dirname(self._path), exist_ok=True)  # noqa: PTH103, PTH120
            with contextlib.closing(self._open()) as base, base:
                base.execute(_TABLE)
                if base.execute("SELECT count(*) FROM kept").fetchone()[0] > _KEEP:
                    base.execute("DELETE FROM kept")
                rows = ((self._prefix + key, body, _sum(key, body)) for key, body in bodies.items())
                base.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)

    def _open(self) -> sqlite3.Connection:
        base = sqlite3.connect(self._path, timeout=2)
        base.execute("PRAGMA synchronous=OFF")
        return base

    def _some(self, base: sqlite3.Connection, keys: list[str]) -> dict[str, str]:
        marks = ",".join("?" * len(keys))
        rows = base.execute(
            f"SELECT key, body, sum FROM kept WHERE key IN ({marks})",  # noqa: S608 - only question marks
            [self._prefix + key for key in keys],
        )
        short = ((key.removeprefix(self._prefix), body, total) for key, body, total in rows)
        return {key: body for key, body, total in short if total == _sum(key, body)}

    def _discard(self) -> None:
        try:
            os.unlink(self._path)  # noqa: PTH108
        except OSError:
            return


def _sum(key: str, body: str) -> str:
    return blake2b(f"{key}\0{body}".encode(), digest_size=16).hexdigest()
