"""What a run measured becomes records, the run's reference, and a commit. Every step can be begun again.

Order: blobs → journal → records → reference → commit. Nothing here depends on what the live run remembers: all of it
is read from the journal, so that recovery is `finish` once more.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalrepo.errors import GitError, HarnessError
from evalrepo.formats import result
from evalrepo.records.record import ErrorKind, Record, Rep, StoredTranscript, Timing, Verdict
from evalrepo.repository.commit import Landing, land, settle, store
from evalrepo.repository.objects import Entry, object_id
from evalrepo.repository.writer import restore
from evalrepo.running.sequence import Assigned, assign, clone_id
from evalrepo.running.story import Key
from evalrepo.scoring.remarks import remarked, remarks

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.running.journal import Journal
    from evalrepo.running.story import Story
    from evalrepo.world import World

__all__ = ["Landed", "clone_id", "finish", "held", "run_ref"]

RESULTS = "results/"
SNAPSHOT = "snapshot/"
UNCOMMITTED = "Evalrepo-Commit: none"
"""The trailer of a run's reference whose records are not committed, because nobody wanted it."""
INTERRUPTED = "the run ended before this rep did"


@dataclass(frozen=True, slots=True)
class Landed:
    """What became of a run. `ref` is the run's reference ("" when no rep was started) at `ref_commit`; `commit` holds
    the result files, "" when none was wanted; `records` by repository path; `notes` are sentences for the person.
    """

    run: str
    ref: str
    ref_commit: str
    commit: str
    records: Mapping[str, Record]
    notes: tuple[str, ...] = ()


def run_ref(run: str) -> str:
    """Where git keeps a run's records, transcripts and snapshot."""
    return f"refs/evalrepo/runs/{run}"


def held(repo: Repository, run: str) -> Path:
    """Where second links of a run's blobs stand until the run's reference holds them."""
    return repo.home / "held" / run


def finish(repo: Repository, world: World, journal: Journal, *, commit: bool | None = None) -> Landed:
    """Turn a journal into records, the run's reference and, unless `commit` is False, a commit; then put it away.

    `commit` None is what the journal's header says. Attempts that never ended are recorded as ERROR(interrupted).
    Raises GitError or HarnessError with nothing lost: the journal stays, and the next run finishes it.
    """
    try:
        return _finish(repo, world, journal, commit=commit)
    except OSError as error:
        raise HarnessError(
            f"{error.filename or journal.path}: {error.strerror}; the results are kept in the journal",
            hint="make room or make the git directory writable, then run again",
        ) from error


def _finish(repo: Repository, world: World, journal: Journal, *, commit: bool | None) -> Landed:
    story = journal.read()
    links = held(repo, journal.run)
    if story is None or not story.starts:
        shutil.rmtree(links, ignore_errors=True)
        journal.retire()
        return Landed(journal.run, "", "", "", {})
    restore(repo.objects, links)
    sound = _Sound(repo, trusting=not journal.adopted and _all_there(repo, story))
    texts, records = _results(repo, story, sound)
    if story.landed is not None:
        shutil.rmtree(links, ignore_errors=True)
        journal.retire()
        return Landed(journal.run, run_ref(journal.run), story.refs[-1], story.landed, records)
    kept = _keep(repo, journal, story, texts, sound)
    shutil.rmtree(links, ignore_errors=True)
    wanted = story.header.commit if commit is None else commit
    landed = _land(repo, journal, story, texts) if wanted else ""
    journal.append({"line": "landed", "commit": landed, "at": world.timestamp()})
    journal.retire()
    told = (*sound.notes, *remarked(records.values()))
    return Landed(story.header.run, run_ref(story.header.run), kept, landed, records, told)


def _all_there(repo: Repository, story: Story) -> bool:
    """Whether git has what the reps left: a `git gc --prune=now` removes what no reference holds yet."""
    named = [oid for files in story.files.values() for oid in files.values()]
    return None not in repo.git.sizes(named).values()


class _Sound:
    """Which of the blobs that a journal names can be read back, by reading and hashing every one of them once.

    `trusting`: this very process stored them, each read back or synced; only those that are asked for are read.
    """

    def __init__(self, repo: Repository, *, trusting: bool) -> None:
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


