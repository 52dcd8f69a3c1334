"""Reps as a person scores them: the records that stand, what happened in each rep, and what earns a score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from evalrepo.errors import UsageError
from evalrepo.records.rubric import Scored, anchors

if TYPE_CHECKING:
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.record import Record, Rep
    from evalrepo.records.row import Row
    from evalrepo.records.scenario import Scenario
    from evalrepo.records.transcript import Transcript
    from evalrepo.repository.repo import Repository
    from evalrepo.results import Rows
    from evalrepo.running.stored import Lacking
    from evalrepo.scoring.grounds import Material
    from evalrepo.store import Loaded


@dataclass(frozen=True)
class Anchors:
    """What a metric asks, its name for people, and what earns each score ("0" to "3"); from the rubric of this name."""

    ask: str = ""
    title: str = ""
    scale: Mapping[str, str] = field(default_factory=dict)
    rubric: str = ""


@dataclass(frozen=True)
class Sheet:
    """One rep of a record with what is open for a person. `lacking`: why its transcript cannot be had."""

    record: Record
    path: str
    rep: Rep
    open: tuple[str, ...]
    transcript: Transcript | None
    material: Material | None
    lacking: Lacking | None = None

    @property
    def name(self) -> str:
        """For a person: cell, run and rep."""
        record = self.record
        return f"{record.scenario} · {record.agent}/{record.tier} · run {record.run} · rep {self.rep.rep}"


@dataclass(frozen=True)
class Desk:
    """The reps that are asked for, and the files that say what earns a score."""

    loaded: Loaded
    sheets: tuple[Sheet, ...]

    @cached_property
    def anchors(self) -> dict[tuple[str, str], Anchors]:
        """(scenario, metric) → its anchors."""
        pairs = {(sheet.record.scenario, metric) for sheet in self.sheets for metric in sheet.rep.metrics}
        return {pair: anchors_of(self.loaded, *pair) for pair in pairs}

    def titles(self) -> dict[str, str]:
        """Metric → its name for people, or what it asks."""
        named = sorted(self.anchors.items(), reverse=True)
        return {metric: _plain(found.title) or found.ask for (_, metric), found in named}


Wanted = Callable[["Rep"], tuple[str, ...]]
"""What is asked of a rep; nothing leaves it out."""


class Room:
    """A repository's records, files and run refs, each read once however many desks are asked for."""

    def __init__(self, repo: Repository) -> None:
        from evalrepo.commands.unsealing import Seals

        self.repo, self._seals = repo, Seals(repo)

    @cached_property
    def rows(self) -> Rows:
        """Everything that is recorded."""
        from evalrepo.commands.finding_records import at_hand

        return at_hand(self.repo)

    @cached_property
    def loaded(self) -> Loaded:
        """The files of the work tree."""
        from evalrepo.store import load

        return load(self.repo.tree("WORKTREE"), self.repo)

    @cached_property
    def _refs(self) -> Mapping[str, str]:
        from evalrepo.results import RUNS

        return self.repo.refs(RUNS)

    def desk(self, words: Sequence[str], *, rep: int | None = None, wanted: Wanted | None = None) -> Desk:
        """The valid reps that words mean (as for `show`), by the records that stand. UsageError when there is none.

        `wanted`: what is asked of each; by default the metrics that are open for a person.
        """
        from evalrepo.results import records
        from evalrepo.scoring.people import open_metrics

        found, _ = self._standing(words)
        sheets = [
            self._sheet(row, record, one, metrics)
            for row, record in zip(found, records(self.rows.git, found), strict=True)
            for one in record.last_attempts()
            if rep in (None, one.rep) and (metrics := (wanted or open_metrics)(one))
        ]
        if not sheets:
            raise UsageError(_nothing(found, rep), hint="evalrepo show lists a record's reps and metrics")
        return Desk(self.loaded, tuple(sheets))

    def _standing(self, words: Sequence[str]) -> tuple[tuple[Row, ...], Mapping[Cell, Sequence[Row]]]:
        """The rows that stand for what words mean, and all rows of their cells."""
        from evalrepo.commands.finding_records import named
        from evalrepo.comparing.pool import newest

        chosen = named(self.rows, words)
        held = self.rows.select(dict.fromkeys(row.cell for row in chosen))
        standing = {(s.run, *s.cell): s for row in chosen for s in [newest(row, held[row.cell])]}
        return tuple(standing.values()), held

    def beside(self, words: Sequence[str]) -> list[tuple[Record, list[Record]]]:
        """The records that stand, each with those of the same reps that people scored beside it, in other clones."""
        from evalrepo.results import records

        found, held = self._standing(words)
        out = []
        for row in found:
            same = [one for one in held[row.cell] if one.executed == row.executed]
            replaced = {one.supersedes for one in same}
            rivals = [one for one in same if one is not row and one.run not in replaced and _rated(one)]
            record, *others = records(self.rows.git, [row, *rivals])
            out.append((record, others))
        return out

    def _sheet(self, row: Row, record: Record, rep: Rep, metrics: tuple[str, ...]) -> Sheet:
        from evalrepo.results import RUNS
        from evalrepo.running.stored import Lacking, files_of, transcript_of
        from evalrepo.scoring.grounds import material

        commit = self._refs.get(RUNS + row.executed)
        tree = self.repo.tree(commit) if commit else None
        opened = self._seals.opened(record)
        found = transcript_of(record, rep, tree, self.loaded.config.agents, opened=opened)
        if isinstance(found, Lacking):
            return Sheet(record, row.path, rep, metrics, None, None, found)
        names = files_of(rep, tree) if tree is not None else ()
        return Sheet(record, row.path, rep, metrics, found, material(found, names))


def _rated(row: Row) -> bool:
    return any(rep.raters for rep in row.reps)


def _nothing(rows: Sequence[Row], rep: int | None) -> str:
    where = ", ".join(dict.fromkeys(f"run {row.run} of {row.scenario}" for row in rows[:3]))
    if rep is not None:
        return f"there is no rep {rep} that a person could score in {where}"
    return f"no metric is open for a person in {where}: its scenario has no `human` metric, or its reps are ERRORs"


def anchors_of(loaded: Loaded, scenario: str, metric: str) -> Anchors:
    """The rubric that the scenario's metrics name, that is named as a subject of it, or the only one that has a scale
    for a metric of this name; none otherwise."""
    one = loaded.scenarios.get(scenario)
    having = {name: found for name, rubric in loaded.rubrics.items() if (found := anchors(metric, rubric)) is not None}
    first = [] if one is None else [*_named_rubrics(one.scenario), *one.scenario.subject]
    for name in (*first, *(having if len(having) == 1 else ())):
        if name in having:
            found = having[name]
            return Anchors(found.ask, found.title if isinstance(found, Scored) else "", found.scale, name)
    return Anchors()


def _plain(title: str) -> str:
    """As it stands within a line: `Success` is `success`, `API use` stays."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _named_rubrics(scenario: Scenario) -> list[str]:
    from evalrepo.records.scenario import Metric

    judged = [m.judge.rubric for m in scenario.metrics.values() if isinstance(m, Metric) and m.judge is not None]
    return [*([scenario.rubric] if scenario.rubric else []), *judged]
