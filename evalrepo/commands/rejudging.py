"""Recorded reps judged by a place's instrument, from what the runs' references keep; for `rescore` and `diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalrepo.errors import DataError, EvalrepoError
from evalrepo.results import RUNS

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.record import CellHeader, Digests, Record, Rep
    from evalrepo.records.row import Row
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.results import Rows
    from evalrepo.running.kept import Fixture
    from evalrepo.running.rejudge import Anew, Doors, Instrument
    from evalrepo.store import Loaded


@dataclass(frozen=True)
class Left:
    """Reps of one record that stay as they are: why, and what would change that ("" when nothing does)."""

    row: Row
    reps: tuple[int, ...]
    why: str
    how: str = ""


@dataclass(frozen=True)
class Made:
    """Reps of one record judged again: `header` and `reps` are those of a new record."""

    row: Row
    old: Record
    header: CellHeader
    reps: tuple[Rep, ...]

    @property
    def changed(self) -> int:
        """How many reps have another verdict now."""
        before = {(r.rep, r.attempt): (r.verdict, r.error) for r in self.old.reps}
        return sum(before[r.rep, r.attempt] != (r.verdict, r.error) for r in self.reps)


@dataclass
class Outcome:
    """What came of it. `there`: reps that today's instrument has judged already."""

    made: list[Made] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    there: int = 0

    def add(self, found: Iterable[Made | Left]) -> None:
        """Sort them in."""
        for one in found:
            if isinstance(one, Left):
                self.left.append(one)
            else:
                self.made.append(one)


def chain(rows: Sequence[Row]) -> list[Row]:
    """Rows of reps that one run executed, each before what supersedes it."""
    after: dict[str, list[Row]] = {}
    for row in rows:
        after.setdefault(row.supersedes, []).append(row)
    runs = {row.run for row in rows}
    todo = [row for row in rows if row.supersedes not in runs]
    out: list[Row] = []
    while todo:
        row = todo.pop(0)
        if all(row is not one for one in out):
            out.append(row)
            todo[:0] = after.get(row.run, [])
    return out


