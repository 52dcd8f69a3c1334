"""Which tool calls, and how many: the pieces that check arguments are made of."""

from __future__ import annotations

from typing import Any, Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from evalrepo.records.base import Argument, Bool, Count, JsonSchema, Model, Text, listed


def fail(code: str, message: str, **values: Any) -> PydanticCustomError:
    """A model's own error, to be raised by the caller."""
    return PydanticCustomError(code, message, values)


class Bounds(Model):
    """A number's limits, inclusive; `exactly` alone."""

    min: Count | None = None
    max: Count | None = None
    exactly: Count | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.exactly is not None and (self.min is not None or self.max is not None):
            raise fail("bounds", "has `exactly` beside `min` or `max`")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise fail("bounds", "has a min that is greater than its max")
        return self

    def holds(self, number: float) -> bool:
        """Whether the number is inside."""
        if self.exactly is not None:
            return number == self.exactly
        return (self.min is None or number >= self.min) and (self.max is None or number <= self.max)

    @property
    def bounded(self) -> bool:
        """Whether there is any limit at all."""
        return any(v is not None for v in (self.min, self.max, self.exactly))


class Selector(Model):
    """Which tool calls. A canonical kind with canonical arguments, or an agent's own tool with raw `args`.

    Every property that is named is required of the call: `{tool: read, path: {pattern: ^docs/}}` does not
    select a read without a path.
    """

    tool: listed(Text)  # type: ignore[valid-type]
    ok: Bool | None = None
    by: Text | None = None
    args: JsonSchema | None = None
    path: Argument | None = None
    command: Argument | None = None
    agent: Argument | None = None
    task: Argument | None = None
    model: Argument | None = None
    pattern: Argument | None = None
    content: Argument | None = None
    old: Argument | None = None
    new: Argument | None = None
    skill: Argument | None = None
