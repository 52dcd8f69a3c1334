"""Checks: a condition of exactly one kind, and what a scenario says about it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from evalrepo.records.base import (
    Bool,
    Count,
    Model,
    Name,
    listed,
)
from evalrepo.records.kinds import (
    BytesBefore,
    Calls,
    Changes,
    Command,
    EveryCall,
    FaultFired,
    FileCheck,
    Judge,
    NoRepeat,
    NotNamedAgain,
    Order,
    Python,
    SpawnModel,
    Spawns,
    Status,
    TextCheck,
    Total,
    UsageCheck,
)
from evalrepo.records.selectors import Selector, fail


class Condition(Model):
    """Exactly one kind of question with its arguments."""

    calls: Calls | None = None
    any_call: Selector | None = None
    every_call: EveryCall | None = None
    total: Total | None = None
    order: Order | None = None
    no_repeat: NoRepeat | None = None
    bytes_before: BytesBefore | None = None
    not_named_again: NotNamedAgain | None = None
    spawns: Spawns | None = None
    spawn_model: SpawnModel | None = None
    text: TextCheck | None = None
    status: listed(Status) | None = None  # type: ignore[valid-type]
    file: FileCheck | None = None
    changes: Changes | None = None
    command: Command | None = None
    fault: FaultFired | None = None
    usage: UsageCheck | None = None
    judge: Judge | None = None
    python: Python | None = None
    any_of: Annotated[tuple[Condition, ...], Field(min_length=1)] | None = None
    all_of: Annotated[tuple[Condition, ...], Field(min_length=1)] | None = None
    not_: Condition | None = Field(default=None, alias="not")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [k for k in KINDS if getattr(self, k) is not None]
        if len(given) != 1:
            got = " and ".join(given) if given else "none"
            raise fail("one_kind", "needs exactly one check kind, got {got}", got=got)
        return self

    @property
    def kind(self) -> str:
        """The kind's name: a field of this model, `not_` for `not`."""
        return next(k for k in KINDS if getattr(self, k) is not None)

    @property
    def arguments(self) -> Any:
        """The kind's arguments: one of the models above, or for `any_of`, `all_of`, `not_` conditions."""
        return getattr(self, self.kind)

    def nested(self) -> tuple[Condition, ...]:
        """Conditions one level below."""
        return (*(self.any_of or ()), *(self.all_of or ()), *((self.not_,) if self.not_ else ()))


KINDS = tuple(Condition.model_fields)
"""Every check kind, by field name."""


class Check(Condition):
    """One deterministic question about a transcript or an outcome; belongs to an axis."""

    id: Name
    axis: Name
    scope: Literal["main", "all"] = "main"
    turn: Annotated[Count, Field(ge=1)] | None = None
    gating: Bool = True
    needs: Name | None = None


class ValidityCheck(Condition):
    """A question about harness facts; when it fails the rep is ERROR(`error`)."""

    id: Name
    error: Name
    scope: Literal["main", "all"] = "main"
    turn: Annotated[Count, Field(ge=1)] | None = None


class Precondition(Condition):
    """A question about the sandbox before the agent; when it fails the rep is ERROR(setup)."""

    id: Name

    @model_validator(mode="after")
    def _of_the_sandbox(self) -> Self:
        if self.kind not in ("file", "command", "any_of", "all_of", "not_"):
            raise fail(
                "precondition",
                "can only ask `file` or `command` (or any_of, all_of, not), got {got}",
                got=self.kind,
            )
        return self


class Trigger(Selector):
    """The gating check that `should_trigger` switches: the tool was called at least once, or never."""
