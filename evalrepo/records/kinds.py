"""The arguments of every check kind. What they mean is said in `evalrepo/checks/`, one module a family."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evalrepo.records.base import (
    Amount,
    Argument,
    Bool,
    Count,
    Glob,
    Jmespath,
    Json,
    Model,
    Name,
    Regex,
    RelativePath,
    Seconds,
    Text,
    listed,
)
from evalrepo.records.selectors import Bounds, Selector, fail


class Calls(Selector, Bounds):
    """How many calls match."""

    @model_validator(mode="after")
    def _counts(self) -> Self:
        if not self.bounded:
            raise fail("bounds", "needs min, max or exactly")
        return self


class EveryCall(Selector):
    """`tool`, `ok` and `by` choose the calls; every other property must hold for each of them."""


class Total(Selector, Bounds):
    """A JMESPath expression over each matching call's arguments, summed."""

    of: Jmespath

    @model_validator(mode="after")
    def _counts(self) -> Self:
        if not self.bounded:
            raise fail("bounds", "needs min, max or exactly")
        return self


class Order(Model):
    """`first|last X before Y`: X comes before the first Y. `first|last X then Y`: some Y comes after X."""

    first: Selector | None = None
    last: Selector | None = None
    then: Selector | None = None
    before: Selector | None = None

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if (self.first is None) == (self.last is None):
            raise fail("order", "needs exactly one of `first` and `last`")
        if (self.then is None) == (self.before is None):
            raise fail("order", "needs exactly one of `then` and `before`")
        return self


class NoRepeat(Model):
    """The same call with the same arguments and the same answer, `times` times, fails."""

    tool: listed(Text) | None = None  # type: ignore[valid-type]
    times: Annotated[Count, Field(ge=2)] = 3


class BytesBefore(Model):
    """Bytes of results of the tools `of` that the model saw before the first call that matches."""

    of: listed(Text)  # type: ignore[valid-type]
    first: Selector
    max: Count


class NotNamedAgain(Model):
    """A file of at least `min_bytes` that the agent itself read is not named in a later call of `in`."""

    min_bytes: Count = 5000
    in_: Literal["spawn"] = Field(default="spawn", alias="in")


class Spawns(Bounds):
    """How many sub-agents whose agent name matches; `order`: these agents, first starts in this order."""

    agent: Regex | None = None
    ok: Bool | None = None
    order: listed(Regex) | None = None  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.bounded and not self.order:
            raise fail("bounds", "needs min, max, exactly or order")
        return self


class SpawnFacts(Model):
    """Facts of one spawn; each named one must hold. A model that is not known (null) matches nothing."""

    ok: Bool | None = None
    agent: Argument | None = None
    task: Argument | None = None
    requested: Argument | None = None
    resolved: Argument | None = None
    served: Argument | None = None


class SpawnModel(Model):
    """Among the spawns that fit `where`: `every` one has these facts, or `any` one has."""

    where: SpawnFacts = SpawnFacts()
    every: SpawnFacts | None = None
    any: SpawnFacts | None = None

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if (self.every is None) == (self.any is None):
            raise fail("spawn_model", "needs exactly one of `every` and `any`")
        return self


class TextCheck(Model):
    """Regexes that ignore case over the agent's text: `final` (last message) or all `visible` text."""

    where: Literal["final", "visible"] = "final"
    after: Selector | None = None
    matches: listed(Regex) = ()  # type: ignore[valid-type]
    must_not: listed(Regex) = ()  # type: ignore[valid-type]
    ambiguous: listed(Regex) = ()  # type: ignore[valid-type]
    words_max: Count | None = None

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.matches and not self.must_not and self.words_max is None:
            raise fail("text", "needs matches, must_not or words_max")
        return self


Status = Literal["COMPLETE", "PARTIAL", "BLOCKED"]


class FileCheck(Model):
    """A file of the sandbox after the agent; `path` may be a glob, then some file must fit."""

    path: Glob
    exists: Bool = True
    matches: listed(Regex) = ()  # type: ignore[valid-type]
    must_not: listed(Regex) = ()  # type: ignore[valid-type]
    unchanged: Bool | None = None
    appended: Bool | None = None
    min_bytes: Count | None = None
    max_bytes: Count | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        asks = (self.matches, self.must_not, self.unchanged, self.appended, self.min_bytes, self.max_bytes)
        if not self.exists and any(a not in (None, ()) for a in asks):
            raise fail("file", "cannot ask anything of a file that must not exist")
        return self


class Changes(Model):
    """What differs from the sandbox as it was after setup and install; agents' own litter left out."""

    only: listed(Glob) | None = None  # type: ignore[valid-type]
    includes: listed(Glob) = ()  # type: ignore[valid-type]
    none: Bool | None = None

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.none and (self.only is not None or self.includes):
            raise fail("changes", "has `none` beside `only` or `includes`")
        if not self.none and self.only is None and not self.includes:
            raise fail("changes", "needs only, includes or none: true")
        return self


class Command(Model):
    """A shell command after the agent, in a copy of the sandbox, with hidden files copied in just then."""

    run: Text
    files: dict[RelativePath, RelativePath] = Field(default_factory=dict)
    exit: Count = 0
    matches: listed(Regex) = ()  # type: ignore[valid-type]
    must_not: listed(Regex) = ()  # type: ignore[valid-type]
    timeout_s: Seconds = 60.0


class FaultFired(Bounds):
    """A planted fault was met: how often its shim failed, or a missing command was called or looked for."""

    command: Text

    @model_validator(mode="after")
    def _counts(self) -> Self:
        return self if self.bounded else self.model_copy(update={"min": 1})


class Range(Model):
    """Limits of a measured quantity, inclusive."""

    min: Amount | None = None
    max: Amount | None = None

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.min is None and self.max is None:
            raise fail("range", "needs min or max")
        return self


class UsageCheck(Model):
    """What the rep used, sub-agents included. An unknown quantity is an error of the check, never zero."""

    tokens: Range | None = None
    cost: Range | None = None
    tool_calls: Range | None = None
    seconds: Range | None = None
    agents: Range | None = None

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.model_fields_set:
            raise fail("usage", "needs tokens, cost, tool_calls, seconds or agents")
        return self


class Asked(Model):
    """A question of a rubric that is put to a judge: by so many votes, beside a reference where it needs one."""

    rubric: Name
    question: Name
    votes: Annotated[Count, Field(ge=1, le=15)] = 3
    reference: Text | None = None

    @model_validator(mode="after")
    def _odd(self) -> Self:
        if self.votes % 2 == 0:
            raise fail("votes", "must be an odd number of votes, got {got}", got=self.votes)
        return self


class Judge(Asked):
    """A question of a rubric put to a model. With `resolves` it decides another check where that is ambiguous."""

    pass_when: listed(Text) = ("yes",)  # type: ignore[valid-type]
    resolves: Name | None = None


class Python(Model):
    """A function `path.py:name` of the repository, run in a process of its own with the transcript and the outcome."""

    call: Text
    args: dict[Text, Json] = Field(default_factory=dict)
    timeout_s: Seconds = 60.0

    @model_validator(mode="after")
    def _names_a_function(self) -> Self:
        path, _, function = self.call.partition(":")
        if not path.endswith(".py") or not function.isidentifier() or path.startswith("/") or ".." in path.split("/"):
            raise fail("python", "must be PATH.py:FUNCTION inside the repository, got {got}", got=f'"{self.call}"')
        return self

    @property
    def path(self) -> str:
        """The module's path in the repository."""
        return self.call.partition(":")[0]
