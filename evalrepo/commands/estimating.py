"""What the reps of a plan would cost and take, by medians of what is recorded of the same cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalrepo.comparing.planning import Known, price, priced, used

if TYPE_CHECKING:
    from evalrepo.comparing.pool import Cell as Name
    from evalrepo.records.planning import Price
    from evalrepo.records.row import Row
    from evalrepo.render.running import PlanLine
    from evalrepo.running.plan import Cell


@dataclass(frozen=True)
class Estimate:
    """The plan's lines, each with USD and seconds of one rep (None: nothing is recorded), and all reps together."""

    lines: tuple[PlanLine, ...]
    price: Price


def estimate(cells: Sequence[Cell], rows_of: Callable[[Name], Sequence[Row]]) -> Estimate:
    """Of these cells, in their order. `rows_of`: what is recorded of a cell, whatever subject it had."""
    from evalrepo.render.running import PlanLine

    each = priced([known_of(cell, rows_of(cell.header.cell)) for cell in cells])
    lines = [
        PlanLine(
            *cell.header.cell,
            have=cell.have,
            want=cell.want,
            run=cell.need,
            reasons=cell.reasons,
            usd=usd,
            seconds=seconds,
        )
        for cell, (usd, seconds) in zip(cells, each, strict=True)
    ]
    return Estimate(tuple(lines), price(each, [cell.need for cell in cells]))


def known_of(cell: Cell, rows: Sequence[Row]) -> Known:
    """What is recorded of a planned cell's cost and time; a model-free one costs nothing."""
    usd, seconds = used(rows)
    header = cell.header
    return Known(
        *header.cell,
        want=cell.want,
        bar=(header.bar.passes, header.bar.of),
        usd=(0.0,) if header.model_free else usd,
        seconds=seconds,
    )
