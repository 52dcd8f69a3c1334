"""What is frozen against what is there: pure comparison of lock lines with stored files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol
from unicodedata import normalize

from evalrepo.discipline.places import RESERVE, covered, outermost
from evalrepo.errors import Finding, Place
from evalrepo.records.lock import Lock, LockLine

GITLINK = "160000"
SYMLINK = "120000"
KINDS = {"100644": "a file", "100755": "an executable file", SYMLINK: "a symlink", GITLINK: "a gitlink"}
POINTER = b"version https://git-lfs.github.com/spec/"
"""How a git-lfs pointer begins: the content is not in git."""

RESTORE = (
    "put it back (git restore --source={source} --staged --worktree {path}), or evalrepo thaw {path} --why REASON first"
)
FREEZE_IT = "evalrepo freeze {path}, or take it out of the index (git rm --cached {path})"


class Stored(Protocol):
    """A file as git stores it: mode of six octal digits, blob id."""

    @property
    def mode(self) -> str: ...
    @property
    def oid(self) -> str: ...


Files = Mapping[str, Stored]


def roots_of(lock: Lock | None) -> tuple[str, ...]:
    """The roots that the freeze check looks at: the lock's own and the reserve."""
    return outermost({RESERVE, *(lock.roots if lock else ())})


def compare(lock: Lock, files: Files, source: str = "HEAD") -> list[Finding]:
    """Findings FRZ001-FRZ006: how the files below the lock's roots differ from its lines, by path, mode and blob id.

    `files`: everything below `roots_of(lock)`, thawed files left out. `source`: the revision that hints take the
    frozen content from.
    """
    lines = lock.by_path()
    roots = frozenset(roots_of(lock))
    there = {path: file for path, file in files.items() if path in lines or covered(roots, path)}
    gone = {path: line for path, line in lines.items() if path not in there}
    new = {path: file for path, file in there.items() if path not in lines}
    found = [_changed(lines[path], file, source) for path, file in there.items() if path in lines]
    return sorted([*filter(None, found), *_folders(gone, new, source), *_moved(gone, new, source)])


def _changed(line: LockLine, file: Stored, source: str) -> Finding | None:
    place, hint = Place(line.path), RESTORE.format(path=line.path, source=source)
    if line.mode[:3] != file.mode[:3]:
        kinds = f"was {_kind(line.mode)} and is now {_kind(file.mode)}"
        return Finding(place, "FRZ006", f"is frozen, {kinds}", hint)
    if line.oid != file.oid:
        return Finding(place, "FRZ001", "is frozen, and its content is not what was frozen", hint)
    if line.mode != file.mode:
        return Finding(place, "FRZ005", f"is frozen as {_kind(line.mode)} and is now {_kind(file.mode)}", hint)
    return None


def _kind(mode: str) -> str:
    return KINDS.get(mode, f"of mode {mode}")


def _folders(gone: dict[str, LockLine], new: dict[str, Stored], source: str) -> Iterator[Finding]:
    """A folder of frozen files that became a file, a symlink or a submodule; takes what it explains out of both."""
    for path in [p for p in new if any(old.startswith(p + "/") for old in gone)]:
        inside = [old for old in gone if old.startswith(path + "/")]
        for old in inside:
            del gone[old]
        what = f"was a folder with {len(inside)} frozen file{'s' if len(inside) != 1 else ''} and is now"
        hint = RESTORE.format(path=path, source=source)
        yield Finding(Place(path), "FRZ006", f"{what} {_kind(new.pop(path).mode)}", hint)


def _moved(gone: dict[str, LockLine], new: dict[str, Stored], source: str) -> Iterator[Finding]:
    pairs = dict(_renamed(gone, new))
    for old, path in pairs.items():
        also = "" if new[path].oid == gone[old].oid else ", and its content changed"
        text = f"is frozen, and was renamed to {path}{_only_in(old, path)}{also}"
        yield Finding(Place(old), "FRZ004", text, RESTORE.format(path=old, source=source))
    for path in new.keys() - pairs.values():
        yield Finding(Place(path), "FRZ002", "was added below a frozen root", FREEZE_IT.format(path=path))
    for path in gone.keys() - pairs.keys():
        hint = RESTORE.format(path=path, source=source)
        yield Finding(Place(path), "FRZ003", "is frozen, and was deleted", hint)


