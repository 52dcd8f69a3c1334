"""A tree composed of two: some paths of one, all others of another. It is stored nowhere, and reads like any tree."""

from __future__ import annotations

from collections.abc import Iterable

from evalrepo.repository.objects import Entry
from evalrepo.repository.runner import Git
from evalrepo.repository.tree import IndexTree, Tree, ordered


class Composed(IndexTree):
    """`rest`'s files but those that `replaces` names, and in their stead the files of `there` that `takes` names.

    `replaces` and `takes` are patterns (see `globs`) or folders. Both trees are of one repository; `rest` may be the
    work tree, whose blobs only its own git sees.
    """

    def __init__(
        self, rest: Tree, there: Tree, *, replaces: Iterable[str], takes: Iterable[str], name: str = ""
    ) -> None:
        super().__init__(rest._git, name or f"{rest.name} with the subject of {there.name}", rest.object_format)
        self._rest, self._there = rest, there
        self._replaces, self._takes = tuple(replaces), tuple(takes)
        self._taken: dict[str, Entry] = {}

    @property
    def git(self) -> Git:
        """One that sees the blobs of both."""
        return self._rest.git

    def _list(self) -> dict[str, Entry]:
        gone = self._rest.match(*self._replaces)
        self._taken = self._there.match(*self._takes)
        kept = {path: entry for path, entry in self._rest.entries().items() if path not in gone}
        self.left_out = self._rest.left_out
        return ordered({**_apart(kept, self._taken), **self._taken})

    def persist(self, paths: Iterable[str]) -> int:
        """Write the blobs of the work tree's share to the repository's own store; those of a commit are there."""
        asked = list(paths)
        super().persist(asked)
        return self._rest.persist(path for path in asked if path not in self._taken)


def _apart(kept: dict[str, Entry], taken: dict[str, Entry]) -> dict[str, Entry]:
    """Without a file that stands where the other has a folder, or the reverse: no tree can hold both."""
    folders = {above for path in taken for above in _above(path)}
    return {
        path: entry
        for path, entry in kept.items()
        if path not in folders and not any(above in taken for above in _above(path))
    }


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]
