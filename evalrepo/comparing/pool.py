"""Which reps count for a cell at an identity, and what they say. Pure: rows in, scores out.

A rep counts once, by the (run, rep) that executed it, with its last attempt's verdict; the first record at these
digests stands unless another supersedes it; purposes fresh and confirm are never pooled; a different resolved model or
CLI is another group, never averaged in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from evalrepo.comparing.statistics import middle, wilson
from evalrepo.records.row import NEVER_POOLED, RepRow, Row
from evalrepo.records.verdict import Excluded, Score

Cell = tuple[str, str, str]
"""Scenario, agent, tier."""

DEFECT = "defect"
"""The kind of ERROR of a rep that a person declared bad; equals `records.record.ErrorKind.DEFECT`."""
CLI = "cli"
"""The part of the apparatus that only a probe of the machine knows; sides take it from what was measured."""


class Identity(NamedTuple):
    """What a side's cell must have been measured with. `apparatus`: named parts without the CLI; None takes any."""

    subject: str
    stimulus: str
    instrument: str
    apparatus: Mapping[str, str] | None = None

    def key(self) -> tuple[str, str, str]:
        """Subject, stimulus, instrument."""
        return (self.subject, self.stimulus, self.instrument)


class Counted(NamedTuple):
    """One executed rep, by its last attempt. `start` is its first attempt's; `tries` its attempts before the last."""

    run: str
    rep: int
    start: str
    last: RepRow
    tries: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """PASS or FAIL."""
        return self.last.verdict != "ERROR"


class Group(NamedTuple):
    """Reps of one cell at one identity, one apparatus and one resolved model, by start."""

    apparatus: str
    parts: Mapping[str, str]
    model: str
    reps: tuple[Counted, ...]

    @property
    def valid(self) -> int:
        """How many of them are PASS or FAIL."""
        return sum(rep.valid for rep in self.reps)

    @property
    def newest(self) -> str:
        """Start of the last rep."""
        return max((rep.start for rep in self.reps), default="")


