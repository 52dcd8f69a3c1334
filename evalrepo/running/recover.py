"""Dead runs: what they left is folded into records and landed, by whoever runs next. Again changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalrepo.errors import EvalrepoError, GitError, HarnessError
from evalrepo.repository import stale
from evalrepo.running import claims, journal, leases, story
from evalrepo.running.journal import Journal
from evalrepo.running.keep import Landed, finish, run_ref
from evalrepo.store import landing_events

if TYPE_CHECKING:
    from evalrepo.repository.repo import Repository
    from evalrepo.running.story import Story
    from evalrepo.world import World


@dataclass(frozen=True, slots=True)
class DeadRun:
    """A run that died: its journal, UTC start, and how many attempts were started and ended. `problem` says why the
    journal cannot be read, "" when it can.
    """

    run: str
    path: Path
    start: str = ""
    started: int = 0
    ended: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Recovered:
    """A dead run that was finished, or why it could not be: then nothing is lost, and its journal stays.

    `interrupted` counts attempts that had not ended.
    """

    run: str
    landed: Landed | None
    interrupted: int = 0
    error: EvalrepoError | None = None


def dead_runs(repo: Repository) -> list[DeadRun]:
    """Runs that died and were not recovered, by run id. Changes nothing."""
    return [_looked_at(path) for path in journal.journals(repo.home) if not journal.lives(path)]


def _looked_at(path: Path) -> DeadRun:
    try:
        told = story.fold(story.read(path), path)
    except EvalrepoError as error:
        return DeadRun(path.stem, path, problem=str(error))
    if told is None:
        return DeadRun(path.stem, path)
    return DeadRun(path.stem, path, told.header.start, len(told.starts), len(told.ends))


def recover(repo: Repository, world: World) -> list[Recovered]:
    """Finish every dead run, each held by its journal's lock, so that two processes never work on the same one.

    A run whose results cannot land now (a merge in progress, a damaged journal) is reported with its error and left.
    HarnessError when the git directory cannot be written.
    """
    try:
        journal.sweep(repo.home)
        claims.sweep(repo.home)
        leases.sweep(repo)
        landing_events.settle(repo)
        return _all(repo, world)
    except OSError as error:
        raise HarnessError(
            f"{error.filename or repo.home}: {error.strerror}; a dead run could not be recovered",
            hint="nothing is lost; make room or make the git directory writable, then run again",
        ) from error


def _all(repo: Repository, world: World) -> list[Recovered]:
    done = []
    for path in journal.journals(repo.home):
        try:
            adopted = Journal.adopt(path)
        except EvalrepoError as error:
            done.append(Recovered(path.stem, None, error=error))
            continue
        if adopted is not None:
            with contextlib.closing(adopted):
                done.append(_recover(repo, world, adopted))
    return done


def _segments(path: Path) -> Iterator[Path]:
    number = 0
    while number == 0 or story.segment_path(path, number).exists():
        yield story.segment_path(path, number)
        number += 1


def _recover(repo: Repository, world: World, adopted: Journal) -> Recovered:
    interrupted = 0
    died = max(segment.stat().st_mtime for segment in _segments(adopted.path))
    try:
        told = adopted.read()
        if told is not None:
            interrupted = len(told.unended)
            stale.clear(repo, _died(repo, told, died))
        return Recovered(adopted.run, finish(repo, world, adopted), interrupted)
    except EvalrepoError as error:
        return Recovered(adopted.run, None, interrupted, error)


def _died(repo: Repository, told: Story, last: float) -> stale.Died:
    committing = [t for t in told.told if t["line"] == "committing"]
    return stale.Died(
        own=(run_ref(told.header.run),),
        moving=tuple(dict.fromkeys(t["ref"] for t in committing)),
        commits=tuple(t["commit"] for t in committing),
        git_dirs=tuple(dict.fromkeys([repo.git_dir, *_git_dirs(repo, {t["top"] for t in told.told})])),
        began=told.clock,
        last=last,
    )


def _git_dirs(repo: Repository, tops: set[str]) -> Iterator[Path]:
    for top in sorted(tops - {"", str(repo.top)}):
        with contextlib.suppress(GitError, OSError):
            yield type(repo).open(replace(repo.world, cwd=Path(top))).git_dir
