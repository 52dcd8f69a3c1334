"""What is known of one rep when it is over: all that a verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalrepo.checks.registry import evaluate
from evalrepo.checks.view import View
from evalrepo.processes import Reason
from evalrepo.records.record import CheckResult, ErrorKind, Evidence

if TYPE_CHECKING:
    from evalrepo.records.scenario import Scenario


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How the agent's process of one turn ended.

    `exit_code`: None when a signal ended it or it never started. `cut`: the
    turn had a `stop_after`, and it was reached (True) or not (False); None when it had none. `prompt_seen`: the prompt
    stands in the agent's log; None when the log cannot show it. `message`: what it printed as an error, short.
    """

    reason: Reason = Reason.EXITED
    exit_code: int | None = 0
    seconds: float = 0.0
    cut: bool | None = None
    prompt_seen: bool | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something of the harness that went wrong: an `ErrorKind`, or the name that a validity check gives."""

    kind: str
    message: str


_NAMED = {"skill": "skill", "agent": "agent", "instructions": "instructions", "tool": "tool",
          "hook": "hook_context", "message": "hook_context", "prompt": "hook_context"}  # fmt: skip
"""First word of a `loaded` line → what of `Prove` it can prove. Logs that do not say so have other first words."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Words that prove in the log's `loaded` lines that the subject was there; `kind` is their key in `Prove`."""

    kind: str
    text: str

    def shown_by(self, line: str) -> bool:
        """Names are said in full; of a hook's text and an instruction file a part is enough."""
        word, _, rest = line.partition(" ")
        kind = _NAMED.get(word.rstrip(":"))
        if kind is None:
            return self.text in line
        return kind == self.kind and (self.text == rest if kind in ("skill", "agent", "tool") else self.text in rest)


@dataclass(frozen=True)
class Facts:
    """One rep.

    `view`: the rep as checks see it, None when no transcript could be read (`read_error` says why). `trouble`: what
    stopped the harness itself (setup, launch, redaction, interrupted …), in the order in which it happened. `ends`:
    one a turn that was started. `wanted`: what is to prove that the subject was there.
    `leaks`: evidence from `leaks.leaks`. `denied`: permissions that the agent was refused by its own CLI. `over_limit`:
    the tool-call limit was passed. `preconditions`: results of `preconditions`.
    """

    view: View | None
    read_error: str = ""
    trouble: tuple[Trouble, ...] = ()
    ends: tuple[TurnEnd, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    leaks: tuple[Evidence, ...] = ()
    denied: tuple[str, ...] = ()
    over_limit: bool = False
    preconditions: tuple[CheckResult, ...] = field(default=())

    @property
    def active(self) -> bool:
        """Whether the agent said or called anything."""
        return self.view is not None and not self.view.transcript.empty

    @property
    def missing(self) -> tuple[str, ...]:
        """What is wanted in the `loaded` lines and in none of them."""
        lines = self.view.transcript.loaded if self.view is not None else ()
        return tuple(want.text for want in self.wanted if not any(want.shown_by(line) for line in lines))

    @property
    def timed_out(self) -> bool:
        """Whether a turn was ended by the wall deadline."""
        return any(end.reason is Reason.WALL for end in self.ends)


def preconditions(scenario: Scenario, view: View) -> tuple[CheckResult, ...]:
    """The scenario's preconditions, asked of the sandbox before the agent (`view.after` is the sandbox then)."""
    answers = [(check.id, evaluate(check, view)) for check in scenario.preconditions]
    return tuple(CheckResult(id=i, axis="setup", outcome=a.outcome, evidence=a.evidence) for i, a in answers)


def first_text(evidence: Sequence[Evidence]) -> str:
    """The first piece of evidence as a sentence."""
    return evidence[0].text if evidence else "no evidence"


KINDS = frozenset(str(kind) for kind in ErrorKind)
"""Names of the harness's own error kinds."""
