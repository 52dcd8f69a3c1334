"""What more reps would tell, and at what price. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """Of reps that are still to be run: USD and seconds of agent time, one rep after the other. Medians of what is
    recorded; `unpriced` and `untimed` count reps of cells of which nothing is known, which the sums leave out."""

    reps: int
    usd: float
    unpriced: int
    seconds: float
    untimed: int


@dataclass(frozen=True, slots=True)
class Option:
    """So many reps in each cell on both sides.

    `drop`: the smallest fall of every pass rate that the exact test shows with a power of 80 % (None: not even a
    collapse); `suspect`: passes of one cell from which on it is suspect after passing all, None when it never is;
    `false_suspects`: how many to expect without a change; `unchanged`: P(every cell is at its bar) without a change;
    `flip`: by how much one rep moves the overall rate; `margin`: the smallest drop that can be excluded when all pass.
    `price`: of what is here; `base`: of the baseline, None where there is none, or none with another subject.
    """

    reps: int
    drop: float | None
    suspect: int | None
    false_suspects: float
    unchanged: float
    flip: float
    margin: float
    price: Price
    base: Price | None = None

    @property
    def both(self) -> Price:
        """What both sides cost together."""
        here, base = self.price, self.base
        if base is None:
            return here
        return Price(
            reps=here.reps + base.reps,
            usd=here.usd + base.usd,
            unpriced=here.unpriced + base.unpriced,
            seconds=here.seconds + base.seconds,
            untimed=here.untimed + base.untimed,
        )


@dataclass(frozen=True, slots=True)
class TierPlan:
    """An agent's tier: cells, the pass rate that is reckoned with, and the smallest drop shown by each option."""

    name: str
    cells: int
    rate: float
    drops: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class CellPlan:
    """A cell: `have` of `want` reps are recorded for what is here, `passes` of them passed; `usd` and `seconds` of one
    rep (None: unknown). `needs` says why it needs more reps, "" when it does not; `visible_at`: reps from which on its
    worst fall would be suspect, None when it cannot fall that far within twenty."""

    scenario: str
    agent: str
    tier: str
    want: int
    have: int
    passes: int
    usd: float | None
    seconds: float | None
    needs: str = ""
    visible_at: int | None = None

    @property
    def name(self) -> str:
        """`SCENARIO · AGENT/TIER`."""
        return f"{self.scenario} · {self.agent}/{self.tier}"


@dataclass(frozen=True, slots=True)
class Outlook:
    """The answer of `plan`. `rate`: the pass rate that is reckoned with, from `recorded` reps (0: it is assumed).
    `saturated`: every known cell passed all its reps on both sides, or on the only one that is known (`sides`).
    `base`: the baseline that is priced too, "" for none."""

    suite: str
    scenarios: int
    cells: tuple[CellPlan, ...]
    rate: float
    recorded: int
    alpha: float
    power: float
    wanted_margin: float
    jobs: int
    options: tuple[Option, ...]
    tiers: tuple[TierPlan, ...]
    saturated: bool
    sides: int
    base: str = ""
