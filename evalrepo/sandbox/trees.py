"""Directory trees of hostile content: copying a trusted one quickly, removing any without leaving it."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
import sys
from pathlib import Path

DEEP = 40
"""Levels after which `remove` lifts a directory to the top, so that neither descriptors nor the stack run out."""
DEPTH = 200
"""Levels below which nothing is copied, and a manifest lists a directory as special."""
_NO_RANGE = {errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF, errno.EPERM}
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TooLargeError(OSError):
    """What is to be copied takes more room than was given."""


def copy(source: Path, target: Path, owner: int = -1, *, room: int | None = None) -> None:
    """Copy what is in `source` into the existing directory `target`: files with mode and mtime, links as links.

    `owner` (uid and gid) is given everything that is made, -1 leaves it ours. Pipes, sockets and devices are left out,
    as is what lies deeper than `DEPTH` levels; holes stay holes. `TooLargeError` where files take over `room` bytes.
    """
    left = [room] if room is not None else None
    into = os.open(target, _DIRECTORY)
    try:
        from_ = os.open(source, _DIRECTORY)
        try:
            _copy(from_, into, owner, left, 0)
        finally:
            os.close(from_)
    finally:
        os.close(into)


def _copy(source: int, into: int, owner: int, left: list[int] | None, depth: int) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.is_symlink():
                os.symlink(os.readlink(entry.name, dir_fd=source), entry.name, dir_fd=into)
            elif entry.is_dir(follow_symlinks=False):
                if depth == DEPTH:
                    continue
                _copy_directory(entry.name, source, into, owner, left, depth + 1)
            elif entry.is_file(follow_symlinks=False):
                _copy_file(entry, source, into, left)
            else:
                continue
            if owner >= 0:
                os.chown(entry.name, owner, owner, dir_fd=into, follow_symlinks=False)


def _copy_directory(name: str, source: int, into: int, owner: int, left: list[int] | None, depth: int) -> None:
    os.mkdir(name, dir_fd=into)
    child = os.open(name, _DIRECTORY, dir_fd=into)
    try:
        below = _open_directory(name, source) if left is not None else os.open(name, _DIRECTORY, dir_fd=source)
        try:
            _copy(below, child, owner, left, depth)
        finally:
            os.close(below)
    finally:
        os.close(child)


def _copy_file(entry: os.DirEntry[str], source: int, into: int, left: list[int] | None) -> None:
    about = entry.stat(follow_symlinks=False)
    mode = stat.S_IMODE(about.st_mode)
    if left is not None:
        left[0] -= about.st_blocks * 512
        if left[0] < 0:
            raise TooLargeError(errno.EFBIG, "the files take too much room to be copied", entry.name)
    from_ = os.open(entry.name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=source)
    try:
        target = os.open(entry.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=into)
        try:
            if about.st_blocks * 512 < about.st_size and hasattr(os, "SEEK_DATA"):
                _copy_parts(from_, target, about.st_size)
            else:
                _copy_bytes(from_, target, about.st_size)
            os.fchmod(target, mode)
            os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
        finally:
            os.close(target)
    finally:
        os.close(from_)


def _copy_parts(source: int, target: int, size: int) -> None:
    """The bytes between the holes, where the file system tells them apart."""
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # nothing but a hole is left
        end = os.lseek(source, start, os.SEEK_HOLE)
        while start < end and (block := os.pread(source, min(1 << 20, end - start), start)):
            start += os.pwrite(target, block, start)
    os.truncate(target, size)


def _copy_bytes(source: int, target: int, size: int) -> None:
    """copy_file_range shares blocks where the file system can; sendfile where the two file systems differ."""
    if sys.platform == "linux" and not _copied_by_range(source, target, size):
        while os.sendfile(target, source, None, 1 << 30):
            continue
    elif sys.platform != "linux":
        with os.fdopen(os.dup(source), "rb") as reader, os.fdopen(os.dup(target), "wb") as writer:
            shutil.copyfileobj(reader, writer, 1 << 20)


def _copied_by_range(source: int, target: int, size: int) -> bool:
    copied = 0
    try:
        while copied < size and (done := os.copy_file_range(source, target, size - copied)):
            copied += done
    except OSError as error:
        if error.errno not in _NO_RANGE:
            raise
        return False
    return True


def remove(root: Path) -> None:
    """Remove a directory and all in it; links are removed, never followed. Absent is fine.

    Raises OSError for a root that is no directory (a link to one is none).
    """
    with contextlib.suppress(FileNotFoundError):
        top = _open_directory(str(root), None)
        try:
            names = itertools.count()
            while _empty(top, top, 0, names):
                continue
        finally:
            os.close(top)
        root.rmdir()


def _empty(directory: int, top: int, depth: int, names: itertools.count[int]) -> bool:
    """Remove what is in it; True when something was lifted to the top and a further round is needed."""
    lifted = False
    with os.scandir(directory) as entries:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in listed:
        if not is_directory:
            os.unlink(name, dir_fd=directory)
        elif depth >= DEEP:
            os.rename(name, f"lifted {os.getpid()} {next(names)}", src_dir_fd=directory, dst_dir_fd=top)
            lifted = True
        else:
            child = _open_directory(name, directory)
            try:
                lifted |= _empty(child, top, depth + 1, names)
            finally:
                os.close(child)
            os.rmdir(name, dir_fd=directory)
    return lifted


def _open_directory(name: str, parent: int | None) -> int:
    """Open for listing and changing; a directory that its owner locked is unlocked."""
    try:
        opened = os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise
        os.chmod(name, 0o700, dir_fd=parent)
        opened = os.open(name, _DIRECTORY, dir_fd=parent)
    about = os.fstat(opened)
    if stat.S_IMODE(about.st_mode) & 0o700 != 0o700:
        with contextlib.suppress(PermissionError):
            os.fchmod(opened, 0o700)
    return opened
