"""Looks that this clone knows of: those of every branch, and those whose commits were reset or rewritten away.

A look that no branch has any more was taken all the same. Its event is found in what git remembers of where branches
were, or, when that is gone, by the records, journals and claims of its reps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalrepo.discipline.looks import Budget, Look, Trace, budget, of_event, of_subject, untold
from evalrepo.discipline.places import LEDGER
from evalrepo.errors import EvalrepoError

if TYPE_CHECKING:
    from evalrepo.records.event import Event
    from evalrepo.records.record import CellHeader
    from evalrepo.records.row import Row
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.store import Loaded

LOOK = "look"


@dataclass(frozen=True)
class Known:
    """Events by ledger path, those that no branch has any more with the commit that added them, and traces."""

    events: Mapping[str, Event]
    gone: Mapping[str, tuple[Event, str]] = field(default_factory=dict)
    traces: tuple[Trace, ...] = ()

    def lost(self, subject: str) -> list[Look]:
        """Looks at a subject's reserve that no event of a branch says."""
        gone = [
            of_event(event, path, f"git cherry-pick {commit[:12]}")
            for path, (event, commit) in self.gone.items()
            if event.event == LOOK
        ]
        told: dict[str, list[Look]] = {}
        for name in {name for trace in self.traces for name in trace.subjects}:
            told[name] = [*of_subject(self.events, name), *(look for look in gone if look.subject == name)]
        return [*(look for look in gone if look.subject == subject), *untold(self.traces, told, subject)]

    def every_look(self, subject: str) -> list[Look]:
        """All looks at a subject's reserve."""
        return [*of_subject(self.events, subject), *self.lost(subject)]

    @property
    def every(self) -> dict[str, Event]:
        """Events with the unsealings that were reset away: who has read a transcript has read it."""
        return {**self.events, **{p: e for p, (e, _) in self.gone.items() if e.event == "unseal"}}

    def budget(
        self, repo: Repository, subject: str, twins: Mapping[str, str], now: Mapping[str, Scenario], allowed: int
    ) -> Budget:
        """What is spent of the looks at a subject's reserve, whose twins (id → digest of what they ask) are `now`."""
        from evalrepo.store.rotating import copies

        lost = self.lost(subject)
        added = [of_event(e, p) for p, e in self.events.items() if e.event == "budget" and e.subject == subject]
        held = copies(repo, [*self.every_look(subject), *added], twins, now)
        return budget(self.every, subject, twins, allowed, lost=lost, copies=held)


def known(repo: Repository, loaded: Loaded) -> Known:
    """All that this clone knows."""
    events = events_everywhere(repo)
    return Known(events, _gone(repo, events), tuple(_traces(repo, loaded)))


def events_everywhere(repo: Repository) -> dict[str, Event]:
    """Events of the work tree and of every branch and remote branch that this clone knows, by path."""
    refs = {**repo.refs("refs/heads/"), **repo.refs("refs/remotes/")}
    commits = [repo.tree(oid) for oid in dict.fromkeys(refs.values())]
    head = [repo.tree("HEAD")] if repo.head() else []
    found = {path: event for path, event, _ in _events([*commits, *head])}
    from evalrepo.store.loading import read_events

    return dict(sorted({**found, **read_events(repo.tree("WORKTREE"))[0]}.items()))


def _events(trees: Iterable[Tree]) -> Iterator[tuple[str, Event, Tree]]:
    """Path, event and tree of every event; each ledger is read once, however many trees share it."""
    from evalrepo.store.loading import read_events

    seen: set[str] = set()
    for tree in trees:
        ledger = tree.tree_oid(LEDGER)
        if ledger is not None and ledger not in seen:
            seen.add(ledger)
            yield from ((path, event, tree) for path, event in read_events(tree)[0].items())


def _gone(repo: Repository, events: Mapping[str, Event]) -> dict[str, tuple[Event, str]]:
    """Looks and unsealings of commits that only the reflogs know, with the first commit that has each."""
    here = ["HEAD"] if repo.head() else []
    code, out, _ = repo.git.code(
        "rev-list", "--reverse", "--topo-order", "--reflog", "--not", "--branches", "--remotes", *here, "--", LEDGER
    )
    found: dict[str, tuple[Event, str]] = {}
    for path, event, tree in _events(map(repo.tree, out.decode("ascii").split())) if not code else ():
        if path not in events and event.event in (LOOK, "unseal"):
            found.setdefault(path, (event, tree.commit or ""))
    return found


