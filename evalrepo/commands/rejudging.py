"""Recorded reps judged by a place's instrument, from what the runs' references keep; for `rescore` and `diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from evalrepo.commands.rejudging_parts import Left, Made, Open, Outcome, Task, chain, holders, in_turn
from evalrepo.errors import DataError, EvalrepoError
from evalrepo.results import RUNS

if TYPE_CHECKING:
    import threading

    from evalrepo.commands.sides import Place
    from evalrepo.comparing.pool import Cell
    from evalrepo.records.record import CellHeader, Digests, Record, Rep
    from evalrepo.records.row import Row
    from evalrepo.records.scenario import Scenario
    from evalrepo.repository.repo import Repository
    from evalrepo.repository.tree import Tree
    from evalrepo.results import Rows
    from evalrepo.running.rejudge import Anew, Doors, Instrument
    from evalrepo.store import Loaded


class Rejudging:
    """Judges by `place`. `doors`: what commands, check modules and the judge are asked through, made when needed."""

    def __init__(self, repo: Repository, rows: Rows, place: Place, doors: Callable[[], Doors]) -> None:
        self.repo, self.rows, self.place = repo, rows, place
        self._doors = doors
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

    def plan(
        self, cell: Cell, rows: Sequence[Row], out: Outcome, chosen: Sequence[Row] | None = None
    ) -> Iterator[Task]:
        """What of one cell's records is to be judged, of `chosen` ones of them; what is not goes to `out`. `rows`: all
        of the cell at hand."""
        wanted = {row.oid for row in (rows if chosen is None else chosen)}
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(row.executed, []).append(row)
        for group in groups.values():
            if any(row.oid in wanted for row in group):
                yield from self._group(cell, chain(group), out)

    def _group(self, cell: Cell, rows: Sequence[Row], out: Outcome) -> Iterator[Task]:
        why = self._unknown(cell)
        if why:
            out.add(Left(rows[-1], tuple(sorted(rows[-1].attempts())), why))
            return
        now = self._digests(cell)
        ours = [row for row in rows if (row.stimulus, row.instrument) == (now.stimulus, now.instrument)]
        done = {number: row for row in ours for number in row.attempts()}
        out.there += len(done)
        holder = holders([row for row in rows if row not in ours])
        holder = {number: row for number, row in holder.items() if number not in done}
        if self._asks_a_judge(cell[0]):
            holder |= done
        for row in rows:
            numbers = tuple(sorted(number for number, held in holder.items() if held is row))
            if numbers:
                yield from self._row(row, numbers, now, tuple(reversed(rows)), out)

    def _asks_a_judge(self, scenario: str) -> bool:
        from evalrepo.records.names import asks_a_judge

        return asks_a_judge(self.place.scenarios[scenario])

    def _unknown(self, cell: Cell) -> str:
        scenario, agent, _ = cell
        if scenario not in self.place.scenarios:
            return f"there is no scenario {scenario} at {self.place.name}"
        return "" if agent in self.place.config.agents else f"there is no agent {agent} in evalrepo.yaml"

    def _digests(self, cell: Cell) -> Digests:
        from evalrepo.commands.sides import digests_of

        return digests_of(self.place, cell)

    def _row(
        self, row: Row, numbers: tuple[int, ...], now: Digests, group: tuple[Row, ...], out: Outcome
    ) -> Iterator[Task]:
        from evalrepo.results import records

        try:
            (record,) = records(self.rows.git, [row])
        except DataError as error:
            out.add(Left(row, numbers, str(error.findings[0])))
            return
        if row.instrument == now.instrument:
            judged = {rep.rep: [one.answer for one in rep.judged] for rep in record.last_attempts() if rep.judged}
            numbers = tuple(number for number in numbers if number in judged)
            out.mute += sum("" in judged[number] for number in numbers)
        shut = self._shut(row, record, numbers, now)
        if shut is None and numbers:
            yield Task(row, record, numbers, now, self._header(record, now), group)
        elif shut is not None and row.instrument != now.instrument:
            out.add(shut)

    def _shut(self, row: Row, record: Record, numbers: tuple[int, ...], now: Digests) -> Left | None:
        """Why none of the reps can be judged, None when that is to be seen."""
        from evalrepo.repository.digests import explain
        from evalrepo.running.opened import Lacking, present
        from evalrepo.running.rejudge import harness_error

        if row.stimulus != now.stimulus:
            told = {"stimulus": now.stimulus, "parts": {"stimulus": now.parts["stimulus"]}}
            differs = "; ".join(explain(record.digests, record.digests.model_copy(update=told)))
            return Left(row, numbers, f"its task was another one ({differs})", f"evalrepo run {row.scenario}")
        refused = self._allowed(row.scenario, row.instrument, now.instrument)
        if refused:
            return Left(row, numbers, refused, f"evalrepo ledger {row.scenario}" if row.set == "reserve" else "")
        if all(harness_error(rep) for rep in record.reps if rep.rep in numbers):
            return None
        tree = present(self.kept(row.executed), row.executed)
        return Left(row, numbers, tree.why, tree.how) if isinstance(tree, Lacking) else None

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

    def kept(self, run: str) -> Tree | None:
        """What a run's reference holds, None when it is not here."""
        commit = self.refs.get(RUNS + run)
        return self.repo.tree(commit) if commit else None

    def _header(self, record: Record, now: Digests) -> CellHeader:
        """The record's own but for the instrument."""
        from evalrepo.running.restate import header_of
        from evalrepo.scoring.verdict import must_report

        parts = {**record.digests.parts, "instrument": now.parts["instrument"]}
        digests = record.digests.model_copy(update={"instrument": now.instrument, "parts": parts})
        scenario = self.place.scenarios[record.scenario]
        update = {"digests": digests, "checks": must_report(scenario), "title": scenario.title}
        return header_of(record).model_copy(update=update)

    def judged(
        self, tasks: Iterable[Task], jobs: int = 1, cancel: threading.Event | None = None
    ) -> Iterator[tuple[Task, Made | Left | Open]]:
        """What becomes of each rep, all attempts of it together, in the order of the tasks; `jobs` at a time. Ends
        early when `cancel` is set, a rep of which not all is known then left out."""
        from evalrepo.running.rejudge import rejudge

        units = (unit for task in tasks for unit in self._units(task))
        heap: list[tuple[Rep, Anew]] = []
        for (task, _, rep, _), anew in in_turn(units, lambda unit: rejudge(unit[1], *unit[2:]), jobs, cancel):
            if heap and heap[0][0].rep != rep.rep:
                heap.clear()
            heap.append((rep, anew))
            if len(heap) == sum(one.rep == rep.rep for one in task.record.reps):
                found = self._became(task, heap)
                heap = []
                if found is not None:
                    yield task, found

    def _units(self, task: Task) -> Iterator[tuple[Task, Instrument, Rep, dict[str, bytes]]]:
        """Each attempt with its files, one rep after the other; read by one git for all of them."""
        from evalrepo.running.kept import folder_of

        tree = self.kept(task.row.executed)
        by = self._instrument(task, tree)
        reps = sorted((r for r in task.record.reps if r.rep in task.numbers), key=lambda r: (str(r.rep), r.attempt))
        folders = [folder_of(rep.transcript.path) for rep in reps if rep.transcript is not None]
        files = _by_folder(tree, folders) if tree is not None else iter(())
        for rep in reps:
            yield task, by, rep, next(files, {}) if rep.transcript is not None else {}

    def _became(self, task: Task, found: Sequence[tuple[Rep, Anew]]) -> Made | Left | Open | None:
        """All attempts of one rep, None where that is nothing new."""
        from evalrepo.running.words import INTERRUPTED

        row, number = task.row, found[0][0].rep
        questions = tuple(question for _, anew in found for question in anew.pretended)
        if questions:
            return Open(row, number, questions)
        stays = next((anew for _, anew in found if anew.rep is None), None)
        if stays is not None:
            return None if task.again or INTERRUPTED in stays.why else Left(row, (number,), *self._told(row, stays))
        reps = self._sealed(task.record, tuple(anew.rep for _, anew in found if anew.rep is not None))
        if task.again and not any(_is_news(old, new) for (old, _), new in zip(found, reps, strict=True)):
            return None
        files = {path: data for _, anew in found for path, data in anew.files.items()}
        return Made(row, task.record, task.header, reps, files)

    def _told(self, row: Row, anew: Anew) -> tuple[str, str]:
        """Why a rep stays, and how it would not; of the reserve no check is named."""
        from evalrepo.running.words import ASK

        why = anew.why
        if row.set == "reserve" and why.startswith(("check ", "metric ")):
            why = f"a check: {why.partition(': ')[2]}"
        asks = f"evalrepo rescore {row.scenario} {ASK}"
        return why, asks if anew.how == ASK else anew.how or f"evalrepo run {row.scenario}"

    def _sealed(self, record: Record, reps: tuple[Rep, ...]) -> tuple[Rep, ...]:
        from evalrepo.formats.result import sealed_rep

        return tuple(map(sealed_rep, reps)) if record.set == "reserve" else reps

    def _instrument(self, task: Task, tree: Tree | None) -> Instrument:
        from evalrepo.commands.rejudging_words import words_of
        from evalrepo.commands.rescoring import before_of
        from evalrepo.running.rejudge import Instrument, needs_doors
        from evalrepo.running.stored import settings_of

        row = task.row
        scenario = self.place.scenarios[row.scenario]
        old, new = task.record.digests.parts.get("instrument", {}), task.now.parts["instrument"]
        agents = self.place.config.agents
        found = Instrument(
            scenario,
            row.agent,
            settings_of(tree, row.agent, agents) if tree is not None else agents[row.agent],
            before_of(self.place, row, tree),
            before=lambda: self._scenario(tree, row.scenario),
            same=frozenset(part for part in new if old.get(part) == new[part]),
        )
        if not needs_doors(scenario):
            return found
        found = replace(found, doors=self.doors)
        return replace(found, words=words_of(self, task)) if self._asks_a_judge(row.scenario) else found

    def _scenario(self, tree: Tree | None, name: str) -> Scenario | None:
        loaded = self.measured(tree)
        one = loaded.scenarios.get(name) if loaded is not None else None
        return one.scenario if one is not None else None

    def measured(self, tree: Tree | None) -> Loaded | None:
        """The files that a run measured, None when its reference (`tree`) holds none that this version can read."""
        from evalrepo.running.keep import SNAPSHOT

        oid = tree.tree_oid(SNAPSHOT.rstrip("/")) if tree is not None else None
        return self._before(oid) if oid else None

    def _load(self, oid: str) -> Loaded | None:
        from evalrepo.repository.tree import CommitTree
        from evalrepo.store import load

        try:
            return load(CommitTree(self.repo.git, "the run's snapshot", self.repo.object_format, oid), self.repo)
        except EvalrepoError:
            return None


def _is_news(old: Rep, new: Rep) -> bool:
    """Whether it counts otherwise, or a judge was asked for it: what that cost is kept too."""
    return _essence(old) != _essence(new) or any(not one.cached for one in new.judged)


def _essence(rep: Rep) -> Any:
    """What a rep counts as."""
    checks = [(check.id, check.outcome, check.gating) for check in rep.checks]
    return rep.verdict, rep.error, checks, {name: one.score for name, one in rep.metrics.items()}


def _by_folder(tree: Tree, folders: Sequence[str]) -> Iterator[dict[str, bytes]]:
    """The files of each folder (path below it → content), in their order, read by one git for all."""
    paths = {folder: list(tree.under(folder.rstrip("/"))) for folder in folders}
    read = tree.read_many([path for folder in folders for path in paths[folder]])
    for folder in folders:
        held = (next(read) for _ in paths[folder])
        yield {path.removeprefix(folder): data for path, data in held}
