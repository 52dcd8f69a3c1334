"""The verdict object: everything that a diff or a gate says, as plain frozen data.

Every rendering and the exit code come from it. What is inferred over all cells stands in `records.inference`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from evalrepo.records.inference import (
    Background,
    Bar,
    Confirmation,
    InstrumentChange,
    Margin,
    MetricResult,
    Test,
    Unset,
    UsageMedian,
)

SCHEMA = 2
"""Of the JSON rendering."""

NONE: Mapping[str, Any] = MappingProxyType({})
"""Nothing by name."""


class Excluded(NamedTuple):
    """Reps that do not count, and why."""

    why: str
    reps: int


class Score(NamedTuple):
    """The first N valid reps of a group. `strip`: one letter a rep in order of start, P, F or E.

    `errors` counts reps whose last attempt was an ERROR, `retries` attempts before a last one, both over all reps of
    the group; `beyond` valid reps after the first N. `failed` and `axes` count reps in which a gating check or axis
    failed; `metrics` are means of 0-3, `scores` what they are means of; `usage` medians (tokens, USD, tool calls,
    seconds), None where unknown; `interval` is Wilson's, 95 %. `worst` and `best` are the counts of the first N reps
    if every ERROR attempt had been a FAIL, or a PASS. `repeats` counts valid reps that are copies of an earlier one.
    `raters`: the people who scored a metric, by name.
    `deciding`, `advisory`: checks that a judge decided, and that one may not, in valid reps; `uncalibrated` counts reps
    in which a judge decided that nobody calibrated; `judges`: who answered each question of theirs.
    """

    passes: int
    valid: int
    errors: int
    retries: int
    beyond: int
    strip: str
    runs: tuple[str, ...]
    model: str
    cli: str
    apparatus: str
    first: str
    last: str
    failed: Mapping[str, int] = NONE
    axes: Mapping[str, int] = NONE
    errors_by_kind: Mapping[str, int] = NONE
    metrics: Mapping[str, float] = NONE
    usage: tuple[float | None, float | None, float | None, float | None] = (None, None, None, None)
    interval: tuple[float, float] = (0.0, 1.0)
    scores: Mapping[str, tuple[int, ...]] = NONE
    worst: tuple[int, int] = (0, 0)
    best: tuple[int, int] = (0, 0)
    repeats: int = 0
    raters: Mapping[str, tuple[str, ...]] = NONE
    deciding: tuple[str, ...] = ()
    advisory: tuple[str, ...] = ()
    uncalibrated: int = 0
    judges: Mapping[str, tuple[str, ...]] = NONE

    @property
    def attempts_lost(self) -> int:
        """ERROR attempts, those that were tried again among them."""
        return self.errors + self.retries

    @property
    def counts(self) -> tuple[int, int]:
        """Passes, valid."""
        return (self.passes, self.valid)

    @property
    def rate(self) -> float | None:
        """Share of the valid reps that passed, None when there is none."""
        return self.passes / self.valid if self.valid else None


class Label(StrEnum):
    """What is said of a cell. The first four are comparable; no label ever says "significant"."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    SUSPECT = "suspect"
    NEW = "new"
    GONE = "gone"
    MISSING = "missing"
    STALE = "stale"
    NOT_COMPARABLE = "not-comparable"


COMPARABLE = frozenset({Label.SAME, Label.BETTER, Label.WORSE, Label.SUSPECT})


