"""Whether a judge's word may decide. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from evalrepo.records.calibration import Calibration, Rule
from evalrepo.records.kinds import Asked
from evalrepo.records.rubric import Rubric

Standing = Mapping[tuple[str, str, str], Calibration]
"""(rubric, question, judge) → how far the judge's answers are people's."""


def lacking(asked: Asked, judge: str, standing: Standing, rule: Rule) -> str:
    """Why people's labels do not bear this judge out, "" when they do or nobody asks for labels."""
    if not rule.labels:
        return ""
    found = standing.get((asked.rubric, asked.question, judge))
    if found is None:
        return "not calibrated"
    return f"not calibrated: {found.why}" if found.why else ""


def lenient(asked: Asked, rubric: Rubric) -> bool:
    """Whether the rubric lets its judge resolve an ambiguous check uncalibrated."""
    return bool(getattr(asked, "resolves", None)) and rubric.head.judge.uncalibrated
