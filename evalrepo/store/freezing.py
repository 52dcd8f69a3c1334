"""Freeze and thaw: the lock and the ledger's event are written and staged together; nothing else is touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from evalrepo.discipline import freeze as frozen
from evalrepo.discipline.freeze import Files
from evalrepo.discipline.generations import generation, instruments, lines_digest, may_rejudge
from evalrepo.discipline.history import State
from evalrepo.discipline.places import LEDGER, LOCK, covered, outermost
from evalrepo.errors import DataError, Finding, GitError, UsageError
from evalrepo.formats import lockfile
from evalrepo.records.event import Event, ThawKind
from evalrepo.records.lock import Lock
from evalrepo.repository.repo import Repository
from evalrepo.repository.tree import Tree
from evalrepo.store import closing
from evalrepo.store.frozen import without_thawed
from evalrepo.store.ledger import append, person, signed
from evalrepo.store.loading import Loaded, load, read_events, usable
from evalrepo.store.stored import Reader

LATEST = "~"
"""Sorts after every event's path: the event that is about to be written."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written and staged: files that gained a line, lost one, or have a new one; "" for no event."""

    event: str
    locked: int
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    why: Mapping[str, str] = field(default_factory=dict)
    """Root of a whole freeze → why it is one."""
    generation: int = 0
    """Of a freeze: the number of what is frozen now, in the order of freezes."""
    rejudged: Mapping[str, str] = field(default_factory=dict)
    """Reserve scenario whose instrument is another than the last freeze said → `yes` when old transcripts may be judged
    by it, else `stale` or `unknown`."""
    unfrozen: Mapping[str, str] = field(default_factory=dict)
    """What the reserve names and the lock does not hold → why it should."""


def freeze(repo: Repository, paths: Sequence[str], why: str) -> Written:
    """Lock what is staged at `paths`, or the whole closure of the reserve when there are none.

    Raises GitError without a person's identity or with work that is not staged, DataError for files that cannot be
    frozen or were changed without a thaw.
    """
    person(repo)
    reader = Reader(repo, None, "the index")
    state = reader.state()
    tree = repo.tree("INDEX")
    whole = None if paths else usable(load(tree, repo))
    reasons = _whole(tree, whole) if whole else {}
    wanted = _known(reader, paths) if paths else tuple(reasons)
    files = reader.files(sorted({*frozen.roots_of(state.lock), *wanted}))
    refuse_merge(reader)
    plan = frozen.plan(state.lock, wanted, files, whole=not paths)
    refuse_unstaged(repo, (*plan.roots, LOCK, LEDGER))
    refuse_changed(state, files, plan.paths)
    _refuse([*frozen.refusals(plan.wanted)])
    lock = frozen.built(plan, hashes_of(repo, plan.wanted), repo.object_format)
    loaded = whole or load(tree, repo)
    unfrozen = closing.unfrozen(tree, loaded, lock)
    if lock == state.lock and not _reopened(state, plan.paths):
        return Written("", len(lock.lines), why=reasons, unfrozen=unfrozen)
    said = read_events(tree)[0]
    event = signed(
        repo,
        "freeze",
        why,
        paths=plan.paths,
        generation=generation(said) + 1,
        instruments=closing.new_instruments(tree, loaded, lock, said, plan.paths),
        **_digests(state.lock, lock, plan.paths),
    )
    written = _written(repo, state, lock, event)
    rejudged = _rejudged(tree, loaded, said, event)
    return replace(written, why=reasons, generation=event.generation or 0, rejudged=rejudged, unfrozen=unfrozen)


def _digests(old: Lock | None, new: Lock, paths: Sequence[str]) -> dict[str, str | None]:
    return {"old": lines_digest(old, paths), "new": lines_digest(new, paths)}


def _rejudged(tree: Tree, loaded: Loaded, said: Mapping[str, Event], event: Event) -> dict[str, str]:
    """Reserve scenario that the freeze gave another instrument → whether its old transcripts may be judged by it."""
    known = instruments(said)
    found: dict[str, str] = {}
    for id_, new in instruments({"": event}).items():
        if id_ in known:
            paths = closing.rests_on(tree, loaded, loaded.scenarios[id_])
            found[id_] = may_rejudge({**said, LATEST: event}, id_, paths, known[id_], new).answer
    return found


def thaw(repo: Repository, paths: Sequence[str], why: str, kind: ThawKind | None = None) -> Written:
    """Take the lines of `paths` out of the lock. Raises UsageError for a path that is not frozen."""
    reader = Reader(repo, None, "the index")
    state = reader.state()
    if state.lock is None:
        raise UsageError("nothing is frozen here", hint="evalrepo freeze")
    chosen = tuple(sorted({_inside(path) for path in paths}))
    for path in chosen:
        if not any(covered((path,), line.path) for line in state.lock.lines):
            raise UsageError(f"{path} is not frozen", hint="evalrepo verify shows what is; name a file or a directory")
    chosen = _within(state.lock.roots, chosen)
    refuse_unstaged(repo, (LOCK, LEDGER))
    left = frozen.without(state.lock, chosen)
    event = signed(repo, "thaw", why, paths=chosen, kind=kind, **_digests(state.lock, left, chosen))
    return _written(repo, state, left, event)


