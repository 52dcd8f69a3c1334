"""What a run measured becomes records, the run's reference, and a commit. Every step can be begun again.

Order: blobs → journal → records → reference → commit. Nothing here depends on what the live run remembers: all of it
is read from the journal, so that recovery is `finish` once more.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalrepo.errors import GitError, HarnessError
from evalrepo.formats import result
from evalrepo.records.record import ErrorKind, Record, Rep, Timing, Verdict
from evalrepo.repository.commit import store
from evalrepo.repository.objects import Entry, object_id
from evalrepo.repository.writer import restore
from evalrepo.running.landing import land_results, message
from evalrepo.running.sequence import Assigned, assign, clone_id
from evalrepo.running.sound import Sound
from evalrepo.running.story import Key
from evalrepo.scoring.remarks import remarked, remarks

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.running.journal import Journal
    from evalrepo.running.story import Story
    from evalrepo.world import World

__all__ = ["Landed", "clone_id", "finish", "finish_all", "held", "run_ref"]

RESULTS = "results/"
SNAPSHOT = "snapshot/"
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
    return finish_all(repo, world, [journal], commit=commit)[0]


def finish_all(
    repo: Repository, world: World, journals: Sequence[Journal], *, commit: bool | None = None
) -> list[Landed]:
    """The same of several that began on one branch: a reference for each run, and one commit for all of them. Raises as
    `finish` does."""
    try:
        kept = [_kept(repo, journal) for journal in journals]
        _land(repo, world, [one for one in kept if isinstance(one, _Kept)], commit=commit)
        return [one if isinstance(one, Landed) else one.done(repo) for one in kept]
    except OSError as error:
        raise HarnessError(
            f"{error.filename or journals[0].path}: {error.strerror}; the results are kept in the journal",
            hint="make room or make the git directory writable, then run again",
        ) from error


@dataclass
class _Kept:
    """A run whose reference stands at `ref_commit`; `landed` is the commit with its results, once there is one."""

    journal: Journal
    story: Story
    texts: Mapping[str, bytes]
    records: Mapping[str, Record]
    ref_commit: str
    notes: tuple[str, ...]
    landed: str = ""

    def done(self, repo: Repository) -> Landed:
        """It needs no journal any more."""
        shutil.rmtree(held(repo, self.journal.run), ignore_errors=True)
        self.journal.retire()
        run = self.journal.run
        return Landed(run, run_ref(run), self.ref_commit, self.landed, self.records, self.notes)


def _kept(repo: Repository, journal: Journal) -> _Kept | Landed:
    """The journal's records, in the run's reference; what became of a run that recorded nothing."""
    story = journal.read()
    links = held(repo, journal.run)
    if story is None or not story.counted:
        shutil.rmtree(links, ignore_errors=True)
        journal.retire()
        return Landed(journal.run, "", "", "", {})
    restore(repo.objects, links)
    sound = Sound(repo, trusting=not journal.adopted and _all_there(repo, story))
    texts, records = _results(repo, story, sound)
    at = story.refs[-1] if story.landed is not None else _keep(repo, journal, story, texts, sound)
    told = (*sound.notes, *remarked(records.values())) if story.landed is None else ()
    return _Kept(journal, story, texts, records, at, told, story.landed or "")


def _land(repo: Repository, world: World, kept: Sequence[_Kept], *, commit: bool | None) -> None:
    """Those that have not landed, by one commit. Its steps are told to the journal that is recovered first: what the
    others lack after a crash is there then, or is made again."""
    rest = sorted((one for one in kept if one.story.landed is None), key=lambda one: one.journal.run)
    if not rest:
        return
    wanted = rest[0].story.header.commit if commit is None else commit
    texts = {path: data for one in rest for path, data in one.texts.items()}
    landed = land_results(repo, rest[0].journal, [one.story for one in rest], texts) if wanted else ""
    for one in rest:
        one.landed = landed
        one.journal.append({"line": "landed", "commit": landed, "at": world.timestamp()})


def _all_there(repo: Repository, story: Story) -> bool:
    """Whether git has what the reps left: a `git gc --prune=now` removes what no reference holds yet."""
    named = [oid for files in story.files.values() for oid in files.values()]
    return None not in repo.git.sizes(named).values()


def _results(repo: Repository, story: Story, sound: Sound) -> tuple[dict[str, bytes], dict[str, Record]]:
    """The result files by repository path, under the numbers that this run has or now gets."""
    cells = sorted({key.cell for key in story.counted})
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


def _record(story: Story, cell: int, sound: Sound, sequence: int, previous: str) -> Record:
    header = story.header
    origin = header.cells[cell].origin
    reps = tuple(_rep(story, key, sound) for key in sorted(story.counted) if key.cell == cell)
    notes = [text for where, text in story.notes if where in (None, cell)]
    lost = [
        f"the transcript of rep {r.rep} was lost" for k, r in story.ends.items() if k.cell == cell and _lost(r, reps)
    ]
    return Record(
        **{name: getattr(header.cells[cell].header, name) for name in type(header.cells[cell].header).model_fields},
        run=header.run,
        start=min(story.starts[key] for key in story.counted if key.cell == cell),
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


def _rep(story: Story, key: Key, sound: Sound) -> Rep:
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


def _keep(repo: Repository, journal: Journal, story: Story, texts: Mapping[str, bytes], sound: Sound) -> str:
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
    commit = repo.write_commit(repo.write_tree(entries), [], message([story], len(texts), landing=False))
    journal.append({"line": "ref", "commit": commit})
    return _create(repo, ref, commit, (*story.refs, commit))


def _snapshot(repo: Repository, tree: str, sound: Sound) -> dict[str, Entry]:
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
