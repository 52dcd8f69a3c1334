"""Scenarios: one task each, or a set of cases with shared defaults."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from evalrepo.records.base import (
    Bool,
    Count,
    Glob,
    Model,
    Name,
    Seconds,
    Text,
    listed,
)
from evalrepo.records.checks import Check, Precondition, Trigger, ValidityCheck
from evalrepo.records.kinds import Asked
from evalrepo.records.selectors import fail
from evalrepo.records.steps import Behaviour, Conformance


class StopAfter(Model):
    """When a turn is cut short: a file that fits appears in the sandbox, or so many tool calls were made."""

    file: Glob | None = None
    tool_calls: Annotated[Count, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.file is None) == (self.tool_calls is None):
            raise fail("stop_after", "needs exactly one of `file` and `tool_calls`")
        return self


class Turn(Model):
    """A prompt. From the second turn on: in the same session (`resume`) or a new one (`fresh`)."""

    prompt: Annotated[Text, Field(min_length=1)]
    session: Literal["resume", "fresh"] = "resume"
    stop_after: StopAfter | None = None


class SetupStep(Model):
    """A shell command before the agent; deterministic. `creates`: what it must make."""

    run: Text
    creates: listed(Glob) = ()  # type: ignore[valid-type]


class Fault(Model):
    """A command that is on no PATH (`missing`), or fails the first times it is called in the rep."""

    command: Name
    missing: Bool = False
    fail_first: Annotated[Count, Field(ge=1)] | None = None
    exit: Annotated[Count, Field(ge=1, le=255)] = 1
    stdout: Text = ""
    stderr: Text = ""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.missing == (self.fail_first is not None):
            raise fail("fault", "needs exactly one of `missing: true` and `fail_first`")
        return self


class Limits(Model):
    """Deadlines of a rep in seconds, and the most tool calls; `on_timeout`: what the wall deadline means."""

    wall_s: Seconds = 600.0
    idle_s: Seconds = 180.0
    startup_s: Seconds = 120.0
    tool_calls: Annotated[Count, Field(ge=1)] = 200
    on_timeout: Literal["fail", "score", "error"] = "fail"


class JudgeMetric(Asked):
    """A score given by a judge who answers a question of a rubric."""


class Rung(Model):
    """A score for when these checks passed; without `if`, for everything that is left."""

    score: Annotated[Count, Field(le=3)]
    if_: listed(Name) = Field(default=(), alias="if")  # type: ignore[valid-type]


class Metric(Model):
    """A 0-3 score, 3 always good: mechanical by a ladder of checks (first rung that fits), or judged."""

    ladder: Annotated[tuple[Rung, ...], Field(min_length=1)] | None = None
    judge: JudgeMetric | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.ladder is None) == (self.judge is None):
            raise fail("metric", "needs exactly one of `ladder` and `judge`, or is the word human")
        if self.ladder and self.ladder[-1].if_:
            raise fail("metric", "needs a last rung without `if`, so that every rep gets a score")
        return self


MetricSpec = Metric | Literal["human"]


Info = Literal["spawn_tiers", "tool_calls", "tokens", "cost", "seconds", "agents"]


class Common(Model):
    """What subjects, prompt sets and scenarios share.

    `rubric`: its metrics of the same name tell people what earns each score of `metrics`.
    """

    fixture: Name | None = None
    setup: tuple[SetupStep, ...] = ()
    env: dict[Name, Text] = Field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    limits: Limits = Limits()
    preconditions: tuple[Precondition, ...] = ()
    validity: tuple[ValidityCheck, ...] = ()
    checks: tuple[Check, ...] = ()
    metrics: dict[Name, MetricSpec] = Field(default_factory=dict)
    rubric: Name | None = None
    info: tuple[Info, ...] = ()


class Case(Common):
    """The part of a scenario that one case has by itself."""

    title: Text | None = None
    cluster: Text | None = None
    polarity: Literal["positive", "negative"] = "positive"
    twin: Text | None = None
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    should_trigger: Bool | None = None
    expect: listed(Text) = ()  # type: ignore[valid-type]
    watch_for: listed(Text) = ()  # type: ignore[valid-type]
    conformance: tuple[Conformance, ...] | None = None
    behaviours: tuple[Behaviour, ...] = ()
    tripwire: Text | None = None


class SetCase(Case):
    """A case of a prompt set; its id is `FILE/ID`."""

    id: Name


class Scenario(Case):
    """A file of `scenarios/` or `scenarios-reserve/` that holds one task."""

    title: Text
    subject: listed(Name)  # type: ignore[valid-type]
    trigger: Trigger | None = None

    @model_validator(mode="after")
    def _trigger(self) -> Self:
        check_trigger(self.trigger, [self])
        return self


class ScenarioSet(Model):
    """A file that holds several cases with what they share."""

    title: Text
    subject: listed(Name)  # type: ignore[valid-type]
    cluster: Text | None = None
    trigger: Trigger | None = None
    tripwire: Text | None = None
    defaults: Common = Common()
    cases: Annotated[tuple[SetCase, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _cases(self) -> Self:
        ids = [c.id for c in self.cases]
        for case in ids:
            if ids.count(case) > 1:
                raise fail("case_id", "has the case id {got} twice", got=f'"{case}"')
        check_trigger(self.trigger, self.cases)
        return self


def check_trigger(trigger: Trigger | None, cases: Any) -> None:
    """`trigger` and `should_trigger` go together."""
    for case in cases:
        if trigger is None and case.should_trigger is not None:
            raise fail("trigger", "has `should_trigger` but no `trigger` that it would switch")
        if trigger is not None and case.should_trigger is None:
            raise fail("trigger", "has a `trigger`, so it needs `should_trigger: true` or `false`")


ScenarioFile = Scenario | ScenarioSet


def moot(scenario: Scenario) -> frozenset[str]:
    """Ids of checks about every call of tools that the case's trigger forbids.

    They come from what a set's cases share. Here they find no call, or speak where the trigger has failed already, so
    no script can show one of them pass, or fail alone.
    """
    if scenario.trigger is None or scenario.should_trigger is not False:
        return frozenset()
    forbidden = set(scenario.trigger.tool)
    return frozenset(
        c.id for c in scenario.checks if c.every_call is not None and forbidden.issuperset(c.every_call.tool)
    )


def merged(defaults: Common, own: Common) -> dict[str, Any]:
    """The fields of `Common` with `own` over `defaults`: lists are added, mappings merged, single values replaced."""
    out: dict[str, Any] = {}
    for name in Common.model_fields:
        ours, theirs = getattr(own, name), getattr(defaults, name)
        if name == "limits":
            given = {k: getattr(ours, k) for k in ours.model_fields_set}
            out[name] = theirs.model_copy(update=given)
        elif isinstance(ours, tuple):
            out[name] = (*theirs, *ours)
        elif isinstance(ours, dict):
            out[name] = {**theirs, **ours}
        else:
            out[name] = ours if ours is not None else theirs
    return out


def expand(file: ScenarioFile, stem: str) -> dict[str, Scenario]:
    """Scenario id → scenario, with a set's defaults in each of its cases. Ids: the file's stem, or `STEM/CASE`."""
    if isinstance(file, Scenario):
        return {stem: file}
    return {f"{stem}/{case.id}": _of_case(file, case) for case in file.cases}


def _of_case(file: ScenarioSet, case: SetCase) -> Scenario:
    own = {n: getattr(case, n) for n in Case.model_fields if n not in Common.model_fields}
    own |= {
        "title": case.title or f"{file.title}: {case.id}",
        "cluster": case.cluster if case.cluster is not None else file.cluster,
        "tripwire": case.tripwire or file.tripwire,
    }
    return Scenario.model_construct(**merged(file.defaults, case), **own, subject=file.subject, trigger=file.trigger)


def with_defaults(scenario: Scenario, defaults: Common) -> Scenario:
    """The scenario with its subject's defaults below its own fields."""
    return scenario.model_copy(update=merged(defaults, scenario))
