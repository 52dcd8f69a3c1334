"""Tables on disk: one folder a family (a month, the run refs), one file a content id; the newest few are kept."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from evalrepo.results.table import VERSION, Table, dump, load, sealed, unsealed

KEPT = 8
"""Files of a family that stay."""


class Shelf:
    """Cached tables below a folder. Nothing here ever fails: a cache that cannot be read or written is no cache."""

    def __init__(self, home: Path) -> None:
        self._root = home / "cache" / f"rows-{VERSION}"

    def get(self, family: str, key: str) -> Table | None:
        """The table of exactly this content."""
        return self._read(self._root / family / key)

    def newest(self, family: str) -> Table | None:
        """The latest table of the family, whatever its content: most of its rows will do."""
        found = self._files(family)
        return self._read(found[0]) if found else None

    def put(self, family: str, key: str, table: Table) -> None:
        """Keep a table."""
        self._write(family, key, dump(table))

    def bytes_of(self, family: str, key: str) -> bytes | None:
        """What `put_bytes` kept, when it is whole."""
        with contextlib.suppress(OSError):
            return unsealed((self._root / family / key).read_bytes())
        return None

    def put_bytes(self, family: str, key: str, data: bytes) -> None:
        """Keep bytes."""
        self._write(family, key, sealed(data))

    def _write(self, family: str, key: str, data: bytes) -> None:
        """Written beside, then renamed; the oldest of the family go."""
        folder = self._root / family
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            beside = folder / f".{key}.{os.getpid()}"
            try:
                beside.write_bytes(data)
                beside.replace(folder / key)
            finally:
                beside.unlink(missing_ok=True)
            for old in self._files(family)[KEPT:]:
                old.unlink(missing_ok=True)

    def _files(self, family: str) -> list[Path]:
        with contextlib.suppress(OSError):
            files = [p for p in (self._root / family).iterdir() if not p.name.startswith(".")]
            return sorted(files, key=lambda p: p.stat().st_mtime_ns, reverse=True)
        return []

    def _read(self, path: Path) -> Table | None:
        try:
            return load(path.read_bytes())
        except OSError:
            return None
