"""The alarm of a suite that measures something else than it says. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalrepo.comparing.advice import look_at, plural
from evalrepo.records.verdict import Reason, Verdict


class Counted(NamedTuple):
    """A cell: its scenario, whether that is a control (the behaviour must not appear), passes of valid reps."""

    scenario: str
    control: bool
    passes: int
    valid: int


def degenerate(cells: Iterable[Counted]) -> str:
    """Every control passes while every positive fails, or the reverse, as a sentence; "" otherwise.

    At least two scenarios on each side: one that fails is a finding about that scenario, not about the suite.
    """
    measured = [c for c in cells if c.valid]
    controls, positives = [c for c in measured if c.control], [c for c in measured if not c.control]
    for passing, failing, words in (
        (controls, positives, ("control", "positive", "never acted")),
        (positives, controls, ("positive", "control", "always acted")),
    ):
        all_pass = all(c.passes == c.valid for c in passing)
        if _enough(passing) and _enough(failing) and all_pass and not any(c.passes for c in failing):
            return (
                f"degenerate suite: all reps of {plural(len(passing), words[0] + ' cell')} pass and all of "
                f"{plural(len(failing), words[1] + ' cell')} fail, as if the agent {words[2]}"
            )
    return ""


def _enough(cells: Sequence[Counted]) -> bool:
    return len({c.scenario for c in cells}) > 1


def alarms(bare: Verdict, kind: str) -> list[Reason]:
    """Of the candidate's cells, as a reason of this kind."""
    measured = [c for c in bare.cells if c.after is not None and c.after.valid]
    text = degenerate(Counted(c.scenario, c.control, *c.after.counts) for c in measured if c.after is not None)
    failing = [c for c in measured if c.after is not None and not c.after.passes]
    return [Reason(kind, "degenerate", text, look_at(failing[0])).on(measured)] if text else []
