"""The commands that would settle a reason. One place, so that every rendering names the same next step."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from evalrepo.records.verdict import CellResult, Side

MOST = 6
"""Scenarios that one command names; the next diff or gate names the others."""


def measure(cells: Sequence[CellResult], *, reps: int | None = None) -> str:
    """`evalrepo run` for these cells."""
    scenarios = list(dict.fromkeys(c.scenario for c in cells))
    words = ["evalrepo", "run", *scenarios[:MOST]]
    for option, chosen in (("--agent", {c.agent for c in cells}), ("--tier", {c.tier for c in cells})):
        for name in sorted(chosen):
            words += [option, name]
    if reps is not None:
        words += ["--reps", str(reps)]
    return shlex.join(words)


def measure_base(cells: Sequence[CellResult], before: Side, after: Side, *, reps: int | None = None) -> str:
    """The same for the base's subject under the candidate's everything else, in a linked work tree.

    Results are found by content in the run refs, which linked work trees share. `git restore` also removes what the
    base's subject does not have.
    """
    there = ["git", "worktree", "add", "--detach", "../at-base", after.commit[:12] or "HEAD"]
    base = before.commit[:12] or before.name
    back = ["git", "restore", f"--source={base}", "--staged", "--worktree", "--", *after.roots]
    return f"{shlex.join(there)} && cd ../at-base && {shlex.join(back)} && {measure(cells, reps=reps)} --no-commit"


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
