"""`evalrepo.lock` as text: a header, the frozen roots, one line a file. Made to be compared with `git ls-files -s`.

    evalrepo-lock 1 sha1
    root scenarios-reserve
    100644 OID SHA256 scenarios-reserve/R1.yaml

Paths are the file system's bytes (`os.fsencode`); roots, then files, each in git's order, which is that of the bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

from evalrepo.errors import DataError, Finding, Place
from evalrepo.records.lock import Lock, LockLine

FILE = "evalrepo.lock"
VERSION = 1
_HEADER = re.compile(rb"evalrepo-lock ([0-9]{1,9}) ([a-z0-9]+)")
_OID_LENGTH = {"sha1": 40, "sha256": 64}
_LINE = re.compile(rb"(100644|100755|120000) ([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{64}) (.+)", re.DOTALL)
T = TypeVar("T")
_OUTSIDE = re.compile(rb"^/|(?:^|/)\.{0,2}(?:/|$)", re.MULTILINE)
"""A path, one a line, that is empty or absolute or has a part that is empty, `.` or `..`."""
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_RESTORE = "take the file from a commit, and let `evalrepo freeze` write it"


def dump(lock: Lock) -> bytes:
    """The lock's text, sorted. DataError LCK005 for a path that a line cannot hold."""
    roots = sorted(os.fsencode(root) for root in lock.roots)
    lines = sorted((os.fsencode(line.path), line) for line in lock.lines)
    for path in (*roots, *(path for path, _ in lines)):
        why = _refused(path)
        if why:
            message = f"{os.fsdecode(path)!a} {why}, so it cannot be frozen"
            raise DataError([Finding(Place(os.fsdecode(path)), "LCK005", message, "rename it")])
    text = [f"evalrepo-lock {lock.version} {lock.object_format}".encode(), *(b"root " + root for root in roots)]
    text += [f"{line.mode} {line.oid} {line.sha256} ".encode() + path for path, line in lines]
    return b"\n".join(text) + b"\n"


def load(text: bytes, file: str = FILE) -> Lock:
    """The lock of a text that `dump` could have written; anything else is a DataError, LCK001 to LCK005 with lines."""
    if not text.endswith(b"\n"):
        raise _error(file, text.count(b"\n") + 1, "LCK001", "the lock is empty or its last line is torn")
    head, *rest = text[:-1].split(b"\n")
    object_format = _header(head, file)
    usual = _usual(rest, object_format)
    if usual is not None:
        return usual
    roots: list[bytes] = []
    lines: list[tuple[bytes, LockLine]] = []
    for number, line in enumerate(rest, 2):
        if line.startswith(b"root ") and not lines:
            _append(roots, line[5:], lambda r: r, file, number)
        else:
            entry = _entry(line, object_format, file, number)
            _append(lines, (os.fsencode(entry.path), entry), lambda pair: pair[0], file, number)
    return Lock(
        roots=tuple(os.fsdecode(root) for root in roots),
        lines=tuple(line for _, line in lines),
        object_format=object_format,
    )


def _usual(rest: list[bytes], object_format: str) -> Lock | None:
    """The lock of lines that are all as `dump` writes them, judged together; None where one of them needs a look."""
    first = next((number for number, line in enumerate(rest) if not line.startswith(b"root ")), len(rest))
    found = [_LINE.fullmatch(line) for line in rest[first:]]
    whole = [match for match in found if match is not None and len(match[2]) == _OID_LENGTH[object_format]]
    roots, paths = [line[5:] for line in rest[:first]], [match[4] for match in whole]
    ordered = all(a < b for some in (roots, paths) for a, b in pairwise(some))
    joined = b"\n".join((*roots, *paths))
    if len(whole) < len(rest) - first or not ordered or _CONTROL.search(joined.replace(b"\n", b"")):
        return None
    if _OUTSIDE.search(joined) and rest:
        return None
    names = os.fsdecode(joined).split("\n") if rest else []
    pairs = zip(names[first:], whole, strict=True)
    lines = (LockLine(name, match[1].decode(), match[2].decode(), match[3].decode()) for name, match in pairs)
    return Lock(tuple(names[:first]), tuple(lines), object_format)


def _header(line: bytes, file: str) -> str:
    match = _HEADER.fullmatch(line)
    if match is None:
        raise _error(file, 1, "LCK001", "the lock does not begin with `evalrepo-lock 1 sha1`")
    if int(match[1]) > VERSION:
        message = f"the lock has version {int(match[1])}; this evalrepo reads versions up to {VERSION}"
        raise DataError([Finding(Place(file, 1, 1), "LCK002", message, "install a newer evalrepo")])
    object_format = match[2].decode()
    if int(match[1]) < 1 or object_format not in _OID_LENGTH:
        raise _error(file, 1, "LCK001", "the lock does not begin with `evalrepo-lock 1 sha1`")
    return object_format


def _entry(line: bytes, object_format: str, file: str, number: int) -> LockLine:
    match = _LINE.fullmatch(line)
    if match is None or len(match[2]) != _OID_LENGTH[object_format]:
        raise _error(file, number, "LCK003", "not a line `MODE OID SHA256 PATH`")
    mode, oid, sha256 = (match[n].decode() for n in (1, 2, 3))
    return LockLine(path=os.fsdecode(match[4]), mode=mode, oid=oid, sha256=sha256)


def _append(items: list[T], item: T, path: Callable[[T], bytes], file: str, number: int) -> None:
    why = _refused(path(item))
    if why:
        raise _error(file, number, "LCK005", f"a path that {why}")
    if items and path(items[-1]) >= path(item):
        twice = path(items[-1]) == path(item)
        raise _error(file, number, "LCK004", "a path that is there twice" if twice else "a line that is out of order")
    items.append(item)


def _refused(path: bytes) -> str:
    if not path:
        return "is empty"
    if _CONTROL.search(path):
        return "has a line end or a control character"
    if path.startswith(b"/") or any(part in (b"", b".", b"..") for part in path.split(b"/")):
        return "does not stay inside the repository"
    return ""


def _error(file: str, line: int, code: str, message: str) -> DataError:
    return DataError([Finding(Place(file, line, 1), code, message, _RESTORE)])