def bar_needed(bar: tuple[int, int], reps: int) -> int:
    """Passes that `reps` reps need: a rate, rounded up. (2, 3) is 4 at five reps."""
    return -(-bar[0] * reps // bar[1])


class Moved(NamedTuple):
    """An axis or a gating check that failed in another number of reps than before."""

    kind: Literal["axis", "check"]
    name: str
    before: int
    after: int


class CellResult(NamedTuple):
    """A cell of the verdict. `needed` passes are what the bar asks of `after.valid` reps; None without any.

    `cluster`: scenarios of one cluster, twins among them, are one statistical unit. `control`: a scenario that must not
    trigger. `p_worse` ranks cells and is corrected for nothing, None for a single rep; `q` is Boschloo's one-sided p
    after Benjamini and Hochberg, for cells of at least five reps a side.
    `missing_side` names the side that lacks a score, "" when both have one; `why` says what a label rests on.
    """

    scenario: str
    agent: str
    tier: str
    title: str
    set: str
    golden: bool
    model_free: bool
    reps: int
    bar: tuple[int, int]
    before: Score | None
    after: Score | None
    label: Label
    why: str = ""
    missing_side: Literal["", "before", "after", "both"] = ""
    p_worse: float | None = None
    q: float | None = None
    needed: int | None = None
    moved: tuple[Moved, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    cluster: str = ""
    control: bool = False

    @property
    def name(self) -> str:
        """`SCENARIO · AGENT/TIER`."""
        return f"{self.scenario} · {self.agent}/{self.tier}"

    @property
    def comparable(self) -> bool:
        """Both sides have valid reps that may be compared."""
        return self.label in COMPARABLE

    @property
    def same_reps(self) -> bool:
        """Both sides are the very same reps, so that there is nothing to test."""
        before, after = self.before, self.after
        return before is not None and after is not None and before.runs == after.runs and before == after

    @property
    def below_bar(self) -> bool:
        """The candidate's valid reps miss the bar."""
        return self.after is not None and self.needed is not None and self.after.passes < self.needed

    @property
    def fell_below_bar(self) -> bool:
        """Below its bar now, and not before."""
        if not self.comparable or self.before is None or not self.below_bar:
            return False
        return self.before.passes >= bar_needed(self.bar, self.before.valid)


Answer = Literal["same", "finding", "unknown", "pass", "block", "inconclusive", "invalid"]

EXITS: Mapping[Answer, int] = {
    "same": 0,
    "finding": 1,
    "unknown": 2,
    "pass": 0,
    "block": 1,
    "inconclusive": 3,
    "invalid": 4,
}
"""Answer → exit code, by the table in `errors.Exit`. A diff answers same, finding or unknown; a gate the others."""

SEVERITY: Sequence[str] = ("invalid", "unknown", "block", "finding", "inconclusive", "note")
"""Kinds of reasons; the gravest one of a verdict decides its answer."""


class Side(NamedTuple):
    """One side: as it was named, its commit ("" for a work tree), and short subject digests by name."""

    name: str
    commit: str
    subjects: Mapping[str, str]


class Policy(NamedTuple):
    """What was decided beforehand, and where it was read. `changed`: the candidate's policy is another one.

    `bar`: "count" allows so many cells below their bar that false blocks stay within `alpha`, "every-cell" none.
    `margin`: the drop of the overall pass rate that a pass must exclude. `metric_drop`: what a metric's drop does,
    `metric_when`: one that is shown by its test, or any;
    `by_hand`: what a drop of a score in a hand-written result does.
    """

    read_at: str
    suites: tuple[str, ...] = ()
    golden: tuple[str, ...] = ()
    max_error_rate: float = 0.05
    changed: bool = False
    own: bool = False
    alpha: float = 0.05
    margin: float = 0.10
    bar: str = "count"
    metric_drop: str = "investigate"
    confirm_reps: int = 8
    by_hand: str = "inform"
    metric_when: str = "tested"


class Errors(NamedTuple):
    """Of one side, over all cells: reps that ended as ERROR, all reps, attempts that were tried again, kinds."""

    errors: int
    reps: int
    retries: int
    kinds: Mapping[str, int]

    @property
    def rate(self) -> float:
        """Share of reps that ended as ERROR, 0 without reps."""
        return self.errors / self.reps if self.reps else 0.0

    @property
    def attempt_rate(self) -> float:
        """Share of attempts that were an ERROR, those that were tried again among them."""
        attempts = self.reps + self.retries
        return (self.errors + self.retries) / attempts if attempts else 0.0


class Validity(NamedTuple):
    """What the comparison can stand on. `labels` counts the cells by label; `gap`: the two sides' times, or "".

    `bounds`: the overall difference if every ERROR attempt had told against the candidate, or for it; None unless the
    sides' ERROR rates differ and it matters.
    """

    comparable: int
    labels: Mapping[str, int]
    before: Errors
    after: Errors
    concurrent: bool
    gap: str
    excluded: tuple[Excluded, ...]
    bounds: tuple[float, float] | None = None


class Rate(NamedTuple):
    """A mean over scenarios of their pass rates, over comparable cells; counts are (passes, valid).

    `error`: standard error of the difference over scenario means, clustered, and `interval` Student's 95 % from 20
    clusters on; None where they cannot be computed. `test` leaves out cells whose reps are the same on both sides, and
    is None when no other are left. `detectable`: the smallest uniform drop that these reps show with power .8; None
    when not even a collapse of every cell is.
    """

    name: str
    scenarios: int
    cells: int
    before: float
    after: float
    before_counts: tuple[int, int]
    after_counts: tuple[int, int]
    clusters: int = 0
    error: float | None = None
    interval: tuple[float, float] | None = None
    test: Test | None = None
    detectable: float | None = None

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


class Reason(NamedTuple):
    """Why the answer is what it is: kind (of `SEVERITY`), a sentence with its numbers, the command that settles it, and
    the scenarios whose scores it rests on."""

    kind: str
    code: str
    text: str
    command: str = ""
    scenarios: tuple[str, ...] = ()

    def on(self, cells: Iterable[CellResult]) -> Reason:
        """The same, resting on these cells."""
        return self._replace(scenarios=tuple(dict.fromkeys(cell.scenario for cell in cells)))


class Verdict(NamedTuple):
    """All that a diff or a gate says."""

    question: Literal["diff", "gate"]
    before: Side
    after: Side
    policy: Policy
    validity: Validity
    overall: Rate | None
    tiers: tuple[Rate, ...]
    cells: tuple[CellResult, ...]
    suspects: tuple[str, ...]
    expected_false_suspects: float
    frozen: tuple[str, ...]
    """Findings about frozen files, one sentence each; empty when they are as they should be."""
    reasons: tuple[Reason, ...]
    answer: Answer
    metrics: tuple[MetricResult, ...] = ()
    usage: tuple[UsageMedian, ...] = ()
    instrument: tuple[InstrumentChange, ...] = ()
    bar: Bar | None = None
    margin: Margin | None = None
    confirmations: tuple[Confirmation, ...] = ()
    background: Background = Background()
    unset: tuple[Unset, ...] = ()

    @property
    def exit(self) -> int:
        """The process's exit code."""
        return EXITS[self.answer]