def _within(roots: Sequence[str], chosen: Iterable[str]) -> tuple[str, ...]:
    """The paths; of a directory above frozen roots these roots, since only what is frozen is closed again."""
    known = frozenset(roots)
    found = set()
    for path in chosen:
        found |= {path} if covered(known, path) else {root for root in roots if covered((path,), root)}
    return outermost(found)


def _whole(tree: Tree, loaded: Loaded) -> dict[str, str]:
    """The closure's roots that hold a file → why."""
    present = closing.wanted(tree, loaded, read_events(tree)[0])
    if not present:
        raise UsageError(
            "there is nothing to freeze: scenarios-reserve/ holds no staged file, and `frozen.also` names none",
            hint="git add scenarios-reserve, or name what is to be frozen: evalrepo freeze PATHS",
        )
    return present


def _known(reader: Reader, paths: Iterable[str]) -> tuple[str, ...]:
    chosen = tuple(sorted({_inside(path) for path in paths}))
    for path in chosen:
        if not reader.files([path]) and path not in reader.unmerged:
            if not os.path.lexists(reader.repo.top / path):
                raise UsageError(f"there is no {path}", hint="paths are relative to the top of the repository")
            raise UsageError(f"{path} is not in the index", hint=f"git add {path}; what is staged is what is frozen")
    return chosen


def _inside(path: str) -> str:
    normal = os.path.normpath(path)
    if path.startswith("/") or normal.startswith("..") or normal == ".":
        raise UsageError(f"{path} is not a path inside the repository", hint="paths are relative to its top")
    return normal


def refuse_merge(reader: Reader) -> None:
    """DataError for unmerged files. In a merge or a rebase whose conflicts are resolved freezing goes on: that is how a
    lock that both sides changed is written."""
    _refuse(reader.merge_findings())


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        raise DataError(findings)


def refuse_unstaged(repo: Repository, roots: Sequence[str]) -> None:
    """GitError for files that differ from what is staged, or that git does not know."""
    differ = repo.git("diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--name-only", "-z", "--", *roots)
    new = repo.git("ls-files", "--others", "--exclude-standard", "-z", "--", *roots)
    paths = [os.fsdecode(p) for p in (*differ.split(b"\0"), *new.split(b"\0")) if p]
    if paths:
        shown = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        raise GitError(
            f"what is staged is what is frozen, and these differ from it or are not staged: {shown}",
            hint="git add " + " ".join(_quoted(p) for p in paths[:5]),
        )


def _quoted(path: str) -> str:
    from shlex import quote

    return quote(path)


def refuse_changed(state: State, files: Files, paths: Sequence[str]) -> None:
    """Locked files change only after a thaw; files that are only new are what freezing is for."""
    if state.lock is None:
        return
    there, _ = without_thawed(files, state.lock, state)
    roots = frozenset(paths)
    wrong = [f for f in frozen.compare(state.lock, there) if f.code != "FRZ002" and covered(roots, f.place.file)]
    _refuse(wrong)


def hashes_of(repo: Repository, wanted: Files) -> dict[str, str]:
    """Blob id → SHA-256 (hex) of the files; DataError for git-lfs pointers."""
    path_of = {file.oid: path for path, file in wanted.items()}
    found: dict[str, str] = {}
    pointers = []
    for oid, data in repo.git.blobs(path_of):
        found[oid] = sha256(data).hexdigest()
        if data.startswith(frozen.POINTER):
            pointers.append(frozen.pointer(path_of[oid]))
    _refuse(pointers)
    return found


def _reopened(state: State, paths: tuple[str, ...]) -> bool:
    """Whether a thaw is open that this freeze closes, although the lines are the same."""
    from evalrepo.discipline.history import thawed

    return any(covered(frozenset(paths), path) for path in thawed(state.events))


def _written(repo: Repository, state: State, lock: Lock, event: Event) -> Written:
    """The lock and its event, staged together."""
    name = append(repo, event, {LOCK: lockfile.dump(lock)})
    return _difference(state.lock or Lock(), lock, name, event.paths)


def _difference(old: Lock, new: Lock, event: str, paths: tuple[str, ...]) -> Written:
    before, after = old.by_path(), new.by_path()
    return Written(
        event=event,
        locked=len(after),
        gained=tuple(p for p in after if p not in before),
        lost=tuple(p for p in before if p not in after),
        changed=tuple(p for p in after if p in before and before[p] != after[p]),
        paths=paths,
    )
