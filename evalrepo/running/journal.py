"""The journal of a run: append-only, on the medium before anything that rests on it, locked while its run lives."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from evalrepo.errors import HarnessError
from evalrepo.records.record import Rep
from evalrepo.repository.durable import (
    clock,
    is_named,
    make_directory,
    publish,
    sync,
    sync_directory,
    write_all,
    write_new,
)
from evalrepo.running import lines, story
from evalrepo.running.story import Header, Planned, Story

__all__ = ["Header", "Journal", "Planned", "Story"]

KEPT = 20
"""Journals of landed runs that stay in `done/`, for a person who asks what happened."""


def folder(home: Path) -> Path:
    """Where journals lie."""
    return home / "journal"


def journals(home: Path) -> list[Path]:
    """Journals that have not been retired, by run id."""
    return sorted(p for p in folder(home).glob("*.jsonl") if "." not in p.stem)


class Journal:
    """One run's journal. Every method that writes returns when the line is on the medium; safe between threads.

    A write or fsync that fails is never tried again on the same descriptor (the kernel may have dropped the pages):
    the line goes once to a new segment, and when that fails too every later call raises HarnessError.
    """

    def __init__(self, path: Path, lock: int, at: tuple[int, str], segment: int) -> None:
        self.path = path
        self.run = path.stem
        self.adopted = segment > 0
        """Whether this process took it over from a dead run."""
        self._lock = lock
        self._at = at  # good lines, and the seal of the last
        self._segment = segment  # the one that the next descriptor opens
        self._file: int | None = None
        self._dead = ""
        self._mutex = threading.Lock()

    @classmethod
    def create(cls, home: Path, header: Header) -> Self:
        """Begin a run's journal; it is durable, and locked, before it can be seen. HarnessError when it cannot be."""
        names = [c.header.cell for c in header.cells]
        if len(set(names)) != len(names):
            raise ValueError("two cells of a run have the same scenario, agent and tier")
        path = folder(home) / f"{header.run}.jsonl"
        try:
            make_directory(path.parent)
            line, mark = lines.seal("", story.header_row(header, clock(path.parent)))
            lock = _published(path, line)
        except OSError as error:
            raise _unwritable(path, error) from None
        return cls(path, lock, (1, mark), 0)

    @classmethod
    def adopt(cls, path: Path) -> Self | None:
        """Take over a dead run's journal; None when its run lives, or somebody else has taken it."""
        lock = _locked(path)
        if lock is None:
            return None
        try:
            found = story.read(path)
        except BaseException:
            os.close(lock)
            raise
        return cls(path, lock, (len(found.bodies), found.seals[-1] if found.seals else ""), found.segments)

    def read(self) -> Story | None:
        """What the journal says by now, from the medium; None when it has no header."""
        with self._mutex:
            return story.fold(story.read(self.path), self.path)

    def start(self, cell: int, rep: int, attempt: int, at: str) -> None:
        """A rep is about to be launched; call this before. `at` is UTC, RFC 3339."""
        self.append({"line": "start", "cell": cell, "rep": rep, "attempt": attempt, "at": at})

    def kept(self, cell: int, rep: int, attempt: int, files: Mapping[str, str]) -> None:
        """Files of a rep are stored that has not ended yet: path in the run's tree → blob id, main file first."""
        row = {"line": "kept", "cell": cell, "rep": rep, "attempt": attempt, "files": dict(files)}
        self.append(row)

    def end(self, cell: int, rep: Rep, files: Mapping[str, str]) -> None:
        """A rep ended; its files (path in the run's tree → blob id) are stored."""
        row = {"line": "end", "cell": cell, "result": rep.model_dump(mode="json"), "files": dict(files)}
        self.append(row)

    def note(self, text: str, cell: int | None = None) -> None:
        """A sentence for the record of a cell, or of all."""
        self.append({"line": "note", "cell": cell, "text": text})

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a line. Raises HarnessError when the medium refuses twice."""
        with self._mutex:
            if self._dead:
                raise HarnessError(self._dead)
            try:
                self._write(row)
            except OSError:
                self._again(row)

    def _again(self, row: Mapping[str, Any]) -> None:
        try:
            self._write(row)
        except OSError as error:
            refused = _unwritable(self.path, error)
            self._dead = refused.message
            raise refused from None

    def _write(self, row: Mapping[str, Any]) -> None:
        count, before = self._at
        try:
            if self._file is None:
                self._file = self._begin(count, before)
            line, mark = lines.seal(before, row)
            write_all(self._file, line)
            sync(self._file)
            self._at = (count + 1, mark)
        except BaseException:
            self._drop()
            raise

    def _begin(self, count: int, before: str) -> int:
        """The descriptor to append to: the first file while it is whole, a new segment otherwise."""
        if self._segment == 0:
            return os.open(self.path, os.O_WRONLY | os.O_APPEND)
        segment = story.segment_path(self.path, self._segment)
        descriptor = os.open(segment, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        self._segment += 1
        try:
            write_all(descriptor, lines.seal("segment", {"line": "segment", "after": count, "before": before})[0])
            sync_directory(segment.parent)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _drop(self) -> None:
        """Never write to this descriptor again."""
        self._segment = max(self._segment, 1)
        if self._file is not None:
            descriptor, self._file = self._file, None
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def close(self) -> None:
        """Give the journal up; what it does not call landed is for `recover`."""
        with self._mutex:
            self._dead = self._dead or f"{self.path}: the journal is closed"
            self._drop()
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1

    def retire(self) -> None:
        """Put a journal away whose run has landed, and close it."""
        done = make_directory(self.path.parent / "done")
        number = 0
        while (segment := story.segment_path(self.path, number)).exists():
            segment.rename(done / segment.name)
            number += 1
        sync_directory(done)
        sync_directory(self.path.parent)
        self.close()
        _bound(done)


def _published(path: Path, line: bytes) -> int:
    """The journal's file with its first line; the descriptor holds its lock from before it could be seen."""
    temporary = path.with_name(f".{path.stem}.new")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    write_new(temporary, line, 0o600)
    lock = _locked(temporary)
    if lock is None:
        raise OSError(errno.EBUSY, "somebody else holds it")
    try:
        publish(temporary, path)
    except BaseException:
        os.close(lock)
        temporary.unlink(missing_ok=True)
        raise
    return lock