def _results(repo: Repository, story: Story, sound: _Sound) -> tuple[dict[str, bytes], dict[str, Record]]:
    """The result files by repository path, under the numbers that this run has or now gets."""
    cells = sorted({key.cell for key in story.starts})
    sound.files(story)
    made: dict[str, bytes] = {}
    records: dict[str, Record] = {}

    def make(first: int, previous: str) -> tuple[str, str]:
        made.clear()
        records.clear()
        for number, cell in enumerate(cells):
            record = _record(story, cell, sound, first + number, previous)
            data = result.encoded(record)
            path = result.file_name(record)
            made[path], records[path] = data, result.sealed(record)
            previous = sha256(data).hexdigest()
        entries = {path: Entry("100644", oid) for path, oid in store(repo, made).items()}
        return repo.write_tree(entries), previous

    assigned = assign(repo.home, story.header.run, len(cells), make)
    texts = made or _again(repo, assigned, make, made)
    return texts, records or {path: result.load(data, path) for path, data in texts.items()}


def _again(repo: Repository, assigned: Assigned, make: Any, made: dict[str, bytes]) -> dict[str, bytes]:
    """The files that bear numbers given before: as they were stored, or rendered again when git lost them."""
    try:
        rows = repo.git("ls-tree", "-r", "-z", assigned.tree).split(b"\0")[:-1]
        names = [row.split(b"\t", 1) for row in rows]
        found = [(name.decode(), meta.split(b" ")[2].decode("ascii")) for meta, name in names]
        blobs = list(repo.git.blobs([oid for _, oid in found]))
        if all(object_id("blob", data, repo.object_format) == oid for oid, data in blobs) and found:
            return {path: data for (path, _), (_, data) in zip(found, blobs, strict=True)}
    except (GitError, ValueError):
        pass
    if make(assigned.first, assigned.previous) != (assigned.tree, assigned.last):
        raise HarnessError(
            f"the records of run {assigned.run} are damaged in git, and this evalrepo renders others",
            hint="finish this run with the evalrepo that began it",
        )
    return made


def _record(story: Story, cell: int, sound: _Sound, sequence: int, previous: str) -> Record:
    header = story.header
    origin = header.cells[cell].origin
    reps = tuple(_rep(story, key, sound) for key in sorted(story.starts) if key.cell == cell)
    notes = [text for where, text in story.notes if where in (None, cell)]
    lost = [
        f"the transcript of rep {r.rep} was lost" for k, r in story.ends.items() if k.cell == cell and _lost(r, reps)
    ]
    return Record(
        **{name: getattr(header.cells[cell].header, name) for name in type(header.cells[cell].header).model_fields},
        run=header.run,
        start=min(at for key, at in story.starts.items() if key.cell == cell),
        end=max(_ended(rep.timing) for rep in reps),
        evalrepo=header.evalrepo,
        models=tuple(dict.fromkeys(model for rep in reps for model in rep.models)),
        clone=header.clone,
        sequence=sequence,
        previous=previous,
        reps=reps,
        notes=(*notes, *lost, *remarks(reps)),
        rescored_from=origin.executed if origin else "",
        supersedes=origin.supersedes if origin else "",
        reason=origin.reason if origin else "",
    )


def _lost(ended: Rep, reps: Iterable[Rep]) -> bool:
    mine = next(r for r in reps if (r.rep, r.attempt) == (ended.rep, ended.attempt))
    return ended.transcript is not None and mine.transcript is None


def _rep(story: Story, key: Key, sound: _Sound) -> Rep:
    """The attempt as it ended, or ERROR(interrupted) with the transcript that was kept of it."""
    files = story.files.get(key, {})
    if key not in story.ends:
        stored = next((s for path, oid in files.items() if (s := sound.stored(path, oid))), None)
        return Rep(
            rep=key.rep,
            attempt=key.attempt,
            verdict=Verdict.ERROR,
            error=ErrorKind.INTERRUPTED.value,
            message=INTERRUPTED,
            timing=Timing(start=story.starts[key], seconds=0.0),
            isolation=story.header.cells[key.cell].header.isolation,
            transcript=stored,
        )
    rep = story.ends[key]
    elsewhere = story.header.cells[key.cell].origin is not None  # its transcript stands in the run that executed it
    return rep if elsewhere or sound.holds(rep, files) else rep.model_copy(update={"transcript": None})


