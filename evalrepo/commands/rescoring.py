"""Mechanical checks asked again of the transcripts that runs have kept, for a gate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from evalrepo.comparing.advice import plural
from evalrepo.errors import DataError
from evalrepo.records.verdict import Reason
from evalrepo.results import RUNS

if TYPE_CHECKING:
    from evalrepo.commands.question import Question
    from evalrepo.commands.sides import Place
    from evalrepo.records.record import Record
    from evalrepo.records.row import Row
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.results import Rows
    from evalrepo.running.kept import Pool
    from evalrepo.running.opened import Before
    from evalrepo.running.rescore import Again, Judged

SHOWN = 3


@dataclass(frozen=True)
class Ground:
    """A gate's question with the results at hand."""

    repo: Repository
    rows: Rows
    asked: Question
    candidate: Place


def listed(names: Iterable[str]) -> str:
    """The first few, each once, and how many more."""
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more


def again(ground: Ground, counting: Sequence[Row]) -> list[Reason]:
    """Mechanical checks asked again of the stored transcripts."""
    now = {p.cell for p in ground.asked.cells if p.after is not None}
    known = ground.candidate.config.agents
    judged = list(_rescored(ground, [row for row in counting if row.cell in now and row.agent in known]))
    differing = [(row, rep, again) for row, rep, again in judged if again.differs]
    out = []
    if differing:
        row, rep, again = differing[0]
        text = (
            f"{plural(len(differing), 'recorded verdict')} not reproduced from the stored transcripts: run {row.run} "
            f"{row.scenario} rep {rep}: {again.differs[0]}"
        )
        out.append(
            Reason("invalid", "not-reproduced", text, f"evalrepo show {row.run} {row.scenario}", (row.scenario,))
        )
    if judged:
        out.append(Reason("note", "rescored", _coverage([again for _, _, again in judged])))
    return out


def _coverage(judged: Sequence[Again]) -> str:
    """How many reps were judged again, and which could not be, by reason."""
    asked = [again for again in judged if again.asked]
    text = f"{len(asked)} of {plural(len(judged), 'rep')} judged again from stored transcripts"
    why: dict[str, int] = {}
    for again in judged:
        if not again.asked:
            why[again.beyond[""]] = why.get(again.beyond[""], 0) + 1
    text += "".join(f"; {reps} not: {reason}" for reason, reps in why.items())
    parts = {f"{name} ({reason})" for again in asked for name, reason in again.beyond.items()}
    return text + (f"; checks that could not be asked again: {listed(sorted(parts))}" if parts else "")


def _rescored(ground: Ground, rows: Sequence[Row]) -> Iterator[tuple[Row, int, Again]]:
    """Every recorded attempt's last word, judged again; remembered by record, run and instrument."""
    from evalrepo.repository.digests import digest
    from evalrepo.running.rescore import RESCORER, Again
    from evalrepo.store.cache import Cache

    refs = ground.repo.refs(RUNS)
    cache = Cache(ground.repo.home, "rescored", RESCORER)
    agents = {name: digest(agent) for name, agent in ground.candidate.config.agents.items()}
    keys = {row.oid: f"{row.oid} {refs.get(RUNS + row.executed, '')} {agents[row.agent]}" for row in rows}
    known = cache.get(keys.values())
    fresh: dict[str, str] = {}
    for row in {row.oid: row for row in rows}.values():
        body = known.get(keys[row.oid])
        if body is None:
            found = dict(_of_row(ground, row, refs.get(RUNS + row.executed)))
            fresh[keys[row.oid]] = json.dumps({str(rep): asdict(again) for rep, again in found.items()})
        else:
            found = {int(rep): Again(**data) for rep, data in json.loads(body).items()}
        yield from ((row, rep, again) for rep, again in found.items())
    cache.put(fresh)


def _of_row(ground: Ground, row: Row, commit: str | None) -> Iterator[tuple[int, Again]]:
    """The last attempts of one record."""
    from evalrepo.results import records
    from evalrepo.running.opened import Lacking, files_below, present
    from evalrepo.running.rescore import Again, rescore

    try:
        (record,) = records(ground.rows.git, [row])
    except DataError:
        return
    tree = present(ground.repo.tree(commit) if commit else None, row.executed)
    asked = [rep for rep in record.last_attempts() if rep.valid]
    if isinstance(tree, Lacking):
        yield from ((rep.rep, Again(rep.verdict, beyond={"": f"{tree.why} ({tree.how})"})) for rep in asked)
        return
    by = _judged(ground, row, tree)
    yield from ((rep.rep, rescore(by, rep, files_below(tree, rep))) for rep in asked)


def _judged(ground: Ground, row: Row, tree: Tree) -> Judged:
    """Today's scenario, and the agent as the run had it."""
    from evalrepo.running.rescore import Judged
    from evalrepo.running.stored import settings_of

    place = ground.candidate
    settings = settings_of(tree, row.agent, place.config.agents)
    return Judged(place.scenarios[row.scenario], row.agent, settings, before_of(place, row, tree))


def before_of(place: Place, row: Row | Record, tree: Tree | None) -> Before:
    """What was in the work directory of a record's reps before the agent. `tree`: what its run's reference holds."""
    from evalrepo.running.opened import Before, fixture_of

    scenario = place.scenarios[row.scenario]
    whole = not scenario.setup and not installed(place, scenario, row.agent)
    return Before(fixture_of(place.tree, scenario), _measured(tree), whole)


def _measured(tree: Tree | None) -> Pool:
    """The files that a run measured, by SHA-256; read when they are asked for."""

    @cache
    def read() -> dict[str, bytes]:
        files = tree.read_many(list(tree.under("snapshot"))) if tree is not None else ()
        return {sha256(data).hexdigest(): data for _, data in files}

    return read


def installed(place: Place, scenario: Scenario, agent: str) -> bool:
    """Whether a subject's files go into the work directory."""
    subjects = [place.config.subjects[name] for name in scenario.subject if name in place.config.subjects]
    targets = [t for s in subjects if agent in s.install for t in s.install[agent].copy_.values()]
    return any(not target.startswith("~/") for target in targets)
