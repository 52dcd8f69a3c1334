"""Scripts: what an agent does without a model, as steps."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evalrepo.records.base import Bool, Count, Json, Model, Name, RelativePath, Seconds, Text, listed
from evalrepo.records.selectors import fail


class Edit(Model):
    """Replace `old`, which must be there, by `new` in a file."""

    path: RelativePath
    old: Text
    new: Text


class Write(Model):
    """Write a whole file."""

    path: RelativePath
    content: Text


class Search(Model):
    """Look for a regular expression in files below a path."""

    pattern: Text
    path: RelativePath = "."


class RunStep(Model):
    """A shell command that the agent runs."""

    command: Text
    timeout_s: Seconds = 60.0


class SpawnStep(Model):
    """A sub-agent: what was asked for, which model it resolved to and served, what it did and reported."""

    task: Text
    agent: Text = ""
    model: Text | None = None
    resolves: Text | None = None
    serves: Text | None = None
    reports: Text = ""
    background: Bool = False
    error: Text | None = None
    steps: tuple[Step, ...] = ()


class CallStep(Model):
    """A call of the agent's own tool that no other step makes; `result` is what the tool answers."""

    tool: Name
    args: dict[Text, Json] = Field(default_factory=dict)
    result: Text = ""
    ok: Bool = True


class FailStep(Model):
    """The agent breaks: `error` is written to its log as the end, `exit` is its exit code, or it `hang`s or is cut.

    In a rehearsal it is the model that breaks: it answers every request with the HTTP `status` (default: what `kind`
    stands for, or 500) and `error` as the message, never answers (`hang`), or stops in mid-sentence (`truncate`).
    """

    error: Text = ""
    kind: Name | None = None
    status: Annotated[Count, Field(ge=400, le=599)] | None = None
    exit: Annotated[Count, Field(le=255)] = 1
    hang: Bool = False
    truncate: Bool = False


class When(Model):
    """Words of a subject's file (path relative to the subject)."""

    subject: RelativePath
    contains: Text


class Step(Model):
    """One step of a script: exactly one of these."""

    say: Text | None = None
    read: RelativePath | Text | None = None
    search: Search | Text | None = None
    edit: Edit | None = None
    write: Write | None = None
    run: RunStep | Text | None = None
    spawn: SpawnStep | None = None
    skill: Text | None = None
    call: CallStep | None = None
    sleep: Seconds | None = None
    fail: FailStep | None = None
    when: When | None = None
    then: tuple[Step, ...] | None = None
    else_: tuple[Step, ...] | None = Field(default=None, alias="else")

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [k for k in STEPS if getattr(self, k) is not None]
        if len(given) != 1:
            raise fail("one_step", "needs exactly one step kind, got {got}", got=" and ".join(given) or "none")
        if (self.when is None) != (self.then is None) or (self.when is None and self.else_ is not None):
            raise fail("when", "`when` and `then` (and perhaps `else`) belong together")
        return self

    @property
    def kind(self) -> str:
        """The step's name."""
        return next(k for k in STEPS if getattr(self, k) is not None)


STEPS = tuple(k for k in Step.model_fields if k not in ("then", "else_"))
"""Every step kind, by field name."""


class Script(Model):
    """What an agent does, without a model: `script` for a single turn, `turns` for several."""

    name: Name
    script: tuple[Step, ...] | None = None
    turns: Annotated[tuple[tuple[Step, ...], ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.script is None) == (self.turns is None):
            raise fail("script", "needs exactly one of `script` and `turns`")
        return self

    def by_turn(self) -> tuple[tuple[Step, ...], ...]:
        """The steps of each turn."""
        return self.turns if self.turns is not None else (self.script or (),)


class ExpectFail(Model):
    """FAIL, on exactly these axes."""

    FAIL: listed(Name)  # type: ignore[valid-type]


class ExpectError(Model):
    """ERROR of this kind."""

    ERROR: Name


class Conformance(Script):
    """Model-free proof of the instrument: the script must give exactly this verdict."""

    expect: Literal["PASS"] | ExpectFail | ExpectError


class Behaviour(Script):
    """A script that is played as a tier, with no expectation; may depend on the subject's wording."""
