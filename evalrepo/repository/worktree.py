"""The work tree as `git add -A` would store it, by the user's filters and ignore rules, without touching anything.

The index is a copy of the user's (its stat data keeps the read quick), new objects go to a private store with the
real one as its alternate. Both live in a scratch directory that ends with the tree or the process.
"""

from __future__ import annotations

import os
import re
import shutil
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

from evalrepo.errors import GitError
from evalrepo.repository.objects import Entry
from evalrepo.repository.runner import Git, failure
from evalrepo.repository.scratch import Scratch
from evalrepo.repository.tree import IndexTree

_ADD = {
    "core.safecrlf": "false",
    "core.splitIndex": "false",
    "core.untrackedCache": "false",
    "core.fsync": "none",
    "core.looseCompression": "0",
    "advice.addEmbeddedRepo": "false",
    "add.ignoreErrors": "false",
}


_NESTED = re.compile(rb"^error: '(.+)/' does not have a commit checked out\n", re.MULTILINE)


class WorkTree(IndexTree):
    """The files on disk, as of its first read. `persist` before anything refers to its blobs."""

    def __init__(
        self, git: Git, object_format: str, *, home: Path, index: Path, objects: Path, keep: Callable[[bytes], str]
    ) -> None:
        super().__init__(git, "WORKTREE", object_format)
        self._real = git
        self._keep = keep
        self._places = (home, index, objects)

    @property
    def git(self) -> Git:
        """The git that can read this tree's blobs: the files are read first."""
        self.entries()
        return self._git

    def _list(self) -> dict[str, Entry]:
        home, index, objects = self._places
        scratch = Scratch(home)
        weakref.finalize(self, scratch.close)
        _prepare(scratch.path, index, objects)
        self._git = self._real.bound(
            GIT_INDEX_FILE=str(scratch.path / "index"), GIT_OBJECT_DIRECTORY=str(scratch.path / "objects")
        )
        nested = _add_all(self._git)
        files = super()._list()
        self.left_out = (*self.left_out, *nested)
        return files

    def persist(self, paths: Iterable[str]) -> int:
        """Write these files' blobs to the repository's own object store; how many were not there."""
        wanted = {self._file(path).oid: path for path in paths}
        known = self._real.sizes(wanted)
        missing = [oid for oid in wanted if known[oid] is None]
        for oid, data in self.git.blobs(missing):
            if self._keep(data) != oid:
                raise GitError(f"{wanted[oid]}: could not be stored as it was read")
        return len(missing)


def _prepare(scratch: Path, index: Path, objects: Path) -> None:
    """A copy of the index, its time included (git compares it with the files' times), and a store with an alternate."""
    if index.exists():
        shutil.copy2(index, scratch / "index")
    info = scratch / "objects" / "info"
    info.mkdir(parents=True)
    info.joinpath("alternates").write_bytes(_quoted(os.fsencode(objects)) + b"\n")


def _quoted(path: bytes) -> bytes:
    """The path in git's C quotes, so that it may hold any byte."""
    special = {0x22: b'\\"', 0x5C: b"\\\\"}
    inner = b"".join(special.get(b) or (bytes([b]) if 0x20 <= b < 0x7F else b"\\%03o" % b) for b in path)
    return b'"' + inner + b'"'


def _add_all(git: Git) -> tuple[str, ...]:
    """The only call in which a clean filter of the user's may run. Filters see the user's own locale.

    Gives the repositories without a commit that lie in the work tree: git can store nothing of them.
    """
    settings = [arg for key, value in _ADD.items() for arg in ("-c", f"{key}={value}")]
    words = ("add", "--all", "--sparse", "--ignore-errors", "--", ".")
    code, _, errors = git.code(*settings, *words, extra={"LC_ALL": git.locale})
    nested = tuple(os.fsdecode(path) for path in _NESTED.findall(errors))
    if code and (not nested or _NESTED.sub(b"", errors).strip()):
        error = failure(("add",), code, errors)
        raise GitError(
            f"the work tree cannot be read: {error.message}",
            hint=error.hint or "make the file readable, or name it in .gitignore",
        )
    return nested