def sweep(home: Path) -> None:
    """Remove what crashes left beside the journals: unfinished first lines, segments of a journal put away."""
    for path in folder(home).glob(".*.new"):
        lock = _locked(path)
        if lock is not None:
            path.unlink(missing_ok=True)
            os.close(lock)
    for path in folder(home).glob("*.*.jsonl"):
        if not path.with_name(f"{path.name.split('.')[0]}.jsonl").exists():
            path.unlink(missing_ok=True)


def _bound(done: Path) -> None:
    """Only the newest stay. Another process may tidy at the same time."""
    with contextlib.suppress(FileNotFoundError):
        ages = sorted(((p.stat().st_mtime_ns, p) for p in done.iterdir()), reverse=True)
        for _, path in ages[KEPT:]:
            path.unlink(missing_ok=True)


def _locked(path: Path) -> int | None:
    """A descriptor that holds the file's lock; None when another holds it, or the file went while we asked.

    Tried for a tenth of a second: somebody who only looks whether the run lives holds it for a moment.
    """
    for _ in range(5):
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_named(descriptor, path):
                return descriptor
        except BlockingIOError:
            time.sleep(0.02)
        except OSError as error:
            os.close(descriptor)
            raise HarnessError(f"{path}: this file system has no locks: {error.strerror}") from None
        os.close(descriptor)
    return None


def _unwritable(path: Path, error: OSError) -> HarnessError:
    return HarnessError(
        f"{path}: the journal cannot be written: {error.strerror}",
        hint="no rep is lost; make room or make the git directory writable, then run again",
    )


def lives(path: Path) -> bool:
    """Whether a journal's run is at work."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
