"""git's `index.lock`, held by us: proof that it is ours, the user's entries plus our paths, and the rename."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from evalrepo.errors import GitError
from evalrepo.repository.durable import NO_LINKS, make_directory, sync, sync_directory, write_all
from evalrepo.repository.placing import taken

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository

WAIT_S = 10.0
"""How long another git process may hold the index."""

Tell = Callable[[str, Mapping[str, Any]], None]
"""Called with the name of a step and its facts before the step is taken; durable when it returns."""


def private(home: Path, name: str) -> Path:
    """The directory of a landing's own files: a second name of the lock, private indexes, new files."""
    return home / "landing" / name


def proof(folder: Path) -> Path:
    """The second name of a lock that is ours."""
    return folder / "index.lock.ours"


class IndexLock:
    """`index.lock` of one work tree, from `with` to its end, or to `finish`.

    The file is made under a name of ours and linked to `index.lock`, which fails when somebody holds it; the second
    name stays until the end, so that after a crash the same inode proves whose lock it is. Raises GitError, with
    nothing moved, when the lock is not to be had for ten seconds.
    """

    def __init__(self, repo: Repository, folder: Path, tell: Tell, wait_s: float = WAIT_S) -> None:
        self.repo = repo
        self._folder = folder
        self._tell = tell
        self._wait_s = wait_s
        self._index = repo.index_file
        self.path = self._index.with_name(f"{self._index.name}.lock")
        self._own = proof(folder)
        self._file = -1
        self.sha256 = ""
        """Of what was written, "" before that."""
        self.held = False
        """Set while it is open whether the reference moved: then the lock outlives this process."""

    def __enter__(self) -> Self:
        try:
            self._take()
        except BaseException as error:
            self._let_go()
            if isinstance(error, OSError):
                raise GitError(f"{self.path}: cannot be made: {error.strerror}") from None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._let_go()

    def _take(self) -> None:
        make_directory(self._folder)
        self._own.unlink(missing_ok=True)
        self._file = os.open(self._own, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if self._index.exists():
            os.fchmod(self._file, self._index.stat().st_mode & 0o777)
        self._tell("locking", {"lock": str(self.path), "inode": os.fstat(self._file).st_ino})
        until = time.monotonic() + self._wait_s
        pause = 0.002
        while not self._linked():
            if time.monotonic() > until:
                raise GitError(
                    f"{self.path}: held by another git process; the results are kept and nothing was moved",
                    hint="when no git is at work here, the file is left from a crash: remove it; then run again",
                )
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)

    def _linked(self) -> bool:
        try:
            os.link(self._own, self.path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            return self._made()
        return True

    def _made(self) -> bool:
        """Without hard links: the lock itself, told by its inode as soon as it is there."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        os.close(self._file)
        self._file = descriptor
        self._own.unlink(missing_ok=True)
        self._tell("locking", {"lock": str(self.path), "inode": os.fstat(descriptor).st_ino})
        return True

    def write(self, blobs: Mapping[str, str]) -> None:
        """Fill the lock with the user's index plus our paths (path → blob id); on the medium when it returns."""
        copy = self._folder / "index"
        for old in (copy, copy.with_name("index.lock")):
            old.unlink(missing_ok=True)
        if self._index.exists():
            shutil.copy2(self._index, copy)  # with its time: git tells by it which entries may have changed since
        add(self.repo, copy, blobs)
        data = copy.read_bytes()
        try:
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            write_all(self._file, data)
            sync(self._file)
        except OSError as error:
            raise GitError(f"{self.path}: cannot be written: {error.strerror}") from None
        self.sha256 = sha256(data).hexdigest()

    def finish(self) -> None:
        """The lock becomes the index, if anything was written into it."""
        if self.sha256:
            finish(self.path)

    def _let_go(self) -> None:
        if self._file < 0:
            return
        if self.held and self.path.exists() and self.sha256:
            os.close(self._file)
            return
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(self._file), self.path.stat()):
                self.path.unlink()
        with contextlib.suppress(OSError):
            self._own.unlink(missing_ok=True)
        os.close(self._file)
        self._file = -1


def finish(lock: Path) -> None:
    """Rename a whole lock over its index, durably."""
    lock.rename(lock.with_suffix(""))
    sync_directory(lock.parent)


def add(repo: Repository, index: Path, blobs: Mapping[str, str]) -> None:
    """Add paths (→ blob ids, mode 100644) to an index file, and to nothing else."""
    lines = [b"100644 %s\t%s\0" % (oid.encode(), os.fsencode(path)) for path, oid in blobs.items()]
    extra = {"GIT_INDEX_FILE": str(index)}
    repo.git("update-index", "--add", "-z", "--index-info", stdin=b"".join(lines), extra=extra)


def absent(repo: Repository, blobs: Mapping[str, str]) -> dict[str, str]:
    """Those of the paths (→ blob id) that the index does not hold. GitError when something else is there."""
    tops = {path.partition("/")[0]: None for path in blobs}
    listed = repo.git("ls-files", "-s", "-z", "--full-name", "--", *tops)
    held = dict(_entry(line) for line in listed.split(b"\0") if line)
    folders = {folder for path in held for folder in _folders(path)}
    for path, oid in blobs.items():
        if held.get(path, oid) != oid or path in folders or any(folder in held for folder in _folders(path)):
            raise taken(path)
    return {path: oid for path, oid in blobs.items() if path not in held}


def _entry(line: bytes) -> tuple[str, str]:
    meta, path = line.split(b"\t", 1)
    return os.fsdecode(path), meta.split(b" ")[1].decode("ascii")


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def settle(told: Mapping[str, Any], folder: Path, committed: Mapping[str, Any] | None, *, moved: bool) -> bool:
    """After a crash: finish the index when the reference had moved, else take our lock away. False: not our lock.

    `told` are the facts of the last `locking`, `committed` of the `committing` after it. It is ours when it is the
    inode that was told and either its second name proves it or its bytes are those that were told, or none.
    """
    lock = Path(told["lock"])
    try:
        found = lock.stat(follow_symlinks=False)
    except FileNotFoundError:
        return True
    data = lock.read_bytes()
    digest = sha256(data).hexdigest()
    whole = committed is not None and committed.get("index") == digest
    if not (_proved(folder, found) or (found.st_ino == told["inode"] and (whole or not data))):
        return False
    if moved and whole:
        finish(lock)
    else:
        lock.unlink()
        sync_directory(lock.parent)
    return True


def _proved(folder: Path, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(proof(folder).stat(), found)
    except FileNotFoundError:
        return False