def _ended(timing: Timing) -> str:
    """Start plus the monotonic duration: a clock that was set back cannot put an end before its start."""
    start = datetime.fromisoformat(timing.start)
    return (start + timedelta(seconds=max(0.0, timing.seconds))).strftime("%Y-%m-%dT%H:%M:%SZ")


def _keep(repo: Repository, journal: Journal, story: Story, texts: Mapping[str, bytes], sound: _Sound) -> str:
    """Make the run's reference, once; the commit it stands at."""
    ref = run_ref(story.header.run)
    there = repo.refs(ref).get(ref)
    if there is not None:
        if there not in story.refs:
            raise GitError(f"{ref} is there already, and is not this run's", hint=f"git show {ref}")
        return there
    entries = {RESULTS + path.rpartition("/")[2]: Entry("100644", oid) for path, oid in store(repo, texts).items()}
    entries |= {path: Entry("100644", oid) for path, oid in sound.files(story).items()}
    entries |= _snapshot(repo, story.header.snapshot, sound)
    commit = repo.write_commit(repo.write_tree(entries), [], _message(story, texts, landing=False))
    journal.append({"line": "ref", "commit": commit})
    return _create(repo, ref, commit, (*story.refs, commit))


def _snapshot(repo: Repository, tree: str, sound: _Sound) -> dict[str, Entry]:
    """The files that were measured; none, and a note, when somebody pruned them before a reference held them."""
    code, rows, _ = repo.git.code("ls-tree", "-r", "-z", tree) if tree else (0, b"", b"")
    if code:
        sound.notes.append("the snapshot of the measured files was lost: pruned before the run ended")
    found: dict[str, Entry] = {}
    for row in rows.split(b"\0")[:-1] if not code else ():
        meta, path = row.split(b"\t", 1)
        mode, _, oid = meta.decode("ascii").split(" ")
        found[SNAPSHOT + path.decode("utf-8", "surrogateescape")] = Entry(mode, oid)
    return found


def _create(repo: Repository, ref: str, commit: str, ours: Iterable[str]) -> str:
    """A reference that is locked for a moment (a gc, a fetch) is tried again. Another of `ours` may be there already:
    a git that a dead run had started came to its end.
    """
    for pause in (0.05, 0.2, 0.8, 0.0):
        try:
            repo.move_ref(ref, commit, None)
        except GitError:
            there = repo.refs(ref).get(ref, "")
            if there in ours:
                return there
            if not pause:
                raise
            time.sleep(pause)
        else:
            break
    return commit


def _message(story: Story, texts: Mapping[str, bytes], *, landing: bool) -> str:
    reps = len(story.starts)
    what = f"{reps} rep{'s' * (reps != 1)} of {len(texts)} cell{'s' * (len(texts) != 1)}"
    subjects = dict.fromkeys(
        f"Evalrepo-Subject: {'+'.join(cell.subjects)} {cell.digests.subject}"
        for cell in (story.header.cells[n].header for n in sorted({key.cell for key in story.starts}))
    )
    what += ", recorded again" * any(cell.origin is not None for cell in story.header.cells)
    head = f"evalrepo: {what}" if landing else f"evalrepo run {story.header.run}: {what}"
    trailers = [f"Evalrepo-Run: {story.header.run}", *subjects, *([UNCOMMITTED] if not story.header.commit else [])]
    return "\n".join([head, "", *trailers, ""])


def landing(journal: Journal, story: Story) -> Landing:
    """Where this run's results go, with every step told to its journal first."""

    def tell(step: str, facts: Mapping[str, Any]) -> None:
        journal.append({"line": step, **facts})

    return Landing(name=story.header.run, branch=story.header.branch, tell=tell)


def _land(repo: Repository, journal: Journal, story: Story, texts: Mapping[str, bytes]) -> str:
    on = landing(journal, story)
    if story.told:
        trouble = settle(repo, texts, on, story.told)
        if trouble:
            raise GitError(trouble, hint="when no git is at work here, remove it; then run again")
    return land(repo, texts, _message(story, texts, landing=True), on=on)
