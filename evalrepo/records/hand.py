"""Results that people wrote in files of their own, as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evalrepo.errors import Finding


class HandMark(NamedTuple):
    """A score of 0 to 3 and what it rests on, as it was written: nobody checks that it is there."""

    score: int
    evidence: str
    source: str = "human"


class HandResult(NamedTuple):
    """One filled card of such a file. `scenario`: the id that it means, or None where it means none; `said`: its words.

    `subject`: the digest of the scenario's subject at `commit`, which added the file ("" where none did yet); None
    where there is no such subject. `metrics`: the scores that count. `findings`: what of the file cannot be taken.
    """

    path: str
    day: str
    said: str
    scenario: str | None
    by: str
    commit: str
    subject: str | None
    status: str
    metrics: Mapping[str, HandMark]
    notes: str
    findings: tuple[Finding, ...] = ()

    @property
    def scores(self) -> Mapping[str, int]:
        """Metric → score."""
        return {name: mark.score for name, mark in self.metrics.items()}
