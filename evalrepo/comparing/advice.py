"""The commands that would settle a reason. One place, so that every rendering names the same next step."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from evalrepo.records.verdict import CellResult, Side

MOST = 6
"""Scenarios that one command names; the next diff or gate names the others."""


HERE = ("HEAD", "WORKTREE")
"""Candidates that `run` measures without being told."""


def measure(cells: Sequence[CellResult], after: Side) -> str:
    """`evalrepo run` for these cells at the candidate, up to the reps that decide."""
    at = () if after.name in HERE else ("--at", _named(after))
    return shlex.join([*_run(cells), *at])


def measure_base(cells: Sequence[CellResult], before: Side, after: Side) -> str:
    """The same for the base's subject under the candidate's everything else; what the candidate lacks runs in turns."""
    if not before.commit or before.subjects == after.subjects:
        return measure(cells, before if before.name == "WORKTREE" else after)
    at = () if after.name in HERE else ("--at", _named(after))
    return shlex.join([*_run(cells), *at, "--against", _named(before)])


def _run(cells: Sequence[CellResult]) -> list[str]:
    """Of reserve cells a look, which takes all of a subject's; others by name."""
    held = [cell for cell in cells if cell.set == "reserve"]
    if held and len(held) == len(cells):
        return ["evalrepo", "run", "--reserve", held[0].scenario, "--why", "REASON"]
    cells = [cell for cell in cells if cell.set != "reserve"]
    scenarios = list(dict.fromkeys(c.scenario for c in cells))
    words = ["evalrepo", "run", *scenarios[:MOST]]
    for option, chosen in (("--agent", {c.agent for c in cells}), ("--tier", {c.tier for c in cells})):
        for name in sorted(chosen):
            words += [option, name]
    return [*words, "--reps", str(max(c.reps for c in cells))]


def _named(side: Side) -> str:
    """As the person named it, or a short commit id."""
    return side.commit[:12] if side.name == side.commit else side.name


def look_at(cell: CellResult) -> str:
    """`evalrepo show` of the candidate's newest run of a cell."""
    runs = cell.after.runs if cell.after is not None else ()
    return shlex.join(["evalrepo", "show", *runs[-1:], cell.scenario])


def names(cells: Sequence[CellResult], limit: int = 3) -> str:
    """The first cells by name, and how many more."""
    shown = ", ".join(c.name for c in cells[:limit])
    return shown if len(cells) <= limit else f"{shown} and {len(cells) - limit} more"


def plural(number: int, noun: str) -> str:
    """`1 cell`, `2 cells`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
