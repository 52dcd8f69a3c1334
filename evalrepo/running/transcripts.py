"""Run references here and at a remote: what each side lacks, pushed and fetched one decision a run.

A whole reference is never replaced by a tombstone, on either side, nor by another whole one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from evalrepo.discipline.numbering import RUNS
from evalrepo.errors import UsageError
from evalrepo.repository.refs import LostRace
from evalrepo.repository.remote import Move, Remote, remotes
from evalrepo.running.tombstones import PRUNED, pruned_commit

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository

_T = TypeVar("_T")
BATCH = 20
"""References a transfer: what an interruption leaves undone."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A run's reference that was moved to `commit`, with the files that it holds and their bytes; whether only a
    tombstone stands there."""

    run: str
    commit: str
    files: int
    bytes: int
    tombstone: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """A run that was asked for and left as it is: why, and the next step ("" for none)."""

    run: str
    why: str
    how: str = ""


@dataclass
class Outcome:
    """What became of the runs: moved, there already (`there`), pruned here and not asked for by name (`pruned`)."""

    remote: str
    moved: list[Moved] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    there: int = 0
    pruned: int = 0


def chosen_remote(repo: Repository, name: str | None) -> str:
    """The remote that is meant: the named one, the only one, or origin. UsageError when there is none such."""
    known = remotes(repo)
    if name is not None:
        if name not in known:
            hint = f"git remote add {name} URL" if not known else f"there are: {', '.join(known)}"
            raise UsageError(f"no remote is called {name}", hint=hint)
        return name
    if len(known) == 1:
        return known[0]
    if "origin" in known:
        return "origin"
    if not known:
        raise UsageError("this repository has no remote", hint="git remote add origin URL")
    raise UsageError(f"which remote? There are {', '.join(known)}", hint=f"name one: {known[0]}")


def relation(here: str, there: str, old_here: str | None, old_there: str | None) -> str:
    """How two commits of one run relate: `same`, `pruned here`, `pruned there`, `pruned both`, `differs`. `old_…`: the
    commit that a tombstone stands for, None for a whole one. Pure."""
    if here == there:
        return "same"
    if old_here is None:
        return "pruned there" if old_there == here else "differs"
    if old_here == there:
        return "pruned here"
    return "pruned both" if old_there == old_here else "differs"


def sizes(repo: Repository, commit: str) -> dict[str, int]:
    """Blob id → bytes of all that a commit holds, a blob once."""
    rows = repo.git("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0")[:-1]
    words = (row.split(b"\t", 1)[0].split() for row in rows)
    return {oid.decode("ascii"): int(size) for _, kind, oid, size in words if kind == b"blob" and size.isdigit()}


class Sides:
    """Both sides' references of runs. Objects of the remote are fetched only where they must be looked at."""

    def __init__(self, repo: Repository, remote: str) -> None:
        self.repo = repo
        self.remote = Remote(repo, remote)
        self.here = local(repo)
        found = self.remote.refs(RUNS)
        self.there = {ref.removeprefix(RUNS): oid for ref, oid in found.items() if "/" not in ref.removeprefix(RUNS)}
        self.old = cache(lambda commit: pruned_commit(repo.tree(commit)))

    def relation(self, run: str) -> str:
        """See `relation`; of a run that both sides have."""
        here, there = self.here[run], self.there[run]
        if here == there:
            return "same"
        old = self.old(here)
        if old == there:
            return "pruned here"
        if self.repo.git.code("cat-file", "-e", f"{there}^{{commit}}")[0]:
            self.remote.fetch(RUNS + run)
        return relation(here, there, old, self.old(there))

    def moved(self, run: str, commit: str) -> Moved:
        """A run's reference at a commit, with its sizes."""
        found = sizes(self.repo, commit)
        return Moved(run, commit, len(found), sum(found.values()), self.old(commit) is not None)

    def differs(self, run: str) -> Left:
        """Two runs of one name."""
        name = self.remote.name
        why = f"{name} holds another one: {self.there[run][:12]}, here {self.here[run][:12]}; neither was touched"
        return Left(run, why, f"git fetch {name} {RUNS}{run} && git log -p FETCH_HEAD")


