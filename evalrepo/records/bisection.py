"""What a bisect says: every commit that may have changed the behaviour, and how likely. Plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Answer = Literal["found", "nothing-changed", "open", "inconclusive", "invalid"]

EXITS: Mapping[Answer, int] = {"found": 0, "nothing-changed": 1, "open": 0, "inconclusive": 3, "invalid": 4}
"""`open` is the answer of a dry run that is not decided by what is recorded."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A subject of the range, at the commit that brought it; `commits` leave it so. `posterior`: that the behaviour
    began with it (of the good commit: that nothing changed). `fails` of `reps` valid reps, `recorded` of them before
    this bisect ran; `errors` reps that ended as ERROR; `skipped`: why it cannot be measured."""

    commit: str
    date: str
    line: str
    commits: int
    subject: str
    posterior: float
    fails: int
    reps: int
    recorded: int
    errors: int = 0
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Bisection:
    """A bisect. `candidates` from the bad (newest) to the good one; `best` is the likeliest of them, `beside` those
    that could not be measured just before it. `axis`: what counted as a fail ("" for the verdict). `ran` attempts of
    the `budget`. `before` and `since`: expected rates of failing on both sides of `best`. `next` is where further
    reps would go. `diff`: what the commit changed in the subject; `diff_command` shows the same.
    """

    scenario: str
    agent: str
    tier: str
    axis: str
    good: str
    bad: str
    commits: int
    stop: float
    budget: int
    answer: Answer
    why: str
    candidates: tuple[Candidate, ...]
    best: int
    beside: tuple[int, ...]
    next: str
    before: float
    since: float
    bits: float
    ran: int
    diff: str = ""
    diff_command: str = ""

    @property
    def name(self) -> str:
        """`SCENARIO · AGENT/TIER`."""
        return f"{self.scenario} · {self.agent}/{self.tier}"

    @property
    def exit(self) -> int:
        """By the table in `errors.Exit`."""
        return EXITS[self.answer]

    @property
    def likeliest(self) -> Candidate:
        """The commit with the highest posterior."""
        return self.candidates[self.best]
