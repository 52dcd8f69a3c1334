"""Cells are measured by one run at a time: what another run holds is waited for, then planned anew."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from evalrepo.running import preflight
from evalrepo.running.bench import Bench, prepare
from evalrepo.running.campaign import Emit, Work, measure
from evalrepo.running.claims import Claims
from evalrepo.running.events import Begun, Waiting
from evalrepo.running.keep import Landed
from evalrepo.running.plan import Cell, Plan
from evalrepo.running.session import Session


@dataclass(frozen=True, slots=True)
class How:
    """Reps at a time, whether results are committed, and the tree id of the snapshot that the run's ref keeps."""

    jobs: int
    commit: bool = True
    snapshot: str = ""


def measure_all(
    session: Session,
    bench: Bench,
    replan: Callable[[], Plan],
    how: How,
    emit: Emit,
    cancel: threading.Event,
) -> list[Landed]:
    """Measure every cell of the plan that needs reps, each once. `replan` reads what is recorded by now."""
    handled: set[Hashable] = set()
    landed: list[Landed] = []
    with Claims(session.repo.home) as claims:
        while not cancel.is_set():
            todo = _todo(replan(), handled)
            if not todo:
                break
            mine, busy = claims.take(todo)
            if not mine:
                emit(Waiting(tuple(todo[k].name for k in busy)))
                claims.wait(busy[0], cancel)
                claims.release()
                continue
            now = _todo(replan(), handled)
            cells = tuple(now[k] for k in mine if k in now)
            handled |= set(mine)
            if cells:
                landed.append(_one(session, bench, cells, how, emit, cancel))
            claims.release()
    return landed


def _todo(plan: Plan, handled: set[Hashable]) -> dict[Hashable, Cell]:
    return {key(cell): cell for cell in plan.cells if cell.need and key(cell) not in handled}


def key(cell: Cell) -> Hashable:
    """What two runs must not measure at once: the cell at its digests, by the requested model."""
    return (*cell.header.cell, *cell.header.digests.key(), cell.header.model, str(cell.header.purpose))


def _one(
    session: Session, bench: Bench, cells: tuple[Cell, ...], how: How, emit: Emit, cancel: threading.Event
) -> Landed:
    prepared = tuple(prepare(bench, c.scenario, c.header.agent, c.tier) for c in cells)
    preflight.setup_is_deterministic(bench, prepared, cancel)
    emit(Begun(tuple(c.name for c in cells), tuple(c.need for c in cells)))
    return measure(session.repo, bench, Work(cells, prepared, how.jobs, how.commit, how.snapshot), emit, cancel)
