"""Tuning loops: while wording is tuned, the run-set's instrument of the subject is frozen too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo.discipline import freeze as frozen
from evalrepo.discipline.history import thawed
from evalrepo.discipline.places import LEDGER, LOCK, covered
from evalrepo.discipline.said import loops
from evalrepo.errors import DataError, UsageError
from evalrepo.formats import lockfile
from evalrepo.records.lock import Lock
from evalrepo.store import closing
from evalrepo.store.freezing import hashes_of, refuse_changed, refuse_merge, refuse_unstaged
from evalrepo.store.ledger import append, signed
from evalrepo.store.loading import load, read_events, usable
from evalrepo.store.stored import Reader

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.store.loading import Loaded, LoadedScenario


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that was started or stopped: its event's path, and the files that were locked or let go."""

    event: str
    name: str
    subject: str
    paths: tuple[str, ...]


def start(repo: Repository, name: str, subject: str | None, why: str) -> Loop:
    """Freeze what the run-set's scenarios of a subject rest on, as it is staged.

    Raises UsageError for a loop that is open already, an unknown subject or one without scenarios; DataError and
    GitError as `freeze` does.
    """
    reader = Reader(repo, None, "the index")
    state = reader.state()
    tree = repo.tree("INDEX")
    loaded = usable(load(tree, repo))
    events = read_events(tree)[0]
    if name in loops(events):
        since = loops(events)[name].at[:10]
        raise UsageError(f"the loop {name} is open since {since}", hint=f"evalrepo tune stop {name} --why REASON")
    chosen = _subject(loaded, name, subject)
    held = frozenset(closing.of_reserve(tree, loaded))
    rests = {p for one in _scenarios(loaded, chosen) for p in closing.rests_on(tree, loaded, one)}
    paths = tuple(sorted(path for path in rests if not covered(held, path) and tree.under(path)))
    files = reader.files(sorted({*frozen.roots_of(state.lock), *paths}))
    refuse_merge(reader)
    plan = frozen.plan(state.lock, paths, files, whole=False)
    refuse_unstaged(repo, (*paths, LOCK, LEDGER))
    refuse_changed(state, files, paths)
    wrong = frozen.refusals(plan.wanted)
    if wrong:
        raise DataError(wrong)
    lock = frozen.built(plan, hashes_of(repo, plan.wanted), repo.object_format)
    event = signed(repo, "tune", why, name=name, state="start", subject=chosen, paths=paths)
    return Loop(append(repo, event, {LOCK: lockfile.dump(lock)}), name, chosen, paths)


def stop(repo: Repository, name: str, why: str) -> Loop:
    """Let go of what only this loop holds. Raises UsageError for a loop that is not open, or of which something is
    thawed, DataError for files that were changed while it was open."""
    reader = Reader(repo, None, "the index")
    state = reader.state()
    tree = repo.tree("INDEX")
    events = read_events(tree)[0]
    open_ = loops(events)
    if name not in open_:
        raise UsageError(f"there is no open loop {name}", hint=f"open: {', '.join(open_) or 'none'}")
    begun = open_.pop(name)
    refuse_merge(reader)
    refuse_unstaged(repo, (LOCK, LEDGER))
    refuse_changed(state, reader.files(frozen.roots_of(state.lock)), begun.paths)
    loose = [path for path in thawed(events) if covered(frozenset(begun.paths), path)]
    if loose:
        raise UsageError(f"{loose[0]} is thawed", hint="evalrepo freeze closes it; then stop the loop")
    others = {path for event in open_.values() for path in event.paths}
    held = frozenset({*others, *closing.of_reserve(tree, load(tree, repo))})
    paths = tuple(path for path in begun.paths if not covered(held, path))
    event = signed(repo, "tune", why, name=name, state="stop", subject=begun.subject, paths=paths)
    lock = lockfile.dump(_let_go(state.lock or Lock(), paths))
    return Loop(append(repo, event, {LOCK: lock}), name, begun.subject or "", paths)


def _let_go(lock: Lock, paths: Sequence[str]) -> Lock:
    """The lock without these roots and their lines."""
    gone = frozenset(paths)
    lines = tuple(line for line in lock.lines if not covered(gone, line.path))
    return Lock(tuple(root for root in lock.roots if root not in gone), lines, lock.object_format, lock.version)


def _subject(loaded: Loaded, name: str, subject: str | None) -> str:
    """The subject that is tuned: the one named, the one that the loop is called like, or the only one."""
    known = list(loaded.config.subjects)
    chosen = subject or (name if name in known else known[0] if len(known) == 1 else None)
    if chosen is None:
        raise UsageError(f"which subject does the loop {name} tune?", hint=f"--subject, one of {', '.join(known)}")
    if chosen not in known:
        raise UsageError(f"unknown subject {chosen}", hint=f"known: {', '.join(known) or 'none'}")
    if not _scenarios(loaded, chosen):
        raise UsageError(f"no scenario of the run-set measures {chosen}", hint="evalrepo new writes one")
    return chosen


def _scenarios(loaded: Loaded, subject: str) -> list[LoadedScenario]:
    return [one for one in loaded.of_set("run-set").values() if subject in one.scenario.subject]
