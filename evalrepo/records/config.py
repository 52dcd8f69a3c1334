"""`evalrepo.yaml`: what is under test, who runs it, what counts."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from evalrepo.records.base import (
    Bool,
    Count,
    Glob,
    Json,
    Model,
    Name,
    Regex,
    Seconds,
    Share,
    Text,
    TierName,
    plain_value,
)
from evalrepo.records.scenario import Common
from evalrepo.records.selectors import fail


class Prove(Model):
    """Words that the agent's own log must show of what it loaded, or the rep is ERROR(not-loaded).

    `hook_context`: of what a hook injected; `skill`, `agent`, `tool`: names that it lists; `instructions`: an
    instruction file's name. Which of these a CLI logs stands in docs/real-agents.md.
    """

    hook_context: Text | None = None
    skill: Text | None = None
    agent: Text | None = None
    tool: Text | None = None
    instructions: Text | None = None


class Install(Model):
    """Where a subject's files go for one agent: in the sandbox, or with `~/` in its private HOME.

    `copy` maps paths relative to the subject (`.` is the whole of it) to places; `home` is the same for single
    files; the rest is what some agents want by name: a path of the subject, or of the sandbox where it has none such.
    """

    copy_: dict[Text, Text] = Field(default_factory=dict, alias="copy")
    home: dict[Text, Text] = Field(default_factory=dict)
    primary: Text | None = None
    plugin_dir: Text | None = None
    skill: Text | None = None
    extension: Text | None = None
    prove: Prove | None = None


class Subject(Model):
    """Files under test."""

    paths: Annotated[tuple[Glob, ...], Field(min_length=1)]
    on_change: Name | None = None
    agents: tuple[Name, ...] = ()
    install: dict[Name, Install] = Field(default_factory=dict)
    defaults: Common = Common()


class Tier(Model):
    """A named setting of an agent: a model, or for `scripted` the name of a script; `settings` is passed on."""

    model: Text | None = None
    script: Name | None = None
    settings: dict[Name, Text] = Field(default_factory=dict)


class NativeTranscript(Model):
    """Where a command agent leaves its log (`~/` is its private HOME, else the sandbox; `stdout` for its output)."""

    glob: Text = "stdout"
    format: Literal["evalrepo", "atif"] = "evalrepo"


class Agent(Model):
    """A built-in agent's tiers and environment, or with `kind: command` any other CLI as data.

    In `argv`, `{prompt}`, `{model}`, `{session}`, `{turn}` and the tier's settings are replaced; `env` names variables
    that are passed through; `version` is the argv that prints its version. `home: inherit` copies the user's login
    files, and nothing else of HOME, into the private HOME of each rep.
    """

    kind: Literal["builtin", "command"] = "builtin"
    tiers: Annotated[dict[Name, Tier], Field(min_length=1)]
    env: tuple[Name, ...] = ()
    set: dict[Name, Text] = Field(default_factory=dict)
    argv: tuple[Text, ...] = ()
    resume_argv: tuple[Text, ...] = ()
    stdin: Literal["none", "prompt"] = "none"
    transcript: NativeTranscript = NativeTranscript()
    version: tuple[Text, ...] = ()
    readable: tuple[Text, ...] = ()
    network: Literal["none", "open"] = "none"
    paid: Bool = False
    home: Literal["private", "inherit"] = "private"
    comparable: dict[Literal["cli"], Literal["exact", "minor", "any"]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _command(self) -> Self:
        if self.kind == "command" and not self.argv:
            raise fail("agent", "is of kind command and needs `argv`")
        if self.kind == "command" and self.home == "inherit":
            raise fail("agent", "is of kind command: nothing is known of its login files, pass its key by `env`")
        if self.kind == "builtin" and (self.argv or self.resume_argv or self.version):
            raise fail("agent", "has argv, resume_argv or version, which only an agent of kind command has")
        return self


class Bar(Model):
    """`passes` of `of`: a rate, rounded up to whole reps."""

    passes: Count
    of: Annotated[Count, Field(ge=1)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.passes > self.of:
            raise fail("bar", "wants more passes than there are reps")
        return self

    def needed(self, reps: int) -> int:
        """Passes that `reps` reps need: the rate times reps, rounded up. 2 of 3 is 4 at five reps."""
        return -(-self.passes * reps // self.of)


class Suite(Model):
    """A named choice of scenarios (ids, aliases, globs), with who runs them and how often."""

    scenarios: Annotated[tuple[Text, ...], Field(min_length=1)]
    agents: tuple[Name, ...] = ()
    tiers: tuple[TierName, ...] = ()
    reps: Annotated[Count, Field(ge=1)] | None = None
    bar: Bar | None = None


class MetricPolicy(Model):
    """What a drop of a metric does: `investigate` leaves the gate open until it is waived, `block` blocks.

    `when`: a drop that its exact test shows, or `any` fall of the mean, however little it proves.
    """

    drop: Literal["investigate", "block"] = "investigate"
    when: Literal["tested", "any"] = "tested"


class Confirm(Model):
    """How `gate --confirm` looks again at suspects: fresh valid reps a side and cell, and how many in all at most."""

    reps: Annotated[Count, Field(ge=3)] = 8
    budget: Count = 80


class Gate(Model):
    """The release decision, pre-registered: it is read at the baseline.

    `alpha`: false blocks that a release without any change may meet; `margin`: the drop of the overall pass rate that
    a pass must exclude (1: none); `reserve`: the reserves of the suites' subjects belong to the grid,
    and `alpha` is split over their looks; `by_hand`: whether a score that fell in hand-written results leaves the gate
    open; `bar: count` allows as many cells below their bar as chance alone makes, `every-cell`
    allows none.
    """

    baseline: Text = "last-tag"
    suites: tuple[Name, ...] = ()
    golden: tuple[Text, ...] = ()
    alpha: Share = 0.05
    margin: Share = 0.10
    max_error_rate: Share = 0.05
    bar: Literal["count", "every-cell"] = "count"
    metrics: MetricPolicy = MetricPolicy()
    by_hand: Literal["inform", "investigate"] = "inform"
    reserve: Bool = False
    confirm: Confirm = Confirm()


class Frozen(Model):
    """What is frozen beside the reserve and all that it names."""

    also: tuple[Glob, ...] = ()


class Reserve(Model):
    """How many looks the reserve allows; from which share of common eight-word runs on twins' prompts are too near."""

    looks: Count = 3
    overlap: Share = 0.70