def _traces(repo: Repository, loaded: Loaded) -> Iterator[Trace]:
    runs: set[str] = set()
    for trace, run in (*_recorded(repo, loaded), *_unfinished(repo)):
        runs.add(run)
        yield trace
    yield from _claimed(repo, loaded, runs)


def _recorded(repo: Repository, loaded: Loaded) -> Iterator[tuple[Trace, str]]:
    """Of every record at hand; those of run refs among them, which no reset touches."""
    from evalrepo.commands.finding_records import at_hand
    from evalrepo.results import parts

    rows = at_hand(repo)
    run_set = loaded.of_set("run-set")
    found = rows.select({cell: None for cell in rows.cells() if cell[0] not in run_set})
    looks = [row for some in found.values() for row in some if row.purpose == LOOK]
    known = parts(rows.git, [row for row in looks if len(row.subjects) > 1])
    for row in looks:
        yield _trace(row, known.get(row.oid, {}).get("subject", {})), row.run


def _trace(row: Row, parts: Mapping[str, str]) -> Trace:
    lost = f"run {row.executed} measured it: evalrepo verify --records"
    digests = {row.subjects[0]: row.subject} if len(row.subjects) == 1 else _each(row.subjects, parts)
    cell = f"{row.agent}/{row.tier}"
    return Trace(digests, row.subject, row.scenario, row.stimulus, cell, row.start, row.commit, lost)


def _each(subjects: Iterable[str], parts: Mapping[str, str]) -> dict[str, str]:
    """The digest of each of several subjects that were measured together."""
    from evalrepo.repository.digests import digest

    found = {}
    for name in subjects:
        mine = {part: parts.get(f"{name}:{part}") for part in ("paths", "install")}
        found[name] = digest(mine) if None not in mine.values() else ""
    return found


def _unfinished(repo: Repository) -> Iterator[tuple[Trace, str]]:
    """Of the journals of runs that have not landed."""
    from evalrepo.running import story
    from evalrepo.running.journal import journals

    for path in journals(repo.home):
        with contextlib.suppress(EvalrepoError):
            told = story.fold(story.read(path), path)
            for planned in told.header.cells if told is not None and told.starts else ():
                if planned.header.purpose == LOOK:
                    yield _of_header(planned.header, told.header.start, path.stem), path.stem  # type: ignore[union-attr]


def _of_header(header: CellHeader, at: str, run: str) -> Trace:
    whole = header.digests.subject
    parts = header.digests.parts.get("subject", {})
    digests = {header.subjects[0]: whole} if len(header.subjects) == 1 else _each(header.subjects, parts)
    lost = f"run {run} is not done: the next evalrepo run finishes it"
    cell = f"{header.agent}/{header.tier}"
    return Trace(digests, whole, header.scenario, header.digests.stimulus, cell, at, header.commit, lost)


def _claimed(repo: Repository, loaded: Loaded, runs: set[str]) -> Iterator[Trace]:
    """Of claimed runs that nothing else here tells of; a claim names no subject, so the reserve of today does."""
    from evalrepo.discipline import claims

    tip = repo.refs(claims.REF).get(claims.REF)
    if tip is None:
        return
    names = {entry.oid: name for name, entry in repo.tree(tip).children().items()}
    held = claims.read({names[oid]: data for oid, data in repo.git.blobs(names)})
    for run, claim in held.claims.items():
        if run not in runs and run not in held.voided:
            for cell in claim.cells:
                with contextlib.suppress(KeyError, TypeError, ValueError):
                    if cell["purpose"] == LOOK and cell["scenario"] in loaded.scenarios:
                        yield _of_claim(cell, claim, loaded.scenarios[cell["scenario"]].scenario.subject)


def _of_claim(cell: Mapping[str, Any], claim: Any, subjects: Iterable[str]) -> Trace:
    subject, stimulus, *_ = cell["digests"]
    digests = dict.fromkeys(subjects, "")
    lost = f"{claim.by} claimed it as run {claim.run}: fetch their branch"
    return Trace(digests, subject, cell["scenario"], stimulus, f"{cell['agent']}/{cell['tier']}", claim.at, "", lost)
