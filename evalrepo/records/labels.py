"""Labels: what people answered to a rubric's questions about stored reps, and how a judge voted on the same.

`rubrics/NAME.labels.yaml` holds labels, `rubrics/NAME.votes.yaml` votes; both are written by the tool, one entry an
answer, and read back by the transcript's SHA-256, so that they stay true whatever becomes of runs and records.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalrepo.records.base import Model, Name, Text

Sha256 = Annotated[Text, Field(pattern=r"^[0-9a-f]{64}$")]


class Label(Model):
    """One answer of one person about one rep, with what it rests on.

    `wording`: the SHA-256 of the question as it was read (`Question.wording`), "" where that was not kept.
    """

    question: Name
    transcript: Sha256
    run: Text
    scenario: Text
    rep: Annotated[int, Field(ge=1)]
    by: Annotated[Text, Field(min_length=1)]
    answer: Text
    evidence: Annotated[Text, Field(min_length=1)]
    wording: Sha256 | Literal[""] = ""


class Labels(Model):
    """The labels of a rubric, in the order in which they were given."""

    labels: tuple[Label, ...] = ()


class Voted(Model):
    """A judge's answer about one rep, by the majority of its votes; "" when it gave none.

    `rubric`: the SHA-256 of what it read; `judge`: who answered, the resolved model where it is known; `whom`: the
    judge's name as it was asked (`records.judges`), "" where that was not kept.
    """

    question: Name
    transcript: Sha256
    rubric: Sha256
    judge: Annotated[Text, Field(min_length=1)]
    answer: Text
    votes: tuple[Text, ...] = ()
    whom: Text = ""


class Votes(Model):
    """What judges said of a rubric's labelled reps."""

    votes: tuple[Voted, ...] = ()
