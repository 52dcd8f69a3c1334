"""A Tree: the files of a commit, of the index or of the work tree, read from git objects, never from disk."""

from __future__ import annotations

import gc
import os
import threading
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from evalrepo.errors import GitError
from evalrepo.records import globs
from evalrepo.repository.objects import GITLINK, TREE, Entry, object_id, tree_id
from evalrepo.repository.runner import Git

__all__ = ["CommitTree", "Entry", "IndexTree", "Tree", "uncollected", "unusable"]

_WIDTH = {"sha1": 40, "sha256": 64}
_new = tuple.__new__
"""Makes an `Entry` without a call of Python code: a hundred thousand of them are made at once."""

LFS = b"version https://git-lfs.github.com/spec/"


class _Part:
    """The files below one top-level name, with their paths sorted for ranges."""

    __slots__ = ("files", "order")

    def __init__(self, files: dict[str, Entry]) -> None:
        self.files = files
        self.order = sorted(files)

    def below(self, root: str) -> dict[str, Entry]:
        """The file of that path, or the files below that directory."""
        if root in self.files:
            return {root: self.files[root]}
        start, end = bisect_left(self.order, root + "/"), bisect_left(self.order, root + "0")
        return {path: self.files[path] for path in self.order[start:end]}


def _grouped(files: dict[str, Entry]) -> dict[str, _Part]:
    grouped: dict[str, dict[str, Entry]] = {}
    for path, entry in files.items():
        grouped.setdefault(path.partition("/")[0], {})[path] = entry
    return {top: _Part(inside) for top, inside in grouped.items()}


