"""`verify --since`: every commit of a range against each of its parents, and what no commit shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import fsdecode
from typing import TYPE_CHECKING

from evalrepo.discipline import history
from evalrepo.discipline.freeze import deep
from evalrepo.discipline.nodes import Traced
from evalrepo.discipline.places import CONFIG, covers
from evalrepo.discipline.results_history import FOLDER
from evalrepo.discipline.since import Stated, stated
from evalrepo.discipline.told import Told, acknowledged
from evalrepo.discipline.walk import Walked
from evalrepo.errors import DataError, Finding, GitError, Place
from evalrepo.store.stored import Reader, hashes
from evalrepo.store.walking import Range, walked

if TYPE_CHECKING:
    from evalrepo.records.config import Config
    from evalrepo.repository.repo import Repository
    from evalrepo.store.indexing import Index


@dataclass(frozen=True)
class Since:
    """The answer: findings, oldest commit first; how many commits were looked at; `start` is the commit before them
    ("" for none); how many files are locked at the end, and what is thawed there."""

    told: tuple[Stated, ...]
    commits: int
    start: str
    locked: int
    thawed: tuple[str, ...] = ()

    @property
    def intact(self) -> bool:
        """Whether nothing is wrong that is not acknowledged."""
        return all(one.finding.warning for one in self.told)


def since(
    repo: Repository, rev: str, tip: str = "HEAD", *, deeply: bool = False, forced: bool = False, results: bool = False
) -> Since:
    """What happened between REV and `tip`. A REV of zeros is the beginning of history.

    Where REV is no ancestor, the merge base is the start; the branch was rewritten then, or with a REV that is the
    name of another branch it has only gone its own way (never with `forced`). `results`: what was done to result files
    too. GitError where history is too short.
    """
    last = repo.resolve(tip)
    if rev and not rev.strip("0"):
        return judged(Range(repo, last, (), ""), [], deeply=deeply, results=results)
    base = repo.resolve(rev)
    if repo.is_ancestor(base, last):
        return judged(Range(repo, last, (base,), base), [], deeply=deeply, results=results)
    start = repo.merge_base(base, last) or ""
    more = _rewritten(repo, rev, base, last, start, gone=forced or not _elsewhere(repo, rev))
    return judged(Range(repo, last, (base,), start), more, deeply=deeply, results=results)


def judged(span: Range, more: Sequence[Stated], *, deeply: bool = False, results: bool = False) -> Since:
    """The findings of a range, after those that are known already."""
    walk = walked(span)
    open_, lock = _open(walk), walk.last.lock
    found = [*_replaced(span.repo), *more]
    found += [stated(t, walk.last.ledger.events, stands=walk.stands(t)) for t in walk.traced]
    found += [stated(t, walk.last.ledger.events, stands=False) for t in _goals(span)]
    found += _results(span) if results else ()
    found += [Stated(Told(_is_open(path))) for path in open_]
    if deeply and lock is not None:
        found += [Stated(Told(f)) for f in deep(lock, hashes(span.repo, (line.oid for line in lock.lines)))]
    return Since(tuple(found), len(span.commits), span.start, len(lock.lines) if lock else 0, open_)


def _results(span: Range) -> Iterator[Stated]:
    """What the range did to result files after they were added."""
    if not any(covers(FOLDER, path) for path in span.touched):
        return
    from evalrepo.store.loading import read_events
    from evalrepo.store.results_past import past

    found = past(span.repo, span.start or None, span.tip)
    events = read_events(span.repo.tree(span.tip))[0] if found else {}
    for told in acknowledged(found, events):
        finding = told.finding._replace(message=f"commit {told.commit[:12]}: {told.finding.message}")
        if told.event:
            said = f"{finding.message}; acknowledged in {told.event}"
            finding = finding._replace(message=said, hint="", warning=True)
        yield Stated(told._replace(finding=finding))


def _open(walk: Walked) -> tuple[str, ...]:
    """What is thawed where the range ends, and holds a file."""
    loose = [path for path in walk.last.loose if ("file", path) not in walk.last.wrong]
    return history.thawed(walk.last.ledger.events) if loose else ()


def _is_open(path: str) -> Finding:
    hint = "while it is open the reserve is not measured; evalrepo freeze closes it"
    return Finding(Place(path), "FRZ013", "is thawed", hint, warning=True)


def _elsewhere(repo: Repository, rev: str) -> bool:
    """Whether REV names a branch that HEAD is not on: to leave it takes nothing away from it."""
    out = repo.git.code("rev-parse", "--symbolic-full-name", "--end-of-options", rev)[1]
    name = (fsdecode(out).splitlines() or [""])[-1]  # git 2.39 prints the option too
    if not name.startswith(("refs/heads/", "refs/remotes/")):
        return False
    own = (repo.branch() or "").removeprefix("refs/heads/")
    there = name.split("/", 2)[2] if name.startswith("refs/heads/") else name.split("/", 3)[-1]
    return there != own


def _rewritten(repo: Repository, rev: str, base: str, last: str, start: str, *, gone: bool) -> list[Stated]:
    from evalrepo.store.results_past import rewritten

    where = f"their merge base {start[:12]}" if start else "the first commit, for they have no common ancestor"
    if not gone:
        text = f"has left {rev} ({base[:12]}), which is no ancestor of it; checked from {where}"
        return [Stated(Told(Finding(Place("HEAD"), "FRZ018", text, f"git merge {rev}, then again", warning=True)))]
    text = f"the branch was rewritten: {rev} ({base[:12]}) is no ancestor of it; checked from {where}"
    hint = f"git log {last[:12]}..{base[:12]} shows what is gone"
    found = [Stated(Told(Finding(Place("HEAD"), "FRZ018", text, hint, warning=True)))]
    found += map(Stated, rewritten(repo, base, last))
    return found + [
        Stated(Told(f._replace(message=f"rewritten away: {f.message}"), base)) for f in _gone(repo, base, last)
    ]


def _gone(repo: Repository, base: str, last: str) -> list[Finding]:
    """What the rewritten branch lacks of what was said."""
    try:
        now = Reader(repo, last, last[:12]).state()
    except DataError:
        return []  # the walk tells that the lock cannot be read
    return history.check(now, [Reader(repo, base, base[:12]).state(of=now)])


def _replaced(repo: Repository) -> Iterator[Stated]:
    for ref in repo.refs("refs/replace/"):
        oid = ref.removeprefix("refs/replace/")
        text = f"shows another object than {oid[:12]} to everybody here but evalrepo"
        yield Stated(Told(Finding(Place(ref), "FRZ017", text, f"git replace -d {oid}")))
    grafts = repo.common_dir / "info" / "grafts"
    if grafts.is_file() and grafts.read_bytes().strip():
        text = "gives commits other parents than they have, to everybody here but evalrepo"
        yield Stated(Told(Finding(Place("info/grafts"), "FRZ017", text, f"rm {grafts}")))


def _goals(span: Range) -> list[Traced]:
    """Moved goals, by what the start of the range says of subjects and scenarios."""
    from evalrepo.discipline.moved import Goals, moved
    from evalrepo.store.indexing import measured_by, owners_of

    index = (
        _index(span) if span.start and any(not _ours(c.path) for each in span.plain.values() for c in each) else None
    )
    if index is None:
        return []
    paths = [p for p in dict.fromkeys(c.path for each in span.plain.values() for c in each) if not _ours(p)]
    owners = owners_of(index, paths)
    if not owners:
        return []
    measured = measured_by(index, paths)
    if any(c.path == CONFIG for each in span.plain.values() for c in each):
        measured[CONFIG] = _redefined(span)
    there = set(Reader(span.repo, span.start, span.start).files(measured)) if measured else set()
    goals = Goals(lambda p: owners.get(p, ()), lambda p: measured.get(p, ()), there.__contains__)
    found = moved(span.plain, goals, span.start)
    warning = bool(found) and all(c.discipline.moved_goal == "warning" for c in _configs(span))
    return [t._replace(finding=t.finding._replace(warning=warning)) for t in found]


def _ours(path: str) -> bool:
    return path.startswith(("evalrepo.", "AgentsReport/evaluation/"))


def _index(span: Range) -> Index | None:
    """Subjects and scenarios at the start, or at the end where the start's cannot be read."""
    from evalrepo.store.indexing import index

    for commit in (span.start, span.tip):
        with suppress(DataError, GitError):
            return index(span.repo.tree(commit), span.repo)
    return None


def _configs(span: Range) -> list[Config]:
    from evalrepo.store.loading import load

    return [load(span.repo.tree(commit), span.repo, only=()).config for commit in (span.start, span.tip)]


def _redefined(span: Range) -> set[str]:
    """Subjects whose defaults, checks among them, the range changed in the config."""
    before, after = (config.subjects for config in _configs(span))
    return {name for name in before.keys() & after.keys() if before[name].defaults != after[name].defaults}
