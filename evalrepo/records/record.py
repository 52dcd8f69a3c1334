"""The record: what one run measured for one cell. Strict, closed, versioned; the data of a result file."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evalrepo.records.judgement import Judgement
from evalrepo.records.looks import look_text
from evalrepo.records.selectors import fail
from evalrepo.records.strict import Sparing, Strict

__all__ = ["Strict"]

SCHEMA = 1
"""Readers take every schema up to their own; a newer one is refused with a sentence of its own."""


class Verdict(StrEnum):
    """Of a rep. ERROR is the harness's, never the agent's."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    ERROR = "ERROR"


class ErrorKind(StrEnum):
    """Kinds of ERROR that the harness itself gives; `validity` checks add names of their own."""

    SETUP = "setup"
    LAUNCH = "launch"
    AUTH = "auth"
    NETWORK = "network"
    RATE_LIMIT = "rate-limit"
    STARTUP = "startup"
    IDLE = "idle"
    TIMEOUT = "timeout"
    EMPTY = "empty"
    TRANSCRIPT = "transcript"
    TRUNCATED = "truncated"
    PROMPT_LOST = "prompt-lost"
    NOT_LOADED = "not-loaded"
    NOT_CUT = "not-cut"
    PERMISSION = "permission"
    AGENT = "agent"
    LEAK = "leak"
    CHECK = "check"
    AMBIGUOUS = "ambiguous"
    JUDGE = "judge"
    VACUOUS = "vacuous"
    REDACTION = "redaction"
    LIMIT = "limit"
    INTERRUPTED = "interrupted"
    DEFECT = "defect"
    """A person declared the rep bad, with a reason."""


RETRIABLE = frozenset(
    {
        ErrorKind.LAUNCH,
        ErrorKind.NETWORK,
        ErrorKind.RATE_LIMIT,
        ErrorKind.IDLE,
        ErrorKind.TRUNCATED,
        ErrorKind.INTERRUPTED,
    }
)
"""Tried again within a bound; an interrupted rep costs no retry."""


class Outcome(StrEnum):
    """Of a check."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    VACUOUS = "vacuous"
    AMBIGUOUS = "ambiguous"
    SKIPPED = "skipped"
    ERROR = "error"


class Purpose(StrEnum):
    """Why reps were run. Only measure, canary, against, look and bisect are pooled."""

    MEASURE = "measure"
    FRESH = "fresh"
    CANARY = "canary"
    AGAINST = "against"
    LOOK = "look"
    CONFIRM = "confirm"
    BISECT = "bisect"


NEVER_POOLED = frozenset({Purpose.FRESH, Purpose.CONFIRM})


class Evidence(Strict):
    """Where a check's result comes from: a sentence, and when there is one the raw file and 1-based line, or a file."""

    text: str
    file: str = ""
    line: int = 0
    call: str = ""


class CheckResult(Strict):
    """One check in one rep."""

    id: str
    axis: str
    outcome: Outcome
    gating: bool = True
    by: Literal["mechanical", "judge", "human"] = "mechanical"
    evidence: tuple[Evidence, ...] = ()


class Rating(Sparing):
    """What one person gave a metric of one rep, and the evidence, whose places were there; on which day, in UTC."""

    rare: ClassVar[tuple[str, ...]] = ("on",)

    by: str
    score: Annotated[int, Field(ge=0, le=3)]
    evidence: str
    on: str = ""


class MetricScore(Sparing):
    """One metric in one rep: 0-3, None when it could not be had; who gave it, and why.

    `ratings`: what people gave, one a person; where they differ the lowest is the score. `places`: where in the rep a
    judge's evidence is.
    """

    rare: ClassVar[tuple[str, ...]] = ("ratings", "places")

    score: Annotated[int, Field(ge=0, le=3)] | None
    source: Literal["mechanical", "judge", "human"]
    evidence: str = ""
    ratings: tuple[Rating, ...] = ()
    places: tuple[Evidence, ...] = ()


