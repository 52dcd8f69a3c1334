"""What a run's reference keeps of a rep's sandbox, as checks ask for it: manifests, changed files, which faults fired.

Contents come from the kept files, and from what was there before: the fixture, and files of the measured tree. Each is
believed only when its SHA-256 is the manifest's; what redaction changed is not taken for the agent's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalrepo.records.outcome import FileState, Manifest
from evalrepo.sandbox.isolation import INSIDE

if TYPE_CHECKING:
    from evalrepo.records.record import Rep
    from evalrepo.records.scenario import Fault

OUTCOME = "outcome.json"
JUDGE = "judge/"
"""Folder of a rep's files where what judges read and said is kept."""
FOLDERS = 4
"""Folders above a rep's files: transcripts, scenario, agent and tier, rep and attempt."""

Files = Mapping[str, bytes]
"""Path → content."""
Fixture = Mapping[str, tuple[str, bytes]]
"""Path in the work directory → git mode and content before the agent; what setup made is not among it."""
Pool = Callable[[], Mapping[str, bytes]]
"""SHA-256 (hex) → content, of files that may have been put into the sandbox beside the fixture."""


def folder_of(path: str) -> str:
    """The folder of a rep's files in the run's tree, with its last `/`, by the path of its transcript."""
    return "/".join(path.split("/")[:FOLDERS]) + "/"


def parted(files: Files, main: str) -> tuple[Mapping[str, Any] | None, dict[str, bytes]]:
    """What is known of the sandbox, None when nothing was kept of it; and the agent's own files, the main one first."""
    outcome = json.loads(files[OUTCOME]) if OUTCOME in files and main != OUTCOME else None
    ours = {OUTCOME, *outcome.get("kept", ())} if outcome is not None else set()
    names = sorted(
        (name for name in files if name not in ours and not name.startswith(JUDGE)),
        key=lambda name: (name != main, name),
    )
    return outcome, {name: files[name] for name in names}


def work_of(rep: Rep, main: bytes) -> str | None:
    """The work directory as the agent saw it, as recorded; in older records one place under isolation, else what the
    log's first line says."""
    if rep.transcript is not None and rep.transcript.work:
        return rep.transcript.work
    if rep.isolation != "none":
        return INSIDE["work"]
    try:
        head = json.loads(main.split(b"\n", 1)[0])
        return str(head["cwd"])
    except (ValueError, KeyError, TypeError):
        return None


class Kept:
    """The sandbox as far as it was kept; `lacking` collects what was asked for beyond that.

    `whole`: without an outcome, nothing but the fixture was in the work directory.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        fixture: Fixture,
        outcome: Mapping[str, Any] | None,
        files: Files,
        *,
        whole: bool,
        pool: Pool = dict,
    ) -> None:
        self.lacking: list[str] = []
        self._files, self._fixture, self._pool = files, fixture, pool
        self._known = outcome is not None or whole
        self.fired: Mapping[str, int] = dict(outcome["fired"]) if outcome else {f.command: 0 for f in faults}
        if outcome is not None:
            self.before, self.after = manifest(outcome["before"]), manifest(outcome["after"])
        else:
            self.before = self.after = {path: _state(*file) for path, file in self._fixture.items()}

    @property
    def known(self) -> bool:
        """Whether the files that were there are known."""
        return self._known

    def read(self, path: str) -> bytes:
        """A file afterwards: kept, or as it was before."""
        return self._whole(path, self.after, self._files.get(f"files/{path}"))

    def original(self, path: str) -> bytes:
        """A file before the agent."""
        return self._whole(path, self.before, None)

    def _whole(self, path: str, manifest: Manifest, kept: bytes | None) -> bytes:
        if path not in manifest:
            raise FileNotFoundError(path)
        given = self._fixture.get(path)
        for data in (kept, given[1] if given is not None else None):
            if data is not None and sha256(data).hexdigest() == manifest[path].sha256:
                return data
        put = self._pool().get(manifest[path].sha256)
        if put is not None:
            return put
        self.lacking.append(f"the content of {path} was not kept")
        raise FileNotFoundError(self.lacking[-1])

    def rebuilt(self) -> dict[str, tuple[str, bytes]]:
        """Every file that was there afterwards, as git mode and content. FileNotFoundError, noted in `lacking`, when
        one of them cannot be had."""
        if not self._known:
            self.lacking.append("which files there were was not kept")
            raise FileNotFoundError(self.lacking[-1])
        return {path: (state.mode, self._whole_file(path, state)) for path, state in self.after.items()}

    def _whole_file(self, path: str, state: FileState) -> bytes:
        if state.mode == "special":
            self.lacking.append(f"{path} is no file that can be made again")
            raise FileNotFoundError(self.lacking[-1])
        return self.read(path)

    def refuses(self, why: str) -> Callable[..., Any]:
        """A function that cannot be had, and says so."""

        def refuse(*_: object) -> Any:
            self.lacking.append(why)
            raise FileNotFoundError(why)

        return refuse


def manifest(data: Mapping[str, Any]) -> dict[str, FileState]:
    """Path → state, of what `outcome.json` says. TypeError for anything else."""
    return {path: FileState(**state) for path, state in data.items()}


def _state(mode: str, data: bytes) -> FileState:
    return FileState(mode, len(data), sha256(data).hexdigest())
