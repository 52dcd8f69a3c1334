"""Objects written so that they survive a power cut, and read back where git would believe a broken file.

git neither writes nor syncs an object that is "there"; after a crash an empty file is there. So what existed before
is read and hashed, and a loose file that fails is removed and written again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from evalrepo.errors import GitError
from evalrepo.repository.durable import sync
from evalrepo.repository.runner import Git
from evalrepo.repository.scratch import Scratch


class Entry(NamedTuple):
    """One file of a tree: git mode (six octal digits) and blob id (40 or 64 hex)."""

    mode: str
    oid: str


TREE, GITLINK, SYMLINK = "040000", "160000", "120000"


_PASSING = ("-c", "core.fsync=loose-object,reference", "-c", "core.splitIndex=false")
"""A private index is gone in a moment: it need not be synced, nor leave a shared part in the git directory."""


def object_id(kind: str, data: bytes, object_format: str) -> str:
    """The id that git gives an object of this kind ("blob", "tree", "commit") and content."""
    digest = hashlib.new(object_format, usedforsecurity=False)
    digest.update(f"{kind} {len(data)}\0".encode())
    digest.update(data)
    return digest.hexdigest()


def tree_id(files: Mapping[str, Entry], object_format: str) -> str:
    """The id of the tree object that holds these files (paths relative to it), nothing written."""
    return _tree_id({tuple(p.split("/")): e for p, e in files.items()}, object_format)


def _tree_id(files: Mapping[tuple[str, ...], Entry], object_format: str) -> str:
    rows: dict[str, Entry] = {}
    below: dict[str, dict[tuple[str, ...], Entry]] = {}
    for (name, *rest), entry in files.items():
        if rest:
            below.setdefault(name, {})[tuple(rest)] = entry
        else:
            rows[name] = entry
    rows |= {name: Entry(TREE, _tree_id(inner, object_format)) for name, inner in below.items()}
    order = sorted((os.fsencode(n) + (b"/" if e.mode == TREE else b""), n, e) for n, e in rows.items())
    data = b"".join(
        e.mode.lstrip("0").encode() + b" " + os.fsencode(n) + b"\0" + bytes.fromhex(e.oid) for _, n, e in order
    )
    return object_id("tree", data, object_format)


class Objects:
    """The object store of one repository: `directory` is its `objects` folder, `home` our own folder."""

    def __init__(self, git: Git, directory: Path, object_format: str, home: Path) -> None:
        self.git = git
        self.directory = directory
        self.object_format = object_format
        self.home = home

    def blob(self, data: bytes) -> str:
        """Write a blob; its id. Durable when it returns."""
        oid = object_id("blob", data, self.object_format)
        loose = self.loose(oid)
        existed = loose.exists()
        self.git("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
        if not existed and loose.exists():
            return oid
        if not self.sound(oid, "blob"):
            loose.unlink(missing_ok=True)
            self.git("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
            if not self.sound(oid, "blob"):
                raise _broken(oid)
        return oid

    def tree(self, entries: Mapping[str, Entry], base: str | None = None) -> str:
        """Write the tree of these files, put over the tree or commit `base` if there is one; its id. Durable.

        GitError when git does not take one of the paths (it leaves `..` and `.git` out without an error).
        """
        with Scratch(self.home) as scratch:
            for attempt in range(2 + sum(path.count("/") + 1 for path in entries)):
                oid = self._through_index(entries, base, scratch.path / f"index-{attempt}")
                bad, found = self._walk(oid, entries)
                if bad is None:
                    return _complete(oid, entries, found)
                self.loose(bad).unlink(missing_ok=True)
        raise _broken(oid)

    def _through_index(self, entries: Mapping[str, Entry], base: str | None, index: Path) -> str:
        git = self.git.bound(GIT_INDEX_FILE=str(index))
        if base:
            git(*_PASSING, "read-tree", base)
        lines = (f"{e.mode} {e.oid} 0\t".encode() + os.fsencode(path) + b"\0" for path, e in entries.items())
        git(*_PASSING, "update-index", "-z", "--index-info", stdin=b"".join(lines))
        return git.line("write-tree")

    def _walk(self, root: str, wanted: Mapping[str, Entry]) -> tuple[str | None, dict[str, Entry]]:
        """The first tree on the way to the files wanted that cannot be read back, and those of them that were found.

        Level by level: one git for all trees of a level.
        """
        above = {folder for path in wanted for folder in _parents(path)}
        found: dict[str, Entry] = {}
        level = [("", root)]
        while level:
            bodies = self._sound_trees([oid for _, oid in level])
            below: list[tuple[str, str]] = []
            for folder, oid in level:
                if oid not in bodies:
                    return oid, found
                for name, entry in _rows(bodies[oid], len(oid) // 2):
                    path = f"{folder}{name}"
                    if entry.mode == TREE and path in above:
                        below.append((path + "/", entry.oid))
                    elif path in wanted:
                        found[path] = entry
            level = below
        return None, found

    def _sound_trees(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Tree id → content of those that are there with the content that the id says, their own files on disk."""
        asked = list(dict.fromkeys(oids))
        feed = "\n".join((*asked, "")).encode("ascii")
        code, out, _ = self.git.code("cat-file", "--batch", "--buffer", stdin=feed)
        if code:  # it gives up at some broken objects
            singly = {oid: self.git.code("cat-file", "tree", oid) for oid in asked}
            bodies = {oid: data for oid, (failed, data, _) in singly.items() if not failed}
        else:
            bodies = _answers(out, asked)
        sound = {oid: body for oid, body in bodies.items() if object_id("tree", body, self.object_format) == oid}
        for oid in sound:
            self._sync(self.loose(oid))
        return sound

    def commit(self, tree: str, parents: Sequence[str], message: str, environ: Mapping[str, str]) -> str:
        """Write a commit; its id. `environ` holds author, committer and their dates. Durable."""
        args = [a for parent in parents for a in ("-p", parent)]
        for _ in range(2):
            text = message.encode("utf-8", "replace")
            oid = os.fsdecode(self.git("commit-tree", tree, *args, "-F", "-", stdin=text, extra=environ)).strip()
            if self.sound(oid, "commit"):
                return oid
            self.loose(oid).unlink(missing_ok=True)
        raise _broken(oid)

    def loose(self, oid: str) -> Path:
        """Where the object's own file is, if it has one."""
        return self.directory / oid[:2] / oid[2:]

    def sound(self, oid: str, kind: str) -> bool:
        """Whether the object is there with the content that its id says; then its own file is on disk, too."""
        code, data, _ = self.git.code("cat-file", kind, oid)
        if code or object_id(kind, data, self.object_format) != oid:
            return False
        self._sync(self.loose(oid))
        return True

    @staticmethod
    def _sync(path: Path) -> None:
        with suppress(FileNotFoundError, PermissionError):
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                sync(handle)
            finally:
                os.close(handle)


