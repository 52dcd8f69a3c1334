"""Rubrics: `rubrics/NAME.md`, metric scales and judges' questions. Markdown with a YAML head."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalrepo.records.base import Model, Name, Text


class Question(Model):
    """One question of a rubric: what is asked, and the answers that are allowed."""

    ask: Text
    answers: Annotated[tuple[Text, ...], Field(min_length=2)] = ("yes", "no")
    scale: dict[Text, Text] = Field(default_factory=dict)
    """For metrics: score "0" to "3" → what earns it."""


class RubricHead(Model):
    """The YAML between the first two `---` lines."""

    title: Text
    questions: Annotated[dict[Name, Question], Field(min_length=1)]
    tripwire: Text | None = None


class Rubric(Model):
    """A rubric file: head and the instructions below it."""

    head: RubricHead
    body: Text