class UsageRecord(Strict):
    """What a rep used, sub-agents included; None is unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    tool_calls: int = 0
    agents: int = 0


class Timing(Strict):
    """UTC start, and durations in seconds by the monotonic clock."""

    start: str
    seconds: float
    longest_gap_s: float | None = None
    timed_out: bool = False
    lingered: bool = False


class StoredTranscript(Strict):
    """A rep's redacted transcript: sha256 of the bytes, path in the tree of the run's ref, size in bytes.

    `work`: the work directory as the agent saw it, which its log names.
    """

    sha256: str
    path: str
    size: int
    redactions: int = 0
    work: str = ""


class SpawnTally(Strict):
    """A sub-agent that was dispatched."""

    agent: str
    requested: str | None = None
    resolved: str | None = None
    ok: bool = True


class Rep(Sparing):
    """One attempt at one rep. `rep` counts from 1 in its run and cell, `attempt` from 1 in its rep.

    `judged`: every question that was put to a judge, in order; its cost is no part of `usage`. `conversation`: of a
    live model's rep a digest of what was said and called, the same for two reps that are copies; else "".
    """

    rare: ClassVar[tuple[str, ...]] = ("judged", "conversation")

    rep: int
    attempt: int
    verdict: Verdict
    error: str = ""
    message: str = ""
    checks: tuple[CheckResult, ...] = ()
    metrics: dict[str, MetricScore] = Field(default_factory=dict)
    status: Literal["COMPLETE", "PARTIAL", "BLOCKED"] | None = None
    spawns: tuple[SpawnTally, ...] = ()
    models: tuple[str, ...] = ()
    usage: UsageRecord = UsageRecord()
    timing: Timing
    exit_code: int | None = None
    isolation: str = "none"
    transcript: StoredTranscript | None = None
    unknown_rows: dict[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    judged: tuple[Judgement, ...] = ()
    conversation: str = ""

    @model_validator(mode="after")
    def _error_has_a_kind(self) -> Self:
        if (self.verdict is Verdict.ERROR) != bool(self.error):
            raise fail("rep", "an ERROR has a kind, and nothing else has one")
        return self

    @property
    def valid(self) -> bool:
        """PASS or FAIL."""
        return self.verdict is not Verdict.ERROR

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes, and what of the agent's log was not understood."""
        kinds = ", ".join(f"{kind} ×{count}" for kind, count in self.unknown_rows.items())
        return (*self.notes, *([f"rows of its log that this version does not know: {kinds}"] if kinds else []))

    @property
    def axes_failed(self) -> tuple[str, ...]:
        """Axes of gating checks that failed, in order of first appearance."""
        failed = [c.axis for c in self.checks if c.gating and c.outcome is Outcome.FAIL]
        return tuple(dict.fromkeys(failed))


class Digests(Strict):
    """The four digests (64 hex characters each) with the parts that make them, by name."""

    subject: str
    stimulus: str
    instrument: str
    apparatus: str
    parts: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Digest name → part name → digest or short value; says *what* differs when a digest does."""

    def key(self) -> tuple[str, str, str, str]:
        """The four, in order."""
        return (self.subject, self.stimulus, self.instrument, self.apparatus)


class BarRecord(Strict):
    """The bar that was applied."""

    passes: int
    of: int


class CellHeader(Sparing):
    """What is known of a cell before its first rep: all that a record says beside the reps."""

    rare: ClassVar[tuple[str, ...]] = ("against", "look", "looks")

    scenario: str
    set: Literal["run-set", "reserve"] = "run-set"
    title: str
    agent: str
    tier: str
    subjects: tuple[str, ...]
    digests: Digests
    commit: str
    """The commit whose subject was measured, or that the work tree stood on."""
    dirty: bool
    cli_version: str = ""
    model: str = ""
    """Model requested; "" when the tier names none."""
    isolation: str
    model_free: bool = False
    network: Literal["none", "rehearsal", "open"] = "none"
    bar: BarRecord
    purpose: Purpose = Purpose.MEASURE
    against: str = ""
    """Subject digest of the other side, whose reps were interleaved with these; "" when there was none."""
    checks: tuple[str, ...] = ()
    """Ids of the checks that must report."""
    look: int = 0
    """Which look at the subject's reserve this is, from 1; 0 for the run-set."""
    looks: int = 0
    """How many looks were allowed then."""

    @property
    def looked(self) -> str:
        """What rests on this look; "" for the run-set."""
        return look_text(self.look, self.looks, masked=self.isolation != "none") if self.look else ""

    @property
    def cell(self) -> tuple[str, str, str]:
        """Scenario, agent, tier."""
        return (self.scenario, self.agent, self.tier)


class Record(CellHeader):
    """What one run measured for one cell."""

    rare: ClassVar[tuple[str, ...]] = (*CellHeader.rare, "reason")

    schema_: int = Field(default=SCHEMA, alias="schema", ge=1)
    run: str
    start: str
    end: str
    evalrepo: str
    models: tuple[str, ...] = ()
    """Models that answered, over all reps."""
    clone: str
    """Random id of the clone that measured (16 hex), made at its first run."""
    sequence: int
    """Counts the clone's records from 1; a gap is a finding."""
    previous: str = ""
    """SHA-256 of the record before it in the clone's sequence, "" for the first."""
    reps: tuple[Rep, ...]
    rescored_from: str = ""
    """The run that executed these reps, when this record judges them again."""
    supersedes: str = ""
    """The run whose record of this cell this one replaces where reps are pooled; both stay."""
    reason: str = ""
    """Why it was made, when it supersedes another or judges again."""
    notes: tuple[str, ...] = ()

    @property
    def executed(self) -> str:
        """The run whose reps these are: its own, or the one that was judged again."""
        return self.rescored_from or self.run

    def last_attempts(self) -> tuple[Rep, ...]:
        """The last attempt of each rep, in order."""
        last: dict[int, Rep] = {}
        for rep in self.reps:
            if rep.rep not in last or rep.attempt >= last[rep.rep].attempt:
                last[rep.rep] = rep
        return tuple(last[n] for n in sorted(last))
