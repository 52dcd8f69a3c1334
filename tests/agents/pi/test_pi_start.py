"""How pi is started."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalrepo.agents import pi
from evalrepo.agents.base import Box, Endpoint, Launch, Turn
from evalrepo.agents.pi.rehearsing import providers
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Install, Tier
from evalrepo.world import World

SONNET = "anthropic/claude-sonnet-4-5"
ENDPOINT = Endpoint("http://127.0.0.1:8787", "k1")
QUIET = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}


class Machine:
    """A machine with a `pi` and a `node` of its own, and a sandbox."""

    def __init__(self, root: Path, node: str = "v22.19.0") -> None:
        self.root = root
        for name in ("work", "home", "tmp", "out", "bin", "node"):
            (root / name).mkdir()
        self.package = root / "lib" / "node_modules" / "pi"
        self.program(self.package / "cli.js", "#!/usr/bin/env node\n")
        (root / "bin" / "pi").symlink_to(self.package / "cli.js")
        self.put("lib/node_modules/pi/package.json", "{}")
        self.put("lib/node_modules/pi/examples/extensions/subagent/index.ts", "")
        self.program(root / "node" / "node", f'#!/bin/sh\n[ "$1" = --version ] && echo {node} || echo 1.6.0\n')
        self.box = Box(
            root / "work",
            root / "home",
            root / "tmp",
            root / "out",
            "/srv/project",
            "/home/dev",
            "/tmp",
            "/opt/bin",
            isolated=True,
        )
        self.environ = {"PATH": f"{root}/node:{root}/bin", "HOME": str(root / "real")}

    def program(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @property
    def world(self) -> World:
        return World(self.root, self.environ, lambda: datetime(2026, 11, 30, tzinfo=UTC), os.urandom)

    def launch(
        self,
        *,
        model: str | None = SONNET,
        settings: Mapping[str, str] | None = None,
        agent: Mapping[str, Any] | None = None,
        **turn: Any,
    ) -> Launch:
        given = {"number": 1, "prompt": "Do it.", "session_id": "s1", **turn}
        known = Agent.model_validate({"tiers": {"t": {}}, **(agent or {})})
        return pi.launch(known, Tier(model=model, settings=dict(settings or {})), self.box, Turn(**given), self.world)

    def home(self, name: str) -> Any:
        return json.loads((self.root / "home/.pi/agent" / name).read_text())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_turn_is_one_print_in_json_with_the_prompt_on_its_input(machine: Machine):
    machine.environ |= {"ANTHROPIC_API_KEY": "sk-own", "PI_CODING_AGENT_DIR": "/elsewhere"}
    launch = machine.launch(agent={"env": ["ANTHROPIC_API_KEY"]}, settings={"thinking": "high", "tools": "+grep"})
    assert launch.argv == (
        str(machine.root / "node/node"), str(machine.root / "bin/pi"), "--print", "--mode", "json", "--model", SONNET,
        "--session-dir", "/home/dev/.pi/agent/sessions/rep", "--session-id", "s1", "--name", "turn 1", "--no-approve", "--thinking", "high", "--tools", "+grep",
    )  # fmt: skip
    assert launch.stdin == b"Do it."
    assert launch.env.items() >= (QUIET | {"HOME": "/home/dev", "ANTHROPIC_API_KEY": "sk-own"}).items()
    assert "PI_CODING_AGENT_DIR" not in launch.env
    assert launch.env["PATH"].startswith(f"/opt/bin:{machine.root}/node:/usr/local/sbin:")
    assert launch.env["PATH"].endswith(f":{machine.root}/bin")
    assert machine.root / "lib/node_modules" in launch.readable
    assert machine.home("settings.json") == {"retry": {"maxRetries": 1, "baseDelayMs": 1000}}
    assert not (machine.root / "home/.pi/agent/models.json").exists()


def test_the_next_turn_resumes_and_a_prompt_that_pi_expands_is_named(machine: Machine):
    argv = machine.launch(number=2, prompt="/skill:greet you", session="resume", session_id="s1", previous="s1").argv
    assert argv[argv.index("--session-id") + 1] == "s1"
    assert argv[argv.index("--name") + 1] == "turn 2: /skill:greet you"


def test_a_rehearsal_asks_our_server_and_carries_no_credential(machine: Machine):
    machine.environ |= {"ANTHROPIC_API_KEY": "sk-own", "HTTPS_PROXY": "http://x", "COLOUR": "red"}
    named = ["ANTHROPIC_API_KEY", "HTTPS_PROXY", "COLOUR"]
    given = {"MY_TOKEN": "t", "ALL_PROXY": "http://x", "PI_OFFLINE": "0", "MAX_TOKENS": "9"}
    machine.put("home/.pi/agent/models.json", '{"providers": {"other": {"baseUrl": "https://example.com"}}}')
    launch = machine.launch(model="rehearsal/model", agent={"env": named, "set": given}, endpoint=ENDPOINT)
    assert {name: launch.env[name] for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "PI_OFFLINE", "MAX_TOKENS")} == {
        "ANTHROPIC_API_KEY": "k1",
        "OPENAI_API_KEY": "k1",
        "PI_OFFLINE": "1",
        "MAX_TOKENS": "9",
    }
    assert not {"MY_TOKEN", "HTTPS_PROXY", "ALL_PROXY", "COLOUR"} & set(launch.env)
    assert set(machine.home("models.json")["providers"]) == {"anthropic", "openai", "rehearsal"}
    bundled = str(machine.package / "examples/extensions/subagent/index.ts")
    assert launch.argv[-2:] == ("--extension", bundled)
    assert (machine.root / "home/.pi/agent/agents/general.md").is_file()


@pytest.mark.parametrize(
    ("model", "own"),
    [
        (SONNET, {}),
        ("rehearsal/model", {"rehearsal": "model"}),
        ("openai/gpt-5.5:high", {"openai": "gpt-5.5"}),
        ("openrouter/x/y", {"openrouter": "x/y"}),
    ],
)
def test_the_tiers_provider_decides_the_protocol(model: str, own: dict[str, str]):
    found = providers(ENDPOINT, model)
    assert found["anthropic"] == {"baseUrl": "http://127.0.0.1:8787"}
    assert {name: given["models"][0]["id"] for name, given in found.items() if "models" in given} == own
    assert all(given["models"][0]["api"] == "openai-completions" for given in found.values() if "models" in given)


def test_what_would_move_the_log_is_refused(machine: Machine):
    with pytest.raises(HarnessError, match="PI_CODING_AGENT_DIR would move"):
        machine.launch(agent={"set": {"PI_CODING_AGENT_DIR": "/tmp/x"}})


def test_a_subjects_own_settings_are_left_alone(machine: Machine):
    machine.put("home/.pi/agent/settings.json", '{"theme": "dark"}')
    machine.launch()
    assert machine.home("settings.json") == {"theme": "dark"}


def test_extensions_and_skills_are_named_as_the_agent_sees_them(machine: Machine):
    machine.put("work/.pi/skills/greet/SKILL.md", "")
    machine.put("home/.pi/agent/ext.ts", "")
    machine.put("packages/node_modules/pi-subagents/index.ts", "")
    machine.environ["EXT"] = "packages/node_modules/pi-subagents"
    installs = (Install(extension="~/.pi/agent/ext.ts"), Install(extension="${EXT}", skill=".pi/skills/greet"))
    launch = machine.launch(
        install=installs, settings={"extension": "bundled:subagent, builtin:codemode", "trust": "project"}
    )
    folder = machine.root / "packages/node_modules"
    start = launch.argv.index("--approve") + 1
    assert launch.argv[start:] == (
        "--extension", "/home/dev/.pi/agent/ext.ts", "--extension", f"{folder}/pi-subagents",
        "--extension", f"{machine.package}/examples/extensions/subagent/index.ts", "--extension", "builtin:codemode",
        "--skill", "/srv/project/.pi/skills/greet",
    )  # fmt: skip
    assert folder in launch.readable


def test_a_rehearsal_lends_no_extension_to_those_who_bring_their_own(machine: Machine):
    machine.put("home/.pi/agent/extensions/own.ts", "")
    assert "--extension" not in machine.launch(endpoint=ENDPOINT).argv


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": None}, "the tier names no model"),
        ({"model": "sonnet"}, "the model 'sonnet' has no provider"),
        ({"settings": {"effort": "high"}}, "has no setting 'effort'"),
        ({"settings": {"trust": "all"}}, "has trust: all"),
        ({"settings": {"extension": "bundled:nothing"}}, "brings no example extension 'nothing'"),
        ({"install": (Install(skill="skills/x"),)}, "the skill skills/x, which is not in the sandbox"),
        ({"install": (Install(extension="../x.ts"),)}, "the extension ../x.ts, which is not in the sandbox"),
        ({"install": (Install(extension="$NOWHERE"),)}, "by the variable NOWHERE, which is not set"),
    ],
)
def test_what_cannot_be_started_is_a_sentence(machine: Machine, given: dict[str, Any], message: str):
    with pytest.raises(HarnessError, match=message.replace("$", r"\$")) as caught:
        machine.launch(**given)
    assert caught.value.hint


def test_an_older_node_is_named_with_the_way_out(tmp_path: Path):
    machine = Machine(tmp_path, node="v20.20.2")
    for start in (machine.launch, lambda: pi.version(Agent.model_validate({"tiers": {"t": {}}}), machine.world)):
        with pytest.raises(
            HarnessError, match=r"needs Node.js 22.19 or newer, and the first on PATH, \S+/node, is v20.20.2"
        ):
            start()
    machine.environ["PATH"] = f"{tmp_path}/bin"
    with pytest.raises(HarnessError, match="there is no `node` on PATH"):
        machine.launch()
    machine.environ["PATH"] = "/nowhere"
    with pytest.raises(HarnessError, match="there is no program 'pi'"):
        machine.launch()


def test_a_pi_that_is_no_script_needs_no_node(machine: Machine):
    (machine.root / "bin/pi").unlink()
    machine.program(machine.root / "bin/pi", "#!/bin/sh\necho 1.7.0\n")
    machine.environ["PATH"] = f"{machine.root}/bin"
    assert machine.launch().argv[0] == str(machine.root / "bin/pi")
    assert pi.version(Agent.model_validate({"tiers": {"t": {}}}), machine.world) == "1.7.0"


def test_the_version_is_asked_in_a_home_of_its_own(machine: Machine):
    assert pi.version(Agent.model_validate({"tiers": {"t": {}}}), machine.world) == "1.6.0"
    assert not (machine.root / "real").exists()


def test_instructions_above_an_open_sandbox_that_nobody_declared_are_an_error(machine: Machine):
    box = machine.box
    machine.put("AGENTS.md", "Be loud.")
    machine.launch()
    machine.box = Box.bare(box.work, box.home, box.tmp, box.out)
    with pytest.raises(HarnessError, match=f"pi would read {machine.root}/AGENTS.md"):
        machine.launch()


def test_the_keys_are_those_of_the_tiers_providers():
    own = Agent.model_validate({"tiers": {"a": {"model": "openai/gpt-5.5"}, "b": {"model": SONNET}}, "env": ["MINE"]})
    assert pi.traits(own).keys == ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    assert "MINE" in pi.traits(own).secrets


def test_the_description_holds_all_that_changes_behaviour():
    agent = Agent.model_validate({"tiers": {"t": {}}, "env": ["B", "A"], "set": {"X": "1"}, "home": "inherit"})
    assert pi.describe(agent, Tier(model=SONNET, settings={"thinking": "low"})) == {
        "kind": "pi", "model": SONNET, "settings": {"thinking": "low"}, "env": ["A", "B"], "set": {"X": "1"}, "home": "inherit",
    }  # fmt: skip


def test_logs_are_the_sessions_first_then_those_of_sub_agents_then_what_was_said(machine: Machine):
    top = "home/.pi/agent/sessions/--srv-project--"
    for name in ("2_b.jsonl", "1_a.jsonl", "1_a/r1/run-0/session.jsonl", "subagent-artifacts/x_transcript.jsonl"):
        machine.put(f"{top}/{name}", "x")
    for name in ("turn-10.err", "turn-2.err", "turn-1.out"):
        machine.put(f"out/{name}", "x")
    machine.put("out/turn-1.err", "")
    found = pi.native(Agent.model_validate({"tiers": {"t": {}}}), machine.box)
    assert list(found) == ["1_a.jsonl", "2_b.jsonl", "1_a/r1/run-0/session.jsonl", "turn-2.err", "turn-10.err"]
