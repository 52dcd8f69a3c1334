"""Rubrics: `rubrics/NAME.md`, what people and judges score by. Markdown with a YAML head.

A *question* has answers of its own, yes and no by default: it serves a check. A *metric* has a scale from 0 to 3 with
what earns each value: judges and people score by it. The prose below the head is read by both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evalrepo.records.base import Bool, Count, Model, Name, Text, listed
from evalrepo.records.selectors import fail

SCORES = ("0", "1", "2", "3")
"""The values of a scale, the worst first; 3 is always good."""

Part = Literal["prompts", "words", "calls", "results", "files"]
"""Parts of a rep: what was asked, what the agent said, what it called, what came back, and which files it changed."""


class Question(Model):
    """What is asked, and the answers that are allowed.

    `scale`: value "0" to "3" → what earns it, instead of `answers`. `reference`: it can only be answered beside a
    reference, which the scenario brings. `show`: the parts of a rep that it needs; none named are all.
    """

    ask: Text
    answers: Annotated[tuple[Text, ...], Field(min_length=2)] = ("yes", "no")
    scale: dict[Text, Text] = Field(default_factory=dict)
    reference: Bool = False
    show: listed(Part) = ()  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.scale and "answers" in self.model_fields_set:
            raise fail("question", "has `answers` beside a `scale`, whose answers are 0 to 3")
        odd = sorted({"0", "3", *self.scale} - set(SCORES)) or [v for v in ("0", "3") if v not in self.scale]
        if self.scale and odd:
            raise fail("scale", "says what earns 0, 1, 2 and 3, the ends at least; look at {got}", got=f'"{odd[0]}"')
        if len(set(self.answers)) < len(self.answers):
            raise fail("question", "has an answer twice")
        return self

    @property
    def unanchored(self) -> tuple[str, ...]:
        """Values of the scale that nothing is said of."""
        return tuple(value for value in SCORES if self.scale and value not in self.scale)

    @property
    def wording(self) -> str:
        """SHA-256 of all that gives an answer its meaning: the question, the answers, what earns a score."""
        said = self.model_dump_json(include={"ask", "answers", "scale"})
        return hashlib.sha256(said.encode()).hexdigest()

    @property
    def offered(self) -> tuple[str, ...]:
        """The answers that are allowed, in the order of the file."""
        return SCORES if self.scale else self.answers


class Scored(Question):
    """A metric: a question with a scale. `title`: its name for people."""

    title: Text = ""
    scale: Annotated[dict[Text, Text], Field(min_length=1)]


class Judging(Model):
    """How a judge is asked by this rubric: by which model (of `judge:` in the config otherwise), with how many votes
    at least. `uncalibrated`: it may decide an ambiguous check (`resolves`) before it was compared with people.
    """

    model: Text | None = None
    votes: Annotated[Count, Field(ge=1, le=15)] | None = None
    uncalibrated: Bool = False

    @model_validator(mode="after")
    def _odd(self) -> Self:
        if self.votes is not None and self.votes % 2 == 0:
            raise fail("votes", "must be an odd number of votes, got {got}", got=self.votes)
        return self


class RubricHead(Model):
    """The YAML between the first two `---` lines."""

    title: Text
    questions: dict[Name, Question] = Field(default_factory=dict)
    metrics: dict[Name, Scored] = Field(default_factory=dict)
    judge: Judging = Judging()
    tripwire: Text | None = None

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.questions and not self.metrics:
            raise fail("rubric", "asks nothing: it needs `questions` or `metrics`")
        twice = sorted(set(self.questions) & set(self.metrics))
        if twice:
            raise fail("rubric", "has {got} among its questions and among its metrics", got=f'"{twice[0]}"')
        return self

    @property
    def asked(self) -> Mapping[str, Question]:
        """Questions and metrics by name."""
        return {**self.questions, **self.metrics}

    def votes(self, wanted: int) -> int:
        """Votes that are taken where a scenario wants so many."""
        return max(wanted, self.judge.votes or 1)


class Rubric(Model):
    """A rubric file: head and the instructions below it."""

    head: RubricHead
    body: Text

    @property
    def sha256(self) -> str:
        """Of all that a judge or a person reads (64 hex characters); the tripwire and defaults are left out."""
        data = self.model_dump_json(exclude_defaults=True, exclude={"head": {"tripwire"}})
        return hashlib.sha256(data.encode()).hexdigest()


def anchors(metric: str, rubric: Rubric) -> Question | None:
    """What earns each score of a metric by this rubric; None when it does not say."""
    found = rubric.head.asked.get(metric)
    return found if found is not None and found.scale else None
