"""Whether what a journal names can be read back out of git."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from evalrepo.errors import GitError
from evalrepo.records.record import Rep, StoredTranscript
from evalrepo.repository.objects import object_id

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.running.story import Story


class Sound:
    """Which of the blobs that a journal names can be read back, by reading and hashing every one of them once.

    `trusting`: this very process stored them, each read back or synced; only those that are asked for are read.
    """

    def __init__(self, repo: Repository, *, trusting: bool) -> None:
        """`trusting` as above."""
        self._repo = repo
        self._trusting = trusting
        self._sha256: dict[str, str | None] = {}
        self.notes: list[str] = []

    def look(self, oids: Iterable[str]) -> None:
        """Read these blobs. One that is there may still be empty: git believes the file's name."""
        fresh = [o for o in dict.fromkeys(oids) if o not in self._sha256]
        try:
            for oid, data in self._repo.git.blobs(fresh):
                self._add(oid, data)
        except GitError:
            for oid in fresh:
                self._alone(oid)

    def _alone(self, oid: str) -> None:
        code, data, _ = self._repo.git.code("cat-file", "blob", oid)
        if code:
            self._sha256[oid] = None
        else:
            self._add(oid, data)

    def _add(self, oid: str, data: bytes) -> None:
        whole = object_id("blob", data, self._repo.object_format) == oid
        self._sha256[oid] = f"{sha256(data).hexdigest()} {len(data)}" if whole else None

    def stored(self, path: str, oid: str) -> StoredTranscript | None:
        """A transcript's entry in a record, None when its blob is lost."""
        self.look([oid])
        found = self._sha256[oid]
        if found is None:
            return None
        digest, size = found.split(" ")
        return StoredTranscript(sha256=digest, path=path, size=int(size))

    def holds(self, rep: Rep, files: Mapping[str, str]) -> bool:
        """Whether the rep's transcript, if it has one, is there as the rep says."""
        if rep.transcript is None or self._trusting:
            return True
        oid = files.get(rep.transcript.path)
        stored = self.stored(rep.transcript.path, oid) if oid else None
        return stored is not None and stored.sha256 == rep.transcript.sha256

    def files(self, story: Story) -> dict[str, str]:
        """Path in the run's tree → blob id, of every file that can be read back."""
        named = {path: oid for files in story.files.values() for path, oid in files.items()}
        if self._trusting:
            return named
        self.look(named.values())
        lost = {path for path, oid in named.items() if self._sha256[oid] is None}
        self.notes = [f"{path}: lost, its object in git is damaged" for path in sorted(lost)]
        return {path: oid for path, oid in named.items() if path not in lost}
