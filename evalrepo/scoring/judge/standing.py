"""Whether a judge's word may decide. Pure."""

from __future__ import annotations

from evalrepo.records.kinds import Asked
from evalrepo.records.rubric import Rubric


def may_decide(asked: Asked, rubric: Rubric, model: str) -> bool:  # noqa: ARG001
    """Whether an answer to this question, by this rubric and this model, counts in a verdict: every judge's does, for
    nothing is known of how often one is wrong. Where it does not, the check is shown and does not gate."""
    return True