class Tree(ABC):
    """All files by path (`os.fsdecode`), with the same interface and the same ids for every kind of tree.

    `name` is what the user called it; `commit` the full id, None for INDEX and WORKTREE; `left_out` are paths that
    were left out with a reason to say so (intent-to-add entries of the index). `memo` keeps what others compute once
    a tree, by their own keys.
    """

    def __init__(self, git: Git, name: str, object_format: str, commit: str | None = None) -> None:
        self._git = git
        self.name = name
        self.object_format = object_format
        self.commit = commit
        self.left_out: tuple[str, ...] = ()
        self.memo: dict[Any, Any] = {}
        self._lock = threading.Lock()
        self._all: dict[str, Entry] | None = None
        self._parts: dict[str, _Part] = {}

    @property
    def git(self) -> Git:
        """The git that can read this tree's blobs."""
        return self._git

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @abstractmethod
    def _list(self) -> dict[str, Entry]:
        """Every file, in git's byte order."""

    @abstractmethod
    def children(self, directory: str = "") -> dict[str, Entry]:
        """Name → entry of what stands directly in a directory ("" is the top), sub-directories with mode 040000."""

    @abstractmethod
    def tree_oid(self, directory: str) -> str | None:
        """The id of the directory's tree object ("" is the top), None when there is no such directory."""

    def entries(self) -> Mapping[str, Entry]:
        """Every path with its entry, in git's byte order."""
        with self._lock:
            if self._all is None:
                found = self._list()
                with uncollected():
                    self._parts = _grouped(found)
                self._all = found
            return self._all

    def _part(self, top: str) -> _Part | None:
        self.entries()
        return self._parts.get(top)

    def get(self, path: str) -> Entry | None:
        """The entry of one file."""
        part = self._part(path.partition("/")[0])
        return part.files.get(path) if part else None

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.get(path) is not None

    def under(self, *roots: str) -> dict[str, Entry]:
        """Files below these directories, or these files; "" and "." are everything."""
        found: dict[str, Entry] = {}
        for root in roots:
            clean = root.strip("/").removeprefix("./")
            if clean in ("", "."):
                return dict(self.entries())
            part = self._part(clean.partition("/")[0])
            found |= part.below(clean) if part else {}
        return ordered(found) if len(roots) > 1 else found

    def regular(self, *roots: str, suffix: str) -> list[tuple[str, str]]:
        """Path and blob id of the regular files below these directories, in git's order; nothing is kept of it."""
        return [(p, e.oid) for p, e in self.under(*roots).items() if p.endswith(suffix) and e.mode.startswith("100")]

    def match(self, *patterns: str) -> dict[str, Entry]:
        """Files that fit one of the patterns (see `globs`), in git's byte order."""
        found: dict[str, Entry] = {}
        for pattern in patterns:
            if not globs.is_glob(pattern):
                found |= self.under(pattern)
                continue
            fits = globs.compiled(pattern).fullmatch
            found |= {path: e for path, e in self.under(globs.base(pattern)).items() if fits(path)}
        return ordered(found)

    def read(self, path: str) -> bytes:
        """A file's content as git stores it; for a symbolic link, where it points. GitError when it is not there."""
        return next(self.read_many([path]))[1]

    def source(self, path: str) -> bytes | None:
        """A regular file's content, None when there is none."""
        entry = self.get(path)
        return self.read(path) if entry is not None and entry.mode.startswith("100") else None

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Path and content, in the order given (best git's own). GitError for a path that is no file of this tree."""
        asked = list(paths)
        contents = self.git.blobs([self._file(path).oid for path in asked])
        for path, (_, data) in zip(asked, contents, strict=True):
            yield path, data

    def _file(self, path: str) -> Entry:
        entry = self.get(path)
        if entry is None:
            raise GitError(f"{path}: no such file in {self.name}")
        if entry.mode == GITLINK:
            raise GitError(f"{path}: a submodule in {self.name}, its files are not part of this repository")
        return entry

    def persist(self, paths: Iterable[str]) -> int:
        """See to it that these files are in the repository's own object store; how many had to be written."""
        for path in paths:
            self._file(path)
        return 0


class CommitTree(Tree):
    """The files of a commit. Only the top-level folders that somebody asks for are listed."""

    def __init__(self, git: Git, name: str, object_format: str, commit: str) -> None:
        super().__init__(git, name, object_format, commit)
        self._id = commit
        self._folders: dict[str, dict[str, Entry]] = {}

    def _list(self) -> dict[str, Entry]:
        return rows(self.git("ls-tree", "-r", "-z", "--full-tree", self._id))

    def _part(self, top: str) -> _Part | None:
        if self._all is None and top not in self._parts and top in self.children():
            out = self.git("ls-tree", "-r", "-z", "--full-tree", self._id, "--", top)
            self._parts[top] = _Part(rows(out))
        return self._parts.get(top)

    def regular(self, *roots: str, suffix: str) -> list[tuple[str, str]]:
        """Path and blob id of the regular files below these directories, in git's order; nothing is kept of it."""
        start = 12 + _WIDTH[self.object_format]
        listed = _lines(self.git("ls-tree", "-r", "-z", "--full-tree", self._id, "--", *roots)) if roots else ()
        return [(x[start + 1 :], x[12:start]) for x in listed if x.endswith(suffix) and x.startswith("100")]

    def children(self, directory: str = "") -> dict[str, Entry]:
        """Name → entry of what stands directly in a directory."""
        inside = directory.strip("/")
        if inside not in self._folders:
            where = ("--", inside + "/") if inside else ()
            listed = rows(self.git("ls-tree", "-z", "--full-tree", self._id, *where))
            self._folders[inside] = {path.rpartition("/")[2]: entry for path, entry in listed.items()}
        return self._folders[inside]

    def tree_oid(self, directory: str) -> str | None:
        """The id of the directory's tree object."""
        clean = directory.strip("/")
        if not clean:
            return self.git.line("rev-parse", "--verify", f"{self._id}^{{tree}}")
        above, _, name = clean.rpartition("/")
        entry = self.children(above).get(name)
        return entry.oid if entry and entry.mode == TREE else None


class IndexTree(Tree):
    """What is staged: in a hook, what the commit will hold. GitError when paths are unmerged."""

    def _list(self) -> dict[str, Entry]:
        staged: dict[str, Entry] = {}
        unmerged: list[str] = []
        end = 7 + _WIDTH[self.object_format]
        with uncollected():
            for line in _lines(self._git("ls-files", "-s", "-z")):  # MODE OID STAGE TAB PATH
                path = line[end + 3 :]
                staged[path] = _new(Entry, (line[:6], line[7:end]))
                if line[end + 1] != "0":
                    unmerged.append(path)
        if unmerged:
            raise _unmerged(list(dict.fromkeys(unmerged)))
        self.left_out = self._intended(staged)
        return {p: e for p, e in staged.items() if p not in self.left_out} if self.left_out else staged

    def _intended(self, staged: Mapping[str, Entry]) -> tuple[str, ...]:
        """Paths of `git add --intent-to-add`: they look like empty files, and no commit would hold them."""
        empty = object_id("blob", b"", self.object_format)
        candidates = [path for path, entry in staged.items() if entry.oid == empty]
        if not candidates:
            return ()
        only = ("--", *candidates) if len(candidates) <= 200 else ()
        out = os.fsdecode(self._git("ls-files", "--debug", "-z", *only))
        return tuple(path for path, flags in _flags(out) if flags & 0x20000000)

    def children(self, directory: str = "") -> dict[str, Entry]:
        """Name → entry of what stands directly in a directory."""
        inside = directory.strip("/")
        start = len(inside) + 1 if inside else 0
        grouped: dict[str, dict[str, Entry]] = {}
        found: dict[str, Entry] = {}
        for path, entry in self.under(inside).items():
            name, _, rest = path[start:].partition("/")
            if rest:
                grouped.setdefault(name, {})[rest] = entry
            elif name:
                found[name] = entry
        found |= {name: Entry(TREE, tree_id(files, self.object_format)) for name, files in grouped.items()}
        return found

    def tree_oid(self, directory: str) -> str | None:
        """The id of the directory's tree object, computed; nothing is written."""
        inside = directory.strip("/")
        files = self.under(inside)
        if inside in files or (inside and not files):
            return None
        start = len(inside) + 1 if inside else 0
        return tree_id({path[start:]: entry for path, entry in files.items()}, self.object_format)


def rows(out: bytes) -> dict[str, Entry]:
    """The answer of `git ls-tree -z` (`MODE TYPE OID TAB PATH`), path → entry, in its order."""
    width = out.find(b"\t") - (14 if out.startswith(b"160000") else 12)
    with uncollected():
        return {
            line[start + width + 1 :]: _new(Entry, (line[:6], line[start : start + width]))
            for line in _lines(out)
            for start in (14 if line.startswith(GITLINK) else 12,)  # "commit" is longer than "blob" and "tree"
        }


def _lines(out: bytes) -> list[str]:
    lines = os.fsdecode(out).split("\0")
    lines.pop()
    return lines


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection while many small objects are made: none of them is garbage, and it doubles the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _flags(out: str) -> Iterator[tuple[str, int]]:
    """Path and flags from `git ls-files --debug -z`: a path, a NUL, five lines; the flags end the last of them."""
    while out:
        path, _, rest = out.partition("\0")
        *lines, out = rest.split("\n", 5)
        yield path, int(lines[-1].rpartition(" ")[2], 16)


def _unmerged(paths: list[str]) -> GitError:
    named = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
    return GitError(f"the index has unmerged paths: {named}", hint="resolve the conflict and git add them")


def ordered(found: Mapping[str, Entry]) -> dict[str, Entry]:
    """The same in git's byte order of paths."""
    return {path: found[path] for path in sorted(found, key=os.fsencode)}


def unusable(tree: Tree, paths: Iterable[str]) -> list[tuple[str, str]]:
    """Files that git only points to, with why: submodules, and pointers of Git LFS. Paths in the order given."""
    asked = [(path, entry) for path in paths if (entry := tree.get(path))]
    sizes = tree.git.sizes(e.oid for _, e in asked if e.mode != GITLINK)
    small = [path for path, e in asked if e.mode != GITLINK and len(LFS) < (sizes[e.oid] or 0) < 1024]
    pointers = {path for path, data in tree.read_many(small) if data.startswith(LFS)}
    missing = {path for path, e in asked if e.mode != GITLINK and sizes[e.oid] is None}
    why = dict.fromkeys(pointers, "is a Git LFS pointer, its content is not in git")
    why |= dict.fromkeys(missing, "is missing from the object store")
    why |= {path: "is a submodule, its files are not in this repository" for path, e in asked if e.mode == GITLINK}
    return [(path, why[path]) for path, _ in asked if path in why]
