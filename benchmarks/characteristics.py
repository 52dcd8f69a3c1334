"""How often the default gate blocks, stays open and passes, by seeded simulation: `make characteristics`.

For 6, 12, 30 and 100 cells (a scenario each, one tier) at 3 and 5 reps: nothing changed; every cell falls by 15 points;
one cell collapses to 5 %. Without confirmation, and with fresh reps of every suspect as `gate --confirm` takes them.
Every answer is `comparing.gate.gate`'s. Then both plans of a confirmation, on one suspect. Prints the tables of
docs/statistics.md; exit 1 when a release without any change is blocked more often than 5 % (beyond the noise of the
simulation).
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evalrepo.comparing.cells import Planned, compared
from evalrepo.comparing.confirm_plan import CAP, batch
from evalrepo.comparing.confirming import confirmations
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

Plan = Literal["fixed", "sprt"]
PLANS: tuple[Plan, ...] = ("fixed", "sprt")
KNOWN, FALLEN, FIXED, SUSPECTS = 0.9, (0.9, 0.6, 0.3, 0.05), 8, 2000
"""A suspect's base, what it may have fallen to, reps a side of the fixed plan, suspects that are simulated."""

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


def one_suspect(plan: Plan, rate: float, rng: random.Random) -> tuple[str, int]:
    """What fresh reps say of a suspect whose base passes at .9 and that passes at `rate` itself, and how many."""
    flagged = compared(Planned("S", "agent", "tier", SAME, SAME), drawn(1, 3, rng, "b"), drawn(0, 3, rng, "a"))
    if plan == "fixed":
        sides = (drawn(KNOWN, FIXED, rng, "f").counts, drawn(rate, FIXED, rng, "f").counts)
        [said] = confirmations([flagged], [Fresh(flagged.name, *sides, FIXED)], 0.05)
        return said.outcome, 2 * FIXED
    strip = ""
    while more := batch(strip, 0.05):
        strip += drawn(rate, more, rng, "f").strip
    counts = (strip.count("P"), len(strip))
    [said] = confirmations([flagged], [Fresh(flagged.name, (0, 0), counts, CAP, "sprt", strip)], 0.05)
    return said.outcome, len(strip)


def plan_line(plan: Plan, rate: float) -> str:
    """Shares in per cent, and reps in the mean and at most."""
    rng = random.Random(f"{plan} {rate}")
    found = [one_suspect(plan, rate, rng) for _ in range(SUSPECTS)]
    said, reps = Counter(outcome for outcome, _ in found), [n for _, n in found]
    shares = [f"{100 * said[outcome] / SUSPECTS:.1f}" for outcome in ("confirmed", "open", "cleared")]
    return f"| {plan} | {rate:g} | " + " | ".join([*shares, f"{sum(reps) / SUSPECTS:.1f}", str(max(reps))]) + " |"


def main() -> int:
    """Print the tables; 1 when false blocks are over 5 %."""
    began, policy, worst = time.monotonic(), Policy("base"), 0.0
    print("| release | cells | reps | block | open | pass | block, confirmed | open, confirmed | pass, confirmed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case, cells, reps, alone, confirmed in rows(policy):
        print(line(case, cells, reps, alone, confirmed), flush=True)
        if case == CASES[0]:
            n = alone.total()
            worst = max(worst, *(c["block"] / n - 2 * (0.05 * 0.95 / n) ** 0.5 for c in (alone, confirmed)))
    print("\n| plan | true rate | confirmed | open | cleared | reps | most |\n|---|---|---|---|---|---|---|")
    for plan in PLANS:
        print("\n".join(plan_line(plan, rate) for rate in FALLEN))
    print(f"\n{time.monotonic() - began:.0f} s", file=sys.stderr)
    return int(worst > 0.05)


if __name__ == "__main__":
    sys.exit(main())
