"""Cells are measured by one run at a time: what another run holds is waited for, then planned anew."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from evalrepo.records.record import NEVER_POOLED
from evalrepo.running import preflight
from evalrepo.running.bench import Bench, prepare
from evalrepo.running.budget import Budget
from evalrepo.running.campaign import Emit, Work, interleaved
from evalrepo.running.claims import Claims
from evalrepo.running.events import Begun, Waiting
from evalrepo.running.keep import Landed
from evalrepo.running.plan import Cell, Plan
from evalrepo.running.session import Session

Todo = dict[Hashable, Cell]
"""What must not be measured twice at once → the cell."""


@dataclass(frozen=True, slots=True)
class How:
    """Reps at a time, whether results are committed, the tree id of the snapshot that the run's ref keeps, and what
    may be spent."""

    jobs: int
    commit: bool = True
    snapshot: str = ""
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Side:
    """What is measured of one content: `replan` reads what is recorded by now, `snapshot` as in `How`."""

    session: Session
    bench: Bench
    replan: Callable[[], Plan]
    snapshot: str = ""


def measure_sides(sides: Sequence[Side], how: How, emit: Emit, cancel: threading.Event) -> list[Landed]:
    """Measure every cell of the plans that needs reps, each once: one run a side, their reps in turns.

    A cell is begun when all its sides are ours. `Side.replan` reads what is recorded by now.
    """
    handled: set[Hashable] = set()
    landed: list[Landed] = []
    with Claims(sides[0].session.repo.home) as claims:
        while not cancel.is_set() and not how.budget.stopped:
            todo = _todo(sides, handled)
            if not any(todo):
                break
            mine, busy = _taken(claims, todo)
            if not mine:
                emit(Waiting(tuple(dict.fromkeys(t[k].name for t in todo for k in busy if k in t))))
                claims.release()
                claims.wait(busy[0], cancel)
                claims.release()
                continue
            now = [{k: cell for k, cell in t.items() if k in mine} for t in _todo(sides, handled)]
            handled |= mine
            if any(now):
                landed += _begun(sides, now, how, emit, cancel)
            claims.release()
    return landed


def _taken(claims: Claims, todo: Sequence[Todo]) -> tuple[set[Hashable], tuple[Hashable, ...]]:
    """What is ours of cells that are wholly ours, and what others hold. The rest of a cell is given back."""
    mine, busy = claims.take(key for t in todo for key in t)
    others = {t[key].header.cell for t in todo for key in busy if key in t}
    broken = {key for t in todo for key in mine if key in t and t[key].header.cell in others}
    claims.release(broken)
    return {key for key in mine if key not in broken}, busy


def _todo(sides: Sequence[Side], handled: set[Hashable]) -> list[Todo]:
    """Of each side; what two sides have alike is the first's."""
    out: list[Todo] = []
    for side in sides:
        found = {key(cell): cell for cell in side.replan().cells if cell.need}
        out.append({k: c for k, c in found.items() if k not in handled and not any(k in t for t in out)})
    return out


def key(cell: Cell) -> Hashable:
    """What two runs must not measure at once: the cell at its digests, by the requested model, for one count."""
    purpose = cell.header.purpose
    count = (str(purpose), cell.header.against) if purpose in NEVER_POOLED else ("pooled",)
    return (*cell.header.cell, *cell.header.digests.key(), cell.header.model, *count)


def _begun(
    sides: Sequence[Side], now: Sequence[Mapping[Hashable, Cell]], how: How, emit: Emit, cancel: threading.Event
) -> list[Landed]:
    """One round: a run of each side that has something to do."""
    works = []
    for side, cells in zip(sides, now, strict=True):
        if cells:
            prepared = tuple(prepare(side.bench, c.scenario, c.header.agent, c.tier) for c in cells.values())
            preflight.setup_is_deterministic(side.bench, prepared, cancel)
            work = Work(tuple(cells.values()), prepared, how.jobs, how.commit, side.snapshot)
            works.append((side, work))
    names = [_named(side, cell, several=len(sides) > 1) for side, work in works for cell in work.cells]
    emit(Begun(tuple(names), tuple(c.need for _, work in works for c in work.cells)))
    benches = [(side.bench, work) for side, work in works]
    landed = interleaved(sides[0].session.repo, benches, emit, cancel, how.budget)
    return [one for one in landed if one.ref]


def _named(side: Side, cell: Cell, *, several: bool) -> str:
    if not several:
        return cell.name
    return f"{cell.name} {f'at {side.session.at_name}' if side.session.at else 'here'}"
