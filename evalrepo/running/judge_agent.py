"""A judge that is an agent CLI: one turn in an empty sandbox, without a subject and without tools.

Not every CLI can do without all of its tools. A reply that came with a call is none: what a judge looked up nobody saw.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evalrepo.agents.base import ReadError
from evalrepo.errors import EvalrepoError, UsageError
from evalrepo.processes import Reason
from evalrepo.records.config import Tier
from evalrepo.records.judges import agent_name
from evalrepo.records.scenario import Scenario
from evalrepo.records.steps import Step
from evalrepo.records.transcript import Call, Said, Transcript
from evalrepo.running.bench import Bench, Prepared, prepare
from evalrepo.running.logins import lend
from evalrepo.running.rep import TRANSCRIPT_LIMIT, native_file
from evalrepo.running.turns import Played, play, seen_by
from evalrepo.sandbox.layout import Sandbox, fresh, remove
from evalrepo.scoring.judge.voting import NoReply, Reply

SCRIPT = "verdict"


@dataclass(frozen=True)
class AgentJudge:
    """`agent` is one of the config's, at `tier` with these settings. `script`: in a rehearsal, what the model says."""

    bench: Bench
    agent: str
    tier: str
    settings: Tier
    timeout_s: float = 120.0
    script: Sequence[Step] | None = None

    @property
    def kind(self) -> Literal["agent"]:
        """An agent CLI."""
        return "agent"

    def name(self, model: str | None) -> str:
        """Agent, tier and model."""
        return agent_name(self.agent, self.tier, model or self.settings.model)

    def __call__(self, prompt: str, model: str | None) -> Reply:
        """One turn of the CLI. NoReply when it cannot be started, is late, leaves no log, or called a tool."""
        try:
            cell = self._cell(prompt, model)
            box = fresh(self.bench.base, cell.template, self.bench.isolation)
        except (EvalrepoError, OSError) as error:
            raise NoReply(f"{self.agent}: {error}") from None
        try:
            lend(self.bench.world.environ.get("HOME", ""), cell.logins, seen_by(box))
            played = play(self.bench, cell, box, threading.Event())
            return _reply(cell, _read(cell, box, played))
        except (EvalrepoError, OSError) as error:
            raise NoReply(f"{self.agent}: {error}") from None
        finally:
            remove(box)

    def _cell(self, prompt: str, model: str | None) -> Prepared:
        seconds = self.timeout_s
        scenario = Scenario.model_validate(
            {
                "title": "A question",
                "subject": [],
                "turns": [{"prompt": prompt}],
                "limits": {"wall_s": seconds, "idle_s": seconds, "startup_s": seconds},
                "behaviours": [{"name": SCRIPT, "script": list(self.script)}] if self.script is not None else [],
            }
        )
        tier = self.settings.model_copy(update={"model": model} if model else {})
        if self.script is not None:
            tier = tier.model_copy(update={"script": SCRIPT})
        return replace(prepare(self.bench, scenario, self.agent, tier), tools=False)


def agent_judge(bench: Bench) -> AgentJudge:
    """The agent that the config's judge names. UsageError for one, or a tier, that is not there."""
    config = bench.config
    name, tier = config.judge.agent or "", config.judge.tier
    agent = config.agents.get(name)
    if agent is None:
        hint = f"agents in evalrepo.yaml: {', '.join(config.agents) or 'none'}"
        raise UsageError(f"the judge is the agent {name}, which is not there", hint=hint)
    if tier not in agent.tiers:
        raise UsageError(f"the judge {name} has no tier {tier}", hint=f"its tiers: {', '.join(agent.tiers)}")
    return AgentJudge(bench, name, tier, agent.tiers[tier], config.judge.timeout_s)


def _read(cell: Prepared, box: Sandbox, played: Played) -> Transcript:
    if played.trouble:
        raise NoReply(f"{cell.name}: {played.trouble[0].message}")
    end = played.ends[-1]
    if end.reason not in (Reason.EXITED, Reason.DONE) or end.exit_code not in (0, None):
        how = f"exit code {end.exit_code}" if end.reason is Reason.EXITED else str(end.reason)
        raise NoReply(f"{cell.name} ended with {how}{': ' if end.message else ''}{end.message}")
    found = cell.played.native(cell.agent, seen_by(box))
    files = {name: native_file(box, path, TRANSCRIPT_LIMIT) for name, path in found.items()}
    if not files:
        raise NoReply(f"{cell.name} left no log")
    try:
        return cell.played.read(cell.agent, files, box.inside(box.work))
    except ReadError as error:
        raise NoReply(f"{cell.name}: its log cannot be read: {error}") from None


def _reply(cell: Prepared, transcript: Transcript) -> Reply:
    used = transcript.usage
    said = [event.text for event in transcript.events if isinstance(event, Said)]
    reply = Reply(
        text=said[-1] if said else "",
        model=", ".join(transcript.models),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=0.0 if cell.rehearsed else used.cost_usd,
    )
    called = next((event for event in transcript.events if isinstance(event, Call)), None)
    if called is not None:
        raise NoReply(f"{cell.name} called the tool {called.tool}, and a judge has none", reply)
    if not said:
        raise NoReply(f"{cell.name} said nothing", reply)
    return reply
