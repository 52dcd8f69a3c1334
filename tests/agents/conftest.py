"""A box without isolation, and a way to play turns in it for real."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalrepo.agents import scripted
from evalrepo.agents.base import Box, Launch, Turn
from evalrepo.records.config import Agent, Tier
from evalrepo.records.steps import Step
from evalrepo.records.transcript import Transcript
from evalrepo.world import World

TIER = Tier(script="any", model="big-1")
AGENT = Agent(tiers={"any": TIER})


def world(cwd: Path, **environ: str) -> World:
    return World(cwd, environ, lambda: datetime(2026, 11, 29, tzinfo=UTC), lambda n: b"\7" * n)


def steps(*raw: Mapping[str, Any]) -> tuple[Step, ...]:
    return tuple(Step.model_validate(step) for step in raw)


class Stage:
    """Plays turns of the scripted agent in a box and reads what it left."""

    def __init__(self, root: Path) -> None:
        for name in ("work", "home", "tmp", "out"):
            (root / name).mkdir()
        self.box = Box.bare(root / "work", root / "home", root / "tmp", root / "out")
        self.world = world(root)

    def launch(self, *raw: Mapping[str, Any], turn: Turn | None = None) -> Launch:
        turn = turn or Turn(1, "Do it.", session_id="s1")
        turn = Turn(turn.number, turn.prompt, turn.session, steps(*raw), turn.session_id, turn.previous)
        return scripted.launch(AGENT, TIER, self.box, turn, self.world)

    def play(self, *raw: Mapping[str, Any], turn: Turn | None = None) -> subprocess.CompletedProcess[str]:
        return self.start(self.launch(*raw, turn=turn))

    def start(self, launch: Launch) -> subprocess.CompletedProcess[str]:
        given = (launch.stdin or b"").decode()
        where = {"env": launch.env, "cwd": self.box.work, "timeout": 30}
        return subprocess.run(launch.argv, check=False, input=given, capture_output=True, text=True, **where)

    def files(self) -> dict[str, bytes]:
        return {name: path.read_bytes() for name, path in scripted.native(AGENT, self.box).items()}

    def transcript(self) -> Transcript:
        return scripted.read(AGENT, self.files(), self.box.work_inside)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)
