"""A judge beside people: what is known of it, as plain frozen data."""

from __future__ import annotations

from typing import NamedTuple


class Coefficient(NamedTuple):
    """A coefficient of agreement, 1 at most, its standard error, and its 95 % interval."""

    value: float
    error: float
    low: float
    high: float


class Rule(NamedTuple):
    """What makes a judge decide: least κ, labelled reps, and reps of each of two classes."""

    kappa: float = 0.6
    labels: int = 50
    each: int = 10


class Disagreement(NamedTuple):
    """A rep on which the judge said otherwise than people: its transcript, their answer, the judge's."""

    transcript: str
    people: str
    judge: str


class Pair(NamedTuple):
    """Two people who labelled the same reps: on how many `of` them their answers are the `same`, and their κ."""

    one: str
    other: str
    same: int
    of: int
    kappa: Coefficient | None


class Share(NamedTuple):
    """How often a judge gave this answer, `given` of `of`, and how often people would have: a share and its 95 %
    interval."""

    answer: str
    given: int
    of: int
    share: float
    low: float
    high: float


class Calibration(NamedTuple):
    """One question of a rubric, one judge. `matrix`: rows people's answers, columns the judge's, ordered as `answers`.

    `unanswered`: labelled reps on which the judge gave no answer; `unsettled`: reps on which people differ; `unasked`:
    labelled reps on which it was not asked; `stale`: labels of another wording of the question. `why`: why it may not
    decide, "" when it may. `raters`: how far every two people agree.
    """

    question: str
    answers: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    agreement: tuple[float, float, float]
    kappa: Coefficient | None
    weighted: bool
    ac1: Coefficient | None
    disagreements: tuple[Disagreement, ...] = ()
    unanswered: int = 0
    unsettled: int = 0
    unasked: int = 0
    why: str = ""
    stale: int = 0
    raters: tuple[Pair, ...] = ()

    @property
    def n(self) -> int:
        """Labelled reps with an answer of both."""
        return sum(map(sum, self.matrix))

    @property
    def decides(self) -> bool:
        """Whether the judge's answers count in verdicts and gates."""
        return not self.why
