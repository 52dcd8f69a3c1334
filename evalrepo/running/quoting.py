"""What a run's reference keeps of one rep, to be quoted beside what rests on it: rows of logs, files of the sandbox."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from evalrepo.running.keep import run_ref
from evalrepo.running.kept import JUDGE, OUTCOME, Files, folder_of, manifest
from evalrepo.running.opened import ANOTHER, Lacking, files_below, present
from evalrepo.running.stored import SEALED

if TYPE_CHECKING:
    from evalrepo.records.outcome import Manifest
    from evalrepo.records.record import Record, Rep
    from evalrepo.repository.repo import Repository

LOST = "the reference of its run does not hold its transcript"


@dataclass(frozen=True)
class Quotes:
    """The files of a rep's folder by path below it, redacted as they are kept. `main`: the transcript's path; `place`:
    as git names it, "" when it is not at hand; `later`: what a judge read and said when the rep was judged again, which
    that run's reference keeps; `lacking`: why there is nothing to quote, None when there is."""

    main: str = ""
    place: str = ""
    files: Files = field(default_factory=dict)
    later: Files = field(default_factory=dict)
    lacking: Lacking | None = None

    @property
    def sealed(self) -> bool:
        """Whether nothing may be quoted, the record's own evidence included."""
        return self.lacking is not None and self.lacking.why == SEALED

    def row(self, file: str, line: int) -> str | None:
        """The text of a log's 1-based line, None when it is not at hand."""
        if file not in self._lines:
            self._lines[file] = self.files[file].split(b"\n") if file in self.files else []
        lines = self._lines[file]
        return lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else None

    def left(self, path: str) -> tuple[str, str | None]:
        """A path of the sandbox: what the agent made of it, "" when that was not kept; and its text, None likewise."""
        if self._manifests is None:
            return "", None
        before, after = (manifest.get(path) for manifest in self._manifests)
        if after is None:
            return ("removed by the agent" if before is not None else ""), None
        how = "added" if before is None else "as it was" if before == after else "changed"
        text = self.files.get(f"files/{path}")
        return f"{how}, {after.size:,} bytes", text.decode("utf-8", "replace") if text is not None else None

    def said(self, digest: str) -> str:
        """What a judge was sent or replied, by the SHA-256 that its vote names; "" when it is not at hand."""
        name = self.name_of(digest)
        return (self.files.get(name) or self.later.get(name, b"")).decode("utf-8", "replace") if digest else ""

    @staticmethod
    def name_of(digest: str) -> str:
        """Where the folder holds such a text."""
        return f"{JUDGE}{digest[:16]}.txt"

    @cached_property
    def _lines(self) -> dict[str, list[bytes]]:
        return {}

    @cached_property
    def _manifests(self) -> tuple[Manifest, Manifest] | None:
        """The sandbox before and after; None where nothing that can be read was kept of it."""
        try:
            outcome = json.loads(self.files[OUTCOME])
            return manifest(outcome["before"]), manifest(outcome["after"])
        except (KeyError, ValueError, TypeError, AttributeError):
            return None


def quotes(repo: Repository, record: Record, rep: Rep, *, opened: bool = False) -> Quotes:
    """What of a record's rep can be quoted. A reserve's is sealed unless `opened`."""
    if record.set == "reserve" and not opened:
        return Quotes(lacking=Lacking(SEALED, f"evalrepo show {record.run} --unseal --why REASON"))
    if rep.transcript is None:
        return Quotes(lacking=Lacking("no transcript of it was kept"))
    ref = run_ref(record.executed)
    commit = repo.refs(ref).get(ref)
    tree = present(repo.tree(commit) if commit else None, record.executed)
    if isinstance(tree, Lacking):
        return Quotes(lacking=tree)
    files = files_below(tree, rep)
    main = rep.transcript.path.removeprefix(folder_of(rep.transcript.path))
    if main not in files:
        return Quotes(files=files, lacking=Lacking(LOST))
    if sha256(files[main]).hexdigest() != rep.transcript.sha256:
        return Quotes(lacking=Lacking(ANOTHER, "evalrepo verify --records", wrong=True))
    return Quotes(main, f"{ref}:{rep.transcript.path}", files, _asked_later(repo, record, rep))


def _asked_later(repo: Repository, record: Record, rep: Rep) -> dict[str, bytes]:
    """What a judge read and said of the rep when it was judged again: the reference of that run has it."""
    ref = run_ref(record.run)
    commit = repo.refs(ref).get(ref) if record.rescored_from else None
    return files_below(repo.tree(commit), rep) if commit else {}
