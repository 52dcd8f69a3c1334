"""Files, lock and ledger as git stores them at a commit or in the index, without a walk over the whole tree."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from hashlib import sha256
from os import fsdecode
from shlex import quote
from typing import TYPE_CHECKING

from evalrepo.discipline.freeze import POINTER
from evalrepo.discipline.history import State
from evalrepo.discipline.places import CONFIG, LEDGER, LOCK, covers
from evalrepo.errors import DataError, Finding, Place
from evalrepo.formats import lockfile
from evalrepo.records.lock import Lock
from evalrepo.repository.objects import object_id

if TYPE_CHECKING:
    from evalrepo.records.event import Event
    from evalrepo.repository.repo import Repository

OURS = (LOCK, CONFIG, LEDGER)
_CHUNK = 2000
_UNWATCHED = {"h": "assume-unchanged", "s": "assume-unchanged", "m": "assume-unchanged", "S": "skip-worktree"}
"""How `git ls-files -v` marks entries whose files git does not look at."""


@dataclass(frozen=True, slots=True)
class File:
    """A file as git stores it: mode of six octal digits, blob id."""

    mode: str
    oid: str


class Reader:
    """One commit (full id), or the index for None. `name`: how messages call it."""

    def __init__(self, repo: Repository, commit: str | None, name: str) -> None:
        self.repo = repo
        self.name = name
        self.unmerged: set[str] = set()
        self.intended: set[str] = set()
        self.unwatched: dict[str, str] = {}
        self._commit = commit

    def files(self, roots: Iterable[str]) -> dict[str, File]:
        """What is stored at and below these paths, in git's order.

        Of the index, unmerged paths go to `unmerged` instead and those that are only intended to `intended`; entries
        whose files git does not look at are in `unwatched` too, with the name of the bit.
        """
        wanted = list(roots)
        found: dict[str, File] = {}
        for at in range(0, len(wanted), _CHUNK):
            self._list(wanted[at : at + _CHUNK], found)
        return self._without_intended(found)

    def _without_intended(self, found: dict[str, File]) -> dict[str, File]:
        """Entries of `git add --intent-to-add` look like empty files, and no commit would hold them."""
        empty = object_id("blob", b"", self.repo.object_format)
        if self._commit is not None or all(file.oid != empty for file in found.values()):
            return found
        index = self.repo.tree("INDEX")
        index.entries()
        left_out = frozenset(index.left_out)
        self.intended |= left_out & found.keys()
        return {path: file for path, file in found.items() if path not in left_out}

    def _list(self, roots: list[str], found: dict[str, File]) -> None:
        if self._commit is None:
            listing = self.repo.git("ls-files", "-s", "-v", "-z", "--", *roots)
        else:
            listing = self.repo.git("ls-tree", "-r", "-z", "--full-tree", self._commit, "--", *roots)
        for entry in filter(None, listing.split(b"\0")):
            meta, raw = entry.split(b"\t", 1)
            path = fsdecode(raw)
            if self._commit is not None:
                mode, _, oid = meta.decode().split(" ")
                found[path] = File(mode, oid)
                continue
            tag, mode, oid, stage = meta.decode().split(" ")
            if tag in _UNWATCHED:
                self.unwatched[path] = _UNWATCHED[tag]
            if stage != "0":
                self.unmerged.add(path)
            else:
                found[path] = File(mode, oid)

    def read(self, oid: str) -> bytes:
        """A blob's bytes."""
        return next(iter(self.repo.git.blobs([oid])))[1]

    @property
    def before(self) -> str:
        """The revision that hints take earlier content from."""
        return "HEAD" if self._commit is None else f"{self._commit[:12]}^"

    def is_pointer(self, oid: str) -> bool:
        """Whether a blob is a git-lfs pointer."""
        return 0 < (self.repo.git.sizes([oid])[oid] or 0) < 1024 and self.read(oid).startswith(POINTER)

    def state(self, *, of: State | None = None) -> State:
        """Lock, config and ledger; raises DataError for a lock that cannot be read.

        `of`: this is a base of that state, whose lock is not read again when it is the same; one that cannot be
        read counts as an empty one, so that it can be mended.
        """
        ours = self.files(OURS)
        lock = ours.get(LOCK)
        ledger = {path: file for path, file in ours.items() if covers(LEDGER, path) and path.endswith(".yaml")}
        return State(
            name=self.name,
            lock=self._lock(lock.oid, of) if lock else None,
            lock_oid=lock.oid if lock else None,
            config=CONFIG in ours,
            ledger=ledger,
            read=lambda path: self._event(path, ledger[path]),
        )

    def _lock(self, oid: str, of: State | None) -> Lock:
        if of is not None and of.lock is not None and of.lock_oid == oid:
            return of.lock
        try:
            return lockfile.load(self.read(oid))
        except DataError:
            if of is None:
                raise
            return Lock()

    def _event(self, path: str, file: File) -> Event | None:
        from evalrepo.formats.yaml import event_file

        try:
            return event_file(self.read(file.oid), path)
        except DataError:
            return None

    def bit_findings(self, lines: Container[str]) -> list[Finding]:
        """FRZ015 for every frozen file that git was told not to look at; a sparse checkout skips files rightly."""
        sparse = self.unwatched and self.repo.git.code("config", "--bool", "core.sparseCheckout")[1] == b"true\n"
        return [
            Finding(
                Place(path),
                "FRZ015",
                f"is marked {bit}, so an edit of it on disk is not seen",
                f"git update-index --no-{bit} {quote(path)}",
            )
            for path, bit in sorted(self.unwatched.items())
            if path in lines and not (sparse and bit == "skip-worktree")
        ]

    def merge_findings(self) -> list[Finding]:
        """FRZ011 for every unmerged path that was met."""
        hint = "resolve the conflict and git add the file"
        return [Finding(Place(path), "FRZ011", "is unmerged", hint) for path in sorted(self.unmerged)]


def hashes(repo: Repository, oids: Iterable[str]) -> dict[str, str]:
    """Blob id → SHA-256 of its content (hex)."""
    return {oid: sha256(data).hexdigest() for oid, data in repo.git.blobs(dict.fromkeys(oids))}
