"""What a comparison can stand on: which cells, which errors, when. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evalrepo.comparing.rates import error_bounds
from evalrepo.records.verdict import CellResult, Errors, Excluded, Score, Validity

CONFIG = "evalrepo.yaml"


def validity(cells: Sequence[CellResult]) -> Validity:
    """Of all cells of a verdict."""
    labels: dict[str, int] = {}
    for cell in cells:
        labels[cell.label] = labels.get(cell.label, 0) + 1
    concurrent, gap = _concurrent(cells)
    before, after = _errors([c.before for c in cells]), _errors([c.after for c in cells])
    comparable = [c for c in cells if c.comparable]
    bounds = error_bounds(comparable) if comparable and before.attempt_rate != after.attempt_rate else None
    return Validity(
        comparable=len(comparable),
        labels=dict(sorted(labels.items())),
        before=before,
        after=after,
        concurrent=concurrent,
        gap=gap,
        excluded=_excluded(cells),
        bounds=bounds if bounds is not None and bounds[0] < bounds[1] else None,
    )


def _errors(scores: Iterable[Score | None]) -> Errors:
    held = [s for s in scores if s is not None]
    kinds: dict[str, int] = {}
    for one in held:
        for kind, n in one.errors_by_kind.items():
            kinds[kind] = kinds.get(kind, 0) + n
    return Errors(
        errors=sum(s.errors for s in held),
        reps=sum(s.valid + s.beyond + s.errors for s in held),
        retries=sum(s.retries for s in held),
        kinds=dict(sorted(kinds.items())),
    )


def _concurrent(cells: Sequence[CellResult]) -> tuple[bool, str]:
    """Whether the two sides' reps of every compared cell overlap in time, and else the times."""
    apart = [
        (b, a)
        for c in cells
        if c.comparable and not c.same_reps and (b := c.before) is not None and (a := c.after) is not None
        if b.last < a.first or a.last < b.first
    ]
    if not apart:
        return True, ""
    first, last = min(b.first for b, _ in apart), max(b.last for b, _ in apart)
    return False, f"{span(first, last)} and {span(min(a.first for _, a in apart), max(a.last for _, a in apart))}"


def span(first: str, last: str) -> str:
    """Two RFC 3339 times as a person writes a span."""
    return _minute(first) if first[:16] == last[:16] else f"{_minute(first)} to {_minute(last)}"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _excluded(cells: Iterable[CellResult]) -> tuple[Excluded, ...]:
    found: dict[str, int] = {}
    for cell in cells:
        for excluded in (*cell.excluded, *_late(cell)):
            found[excluded.why] = found.get(excluded.why, 0) + excluded.reps
    return tuple(Excluded(why, reps) for why, reps in sorted(found.items()))


def _late(cell: CellResult) -> Iterator[Excluded]:
    """Valid reps after the first N."""
    sides = (cell.after,) if cell.same_reps else (cell.before, cell.after)
    late = sum(score.beyond for score in sides if score is not None)
    if late:
        yield Excluded(f"after the first {cell.reps} of a cell, which decide (`reps` in {CONFIG})", late)