class Uncovered(Model):
    """A gap that is known."""

    id: Text
    why: Text


class Discipline(Model):
    """House rules that the tool enforces. `claims`: the remote where runs are claimed before their first rep."""

    canary: Literal["required", "optional"] = "optional"
    moved_goal: Literal["error", "warning"] = "warning"
    claims: Name | None = None
    twins: Literal["error", "warning"] = "warning"


PROVIDERS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY"}
"""Whose models can judge behind an API → the variable with the key. `openai` is the Responses API, `openai-chat` what
many servers speak."""


class CalibrationRule(Model):
    """What lets a judge decide: least κ against people's labels, labelled reps, and reps outside the commonest class.

    `labels: 0` lets every judge decide: a policy that a reviewer reads here.
    """

    kappa: Annotated[float, Field(ge=-1, le=1)] = 0.6
    labels: Count = 50
    each: Count = 10


class JudgeConfig(Model):
    """Who answers judges' questions: one of `command`, `model` and `agent`.

    `command`: argv that reads the prompt on stdin and writes JSON; `{model}` in it is the rubric's model, else `model`.
    `model`: PROVIDER:NAME behind an API, at `base_url` when it is not the vendor's; `settings` are passed on.
    `agent`: an agent of the config in one turn without tools, at `tier`. `env` names variables that are passed on.
    `paid`: whether `--live` is needed; default: no for a command, yes otherwise.
    """

    command: tuple[Text, ...] = ()
    model: Text | None = None
    base_url: Text | None = None
    agent: Name | None = None
    tier: Name = "default"
    env: tuple[Name, ...] = ()
    settings: dict[Name, Json] = Field(default_factory=dict)
    paid: Bool | None = None
    timeout_s: Seconds = 120.0
    calibration: CalibrationRule = CalibrationRule()

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.command and self.agent:
            raise fail("judge", "has both `command` and `agent`; a judge is one of `command`, `model` and `agent`")
        if self.agent and self.model:
            raise fail("judge", "has `model` beside `agent`, whose tiers name the model")
        if self.base_url and (self.command or self.agent or not self.model):
            raise fail("judge", "has a `base_url`, which only goes with `model` alone")
        if self.settings and (self.command or self.agent):
            raise fail("judge", "has `settings`, which only go with `model` alone")
        return self

    @property
    def costs(self) -> bool:
        """Whether somebody pays for its answers."""
        return self.paid if self.paid is not None else not self.command and bool(self.model or self.agent)


class Redaction(Model):
    """More patterns that must never be stored."""

    patterns: tuple[Regex, ...] = ()


class Config(Model):
    """The whole of `evalrepo.yaml`."""

    version: Annotated[Literal[1], BeforeValidator(plain_value)] = 1
    subjects: dict[Name, Subject] = Field(default_factory=dict)
    agents: dict[Name, Agent] = Field(default_factory=dict)
    suites: dict[Name, Suite] = Field(default_factory=dict)
    reps: Annotated[Count, Field(ge=1)] = 3
    bar: Bar = Bar(passes=2, of=3)
    frozen: Frozen = Frozen()
    reserve: Reserve = Reserve()
    uncovered: tuple[Uncovered, ...] = ()
    discipline: Discipline = Discipline()
    gate: Gate = Gate()
    judge: JudgeConfig = JudgeConfig()
    redact: Redaction = Redaction()