def _renamed(gone: Mapping[str, LockLine], new: Mapping[str, Stored]) -> Iterator[tuple[str, str]]:
    """Old path and new path: names that a file system may take for the same first, then the same content."""
    alike = {_folded(path): path for path in gone}
    by_content: dict[str, list[str]] = {}
    left = dict(new)
    for path in new:
        old = alike.pop(_folded(path), None)
        if old is not None:
            del left[path]
            yield old, path
    for old in alike.values():
        by_content.setdefault(gone[old].oid, []).append(old)
    for path, file in left.items():
        if by_content.get(file.oid):
            yield by_content[file.oid].pop(0), path


def _folded(path: str) -> str:
    return normalize("NFC", normalize("NFC", path).casefold())


def _only_in(old: str, new: str) -> str:
    """What two names that look alike differ in."""
    if normalize("NFC", old) == normalize("NFC", new):
        return f" (the same letters in another Unicode form: {old!a} and {new!a})"
    return " (only the case of letters differs)" if _folded(old) == _folded(new) else ""


def as_pointer(finding: Finding) -> Finding:
    """FRZ006 for a file whose other content (FRZ001) is a pointer of git-lfs."""
    return finding._replace(code="FRZ006", message="is frozen, and is now a git-lfs pointer, its content not in git")


def deep(lock: Lock, hashes: Mapping[str, str]) -> list[Finding]:
    """FRZ012: blobs whose content has another SHA-256 than the lock says. `hashes`: blob id → SHA-256 (hex)."""
    hint = "the object store or the lock was tampered with: fetch the objects from a clone that you trust"
    return [
        Finding(Place(line.path), "FRZ012", "has the blob id that was frozen, but another SHA-256", hint)
        for line in lock.lines
        if hashes.get(line.oid, line.sha256) != line.sha256
    ]


@dataclass(frozen=True, slots=True)
class Plan:
    """What `freeze` is about to write: roots, files to lock, and old lines that stay as they are."""

    roots: tuple[str, ...]
    wanted: Mapping[str, Stored]
    kept: tuple[LockLine, ...]
    paths: tuple[str, ...]
    """What the ledger event names: the roots that are (re)frozen, and those that are given up."""


def plan(lock: Lock | None, wanted: Iterable[str], files: Files, *, whole: bool) -> Plan:
    """Roots and lines after freezing `wanted` (roots or paths below roots). `files`: everything below all roots.

    `whole`: `wanted` is the closure, so that a root of the lock that it does not hold and that was thawed
    to its last line is given up.
    """
    old = lock or Lock()
    target = outermost(frozenset(wanted))
    left = [r for r in old.roots if not whole or any(covered((r,), line.path) for line in old.lines)]
    roots = outermost(frozenset((*target, *left)))
    again = frozenset((*target, *left) if whole else target)
    chosen = {path: file for path, file in files.items() if covered(again, path)}
    kept = tuple(line for line in old.lines if not covered(again, line.path))
    given_up = [r for r in old.roots if not covered(roots, r)]
    return Plan(roots, chosen, kept, outermost(frozenset((*again, *given_up))))


def refusals(files: Files) -> list[Finding]:
    """FRZ016: what cannot be frozen by content, seen from mode and name alone."""
    found = []
    for path, file in files.items():
        if file.mode == GITLINK:
            hint = "store the files themselves; a nested repository is not part of a commit"
            found.append(Finding(Place(path), "FRZ016", "is a gitlink, whose files git does not store here", hint))
        if "\n" in path or "\r" in path:
            hint = "rename the file; the lock holds one line a file"
            found.append(Finding(Place(repr(path)), "FRZ016", "has a line break in its name", hint))
    return found


def pointer(path: str) -> Finding:
    """FRZ016 for a file that is only a git-lfs pointer."""
    hint = f"git lfs untrack {path}, and add the file itself"
    return Finding(Place(path), "FRZ016", "is a git-lfs pointer, whose content is not in git", hint)


def built(plan: Plan, hashes: Mapping[str, str], object_format: str) -> Lock:
    """The lock that the plan makes. `hashes`: blob id → SHA-256 (hex), for every file that is wanted."""
    new = [LockLine(path, file.mode, file.oid, hashes[file.oid]) for path, file in plan.wanted.items()]
    lines = sorted((*plan.kept, *new), key=lambda line: line.path.encode("utf-8", "surrogateescape"))
    return Lock(roots=plan.roots, lines=tuple(lines), object_format=object_format)


def without(lock: Lock, paths: tuple[str, ...]) -> Lock:
    """The lock without the lines that these paths cover; its roots stay, so that it is known what is thawed."""
    lines = tuple(line for line in lock.lines if not covered(paths, line.path))
    return Lock(lock.roots, lines, lock.object_format, lock.version)