def _answers(out: bytes, asked: Sequence[str]) -> dict[str, bytes]:
    """What `cat-file --batch` answered: id → content; without those that are missing."""
    found: dict[str, bytes] = {}
    at = 0
    for oid in asked:
        end = out.index(b"\n", at)
        head = out[at:end].split(b" ")
        at = end + 1
        if len(head) == 3:
            found[oid] = out[at : at + int(head[2])]
            at += int(head[2]) + 1
    return found


def _rows(tree: bytes, width: int) -> Iterable[tuple[str, Entry]]:
    """Name and entry of a tree object's content: `MODE NAME NUL ID`, the id as `width` bytes."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, _, name = tree[at:end].partition(b" ")
        at = end + 1 + width
        yield os.fsdecode(name), Entry(mode.decode("ascii").rjust(6, "0"), tree[end + 1 : at].hex())


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _complete(oid: str, wanted: Mapping[str, Entry], found: Mapping[str, Entry]) -> str:
    if lost := [path for path, entry in wanted.items() if found.get(path) != entry]:
        raise GitError(f"git does not take the path {lost[0]!r} into a tree", hint="rename it")
    return oid


def _broken(oid: str) -> GitError:
    return GitError(f"object {oid} is broken in the object store and cannot be written again", hint="run git fsck")
