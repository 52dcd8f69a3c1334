"""Whether a suspect is one: fresh reps only, by a plan that was written before they were taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evalrepo.comparing.statistics.intervals import Counts
from evalrepo.comparing.statistics.multiplicity import holm
from evalrepo.comparing.statistics.tables import fisher


def confirm(pairs: Sequence[tuple[Counts, Counts]], suspects: int) -> list[float]:
    """Holm-adjusted one-sided Fisher p of fresh reps, before and after, of some of `suspects` flagged cells.

    Suspects without fresh reps count in the family. Not to be looked at before the planned number of reps.
    """
    ps = [fisher(before, after) for before, after in pairs]
    return holm([*ps, *[1.0] * (suspects - len(ps))])[: len(ps)]


class Sprt(NamedTuple):
    """Where a sequential test stands. `path`: the log likelihood ratio after each rep; decided after `at` reps."""

    state: Literal["drop", "same", "open"]
    at: int
    path: tuple[float, ...]


def sprt(
    passed: Sequence[bool], *, good: float = 0.9, bad: float = 0.6, alpha: float = 0.05, beta: float = 0.05
) -> Sprt:
    """Wald's sequential test of pass rate `good` against `bad` (Wald 1945), on the candidate only.

    Valid where the base's rate is well known, and only if reps were stopped by the boundary.
    """
    upper, lower = math.log((1 - beta) / alpha), math.log(beta / (1 - alpha))
    ratio, path = 0.0, []
    for rep in passed:
        ratio += math.log(bad / good) if rep else math.log((1 - bad) / (1 - good))
        path.append(ratio)
        if ratio >= upper or ratio <= lower:
            return Sprt("drop" if ratio >= upper else "same", len(path), tuple(path))
    return Sprt("open", len(path), tuple(path))
