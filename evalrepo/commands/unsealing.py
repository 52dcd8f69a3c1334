"""Sealed transcripts of the reserve: which were opened, and opening one with a reason that the ledger keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import click

from evalrepo.errors import UsageError

if TYPE_CHECKING:
    from evalrepo.records.record import Record
    from evalrepo.repository.repo import Repository


class Seals:
    """What the ledger of the work tree says was unsealed or retired; read when a reserve's record asks."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo

    @cached_property
    def _opened(self) -> tuple[frozenset[str], frozenset[str]]:
        from evalrepo.discipline.looks import opened
        from evalrepo.store.loading import read_events

        return opened(read_events(self._repo.tree("WORKTREE"))[0].values())

    def opened(self, record: Record) -> bool:
        """Whether anybody may read the record's transcripts."""
        if record.set != "reserve":
            return True
        scenarios, runs = self._opened
        return record.scenario in scenarios or record.executed in runs


def unseal(repo: Repository, records: Sequence[Record], why: str) -> list[str]:
    """Open what is sealed of these records; the scenarios that were. UsageError when nothing of them is.

    The event is committed before anything is shown.
    """
    from evalrepo.store.ledger import commit, signed

    seals = Seals(repo)
    if all(record.set != "reserve" for record in records):
        raise UsageError("nothing of this is sealed: it is of the run-set", hint="leave out --unseal")
    closed = [record for record in records if not seals.opened(record)]
    names = list(dict.fromkeys(record.scenario for record in closed))
    if not names:
        return []
    made = commit(repo, signed(repo, "unseal", why, scenarios=tuple(names)), f"evalrepo: unseal {', '.join(names)}")
    click.echo(f"unsealed: {', '.join(names)}; every later look at them says so\ncommitted: {made[:9]}", err=True)
    return names


def told(repo: Repository, record: Record) -> Iterator[str]:
    """What happened in each rep of a record whose transcripts are open."""
    from evalrepo.render.safe import wrapped
    from evalrepo.render.told import told
    from evalrepo.results import RUNS
    from evalrepo.running.stored import Lacking, transcript_of
    from evalrepo.store import load

    ref = RUNS + record.executed
    commit = repo.refs(ref).get(ref)
    agents = load(repo.tree("WORKTREE"), repo, only=()).config.agents
    for rep in record.last_attempts():
        found = transcript_of(record, rep, repo.tree(commit) if commit else None, agents, opened=True)
        yield f"rep {rep.rep}, what happened:"
        yield from wrapped(found.why, first="  ", then="  ") if isinstance(found, Lacking) else told(found)
