"""What is inferred from scores, as plain frozen data: tests, bars, margins, confirmations, waivers.

Every number comes from `comparing.statistics`. Probabilities are of 0 to 1, rates and differences too.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from evalrepo.records.looks import look_text

Counts = tuple[int, int]
"""Passes, valid reps."""


class Test(NamedTuple):
    """An exact permutation test within cells: `p` two-sided, `p_drop` one-sided for a drop, `mid` its mid-p.

    `holm` is `p_drop` corrected for the verdict's family, None for a test that is no member of it. `informative`:
    cells that could have come out otherwise.
    """

    p: float
    p_drop: float
    mid: float
    informative: int
    holm: float | None = None


class MetricFall(NamedTuple):
    """A cell whose mean score of a metric is lower than before; which people scored either side, "" for none."""

    cell: str
    before: float
    after: float
    before_by: str = ""
    after_by: str = ""


class Unset(NamedTuple):
    """A metric that a cell scores, and not in every valid rep of both sides: how many reps lack it, in which cells."""

    metric: str
    before: int
    after: int
    cells: tuple[str, ...]


class MetricResult(NamedTuple):
    """A 0-3 metric over the comparable cells that score it on both sides: means over scenarios, numbers of scores.

    `waiver`: why a drop of it counts as waived, or "". `fell`: the cells that fell, the furthest first.
    """

    name: str
    cells: int
    before: float
    after: float
    scores: tuple[int, int]
    test: Test | None
    waiver: str = ""
    fell: tuple[MetricFall, ...] = ()


class UsageMedian(NamedTuple):
    """Median over comparable cells of the cells' medians, where both sides know it; `unit` as it is shown."""

    name: str
    unit: str
    cells: int
    before: float
    after: float


class InstrumentChange(NamedTuple):
    """Something that measures differs between the sides, so that these cells are not compared."""

    what: str
    cells: tuple[str, ...]


class Bar(NamedTuple):
    """Cells below their bar among those compared, and how many may be.

    `allowed`: the count bar, the most that more than `alpha` of releases without any change stay within, given both
    sides' passes; `p`: how probable so many are then. `holm` as in `Test`.
    """

    below: int
    cells: int
    allowed: int
    p: float
    holm: float | None = None


class Margin(NamedTuple):
    """Non-inferiority: the one-sided 95 % lower bound of the overall difference, and the margin it must stay above.

    `method`: "t" over clusters of scenarios, or "exact" over reps where there are too few clusters; `attainable`: the
    smallest margin that so many reps could show if all of them passed.
    """

    margin: float
    bound: float
    method: Literal["t", "exact"]
    reps: tuple[int, int]
    attainable: float

    @property
    def shown(self) -> bool:
        """The candidate is shown to be no worse than the margin."""
        return self.bound > -self.margin


class Fresh(NamedTuple):
    """Fresh reps of one flagged cell, taken on both commits to confirm or clear it, and serving only that.

    `cell` is its name in the verdict; `planned`: valid reps a side that the plan asked for; `strip`: the candidate's
    valid reps in order, P and F, which the sequential plan needs.
    """

    cell: str
    before: Counts
    after: Counts
    planned: int
    plan: Literal["fixed", "sprt"] = "fixed"
    strip: str = ""


class Confirmation(NamedTuple):
    """What fresh reps say of a suspect or a golden cell. `p`: Fisher's one-sided, Holm over all suspects; or None."""

    cell: str
    of: Literal["suspect", "golden"]
    outcome: Literal["confirmed", "cleared", "open"]
    before: Counts
    after: Counts
    planned: int
    plan: Literal["fixed", "sprt"]
    p: float | None = None


class Waiver(NamedTuple):
    """An event that waives a metric's drop. It counts when `problem` is ""."""

    metric: str
    by: str
    why: str
    until: str
    problem: str = ""


class HandScore(NamedTuple):
    """A metric of a scenario as people scored it in result files of their own: on both sides, 0 to 3, and the files.

    None and "" where no such file scores that side's very subject.
    """

    scenario: str
    metric: str
    before: int | None
    after: int | None
    before_path: str = ""
    after_path: str = ""

    @property
    def fell(self) -> bool:
        """Both sides are scored, and the candidate lower."""
        return self.before is not None and self.after is not None and self.after < self.before


class Looked(NamedTuple):
    """A subject's reserve in a verdict: looks spent and allowed, its scenarios.

    `masked`: whether all that is compared of them was measured with isolation; None: nothing of them is measured.
    `opened`: those whose transcripts somebody read. `remarks`: what has to be known of how looks were counted.
    """

    subject: str
    spent: int
    allowed: int
    scenarios: tuple[str, ...] = ()
    masked: bool | None = None
    opened: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What every line that rests on it says."""
        opened = [f"unsealed: {', '.join(self.opened)}"] if self.opened else []
        return "; ".join([self._told, *opened, *self.remarks])

    @property
    def _told(self) -> str:
        if self.masked is None:
            return f"{self.spent} of {self.allowed} looks spent"
        if not self.spent:
            return "measured, and the ledger holds no look at it"
        return look_text(self.spent, self.allowed, masked=self.masked)

    @property
    def exhausted(self) -> bool:
        """No look is left."""
        return self.spent >= self.allowed


class MovedGoal(NamedTuple):
    """A subject that changed together with what measures it: one of its files, and files that stood at the base."""

    subject: str
    ball: str
    goals: tuple[str, ...]


class Background(NamedTuple):
    """What the ledger and the history say beside the scores.

    `looks`: at each subject's reserve; `versions`: subject versions that were measured
    since the baseline, None when nobody asked; `by_hand`: what people scored in files of their own; `moved`: goals that
    moved between the two sides of a diff.
    """

    looks: tuple[Looked, ...] = ()
    versions: int | None = None
    waivers: tuple[Waiver, ...] = ()
    by_hand: tuple[HandScore, ...] = ()
    moved: tuple[MovedGoal, ...] = ()

    def looked(self, scenario: str) -> Looked | None:
        """The reserve that a scenario is of."""
        return next((one for one in self.looks if scenario in one.scenarios), None)
