"""The plan of a run and its end, as text of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from evalrepo.render.findings import counted
from evalrepo.render.planning import cost_text
from evalrepo.render.safe import safe, shortened, wrapped
from evalrepo.render.text import table

MANY = 4
"""So many scenarios that were skipped for one reason are one line."""


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One cell of a plan: `run` reps to run, `have` recorded of `want`; why the scenario was chosen; USD and seconds
    of one rep, None where nothing is recorded."""

    scenario: str
    agent: str
    tier: str
    have: int
    want: int
    run: int
    reasons: tuple[str, ...]
    usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class EndLine:
    """One cell after a run: passes of valid reps, ERRORs by kind, the passes that its bar needs; `left`: reps that a
    limit on money or reps kept from being started; `canary`: one rep that a person looks at, before there are more."""

    scenario: str
    agent: str
    tier: str
    passes: int
    valid: int
    want: int
    needed: int
    errors: tuple[str, ...]
    strip: str
    left: int = 0
    canary: bool = False

    @property
    def leaked(self) -> bool:
        """Whether an agent saw what it must not see."""
        return "leak" in self.errors

    @property
    def state(self) -> str:
        """`ok`, `below its bar`, `canary`, or `N reps missing`."""
        if self.valid < self.want:
            return f"{self.want - self.valid} of {counted(self.want, 'rep')} missing"
        if self.canary:
            return "canary"
        return "ok" if self.passes >= self.needed else "below its bar"


class SkippedShown(Protocol):
    """What is shown of a cell that was left out."""

    @property
    def scenario(self) -> str: ...
    @property
    def agent(self) -> str: ...
    @property
    def tier(self) -> str: ...
    @property
    def why(self) -> str: ...


def skipped_text(skipped: Sequence[SkippedShown]) -> list[str]:
    """A line a cell that was left out; one line for many that were left out for one reason."""

    def reason(one: SkippedShown) -> tuple[str, str, str]:
        return one.agent, one.tier, one.why

    lines = []
    for (agent, tier, why), group in groupby(sorted(skipped, key=reason), key=reason):
        names = [one.scenario for one in group]
        if len(names) >= MANY:
            names = [f"{len(names)} scenarios, {names[0]} … {names[-1]}"]
        for name in names:
            lines += wrapped(f"skipped: {name} · {agent}/{tier}: {why}", then="  ")
    return lines


def plan_table(lines: Sequence[PlanLine]) -> str:
    """Scenario, who runs it, reps to run, recorded, what one costs and takes."""
    rows = [
        (
            x.scenario,
            shortened(safe(f"{x.agent}/{x.tier}"), 28),
            str(x.run),
            f"{x.have} of {x.want}",
            cost_text(x.usd, x.seconds),
        )
        for x in lines
    ]
    return "\n".join(table(rows, ("scenario", "agent/tier", "to run", "recorded", "one rep"), shrink=0))


def reasons_text(lines: Sequence[PlanLine]) -> str:
    """Each scenario once, with why it was chosen."""
    why = {line.scenario: line.reasons for line in lines}
    out = [row for name, reasons in why.items() for row in wrapped(f"{name}: {'; '.join(reasons)}", then="  ")]
    return "\n".join(out)


def end_table(lines: Sequence[EndLine]) -> str:
    """Scenario, who ran it, verdicts, rate, ERRORs, and how it stands to its bar."""
    rows = [
        (
            line.scenario,
            shortened(safe(f"{line.agent}/{line.tier}"), 28),
            f"{line.passes}/{line.valid}",
            shortened(line.strip, 8),
            str(len(line.errors)),
            line.state,
        )
        for line in lines
    ]
    return "\n".join(table(rows, ("scenario", "agent/tier", "passed", "reps", "ERROR", "bar"), shrink=0))


def spent_text(
    max_usd: float | None, max_reps: int | None, attempts: int, usd: float, unpriced: int, *, stopped: str
) -> list[str]:
    """What a run with these limits has spent by so many attempts, `unpriced` of which did not say their cost, and which
    limit kept a rep from being started ("" for none)."""
    own = [f"{usd:.2f} of {max_usd:.2f} USD"] if max_usd is not None else [f"{usd:.2f} USD"]
    unknown = f" and what {counted(unpriced, 'attempt')} did not say" if unpriced else ""
    tries = f"{attempts} of {max_reps} attempts" if max_reps is not None else counted(attempts, "attempt")
    why = {
        "usd": "; stopped, --max-cost is spent",
        "reps": "; stopped, --max-reps is used up",
        "unpriced": "; stopped: without known costs --max-cost cannot be kept, --max-reps N can",
    }
    return wrapped(f"spent: {own[0]}{unknown}, {tries}{why.get(stopped, '')}", then="  ")


def next_step(lines: Sequence[EndLine], *, first: bool, versus: str = "") -> str:
    """What to do next, "" where only canaries were run. `first`: no other subject of these cells is recorded, so there
    is nothing to compare with; `versus`: the revision that was measured beside what is here."""
    if any(line.leaked for line in lines):
        return (
            "next: evalrepo show ID says what leaked. Such a rep is never tried again, and\n"
            "  evalrepo gate is invalid until it is measured anew, or acknowledged"
        )
    if any(line.valid + line.left < line.want for line in lines):
        return "next: evalrepo show ID explains an ERROR; the same command tries again"
    if any(line.left for line in lines):
        return "next: the same command goes on where it stopped; a limit is of one run"
    if lines and all(line.canary for line in lines):
        return ""
    below = any(line.passes < line.needed and not line.canary for line in lines)
    explain = "evalrepo show ID explains a cell, " if below else ""
    if first and not versus:
        return f"next: {explain}after a change, run again and evalrepo diff compares"
    decide = "" if below else ", evalrepo gate decides"
    diff = f"diff {versus} compares" if versus else "diff compares with before"
    return f"next: {explain}evalrepo {diff}{decide}"


def answer(lines: Sequence[EndLine], code: int, *, waits: int = 0, alarm: bool = False) -> str:
    """The last line, as `diff` and `gate` have it: what the exit code means here. `waits`: canaries that nobody looked
    at; `alarm`: the suite is degenerate."""
    short = [line for line in lines if line.valid < line.want]
    low = [line for line in lines if line.passes < line.needed and line not in short and not line.canary]
    if alarm:
        said = "the suite is degenerate"
    elif short and all(line.left for line in short):
        said = f"{_cells(short)} without all reps, by the limit"
    elif short:
        kinds = sorted({e for line in short for e in line.errors})
        why = f" ({', '.join(kinds)})" if kinds else ""
        said = f"{_cells(short)} without all reps, by ERRORs{why}"
    elif waits:
        said = f"{'one canary waits' if waits == 1 else f'{waits} canaries wait'} for a person's look"
    elif low:
        said = f"{_cells(low)} below {'its' if len(low) == 1 else 'their'} bar"
    else:
        canary = lines and all(line.canary for line in lines)
        said = "every canary was looked at" if canary else "every cell is at its bar"
    return f"run: {said} (exit {code})"


def _cells(lines: Sequence[EndLine]) -> str:
    return f"{counted(len(lines), 'cell')} {'is' if len(lines) == 1 else 'are'}"
