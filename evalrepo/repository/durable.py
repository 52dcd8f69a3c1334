"""Writing files so that a crash leaves the old state or the new one, and a power cut too."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import tempfile
from pathlib import Path

NO_LINKS = frozenset({errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
"""What `link` says where hard links cannot be had."""


def sync(descriptor: int) -> None:
    """Flush a file to the medium (`F_FULLFSYNC` where fsync stops at the drive's cache). Raises OSError."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def sync_directory(path: Path) -> None:
    """Make names that were added to, or removed from, a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte, however short the single writes are."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def make_directory(path: Path) -> Path:
    """The directory, made with its parents; every new name is durable."""
    if not path.is_dir():
        make_directory(path.parent)
        path.mkdir(exist_ok=True)
        sync_directory(path.parent)
    return path


def write_new(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Make a file that must not exist, with its bytes on the medium. Raises FileExistsError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        write_all(descriptor, data)
        sync(descriptor)
    finally:
        os.close(descriptor)


def put(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Make a file hold these bytes, whatever it held before: the old ones or all of the new ones, on the medium."""
    make_directory(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    try:
        write_new(temporary, data, mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_directory(path.parent)


def publish(temporary: Path, path: Path) -> None:
    """Give a finished file its name, which must be free: FileExistsError. The temporary name is gone afterwards."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "exists", str(path)) from None
        temporary.rename(path)
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    sync_directory(path.parent)


def clock(directory: Path) -> float:
    """What time the file system says it is, in seconds since the epoch: the times of its files are told by it."""
    with tempfile.TemporaryFile(dir=directory) as file:
        return os.fstat(file.fileno()).st_mtime


def is_named(descriptor: int, path: Path) -> bool:
    """Whether the path names the file that the descriptor holds open."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False
