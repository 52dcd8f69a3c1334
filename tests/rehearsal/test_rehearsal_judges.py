"""Agent CLIs as judges: one turn without tools in an empty sandbox, answered by our model server."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from stage import need

from evalrepo.checks.view import View
from evalrepo.formats.redaction import Redactor
from evalrepo.records.config import Agent, Config, Tier
from evalrepo.records.rubric import Question
from evalrepo.records.steps import Step
from evalrepo.records.transcript import At, Prompt, Said, Transcript
from evalrepo.registry import module
from evalrepo.running.bench import Bench
from evalrepo.running.judge_agent import AgentJudge
from evalrepo.running.stage import Stage
from evalrepo.sandbox.probe import probe
from evalrepo.scoring.judge.prompt import Asking
from evalrepo.scoring.judge.shown import shown
from evalrepo.scoring.judge.voting import take
from evalrepo.world import World

AGENTS = ("claude", "codex", "opencode", "pi")
REPLY = {"reason": "It says so.", "evidence": [{"place": "p2", "quote": "ran on haiku"}], "answer": "yes"}


@pytest.fixture
def judged(tmp_path):
    """A vote of an agent whose model says `steps`."""

    def ask(agent, *steps):
        need(agent)
        home = tmp_path / "home"
        home.mkdir()
        clean = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(tmp_path)}
        world = World(tmp_path, clean, lambda: datetime.now(UTC), os.urandom)
        base = tmp_path / "boxes"
        base.mkdir(mode=0o700)
        known = Agent.model_validate({"tiers": {"default": {}}})
        config = Config(agents={agent: known})
        tier = Tier(model=module(agent, known).traits(known).rehearsal_model)
        with Stage(world, base) as stage:
            bench = Bench(
                world, config, None, probe(world, [home]), base, tmp_path / "cache", Redactor({}, ()), stage=stage
            )
            script = [Step.model_validate(step) for step in steps]
            judge = AgentJudge(bench, agent, "default", tier, 60.0, script)
            return replace(take(judge, asking(), 1))

    return ask


def asking() -> Asking:
    at = At("main.jsonl", 1)
    events = (Prompt("Review it.", 1, at), Said("The reviewers ran on haiku.", 1, at))
    return Asking("Judge the words.", Question(ask="Is it told?"), shown(View(Transcript("x", events=events))))


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_answers_in_one_turn_is_a_judge(agent, judged):
    tally = judged(agent, {"say": json.dumps(REPLY)})
    assert (tally.answer, tally.broken) == ("yes", "")
    assert tally.models
    assert tally.votes[0].tries == 1


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_would_look_around_is_a_broken_judge(agent, judged):
    tally = judged(agent, {"run": "ls"}, {"say": json.dumps(REPLY)})
    assert tally.answer == ""
    assert tally.broken
