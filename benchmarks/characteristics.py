"""How often the default gate blocks, stays open and passes, by seeded simulation: `make characteristics`.

For 6, 12, 30 and 100 cells (a scenario each, one tier) at 3 and 5 reps: nothing changed; every cell falls by 15 points;
one cell collapses to 5 %. Without confirmation, and with fresh reps of every suspect as `gate --confirm` takes them.
Every answer is `comparing.gate.gate`'s. Prints the table of docs/statistics.md; exit 1 when a release without any
change is blocked more often than 5 % (beyond the noise of the simulation).
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalrepo.comparing.cells import Planned, compared
from evalrepo.comparing.gate import gate
from evalrepo.comparing.pool import Identity
from evalrepo.records.inference import Fresh
from evalrepo.records.verdict import CellResult, Label, Policy, Score, Side

CELLS, REPS = (6, 12, 30, 100), (3, 5)
RATES = (0.99, 0.99, 0.95, 0.9, 0.85, 0.72)
"""True pass rates of the base's cells, in turn; their mean is .9."""

DROP, COLLAPSED = 0.15, 0.05
BUDGET = 80
"""Fresh reps of one confirmation at most, as `gate.confirm.budget`."""

SIMULATED = {6: 800, 12: 500, 30: 400, 100: 250}
"""Releases of each kind, by cells."""

CASES = ("no change", "drop of 15 points", "one cell collapses")
BEFORE, AFTER = Side("base", "a" * 40, {}), Side("HEAD", "b" * 40, {})
SAME = Identity("s", "t", "i")


@dataclass(frozen=True)
class Release:
    """True pass rates of every cell, before and after."""

    before: tuple[float, ...]
    after: tuple[float, ...]


def release(case: str, cells: int) -> Release:
    """A kind of release."""
    before = tuple(RATES[i % len(RATES)] for i in range(cells))
    if case == CASES[1]:
        return Release(before, tuple(r - DROP for r in before))
    return Release(before, (COLLAPSED, *before[1:]) if case == CASES[2] else before)


def drawn(rate: float, reps: int, rng: random.Random, side: str) -> Score:
    """The reps of one side of a cell."""
    strip = "".join("P" if rng.random() < rate else "F" for _ in range(reps))
    counts = (strip.count("P"), reps)
    return Score(
        passes=counts[0], valid=reps, errors=0, retries=0, beyond=0, strip=strip, runs=(side,), model="m", cli="1",
        apparatus="x", first="2026-11-01T10:00:00Z", last="2026-11-01T11:00:00Z", worst=counts, best=counts,
    )  # fmt: skip


def cells_of(kind: Release, reps: int, rng: random.Random) -> list[CellResult]:
    """One measured release."""
    return [
        compared(
            Planned(f"S{i:03}", "agent", "tier", SAME, SAME, reps=reps),
            drawn(b, reps, rng, "b"),
            drawn(a, reps, rng, "a"),
        )
        for i, (b, a) in enumerate(zip(kind.before, kind.after, strict=True))
    ]


def fresh_of(kind: Release, cells: Sequence[CellResult], rng: random.Random, planned: int) -> list[Fresh]:
    """What `--confirm` would take: the planned reps a side of each suspect, as far as the budget goes."""
    flagged = [n for n, c in enumerate(cells) if c.label is Label.SUSPECT][: BUDGET // (2 * planned)]
    return [
        Fresh(cells[n].name, *(drawn(r, planned, rng, "f").counts for r in (kind.before[n], kind.after[n])), planned)
        for n in flagged
    ]


def answers(case: str, cells: int, reps: int, policy: Policy) -> tuple[Counter[str], Counter[str]]:
    """Answers without and with confirmation."""
    rng = random.Random(f"{case} {cells} {reps}")
    kind, alone, confirmed = release(case, cells), Counter[str](), Counter[str]()
    for _ in range(SIMULATED[cells]):
        measured = cells_of(kind, reps, rng)
        first = gate(BEFORE, AFTER, measured, policy, ()).answer
        alone[first] += 1
        fresh = fresh_of(kind, measured, rng, policy.confirm_reps)
        confirmed[gate(BEFORE, AFTER, measured, policy, (), confirmed=fresh).answer if fresh else first] += 1
    return alone, confirmed


def rows(policy: Policy) -> Iterator[tuple[str, int, int, Counter[str], Counter[str]]]:
    """Every line of the table."""
    for case in CASES:
        for cells in CELLS:
            for reps in REPS:
                yield case, cells, reps, *answers(case, cells, reps, policy)


def line(case: str, cells: int, reps: int, alone: Counter[str], confirmed: Counter[str]) -> str:
    """Shares in per cent: block, inconclusive, pass; without and with confirmation."""
    n = alone.total()
    shares = [f"{100 * c[a] / n:.1f}" for c in (alone, confirmed) for a in ("block", "inconclusive", "pass")]
    return f"| {case} | {cells} | {reps} | " + " | ".join(shares) + " |"


def main() -> int:
    """Print the table; 1 when false blocks are over 5 %."""
    began, policy, worst = time.monotonic(), Policy("base"), 0.0
    print("| release | cells | reps | block | open | pass | block, confirmed | open, confirmed | pass, confirmed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case, cells, reps, alone, confirmed in rows(policy):
        print(line(case, cells, reps, alone, confirmed), flush=True)
        if case == CASES[0]:
            n = alone.total()
            worst = max(worst, *(c["block"] / n - 2 * (0.05 * 0.95 / n) ** 0.5 for c in (alone, confirmed)))
    print(f"\n{time.monotonic() - began:.0f} s", file=sys.stderr)
    return int(worst > 0.05)


if __name__ == "__main__":
    sys.exit(main())
