"""The freeze check of the hook, fast: stdlib only, answers "clean" or nothing.

`clean` says True only where everything is as usual: the staged lock is HEAD's, the staged files below its roots are its
lines, config and ledger are HEAD's. Whatever is unusual is the full command's. Two git processes run side by side; the
lock is read from disk and proven to be the staged one by its blob id. No import of subprocess, json, re or our
own modules but the door to git: each costs more than the check.
"""

from __future__ import annotations

import os
from hashlib import sha1, sha256

from evalrepo.discipline.fastgit import ODD, finish, spawn, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK, CONFIG, LEDGER, RESERVE = b"evalrepo.lock", b"evalrepo.yaml", b"evalrepo.ledger", b"scenarios-reserve"
OURS = (LOCK, CONFIG, LEDGER)
ASKED = (["--staged"], ["--staged", "--deep"], ["--deep", "--staged"])
EMPTY = (
    b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
"""The empty blob: what an intent-to-add entry looks like, which no commit would hold."""
CHUNK = 2048
PART = 1 << 17
"""Locked files that are hashed at once, and bytes of the lock that are looked at."""
WIDTHS = {b"evalrepo-lock 1 sha1": 40, b"evalrepo-lock 1 sha256": 64}
CONTROL = bytes(set(range(32)) - {10}) + b"\x7f"


def clean(argv: list[str], environ: dict[str, str]) -> bool:
    """Whether `verify` with exactly these arguments is certain to answer "clean"."""
    if argv not in ASKED or any(name in environ for name in ODD):
        return False
    try:
        if _merging(environ) is not False:
            return False
        lock = _lock_on_disk()
        return _as_locked(lock, environ) and ("--deep" not in argv or _deeply(lock, environ))
    except (OSError, ValueError, KeyError, StopIteration, AttributeError):
        return False


def _merging(environ: dict[str, str]) -> bool | None:
    """Whether a merge is being concluded; None when the current directory is not the top of a work tree."""
    git_dir = environ.get("GIT_DIR", "")
    if not git_dir and os.path.isfile(".git"):  # noqa: PTH113 - pathlib costs 4 ms
        with open(".git", encoding="utf-8") as link:  # noqa: PTH123
            git_dir = link.read().removeprefix("gitdir: ").rstrip("\n")
    if not os.path.lexists(".git"):
        return None
    return os.path.lexists(os.path.join(git_dir or ".git", "MERGE_HEAD"))  # noqa: PTH118


def _as_locked(lock: bytes, environ: dict[str, str]) -> bool:
    roots = roots_of(lock)
    listing = start(["ls-files", "-s", "-v", "-z", "--", *map(os.fsdecode, (*OURS, RESERVE, *roots))], environ)
    head = start(["ls-tree", "-z", "HEAD", "--", *map(os.fsdecode, OURS)], environ)
    expected = [line for some in entries(lock, len(roots), b"H ", b"", b" 0\t") for line in some]  # git reads the index
    staged, committed = finish(listing), finish(head)
    if staged is None or committed is None or any(empty in staged for empty in EMPTY):
        return False
    listed = staged[:-1].split(b"\0")
    frozen = [entry for entry in listed if b"\tevalrepo." not in entry]
    ours = [entry for entry in listed if b"\tevalrepo." in entry]
    return frozen == expected and _unchanged(ours, committed, lock)


def _lock_on_disk() -> bytes:
    with open(LOCK, "rb") as file:  # noqa: PTH123
        return file.read()


def roots_of(lock: bytes) -> list[bytes]:
    """The lock's roots; ValueError for any that we would not have written."""
    roots: list[bytes] = []
    at = lock.index(b"\n") + 1
    while lock.startswith(b"root ", at):
        end = lock.index(b"\n", at)
        roots.append(lock[at + 5 : end])
        at = end + 1
    if roots != sorted(set(roots)) or any(part in (b"", b".", b"..") for root in roots for part in root.split(b"/")):
        raise ValueError
    return roots


def entries(lock: bytes, roots: int, before: bytes, between: bytes, after: bytes) -> Iterator[list[bytes]]:
    """The lines as git lists such files (`before`, mode, `between`, blob id, `after`, path), some thousand at once.

    Modes, blob ids, paths and their order need no look: they are held against git's own. ValueError for what is not a
    lock as we write it.
    """
    width, at = WIDTHS[lock[: lock.index(b"\n")]], 0
    for _ in range(roots + 1):
        at = lock.index(b"\n", at) + 1
    if not lock.endswith(b"\n") or b"\n160000 " in lock or len(lock[:at].translate(None, CONTROL)) != at:
        raise ValueError
    while at < len(lock):  # in parts, so that memory is used again
        end = lock.find(b"\n", at + PART) + 1 or len(lock)
        yield _entries(lock[at:end], 7 + width, before, between, after)
        at = end


def _entries(part: bytes, oid: int, before: bytes, between: bytes, after: bytes) -> list[bytes]:
    lines, path = part.split(b"\n")[:-1], oid + 66
    sums = b"".join([line[oid:path] for line in lines])[1:-1].split(b"  ")
    usual = (
        len(part.translate(None, CONTROL)) == len(part)
        and len(sums) == len(lines)
        and {len(total) for total in sums} == {64}
        and not b"".join(sums).translate(None, b"0123456789abcdef")
    )
    if not usual:
        raise ValueError
    return [before + line[:7] + between + line[7:oid] + after + line[path:] for line in lines]


def _unchanged(ours: list[bytes], committed: bytes, lock: bytes) -> bool:
    """Whether config, lock and ledger are HEAD's, and the lock on disk is the staged one."""
    head = {path: meta.split(b" ") for meta, path in (e.split(b"\t", 1) for e in committed.split(b"\0") if e)}
    now: dict[bytes, list[bytes]] = {}
    events: list[tuple[bytes, bytes, bytes]] = []
    for entry in ours:
        meta, path = entry.split(b"\t", 1)
        _, mode, oid, stage = meta.split(b" ")
        if stage != b"0":
            return False
        if path.startswith(LEDGER + b"/"):
            events.append((path[len(LEDGER) + 1 :], mode, oid))
        else:
            now[path] = [mode, b"blob", oid]
    if events:
        now[LEDGER] = [b"040000", b"tree", _tree(events)]
    return now == head and now[LOCK][2] == _oid(b"blob", lock, len(now[LOCK][2]))


def _tree(entries: list[tuple[bytes, bytes, bytes]]) -> bytes:
    """The id of the flat tree that these (name, mode, blob id) make; ValueError when it is not flat."""
    if any(b"/" in name for name, _, _ in entries):
        raise ValueError
    body = b"".join(m + b" " + n + b"\0" + bytes.fromhex(o.decode()) for n, m, o in sorted(entries))
    return _oid(b"tree", body, len(entries[0][2]))


def _oid(kind: bytes, body: bytes, digits: int) -> bytes:
    make = sha1 if digits == 40 else sha256
    return make(kind + b" %d\0" % len(body) + body).hexdigest().encode()


def _deeply(lock: bytes, environ: dict[str, str]) -> bool:
    """Whether every locked blob has the SHA-256 of its line. The lock was parsed before.

    git fills one chunk while another is hashed.
    """
    lines = [line for line in lock.split(b"\n")[1:-1] if not line.startswith(b"root ")]
    end = WIDTHS[lock[: lock.index(b"\n")]] + 7
    chunks = [lines[at : at + CHUNK] for at in range(0, len(lines), CHUNK)]
    right, before = True, None
    for chunk in [*chunks, None]:
        asked = _ask(chunk, end, environ) if chunk else None
        if before is not None:
            right = _sums(*before, end) and right
        before = (chunk, *asked) if chunk and asked else None
    return right


def _ask(lines: list[bytes], end: int, environ: dict[str, str]) -> tuple[int, int]:
    """A git process that writes these blobs into a file: its id, the file."""
    asked, answer = os.memfd_create("asked"), os.memfd_create("answer")
    try:
        os.write(asked, b"".join([line[7:end] + b"\n" for line in lines]))
        os.lseek(asked, 0, os.SEEK_SET)
        return spawn(["cat-file", "--batch", "--buffer"], environ, answer, asked), answer
    finally:
        os.close(asked)


def _sums(lines: list[bytes], pid: int, answer: int, end: int) -> bool:
    try:
        done = os.waitpid(pid, 0)[1] == 0
        told = os.pread(answer, os.fstat(answer).st_size, 0) if done else b""
    finally:
        os.close(answer)
    return done and _told(memoryview(told), told, lines, end)


def _told(view: memoryview, told: bytes, lines: list[bytes], end: int) -> bool:
    at = 0
    for line in lines:
        start = told.index(b"\n", at) + 1
        oid, kind, size = told[at : start - 1].split(b" ")
        at = start + int(size) + 1
        sum_ = sha256(view[start : at - 1]).hexdigest().encode()
        if (oid, kind, sum_) != (line[7:end], b"blob", line[end + 1 : end + 65]):
            return False
    return True
