"""Transcripts that this clone lets go: which runs, what keeps a run, and what the disk gets back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from evalrepo.discipline.numbering import RUNS
from evalrepo.repository.refs import LostRace
from evalrepo.repository.remote import Remote
from evalrepo.running.journal import journals
from evalrepo.running.tombstones import RESULTS, TOMBSTONE, Tombstone, bury
from evalrepo.running.transcripts import Left, known, local, sizes

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository


@dataclass(frozen=True, slots=True)
class Choice:
    """Which runs: these, those whose reference is older than so many days, or all but the newest so many."""

    runs: tuple[str, ...] = ()
    older_than: int | None = None
    keep: int | None = None


@dataclass(frozen=True, slots=True)
class Freed:
    """Blobs that nothing in the repository holds any more: how many, their bytes, and those on the disk."""

    blobs: int
    bytes: int
    disk: int


@dataclass
class Pruned:
    """What became of the runs that were chosen. `there`: of the named ones, those that hold nothing but results."""

    stones: list[Tombstone] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    there: int = 0
    freed: Freed = Freed(0, 0, 0)


def prune(repo: Repository, choice: Choice, remote: str | None, *, dry_run: bool = False) -> Pruned:
    """Leave tombstones for the chosen runs that the remote holds (None: nobody looks), whose journals are put away.

    UsageError for a run that is not here; GitError when the remote cannot be reached.
    """
    out = Pruned()
    refs = local(repo)
    wanted = _chosen(repo, choice, refs)
    held = Remote(repo, remote).refs(RUNS) if remote is not None and wanted else {}
    open_ = {path.stem for path in journals(repo.home)}
    gone: dict[str, int] = {}
    for run in wanted:
        lost = _prunable(repo, refs[run])
        if not lost:
            out.there += 1
        elif why := _kept(run, refs[run], open_, remote, held):
            out.left.append(why)
        elif stone := _buried(repo, run, refs[run], lost, remote or "", out, dry_run=dry_run):
            out.stones.append(stone)
            gone |= lost
    out.freed = _freed(repo, gone, [RUNS + stone.run for stone in out.stones] if dry_run else [])
    return out


def _chosen(repo: Repository, choice: Choice, refs: Mapping[str, str]) -> list[str]:
    """Named runs as they are named, others from the oldest on; those hold something to prune."""
    if choice.runs:
        return known(choice.runs, refs)
    rows = repo.git("for-each-ref", "--format=%(committerdate:unix) %(refname)", "--", RUNS).decode("utf-8", "replace")
    dated = [(int(when), ref.removeprefix(RUNS)) for when, ref in (row.split(" ", 1) for row in rows.splitlines())]
    full = sorted((when, run) for when, run in dated if run in refs and _prunable(repo, refs[run]))
    if choice.keep is not None:
        return [run for _, run in full[: max(0, len(full) - choice.keep)]]
    before = (repo.world.now() - timedelta(days=choice.older_than or 0)).timestamp()
    return [run for when, run in full if when < before]


def _prunable(repo: Repository, commit: str) -> dict[str, int]:
    """Blob id → bytes of what a reference holds beside its results; nothing of a tombstone."""
    tree = repo.tree(commit)
    if not tree.children().keys() - {RESULTS} or TOMBSTONE in tree.children():
        return {}
    results = {entry.oid for entry in tree.under(RESULTS).values()}
    return {oid: size for oid, size in sizes(repo, commit).items() if oid not in results}


def _kept(run: str, commit: str, open_: Collection[str], remote: str | None, held: Mapping[str, str]) -> Left | None:
    """Why a run is not pruned."""
    if run in open_:
        return Left(run, "its journal is open: it is at work, or it died", "the next evalrepo run records what it left")
    if remote is None or held.get(RUNS + run) == commit:
        return None
    if RUNS + run in held:
        why = f"{remote} holds another one, {held[RUNS + run][:12]}, and not {commit[:12]}"
    else:
        why = f"{remote} does not hold it"
    return Left(run, why, f"evalrepo transcripts push {remote} --run {run}")


def _buried(
    repo: Repository, run: str, commit: str, lost: Mapping[str, int], remote: str, out: Pruned, *, dry_run: bool
) -> Tombstone | None:
    """The tombstone, which stands now unless it is a dry run; None when somebody else moved the reference."""
    name, email = repo.identity() or ("evalrepo", "evalrepo@localhost")
    by, at = f"{name} <{email}>", repo.world.timestamp()
    stone = Tombstone(run, at, by, commit, len(lost), sum(lost.values()), remote)
    try:
        if not dry_run:
            bury(repo, RUNS + run, stone)
    except LostRace:
        out.left.append(Left(run, "its reference was moved meanwhile", f"evalrepo transcripts prune {run}"))
        return None
    return stone


def _freed(repo: Repository, gone: Mapping[str, int], without: Sequence[str]) -> Freed:
    """Of these blobs, those that nothing reaches: no reference (but those of `without`), reflog or index."""
    if not gone:
        return Freed(0, 0, 0)
    left_out = [f"--exclude={ref}" for ref in without]
    where = ("--all", "--reflog", "--indexed-objects")
    held = (
        repo.git("rev-list", "--objects", "--no-object-names", "--missing=allow-any", *left_out, *where)
        .decode("ascii")
        .split()
    )
    free = gone.keys() - set(held)
    return Freed(len(free), sum(gone[oid] for oid in free), _disk(repo, free))


def _disk(repo: Repository, oids: Iterable[str]) -> int:
    """Bytes that these objects take as git stores them."""
    feed = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    out = repo.git("cat-file", "--batch-check=%(objectsize:disk)", "--buffer", stdin=feed).split()
    return sum(int(word) for word in out if word.isdigit())
