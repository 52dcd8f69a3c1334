"""Freeze and thaw: the lock and the ledger's event are written and staged together; nothing else is touched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from evalrepo.discipline import freeze as frozen
from evalrepo.discipline.closure import closure
from evalrepo.discipline.freeze import Files
from evalrepo.discipline.history import State
from evalrepo.discipline.places import LEDGER, LOCK, covered
from evalrepo.errors import DataError, Finding, GitError, Place, UsageError
from evalrepo.formats import lockfile
from evalrepo.formats.ids import ALPHABET, ulid
from evalrepo.formats.yaml import dump_event
from evalrepo.records.event import Event
from evalrepo.records.lock import Lock
from evalrepo.repository.durable import make_directory, sync_directory, write_new
from evalrepo.repository.repo import Repository
from evalrepo.store.frozen import without_thawed
from evalrepo.store.loading import Loaded, load, usable
from evalrepo.store.stored import Reader


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


def freeze(repo: Repository, paths: Sequence[str], why: str) -> Written:
    """Lock what is staged at `paths`, or the whole closure of the reserve when there are none.

    Raises GitError without a person's identity or with work that is not staged, DataError for files that cannot be
    frozen or were changed without a thaw.
    """
    person = _person(repo)
    reader = Reader(repo, None, "the index")
    state = reader.state()
    reasons = {} if paths else _whole(usable(load(repo.tree("INDEX"), repo)), repo)
    wanted = _known(reader, paths) if paths else tuple(reasons)
    files = reader.files(sorted({*frozen.roots_of(state.lock), *wanted}))
    _refuse_merge(repo, reader)
    plan = frozen.plan(state.lock, wanted, files, whole=not paths)
    _refuse_unstaged(repo, (*plan.roots, LOCK, LEDGER))
    _refuse_changed(state, files, plan.paths)
    _refuse([*frozen.refusals(plan.wanted)])
    lock = frozen.built(plan, _hashes(repo, plan.wanted), repo.object_format)
    if lock == state.lock and not _reopened(state, plan.paths):
        return Written("", len(lock.lines), why=reasons)
    return replace(_write(repo, state, lock, "freeze", plan.paths, why, person), why=reasons)


def thaw(repo: Repository, paths: Sequence[str], why: str) -> Written:
    """Take the lines of `paths` out of the lock. Raises UsageError for a path that is not frozen."""
    person = _person(repo)
    reader = Reader(repo, None, "the index")
    state = reader.state()
    if state.lock is None:
        raise UsageError("nothing is frozen here", hint="evalrepo freeze")
    chosen = tuple(sorted({_inside(path) for path in paths}))
    for path in chosen:
        if not any(covered((path,), line.path) for line in state.lock.lines):
            raise UsageError(f"{path} is not frozen", hint="evalrepo verify shows what is; name a file or a directory")
    _refuse_unstaged(repo, (LOCK, LEDGER))
    return _write(repo, state, frozen.without(state.lock, chosen), "thaw", chosen, why, person)


def _whole(loaded: Loaded, repo: Repository) -> dict[str, str]:
    """The closure's roots that hold a file → why."""
    tree = repo.tree("INDEX")
    reserve = {id_: one.scenario for id_, one in loaded.of_set("reserve").items()}
    wanted = closure(reserve, loaded.config.frozen.also, tree.match)
    present = {root: why for root, why in wanted.items() if tree.under(root)}
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


def _person(repo: Repository) -> str:
    identity = repo.identity()
    if identity is None:
        raise GitError(
            "freezing and thawing are signed with a person's name, and git knows none",
            hint='git config user.name "Your Name"; git config user.email you@example.org',
        )
    return f"{identity[0]} <{identity[1]}>"


def _refuse_merge(repo: Repository, reader: Reader) -> None:
    _refuse(reader.merge_findings())
    busy = repo.busy()
    if busy is not None:
        raise GitError(f"a {busy} is in progress", hint=f"finish or abort the {busy} first")


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        raise DataError(findings)


def _refuse_unstaged(repo: Repository, roots: Sequence[str]) -> None:
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


def _refuse_changed(state: State, files: Files, paths: tuple[str, ...]) -> None:
    """Locked files change only after a thaw; files that are only new are what freezing is for."""
    if state.lock is None:
        return
    there, _ = without_thawed(files, state.lock, state)
    roots = frozenset(paths)
    wrong = [f for f in frozen.compare(state.lock, there) if f.code != "FRZ002" and covered(roots, f.place.file)]
    _refuse(wrong)


def _hashes(repo: Repository, wanted: Files) -> dict[str, str]:
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


def _write(
    repo: Repository,
    state: State,
    lock: Lock,
    kind: Literal["freeze", "thaw"],
    paths: tuple[str, ...],
    why: str,
    by: str,
) -> Written:
    event = Event(event=kind, at=repo.world.timestamp(), by=by, why=why, paths=paths)
    name = f"{LEDGER}/{_next_ulid(repo, state)}.yaml"
    files = {name: dump_event(event), LOCK: lockfile.dump(lock)}
    oids = {path: repo.write_blob(data) for path, data in files.items()}
    old = (repo.top / LOCK).read_bytes() if state.lock_oid else None
    try:
        make_directory(repo.top / LEDGER)
        write_new(repo.top / name, files[name])
        sync_directory(repo.top / LEDGER)
        _replace(repo.top / LOCK, files[LOCK])
        _stage(repo, oids)
    except (OSError, GitError):
        _roll_back(repo, name, old)
        raise
    return _difference(state.lock or Lock(), lock, name, paths)


def _roll_back(repo: Repository, event: str, lock: bytes | None) -> None:
    with contextlib.suppress(OSError):
        (repo.top / event).unlink(missing_ok=True)
        if lock is None:
            (repo.top / LOCK).unlink(missing_ok=True)
        else:
            _replace(repo.top / LOCK, lock)


def _next_ulid(repo: Repository, state: State) -> str:
    """A ULID after every event that is there, so that the order of names is the order of events in any clock."""
    now = int(repo.world.now().timestamp() * 1000)
    times = {_milliseconds(path.rsplit("/", 1)[1].removesuffix(".yaml")): path for path in state.ledger}
    last = max(times, default=0)
    if last + 1 >= 1 << 48:
        message = "is named for the end of time, so no event can follow it"
        raise DataError([Finding(Place(times[last]), "LED101", message, "take it out of the commit that added it")])
    return ulid(max(now, last + 1), repo.world.random(10))


def _milliseconds(name: str) -> int:
    if len(name) != 26 or not set(name) <= set(ALPHABET):
        return 0
    number = 0
    for letter in name[:10]:
        number = number * 32 + ALPHABET.index(letter)
    return number


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    write_new(temporary, data)
    temporary.replace(path)
    sync_directory(path.parent)


def _stage(repo: Repository, oids: dict[str, str]) -> None:
    """These paths with exactly these blobs, and no other, into the user's index."""
    arguments = [word for path, oid in oids.items() for word in ("--cacheinfo", f"100644,{oid},{path}")]
    repo.git("update-index", "--add", *arguments)
    repo.git.code("update-index", "-q", "--refresh")


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