class Rejudging:
    """Judges by `place`. `doors`: what commands and check modules are asked through, made when it is needed."""

    def __init__(self, repo: Repository, rows: Rows, place: Place, doors: Callable[[], Doors]) -> None:
        self.repo, self.rows, self.place = repo, rows, place
        self._doors = doors
        self._fixtures: dict[str, Fixture] = {}
        self._before = cache(self._load)
        self._allowed = cache(self._refused)

    @cached_property
    def refs(self) -> dict[str, str]:
        """Run refs at hand."""
        return self.repo.refs(RUNS)

    @cached_property
    def doors(self) -> Doors:
        """Opened once."""
        return self._doors()

    def cell(self, cell: Cell, rows: Sequence[Row], chosen: Sequence[Row] | None = None) -> Outcome:
        """The reps of one cell's records, `chosen` ones of them. `rows`: all of the cell at hand."""
        out = Outcome()
        wanted = {row.oid for row in (rows if chosen is None else chosen)}
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(row.executed, []).append(row)
        for group in groups.values():
            if any(row.oid in wanted for row in group):
                self._group(cell, chain(group), out)
        return out

    def _group(self, cell: Cell, rows: Sequence[Row], out: Outcome) -> None:
        why = self._unknown(cell)
        if why:
            numbers = tuple(sorted(rows[-1].attempts()))
            out.left.append(Left(rows[-1], numbers, why))
            return
        now = self._digests(cell)
        ours = [row for row in rows if (row.stimulus, row.instrument) == (now.stimulus, now.instrument)]
        done = {number for row in ours for number in row.attempts()}
        holder = {number: row for row in rows if row not in ours for number in row.attempts() if number not in done}
        out.there += len(done - set(holder))
        for row in rows:
            numbers = tuple(sorted(number for number, held in holder.items() if held is row))
            if numbers:
                out.add(self._row(row, numbers, now))

    def _unknown(self, cell: Cell) -> str:
        scenario, agent, _ = cell
        if scenario not in self.place.scenarios:
            return f"there is no scenario {scenario} at {self.place.name}"
        return "" if agent in self.place.config.agents else f"there is no agent {agent} in evalrepo.yaml"

    def _digests(self, cell: Cell) -> Digests:
        from evalrepo.commands.sides import digests_of

        return digests_of(self.place, cell)

    def _row(self, row: Row, numbers: tuple[int, ...], now: Digests) -> Iterator[Made | Left]:
        from evalrepo.repository.digests import explain
        from evalrepo.results import records

        try:
            (record,) = records(self.rows.git, [row])
        except DataError as error:
            yield Left(row, numbers, str(error.findings[0]))
            return
        if row.stimulus != now.stimulus:
            told = {"stimulus": now.stimulus, "parts": {"stimulus": now.parts["stimulus"]}}
            differs = "; ".join(explain(record.digests, record.digests.model_copy(update=told)))
            yield Left(row, numbers, f"its task was another one ({differs})", f"evalrepo run {row.scenario}")
            return
        refused = self._allowed(row.scenario, row.instrument, now.instrument)
        if refused:
            yield Left(row, numbers, refused, f"evalrepo ledger {row.scenario}" if row.set == "reserve" else "")
            return
        yield from self._judged(row, record, numbers, now)

    def _refused(self, scenario: str, old: str, new: str) -> str:
        """Why the ledger does not let reps judged by `old` be judged by `new`, "" when it does."""
        from evalrepo.discipline.closure import of_scenario
        from evalrepo.discipline.generations import may_rejudge
        from evalrepo.store import events

        loaded = self.place.loaded.scenarios[scenario]
        paths = {loaded.path, *of_scenario(loaded.id, loaded.scenario, self.place.config, self.place.tree)}
        found = may_rejudge(events(self.place.tree), scenario, paths, old, new)
        if found.answer == "stale":
            return f"it is stale: what it rests on {found.why}; only fresh reps count"
        return found.why if found.answer == "unknown" else ""

    def _judged(self, row: Row, record: Record, numbers: tuple[int, ...], now: Digests) -> Iterator[Made | Left]:
        from evalrepo.running.rejudge import harness_error
        from evalrepo.running.tombstones import PRUNED, bring, is_tombstone

        wanted = [rep for rep in record.reps if rep.rep in numbers]
        ref = RUNS + row.executed
        asked = [rep for rep in wanted if not harness_error(rep)]
        numbered = tuple(dict.fromkeys(rep.rep for rep in wanted))
        if asked and ref not in self.refs:
            yield Left(row, numbered, "the reference of its run is not in this clone", bring(row.executed))
            return
        tree = self.repo.tree(self.refs[ref]) if asked else None
        if tree is not None and is_tombstone(tree):
            yield Left(row, numbered, PRUNED, bring(row.executed))
            return
        by = self._instrument(row, record, now, tree)
        yield from self._sorted(row, record, now, list(self._anew(by, wanted, tree)))

    def _anew(self, by: Instrument, reps: Sequence[Rep], tree: Tree | None) -> Iterator[tuple[Rep, Anew]]:
        """Each rep judged again; files are read in the order of the reps, one rep's held at a time."""
        from evalrepo.running.kept import folder_of
        from evalrepo.running.rejudge import rejudge

        folders = {folder_of(rep.transcript.path): rep for rep in reps if rep.transcript is not None}
        files = _by_folder(tree, sorted(folders)) if tree is not None else iter(())
        for rep in reps:
            if rep.transcript is None:
                yield rep, rejudge(by, rep, {})
        for folder, held in files:
            yield folders[folder], rejudge(by, folders[folder], held)

    def _sorted(
        self, row: Row, record: Record, now: Digests, found: Sequence[tuple[Rep, Anew]]
    ) -> Iterator[Made | Left]:
        stays: dict[tuple[str, str], dict[int, None]] = {}
        for rep, anew in found:
            if anew.rep is None:
                stays.setdefault((anew.why, f"evalrepo run {row.scenario}"), {})[rep.rep] = None
        for (why, how), reps in stays.items():
            yield Left(row, tuple(reps), why, how)
        kept = {number for reps in stays.values() for number in reps}
        by_place = {(r.rep, r.attempt): anew.rep for r, anew in found if anew.rep is not None and r.rep not in kept}
        made = tuple(by_place[r.rep, r.attempt] for r in record.reps if (r.rep, r.attempt) in by_place)
        if made:
            yield Made(row, record, self._header(record, now), self._sealed(record, made))

    def _sealed(self, record: Record, reps: tuple[Rep, ...]) -> tuple[Rep, ...]:
        from evalrepo.formats.result import sealed_rep

        return tuple(map(sealed_rep, reps)) if record.set == "reserve" else reps

    def _header(self, record: Record, now: Digests) -> CellHeader:
        """The record's own but for the instrument."""
        from evalrepo.running.restate import header_of
        from evalrepo.scoring.verdict import must_report

        parts = {**record.digests.parts, "instrument": now.parts["instrument"]}
        digests = record.digests.model_copy(update={"instrument": now.instrument, "parts": parts})
        scenario = self.place.scenarios[record.scenario]
        update = {"digests": digests, "checks": must_report(scenario), "title": scenario.title}
        return header_of(record).model_copy(update=update)

    def _instrument(self, row: Row, record: Record, now: Digests, tree: Tree | None) -> Instrument:
        from evalrepo.commands.rescoring import fixture_of, installed
        from evalrepo.running.rejudge import Instrument, needs_doors
        from evalrepo.running.stored import settings_of

        scenario = self.place.scenarios[row.scenario]
        name = scenario.fixture or ""
        if name not in self._fixtures:
            self._fixtures[name] = fixture_of(self.place, scenario)
        old, new = record.digests.parts.get("instrument", {}), now.parts["instrument"]
        agents = self.place.config.agents
        found = Instrument(
            scenario,
            row.agent,
            settings_of(tree, row.agent, agents) if tree is not None else agents[row.agent],
            self._fixtures[name],
            _pool(tree),
            whole=not scenario.setup and not installed(self.place, scenario, row.agent),
            before=lambda: self._scenario(tree, row.scenario),
            same=frozenset(part for part in new if old.get(part) == new[part]),
        )
        return replace(found, doors=self.doors) if needs_doors(scenario) else found

    def _scenario(self, tree: Tree | None, name: str) -> Scenario | None:
        from evalrepo.running.keep import SNAPSHOT

        oid = tree.tree_oid(SNAPSHOT.rstrip("/")) if tree is not None else None
        loaded = self._before(oid) if oid else None
        one = loaded.scenarios.get(name) if loaded is not None else None
        return one.scenario if one is not None else None

    def _load(self, oid: str) -> Loaded | None:
        """The scenarios as a run had them; None when this version cannot read them."""
        from evalrepo.repository.tree import CommitTree
        from evalrepo.store import load

        try:
            return load(CommitTree(self.repo.git, "the run's snapshot", self.repo.object_format, oid), self.repo)
        except EvalrepoError:
            return None


def _by_folder(tree: Tree, folders: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Each folder with its files (path below it → content), read by one git for all."""
    place = {path: folder for folder in folders for path in tree.under(folder.rstrip("/"))}
    held: dict[str, bytes] = {}
    at = ""
    seen = set()
    for path, data in tree.read_many(list(place)):
        if place[path] != at:
            if at:
                yield at, held
            at, held = place[path], {}
            seen.add(at)
        held[path.removeprefix(at)] = data
    if at:
        yield at, held
    yield from ((folder, {}) for folder in folders if folder not in seen)


def _pool(tree: Tree | None) -> Callable[[], dict[str, bytes]]:
    """What the run measured, by SHA-256; read when it is asked for."""

    @cache
    def read() -> dict[str, bytes]:
        if tree is None:
            return {}
        files: Any = tree.read_many(list(tree.under("snapshot")))
        return {sha256(data).hexdigest(): data for _, data in files}

    return read
