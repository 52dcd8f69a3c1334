"""What the reps of a plan would cost and take, by medians of what is recorded of the same cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo.comparing.planning import Known, Single, price, priced, used

if TYPE_CHECKING:
    from evalrepo.comparing.pool import Cell as Name
    from evalrepo.records.planning import Price
    from evalrepo.records.row import Row
    from evalrepo.render.running import PlanLine
    from evalrepo.running.plan import Cell, Plan


@dataclass(frozen=True)
class Estimate:
    """The lines of each plan, with USD and seconds of one rep (None: nothing is recorded), and all reps together."""

    lines: tuple[tuple[PlanLine, ...], ...]
    price: Price


def estimate(plans: Sequence[Plan], rows_of: Callable[[Name], Sequence[Row]]) -> Estimate:
    """Of the plans of one run together. `rows_of`: what is recorded of a cell, whatever subject it had."""
    cells = [cell for made in plans for cell in made.cells]
    each = priced([known_of(cell, rows_of(cell.header.cell)) for cell in cells])
    own = iter(each)
    lines = tuple(tuple(_line(cell, next(own)) for cell in made.cells) for made in plans)
    return Estimate(lines, price(each, [cell.need for cell in cells]))


def _line(cell: Cell, one: Single) -> PlanLine:
    from evalrepo.render.running import PlanLine

    usd, seconds = one
    return PlanLine(*cell.header.cell, cell.have, cell.want, cell.need, cell.reasons, usd, seconds)


def known_of(cell: Cell, rows: Sequence[Row]) -> Known:
    """What is recorded of a planned cell's cost and time; a model-free one costs nothing."""
    header = cell.header
    usd, seconds = used(rows, free=header.model_free)
    return Known(
        *header.cell,
        want=cell.want,
        bar=(header.bar.passes, header.bar.of),
        usd=usd,
        seconds=seconds,
    )