class Pool(NamedTuple):
    """All that is known of a cell for a side. `groups` newest first; `stale`: the newest record of something else.

    `other`: the newest record of this very subject by another stimulus, instrument or apparatus.
    """

    groups: tuple[Group, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    stale: Row | None = None
    other: Row | None = None


def by_cell(rows: Iterable[Row]) -> dict[Cell, list[Row]]:
    """Rows of each cell, the first first."""
    cells: dict[Cell, list[Row]] = {}
    for row in rows:
        cells.setdefault(row.cell, []).append(row)
    for found in cells.values():
        found.sort(key=_order)
    return cells


def _order(row: Row) -> tuple[str, str, bool, str]:
    """By start; of two copies of one record the run's own ref stands before a file."""
    return (row.start, row.run, not row.path.startswith("refs/"), row.path)


def pool(rows: Sequence[Row], identity: Identity) -> Pool:
    """The cell at this identity. `rows` are one cell's, in `by_cell` order."""
    same = [row for row in rows if (row.subject, row.stimulus, row.instrument) == identity.key()]
    fits = [row for row in same if _apparatus_fits(row, identity)]
    pooled = [row for row in fits if row.purpose not in NEVER_POOLED]
    counted, excluded = _counted(pooled, declared_bad(rows))
    excluded += [
        Excluded(f"of purpose {purpose}, shown and never pooled", reps)
        for purpose, reps in _reps_by_purpose(fits).items()
    ]
    other = [row for row in rows if row.subject == identity.subject and row not in fits]
    stale = [row for row in rows if (row.subject, row.stimulus, row.instrument) != identity.key()]
    return Pool(
        groups=_groups(counted),
        excluded=tuple(excluded),
        stale=stale[-1] if stale else None,
        other=other[-1] if other else None,
    )


def _apparatus_fits(row: Row, identity: Identity) -> bool:
    if identity.apparatus is None:
        return True
    return {k: v for k, v in row.apparatus_parts.items() if k != CLI} == dict(identity.apparatus)


def _reps_by_purpose(rows: Iterable[Row]) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        if row.purpose in NEVER_POOLED:
            found[row.purpose] += len(row.attempts())
    return found


def is_defect(tries: Sequence[RepRow]) -> bool:
    """Whether a person declared the rep bad."""
    return tries[-1].error == DEFECT


def declared_bad(rows: Iterable[Row]) -> dict[tuple[str, int], tuple[str, RepRow]]:
    """(Run that executed it, rep) → the run whose record says that the harness spoilt it, and what it says."""
    found: dict[tuple[str, int], tuple[str, RepRow]] = {}
    for row in (row for row in rows if any(rep.error == DEFECT for rep in row.reps)):
        for number, tries in row.attempts().items():
            if is_defect(tries):
                found.setdefault((row.executed, number), (row.run, tries[-1]))
    return found


def _counted(
    rows: Sequence[Row], bad: Mapping[tuple[str, int], tuple[str, RepRow]]
) -> tuple[list[tuple[Row, Counted]], list[Excluded]]:
    """Each executed rep once, from the record that stands. One that was declared `bad` is so by every instrument: what
    spoilt it has nothing to do with how it is judged."""
    holders: dict[tuple[str, int], list[tuple[Row, list[RepRow]]]] = {}
    for row in rows:
        for number, tries in row.attempts().items():
            holders.setdefault((row.executed, number), []).append((row, tries))
    counted: list[tuple[Row, Counted]] = []
    dropped: Counter[str] = Counter()
    for (run, number), held in holders.items():
        row, tries = _stands(held)
        earlier = tuple(t.error or t.verdict for t in tries[:-1])
        last = tries[-1]
        if (run, number) in bad and not is_defect(tries):
            by, last = bad[run, number]
            dropped[f"in run {row.run}, declared bad by {by}: ERROR({DEFECT}) here too"] += 1
        counted.append((row, Counted(run, number, tries[0].start, last, earlier)))
        for beside, _ in held:
            if beside is not row:
                dropped[_why_dropped(beside, row, [one for one, _ in held])] += 1
    counted.sort(key=lambda pair: (pair[1].start, pair[1].run, pair[1].rep))
    return counted, [Excluded(why, reps) for why, reps in sorted(dropped.items())]


def _stands(held: list[tuple[Row, list[RepRow]]]) -> tuple[Row, list[RepRow]]:
    """The first record of a rep, or the one at the end of the records that supersede it."""
    runs = {row.run for row, _ in held}
    standing = next((one for one in held if one[0].supersedes not in runs), held[0])
    seen: set[str] = set()
    while standing[0].run not in seen:
        seen.add(standing[0].run)
        standing = next((one for one in held if one[0].supersedes == standing[0].run), standing)
    return standing


def newest(row: Row, cell: Iterable[Row]) -> Row:
    """The record that stands for the reps of this one: back to the first, then along the first of those that supersede
    each. `cell`: rows, its cell's among them, the first first."""
    before: dict[str, Row] = {}
    after: dict[str, Row] = {}
    for other in cell:
        if (other.cell, other.executed) == (row.cell, row.executed):
            before.setdefault(other.run, other)
            after.setdefault(other.supersedes, other)
    first = _end(row, lambda one: before.get(one.supersedes))
    return _end(first, lambda one: after.get(one.run))


def _end(row: Row, step: Callable[[Row], Row | None]) -> Row:
    """Where the steps lead; a circle is left where it closes."""
    seen: set[str] = set()
    while row.run not in seen and (found := step(row)) is not None:
        seen.add(row.run)
        row = found
    return row


def _why_dropped(row: Row, standing: Row, held: Sequence[Row]) -> str:
    if row.run == standing.run:
        return f"in a second copy of run {row.run} that differs from the first"
    after = next((one.run for one in held if one.supersedes == row.run), "")
    if after:
        return f"in run {row.run}, superseded by {after}"
    if row.supersedes and (people := _people(row)):
        joined = f"joined in {standing.run}" if people <= _people(standing) else f"evalrepo score {row.run} --join"
        return f"in run {row.run}, scored beside {standing.run}; {joined}"
    return f"judged again in {row.run}; the first record stands"


def _people(row: Row) -> set[tuple[int, str, str]]:
    """Who scored which metric of which rep."""
    return {(r.rep, name, by) for r in row.reps for name, people in r.raters.items() for by in people}


def _groups(counted: Sequence[tuple[Row, Counted]]) -> tuple[Group, ...]:
    sorted_in: dict[tuple[str, str], list[tuple[Row, Counted]]] = {}
    homeless: list[tuple[Row, Counted]] = []
    for row, rep in counted:
        if not rep.valid and not rep.last.model:
            homeless.append((row, rep))
        else:
            sorted_in.setdefault((row.apparatus, rep.last.model), []).append((row, rep))
    for row, rep in homeless:  # an ERROR before any model answered counts with the first model of its apparatus
        home = next((key for key in sorted_in if key[0] == row.apparatus), (row.apparatus, ""))
        sorted_in.setdefault(home, []).append((row, rep))
    groups = [_group(key, held) for key, held in sorted_in.items()]
    return tuple(sorted(groups, key=lambda g: (g.newest, g.apparatus, g.model), reverse=True))


def _group(key: tuple[str, str], held: list[tuple[Row, Counted]]) -> Group:
    reps = sorted((rep for _, rep in held), key=lambda r: (r.start, r.run, r.rep))
    return Group(apparatus=key[0], parts=held[0][0].apparatus_parts, model=key[1], reps=tuple(reps))


def score(group: Group, reps: int) -> Score:
    """The group's first `reps` valid reps; `valid` is 0 when all of them are ERRORs."""
    taken = list(_first(group.reps, reps))
    valid = [rep for rep in taken if rep.valid]
    passes = sum(rep.last.verdict == "PASS" for rep in valid)
    errors = [rep for rep in group.reps if not rep.valid]
    first = group.reps[:reps]
    clean = sum(rep.last.verdict == "PASS" and not rep.tries for rep in first)
    lost = sum(rep.last.verdict == "ERROR" or bool(rep.tries) for rep in first)
    scores = _scores(valid)
    said = [rep.last.conversation for rep in valid if rep.last.conversation]
    return Score(
        passes=passes,
        valid=len(valid),
        errors=len(errors),
        retries=sum(len(rep.tries) for rep in group.reps),
        beyond=group.valid - len(valid),
        strip="".join(rep.last.verdict[0] for rep in taken),
        runs=tuple(dict.fromkeys(rep.run for rep in taken)),
        model=group.model,
        cli=group.parts.get(CLI, ""),
        apparatus=group.apparatus,
        first=taken[0].start,
        last=taken[-1].start,
        failed=_tally(name for rep in valid for name in rep.last.failed),
        axes=_tally(axis for rep in valid for axis in rep.last.axes),
        errors_by_kind=_tally(rep.last.error for rep in errors),
        metrics={name: sum(values) / len(values) for name, values in scores.items()},
        usage=_medians(valid),
        interval=wilson(passes, len(valid)),
        scores=scores,
        worst=(clean, len(first)),
        best=(clean + lost, len(first)),
        repeats=len(said) - len(set(said)),
        deciding=tuple(sorted({name for rep in valid for name in rep.last.deciding})),
        advisory=tuple(sorted({name for rep in valid for name in rep.last.advisory})),
        uncalibrated=sum(rep.last.uncalibrated for rep in valid),
        judges=_judges(valid),
        raters=_raters(valid),
    )


def _first(reps: Sequence[Counted], wanted: int) -> Iterator[Counted]:
    """Up to the `wanted`-th valid rep; ERRORs on the way, and after it when it was never reached."""
    valid = 0
    for rep in reps:
        yield rep
        valid += rep.valid
        if valid == wanted:
            return


def _tally(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _scores(valid: Sequence[Counted]) -> dict[str, tuple[int, ...]]:
    scores: dict[str, list[int]] = {}
    for rep in valid:
        for name, value in rep.last.metrics.items():
            scores.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in sorted(scores.items())}


def _raters(valid: Sequence[Counted]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for rep in valid:
        for name, people in rep.last.raters.items():
            found.setdefault(name, {}).update(dict.fromkeys(people))
    return {name: tuple(people) for name, people in sorted(found.items())}


def _judges(valid: Sequence[Counted]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for rep in valid:
        for question, judge in rep.last.judges.items():
            found.setdefault(question, set()).add(judge)
    return {question: tuple(sorted(judges)) for question, judges in sorted(found.items())}


def _medians(valid: Sequence[Counted]) -> tuple[float | None, float | None, float | None, float | None]:
    def known(place: int) -> float | None:
        return middle([value for rep in valid if (value := rep.last.usage[place]) is not None])

    return (known(0), known(1), known(2), known(3))
