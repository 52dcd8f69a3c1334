"""Result files in the user's work tree: made or already there, never written over, never through a symlink."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from evalrepo.errors import GitError
from evalrepo.repository.durable import NO_LINKS, make_directory, sync, write_all, write_new

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Placing:
    """Files put into a work tree; taken away again when the block ends and `kept` is not set.

    `folder` is ours, below the git directory: a file is finished there and then linked to its place, so that it is
    whole or absent. GitError when a place is taken by something else, or a folder on the way is no real folder.
    """

    def __init__(self, top: Path, folder: Path) -> None:
        self._top = top
        self._folder = folder
        self._files: list[tuple[str, bytes]] = []
        self.kept = False
        """Set when the files are to stay."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.kept:
            for path, data in self._files:
                take_away(self._top, path, data)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Place every file (path relative to the top → bytes); on the medium when it returns."""
        folders: set[str] = set()
        for path, data in files.items():
            with _parent(self._top, path, make=True) as parent:
                try:
                    made = self._place(parent, path, data)
                except OSError as error:
                    raise GitError(f"{path}: cannot be written into the work tree: {error.strerror}") from None
                if made:
                    folders.add(path.rpartition("/")[0])
                    os.fsync(parent)

    def _place(self, parent: int, path: str, data: bytes) -> bool:
        """Whether the file was made; False when it is there already."""
        name = path.rpartition("/")[2]
        temporary = make_directory(self._folder) / "file"
        temporary.unlink(missing_ok=True)
        write_new(temporary, data)
        try:
            os.link(temporary, name, dst_dir_fd=parent, follow_symlinks=False)
            made = True
        except FileExistsError:
            made = False
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            made = not _exists(parent, name)
        finally:
            temporary.unlink(missing_ok=True)
        if made:
            self._files.append((path, data))
        _complete(parent, path, data)
        return made


def _exists(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _complete(parent: int, path: str, data: bytes) -> None:
    """The file holds these bytes, or a beginning of them that a crash left: write the rest. GitError for others."""
    try:
        handle = os.open(
            path.rpartition("/")[2], os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666, dir_fd=parent
        )
    except OSError as error:
        raise taken(path) from error
    try:
        there = _read(handle, len(data) + 1)
        if not data.startswith(there):
            raise taken(path)
        if len(there) < len(data):
            write_all(handle, data[len(there) :])
            sync(handle)
    finally:
        os.close(handle)


def _read(handle: int, size: int) -> bytes:
    data = b""
    while len(data) < size and (more := os.read(handle, size - len(data))):
        data += more
    return data


@contextlib.contextmanager
def _parent(top: Path, path: str, *, make: bool) -> Iterator[int]:
    """A descriptor of the folder that holds `path`, walked to from the top without following a link."""
    handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        walked = ""
        for part in path.split("/")[:-1]:
            walked = f"{walked}/{part}" if walked else part
            handle = _step(handle, part, walked, make=make)
        yield handle
    finally:
        os.close(handle)


def _step(handle: int, part: str, walked: str, *, make: bool) -> int:
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=handle)
            os.fsync(handle)
    try:
        below = os.open(part, _DIRECTORY, dir_fd=handle)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise GitError(
                f"{walked} is not a folder of its own, so no result is written through it",
                hint="results lie in the repository itself: replace the link or file by a folder",
            ) from None
        raise
    os.close(handle)
    return below


def take_away(top: Path, path: str, data: bytes) -> None:
    """Remove a file that holds exactly our bytes, and folders that are empty then."""
    name = path.rpartition("/")[2]
    with contextlib.suppress(OSError, GitError):
        with _parent(top, path, make=False) as parent:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
            try:
                ours = _read(handle, len(data) + 1) == data
            finally:
                os.close(handle)
            if ours:
                os.unlink(name, dir_fd=parent)
        for folder in (top / path).parents:
            if folder == top:
                break
            folder.rmdir()


def taken(path: str) -> GitError:
    """The refusal to write over something."""
    return GitError(
        f"{path}: something else stands where a result has to go; nothing was moved",
        hint="move it away, then run again",
    )