def local(repo: Repository) -> dict[str, str]:
    """Run → commit of this clone's references."""
    return {ref.removeprefix(RUNS): commit for ref, commit in repo.refs(RUNS).items()}


def known(runs: Sequence[str], have: Mapping[str, str]) -> list[str]:
    """These runs, or all; UsageError for one that is not here."""
    for run in runs:
        if run not in have:
            raise UsageError(f"this clone holds no run {run}", hint="git for-each-ref refs/evalrepo/runs lists them")
    return list(dict.fromkeys(runs)) or list(have)


def push(repo: Repository, remote: str, runs: Sequence[str]) -> Outcome:
    """Give the remote what it lacks of these runs (none: all), and whole references over their own tombstones.
    UsageError for a run that is not here; GitError when the remote cannot be reached."""
    wanted = known(runs, local(repo))
    sides = Sides(repo, remote)
    out = Outcome(remote)
    moves = []
    for run in wanted:
        state = sides.relation(run) if run in sides.there else "lacking"
        if state == "differs":
            out.left.append(sides.differs(run))
        elif state in ("lacking", "pruned there"):
            moves.append(Move(RUNS + run, sides.here[run], sides.there.get(run)))
        else:
            out.there += 1
    for batch in _batches(moves):
        refused = sides.remote.push_all(batch)
        for move in batch:
            run = move.ref.removeprefix(RUNS)
            if move.ref in refused:
                out.left.append(Left(run, f"{remote} refused it: {refused[move.ref]}", "ask who keeps it, then again"))
            else:
                out.moved.append(sides.moved(run, move.new))
    return out


def fetch(repo: Repository, remote: str, runs: Sequence[str], *, pruned: bool = False) -> Outcome:
    """Bring what this clone lacks of these runs (none: all that the remote has). Where a tombstone stands here the
    whole one comes back when the run is named, or with `pruned`. GitError when the remote cannot be reached."""
    sides = Sides(repo, remote)
    out = Outcome(remote)
    new, back = [], []
    for run in dict.fromkeys(runs) or sides.there:
        state = _state(sides, run)
        if state == "new":
            new.append(run)
        elif state == "pruned here" and (runs or pruned):
            back.append(run)
        elif state == "pruned here":
            out.pruned += 1
        elif why := _beyond(sides, run, state, named=bool(runs)):
            out.left.append(why)
        else:
            out.there += 1
    for batch in _batches(new):
        sides.remote.fetch(*(f"{RUNS}{run}:{RUNS}{run}" for run in batch))
        out.moved += (sides.moved(run, repo.refs(RUNS + run)[RUNS + run]) for run in batch)
    for batch in _batches(back):
        sides.remote.fetch(*(RUNS + run for run in batch))
        for run in batch:
            _return(sides, run, out)
    return out


def _state(sides: Sides, run: str) -> str:
    if run in sides.there:
        return sides.relation(run) if run in sides.here else "new"
    return "alone" if run in sides.here else "nowhere"


def _beyond(sides: Sides, run: str, state: str, *, named: bool) -> Left | None:
    """Why a run cannot be brought; None when this clone has what there is."""
    name = sides.remote.name
    if state == "differs":
        return sides.differs(run)
    if state == "nowhere":
        return Left(
            run, f"{name} does not hold it", f"in the clone that made it: evalrepo transcripts push --run {run}"
        )
    if named and sides.old(sides.here[run]) is not None:
        lacks = "has only a tombstone of it too" if run in sides.there else "does not hold it"
        how = f"in a clone that has them: evalrepo transcripts push --run {run}"
        return Left(run, f"{PRUNED}, and {name} {lacks}", how)
    return None


def _return(sides: Sides, run: str, out: Outcome) -> None:
    """The whole reference in the place of its tombstone."""
    commit = sides.there[run]
    try:
        sides.repo.move_ref(RUNS + run, commit, sides.here[run])
    except LostRace:
        out.left.append(Left(run, "its reference was moved meanwhile", "fetch again"))
    else:
        out.moved.append(sides.moved(run, commit))


def _batches(many: Iterable[_T]) -> Iterator[list[_T]]:
    listed = list(many)
    for start in range(0, len(listed), BATCH):
        yield listed[start : start + BATCH]
