"""What 3, 5 or 8 reps could show, at what price, and which cells need more. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from evalrepo.comparing.statistics import (
    attainable,
    mean,
    middle,
    p_at_least,
    p_false_suspect,
    smallest_drop,
    suspect,
)
from evalrepo.records.planning import CellPlan, Option, Outlook, Price, TierPlan
from evalrepo.records.row import Row
from evalrepo.records.verdict import bar_needed

POWER = 0.8
ASSUMED = 0.9
"""The pass rate that is reckoned with where nothing is recorded."""

Single = tuple[float | None, float | None]
"""USD and seconds of one rep, None where nothing is recorded."""

MOST = 20
"""Reps of one cell beyond which nobody is advised to go."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is recorded of a cell: (passes, valid) of what is here and of the baseline's subject, or else the newest
    other one, under the same scenario and checks, (0, 0) for nothing; USD and seconds of single reps, whatever subject
    they had. `base`: valid reps of the baseline's subject; None without a baseline, or when it has the one here."""

    scenario: str
    agent: str
    tier: str
    want: int
    bar: tuple[int, int]
    here: tuple[int, int] = (0, 0)
    before: tuple[int, int] = (0, 0)
    usd: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    base: int | None = None

    @property
    def last(self) -> tuple[int, int]:
        """The counts that its rate is taken from."""
        return self.here if self.here[1] else self.before

    @property
    def level(self) -> str:
        """`AGENT/TIER`."""
        return f"{self.agent}/{self.tier}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: reps of each option, one-sided alpha, the margin that the gate wants, reps at a time, and
    the suite and the baseline by name, "" for none."""

    reps: tuple[int, ...]
    alpha: float
    margin: float
    jobs: int
    suite: str = ""
    base: str = ""


def outlook(cells: Sequence[Known], asked: Question) -> Outlook:
    """The answer over these cells, in their order."""
    each = priced(cells)
    recorded = sum(cell.last[1] for cell in cells)
    return Outlook(
        suite=asked.suite,
        scenarios=len({cell.scenario for cell in cells}),
        cells=tuple(_cell(cell, *one) for cell, one in zip(cells, each, strict=True)),
        rate=rate_of(cells),
        recorded=recorded,
        alpha=asked.alpha,
        power=POWER,
        wanted_margin=asked.margin,
        jobs=asked.jobs,
        options=tuple(_option(cells, each, reps, asked.alpha) for reps in asked.reps) if cells else (),
        tiers=tuple(_tier(name, held, asked) for name, held in _by_tier(cells)),
        saturated=recorded > 0 and all(p == n for c in cells for p, n in (c.here, c.before)),
        sides=2 if any(c.before[1] for c in cells) and any(c.here[1] for c in cells) else 1,
        base=asked.base,
    )


def rate_of(cells: Iterable[Known]) -> float:
    """The pooled pass rate, half a pass and half a fail added so that it is never 0 or 1; `ASSUMED` for no rep."""
    counts = [cell.last for cell in cells]
    valid = sum(n for _, n in counts)
    return (sum(p for p, _ in counts) + 0.5) / (valid + 1) if valid else ASSUMED


def _by_tier(cells: Sequence[Known]) -> list[tuple[str, list[Known]]]:
    ordered = sorted(cells, key=lambda c: c.level)
    return [(name, list(held)) for name, held in groupby(ordered, key=lambda c: c.level)]


def _tier(name: str, cells: Sequence[Known], asked: Question) -> TierPlan:
    rate = rate_of(cells)
    drops = tuple(smallest_drop([(n, n)] * len(cells), rate, asked.alpha, POWER) for n in asked.reps)
    return TierPlan(name, len(cells), rate, drops)


def _option(cells: Sequence[Known], each: Sequence[Single], n: int, alpha: float) -> Option:
    rate, size = rate_of(cells), len(cells)
    per_scenario = [len(list(held)) for _, held in groupby(sorted(c.scenario for c in cells))]
    return Option(
        reps=n,
        drop=smallest_drop([(n, n)] * size, rate, alpha, POWER),
        suspect=next((k for k in range(n - 1, -1, -1) if suspect((n, n), (k, n))), None),
        false_suspects=size * p_false_suspect(rate, n, n),
        unchanged=prod(p_at_least(bar_needed(c.bar, n), n, rate) for c in cells),
        flip=mean([1 / (n * size_) for size_ in per_scenario]) / len(per_scenario),
        margin=attainable(n * size, n * size, alpha),
        price=price(each, _up_to(n, [c.here[1] for c in cells])),
        base=price(each, _up_to(n, [n if c.base is None else c.base for c in cells])) if _has_base(cells) else None,
    )


def _up_to(n: int, have: Sequence[int]) -> list[int]:
    """Reps that bring cells with so many valid ones up to `n`."""
    return [max(0, n - valid) for valid in have]


def _has_base(cells: Sequence[Known]) -> bool:
    return any(cell.base is not None for cell in cells)


def used(rows: Iterable[Row], *, free: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """USD (of those that say it) and seconds of every valid rep in the rows of a cell. `free`: no model answers in it,
    so a rep costs nothing, recorded or not."""
    valid = [(row, rep) for row in rows for tries in row.attempts().values() if (rep := tries[-1]).verdict != "ERROR"]
    costs = [0.0 if row.model_free else rep.usage[1] for row, rep in valid]
    usd = (0.0,) if free else tuple(usd for usd in costs if usd is not None)
    return usd, tuple(rep.usage[3] for _, rep in valid)


def priced(cells: Sequence[Known]) -> list[Single]:
    """USD and seconds of one rep: the cell's own median, else that of its tier's cells, else unknown."""
    tiers = {
        name: (
            middle([m for c in held if (m := middle(c.usd)) is not None]),
            middle([m for c in held if (m := middle(c.seconds)) is not None]),
        )
        for name, held in _by_tier(cells)
    }
    return [(_else(middle(c.usd), tiers[c.level][0]), _else(middle(c.seconds), tiers[c.level][1])) for c in cells]


def _else(own: float | None, other: float | None) -> float | None:
    return other if own is None else own


def price(each: Sequence[Single], needs: Sequence[int]) -> Price:
    """So many reps of each cell together, `each` as `priced` has them."""
    known = list(zip(needs, each, strict=True))
    return Price(
        reps=sum(needs),
        usd=sum(need * usd for need, (usd, _) in known if usd is not None),
        unpriced=sum(need for need, (usd, _) in known if usd is None),
        seconds=sum(need * seconds for need, (_, seconds) in known if seconds is not None),
        untimed=sum(need for need, (_, seconds) in known if seconds is None),
    )


def _cell(cell: Known, usd: float | None, seconds: float | None) -> CellPlan:
    needs, visible = _needs(cell)
    have = min(cell.here[1], cell.want)
    return CellPlan(
        cell.scenario, cell.agent, cell.tier, cell.want, have, cell.here[0], usd, seconds, needs, visible
    )  # fmt: skip


def _needs(cell: Known) -> tuple[str, int | None]:
    """Why a cell needs more reps, and from how many on its worst fall would be suspect."""
    passes, valid = cell.last
    visible = _visible_at(passes / valid) if valid else None
    lacks = cell.want - cell.here[1]
    if lacks > 0:
        return f"{lacks} rep{'s' * (lacks != 1)} missing", visible
    if visible is None:
        return "no room to fall", None
    return (f"a fall shows from {visible} reps on", visible) if visible > cell.want else ("", visible)


def _visible_at(rate: float) -> int | None:
    """Reps a side from which on a fall from this rate to nothing is suspect."""
    return next((n for n in range(1, MOST + 1) if suspect((round(rate * n), n), (0, n))), None)
