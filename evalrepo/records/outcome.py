"""What a rep left behind in its sandbox: manifests before and after, and what differs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileState:
    """One file: git mode ("100644", "100755", "120000"; "special" for sockets, devices, FIFOs), bytes, SHA-256 (hex).

    A file over the harness's cap has sha256 "".
    """

    mode: str
    size: int
    sha256: str


Manifest = Mapping[str, FileState]
"""Path relative to the sandbox's work directory with `/` → state. `.git` is not part of it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Paths, sorted."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(sorted((*self.added, *self.modified, *self.removed)))


def changed(before: Manifest, after: Manifest, litter: Sequence[str] = ()) -> Changed:
    """What differs; `litter` are path prefixes (component-wise) that agents are known to leave, left out."""

    def counts(path: str) -> bool:
        return not any(path == p or path.startswith(p + "/") for p in litter)

    return Changed(
        added=tuple(sorted(p for p in after if p not in before and counts(p))),
        modified=tuple(sorted(p for p in after if p in before and before[p] != after[p] and counts(p))),
        removed=tuple(sorted(p for p in before if p not in after and counts(p))),
    )
