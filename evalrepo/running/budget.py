"""What a run may spend, and what it has spent: asked before each rep is started, told of each that ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalrepo.records.record import ErrorKind, Rep

NOTHING_RAN = frozenset({str(ErrorKind.SETUP), str(ErrorKind.LAUNCH)})
"""Errors before the agent: where no process came to an end either, nothing was paid for."""


@dataclass(slots=True)
class Budget:
    """The limits of one run, over all its rounds and sides; None is no limit. Used by the run's own thread only.

    `attempts` were started, `usd` is what those that ended say they cost (sub-agents included, whatever the verdict),
    `unpriced` of them did not say it. `judge_usd` is the judges' part of
    `usd`. `stopped`: the limit for which a rep was not started, "" when there was none;
    `unpriced` stands for a limit in USD that cannot be kept, because a rep did not say what it cost.
    """

    max_usd: float | None = None
    max_reps: int | None = None
    attempts: int = 0
    usd: float = 0.0
    unpriced: int = 0
    judge_usd: float = 0.0
    stopped: Literal["", "usd", "reps", "unpriced"] = ""

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self.max_usd is not None or self.max_reps is not None

    def grants(self) -> bool:
        """Whether one more attempt may start; it counts as started then. A refusal is the last word."""
        if self.max_reps is not None and self.attempts >= self.max_reps:
            self.stopped = self.stopped or "reps"
        elif self.max_usd is not None and self.usd >= self.max_usd:
            self.stopped = self.stopped or "usd"
        elif self.max_usd is not None and self.max_reps is None and self.unpriced:
            self.stopped = self.stopped or "unpriced"
        if not self.stopped:
            self.attempts += 1
        return not self.stopped

    def ended(self, rep: Rep, *, paid: bool, judge_paid: bool = False) -> None:
        """An attempt ended. `paid`: somebody pays for its model, `judge_paid`: for its judge; what does not say its
        cost is free otherwise."""
        self._judged(rep, paid=judge_paid)
        cost = rep.usage.cost_usd
        if not paid or (cost is None and rep.timing.longest_gap_s is None and rep.error in NOTHING_RAN):
            return
        if cost is None:
            self.unpriced += 1
        else:
            self.usd += cost

    def _judged(self, rep: Rep, *, paid: bool) -> None:
        """What a judge said it cost counts, also where nobody was thought to pay for it."""
        costs = [judgement.spent.cost_usd for judgement in rep.judged if not judgement.cached]
        self.judge_usd += sum(cost for cost in costs if cost is not None)
        self.usd += sum(cost for cost in costs if cost is not None)
        self.unpriced += paid and None in costs
