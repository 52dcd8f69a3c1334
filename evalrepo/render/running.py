"""The plan of a run and its end, as text of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalrepo.render.safe import safe, shortened, wrapped


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One cell of a plan: `run` reps to run, `have` recorded of `want`; why the scenario was chosen."""

    scenario: str
    agent: str
    tier: str
    have: int
    want: int
    run: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndLine:
    """One cell after a run: passes of valid reps, ERRORs by kind, the passes that its bar needs."""

    scenario: str
    agent: str
    tier: str
    passes: int
    valid: int
    want: int
    needed: int
    errors: tuple[str, ...]
    strip: str

    @property
    def state(self) -> str:
        """`ok`, `below its bar`, or `N reps missing`."""
        if self.valid < self.want:
            return f"{self.want - self.valid} of {self.want} reps missing"
        return "ok" if self.passes >= self.needed else "below its bar"


def plan_table(lines: Sequence[PlanLine]) -> str:
    """Scenario, who runs it, reps to run, recorded; below each scenario why it was chosen."""
    from tabulate import tabulate

    rows = [
        [shortened(safe(line.scenario), 38), safe(f"{line.agent}/{line.tier}"), line.run, f"{line.have} of {line.want}"]
        for line in lines
    ]
    return tabulate(rows, headers=["scenario", "agent/tier", "to run", "recorded"], tablefmt="simple")


def reasons_text(lines: Sequence[PlanLine]) -> str:
    """Each scenario once, with why it was chosen."""
    why = {line.scenario: line.reasons for line in lines}
    out = [row for name, reasons in why.items() for row in wrapped(f"{name}: {'; '.join(reasons)}", then="  ")]
    return "\n".join(out)


def end_table(lines: Sequence[EndLine]) -> str:
    """Scenario, who ran it, verdicts, rate, ERRORs, and how it stands to its bar."""
    from tabulate import tabulate

    rows = [
        [
            shortened(safe(line.scenario), 28),
            shortened(safe(f"{line.agent}/{line.tier}"), 20),
            f"{line.passes}/{line.valid}",
            shortened(line.strip, 8),
            len(line.errors),
            line.state,
        ]
        for line in lines
    ]
    return tabulate(rows, headers=["scenario", "agent/tier", "passed", "reps", "ERROR", ""], tablefmt="simple")


def next_step(lines: Sequence[EndLine]) -> str:
    """The sentence that says what to do next."""
    if any(line.valid < line.want for line in lines):
        kinds = sorted({e for line in lines if line.valid < line.want for e in line.errors})
        why = f" ({', '.join(kinds)})" if kinds else ""
        return f"ERRORs left cells without their reps{why}: evalrepo show ID explains; the same command tries again"
    if any(line.passes < line.needed for line in lines):
        return "cells are below their bar: evalrepo show ID explains one, evalrepo diff compares with before"
    return "every cell is at its bar: evalrepo diff compares with before, evalrepo gate decides"
