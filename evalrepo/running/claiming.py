"""A run's claim on a remote before its first rep: what cannot be claimed is not run (`discipline.claims`)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalrepo.discipline.claims import REF, Claim, tombstone
from evalrepo.errors import GitError, Interrupted
from evalrepo.repository.objects import Entry
from evalrepo.repository.refs import LostRace
from evalrepo.repository.remote import Remote

if TYPE_CHECKING:
    import threading

    from evalrepo.repository.repo import Repository
    from evalrepo.running.story import Header, Planned

TRIES = 12
"""Attempts while others claim at the same time."""


def claim(repo: Repository, remote: str, headers: Sequence[Header], cancel: threading.Event) -> None:
    """Push one claim a run. Raises GitError when the remote refuses or cannot be reached: nothing was claimed then."""
    by = _person(repo)
    claims = [Claim(h.run, h.clone, by, h.start, tuple(map(_cell, h.cells))) for h in headers]
    try:
        _add(repo, remote, {c.name: c.encoded() for c in claims}, f"claim {', '.join(c.run for c in claims)}", cancel)
    except GitError as error:
        raise GitError(
            f"the run could not be claimed at {remote}, so nothing was run: {error.message}",
            hint=f"runs here are claimed first (discipline.claims in evalrepo.yaml): git ls-remote {remote}, then run "
            "again; offline, --dry-run and selftest go on",
        ) from error


def give_up(repo: Repository, remote: str, runs: Sequence[str]) -> None:
    """Leave tombstones for claimed runs that started no rep. A claim whose tombstone cannot be pushed stays open."""
    at, by = repo.world.timestamp(), _person(repo)
    files = dict(tombstone(run, by, at, "no rep was started") for run in runs)
    try:
        _add(repo, remote, files, f"no rep of {', '.join(runs)}", None)
    except GitError:
        return


def refreshed(repo: Repository, remote: str) -> tuple[dict[str, str], dict[str, str]]:
    """The claims that were known here and those at the remote now (file name → blob id), fetched. What is known moves
    on only where it loses nothing."""
    known = repo.refs(REF).get(REF)
    there = _fetched(repo, Remote(repo, remote))
    before, now = listed(repo, known), listed(repo, there)
    if there is not None and there != known and all(now.get(name) == oid for name, oid in before.items()):
        repo.move_ref(REF, there, known)
    return before, now


def listed(repo: Repository, commit: str | None) -> dict[str, str]:
    """File name → blob id of the claims at a commit."""
    return {name: entry.oid for name, entry in repo.tree(commit).children().items()} if commit else {}


def _fetched(repo: Repository, remote: Remote) -> str | None:
    tip = remote.tip(REF)
    if tip is not None and repo.git.code("cat-file", "-e", f"{tip}^{{commit}}")[0]:
        remote.fetch(REF)
    return tip


def _add(repo: Repository, remote: str, files: Mapping[str, bytes], what: str, cancel: threading.Event | None) -> None:
    """Fetch, add, push, again while somebody else is quicker. Claims that are gone there and known here go back."""
    there = Remote(repo, remote)
    new = {name: Entry("100644", repo.write_blob(data)) for name, data in files.items()}
    for attempt in range(TRIES):
        if cancel is not None and cancel.is_set():
            raise Interrupted("interrupted before the first rep; nothing was run")
        known = repo.refs(REF).get(REF)
        tip = _fetched(repo, there)
        entries = {name: Entry("100644", oid) for name, oid in listed(repo, known).items()} | new
        commit = repo.write_commit(repo.write_tree(entries, base=tip), [tip] if tip else [], f"evalrepo: {what}\n")
        if there.push(REF, commit, tip):
            with contextlib.suppress(LostRace):  # another run of this clone was quicker; the remote has both
                repo.move_ref(REF, commit, known)
            return
        time.sleep(0.05 * (attempt + 1) * (1 + repo.world.random(1)[0] / 255))
    raise GitError(f"others claimed at the same moment, {TRIES} times in a row")


def _person(repo: Repository) -> str:
    name, email = repo.identity() or ("evalrepo", "evalrepo@localhost")
    return f"{name} <{email}>"


def _cell(planned: Planned) -> dict[str, object]:
    header = planned.header
    return {
        "scenario": header.scenario,
        "set": header.set,
        "agent": header.agent,
        "tier": header.tier,
        "purpose": str(header.purpose),
        "reps": planned.reps,
        "digests": list(header.digests.key()),
    }
