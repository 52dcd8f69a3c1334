"""Reading a directory that an agent wrote: no link followed, nothing that blocks opened, no git."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from evalrepo.records.outcome import FileState, Manifest
from evalrepo.sandbox.trees import DEPTH

HASH_CAP = 256 << 20
"""Bytes above which a file is listed and not read."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SPECIAL = FileState("special", 0, "")


def manifest(root: Path, cap: int = HASH_CAP) -> Manifest:
    """What is below `root`, without its `.git`, sorted by path. Empty directories do not count.

    What is no file and no link, cannot be listed, or lies deeper than `DEPTH` levels is "special"; a file that cannot
    be read or is larger than `cap` bytes keeps its mode and size and has no hash.
    """
    found: dict[str, FileState] = {}
    with _directory(root) as top:
        for path, name, parent in _walk(top, "", skip=".git"):
            found[path] = _state(name, parent, cap)
    return dict(sorted(found.items()))


@contextlib.contextmanager
def _directory(path: Path | str, parent: int | None = None) -> Iterator[int]:
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        yield opened
    finally:
        os.close(opened)


def _walk(directory: int, prefix: str, *, skip: str = "", depth: int = 0) -> Iterator[tuple[str, str, int]]:
    """Path, name and parent (a descriptor) of all that is no directory, and of directories that cannot be read."""
    with os.scandir(directory) as entries:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries if entry.name != skip]
    for name, is_directory in listed:
        if not is_directory or depth >= DEPTH:
            yield prefix + name, name, directory
            continue
        try:
            with _directory(name, directory) as child:
                yield from _walk(child, f"{prefix}{name}/", depth=depth + 1)
        except OSError:
            yield prefix + name, name, directory


def _state(name: str, parent: int, cap: int) -> FileState:
    try:
        about = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISLNK(about.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=parent))
            return FileState("120000", len(target), hashlib.sha256(target).hexdigest())
    except OSError:
        return _SPECIAL
    if not stat.S_ISREG(about.st_mode):
        return _SPECIAL
    mode = "100755" if about.st_mode & 0o100 else "100644"
    if about.st_size > cap:
        return FileState(mode, about.st_size, "")
    try:
        return FileState(mode, about.st_size, _hash(name, parent))
    except OSError:
        return FileState(mode, about.st_size, "")


def _hash(name: str, parent: int) -> str:
    with _regular(name, parent) as file:
        digest = hashlib.sha256()
        while block := os.read(file, 1 << 20):
            digest.update(block)
        return digest.hexdigest()


@contextlib.contextmanager
def _regular(name: str, parent: int) -> Iterator[int]:
    opened = os.open(name, _OPEN, dir_fd=parent)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", name)
        yield opened
    finally:
        os.close(opened)


def read_file(root: Path, path: str, cap: int) -> bytes:
    """Content of a regular file below `root`; `path` is relative with `/`, no part of it may be a link.

    Raises FileNotFoundError, or another OSError: a link (ELOOP or ENOTDIR), no regular file (EINVAL), more than `cap`
    bytes (EFBIG), a path that leaves the root (EINVAL).
    """
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts) or "\0" in path:
        raise OSError(errno.EINVAL, "is not a relative path inside of the sandbox", path)
    with contextlib.ExitStack() as opened:
        parent = opened.enter_context(_directory(root))
        for part in parts[:-1]:
            parent = opened.enter_context(_directory(part, parent))
        return _read(parts[-1], parent, cap)


def _read(name: str, parent: int, cap: int) -> bytes:
    with _regular(name, parent) as file:
        if os.fstat(file).st_size > cap:
            raise OSError(errno.EFBIG, f"is larger than {cap} bytes", name)
        with os.fdopen(os.dup(file), "rb") as reader:
            content = reader.read(cap + 1)
        if len(content) > cap:
            raise OSError(errno.EFBIG, f"is larger than {cap} bytes", name)
        return content
