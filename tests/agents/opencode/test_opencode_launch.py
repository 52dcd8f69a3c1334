"""opencode's command line, environment and configuration."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalrepo.agents import opencode
from evalrepo.agents.base import Box, Endpoint, Launch, Turn
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Install, Tier
from evalrepo.world import World

MODEL = "anthropic/claude-sonnet-4-5"
TIER = Tier(model=MODEL)
AGENT = Agent(tiers={"t": TIER})
ENDPOINT = Endpoint("http://127.0.0.1:8787", "key-1")
FLAGS = ("--format", "json", "--auto", "--print-logs", "--log-level", "INFO")


class Room:
    """A box, and a PATH with programs that only have to be there."""

    def __init__(self, root: Path) -> None:
        for name in ("work", "home", "tmp", "out", "bin"):
            (root / name).mkdir()
        self.root = root
        self.box = Box.bare(*(root / name for name in ("work", "home", "tmp", "out")))
        self.program("opencode", "echo 1.18.33")
        self.program("rg", "exit 0")

    def program(self, name: str, body: str) -> Path:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def world(self, **environ: str) -> World:
        return World(
            self.root, {"PATH": f"{self.root}/bin", **environ}, lambda: datetime(2026, 11, 29, tzinfo=UTC), bytes
        )

    def launch(self, turn: Turn | None = None, *, agent: Agent = AGENT, tier: Tier = TIER, **environ: str) -> Launch:
        return opencode.launch(agent, tier, self.box, turn or Turn(1, "Do it."), self.world(**environ))


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def config(launch: Launch) -> dict[str, Any]:
    return json.loads(launch.env["OPENCODE_CONFIG_CONTENT"])


def test_the_prompt_comes_on_stdin_and_no_title_is_asked_for(room: Room):
    launch = room.launch()
    assert launch.argv == (f"{room.root}/bin/opencode", "run", "-m", MODEL, *FLAGS, "--title", "Session")
    assert launch.stdin == b"Do it."
    assert config(launch) == {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "small_model": MODEL,
        "provider": {"anthropic": {}},
    }


def test_the_environment_is_private_offline_and_quiet(room: Room):
    agent = AGENT.model_copy(update={"env": ("ANTHROPIC_API_KEY",), "set": {"LANG": "de_DE.UTF-8"}})
    env = dict(room.launch(agent=agent, ANTHROPIC_API_KEY="k", OPENCODE_CONFIG="/mine", XDG_DATA_HOME="/mine").env)
    home = str(room.box.home)
    del env["OPENCODE_CONFIG_CONTENT"]
    assert env.pop("PATH").endswith(f":{room.root}/bin")
    assert env == {
        "HOME": home,
        "TMPDIR": str(room.box.tmp),
        "USER": "user",
        "LOGNAME": "user",
        "SHELL": "/bin/bash",
        "LANG": "de_DE.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "ANTHROPIC_API_KEY": "k",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_SHARE": "1",
        "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
    }


def test_nothing_asks_by_default_and_built_in_sub_agents_keep_their_limits(room: Room):
    room.launch()
    lowest = json.loads((room.box.home / ".config/opencode/config.json").read_text())
    assert lowest == {
        "permission": {
            "external_directory": "allow",
            "doom_loop": "allow",
            "read": {"*": "allow", "*.env": "allow", "*.env.*": "allow"},
        }
    }
    assert (room.box.home / ".config/opencode/.npmrc").read_text() == "offline=true\n"


def test_what_a_subject_installed_in_home_stays(room: Room):
    own = room.box.home / ".config/opencode/config.json"
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    room.launch()
    assert own.read_text() == "{}"


def test_a_rehearsal_asks_our_server_and_passes_nothing_of_the_users(room: Room):
    settings = {
        "ANTHROPIC_API_KEY": "mine",
        "HTTPS_PROXY": "http://proxy",
        "https_proxy": "http://proxy",
        "COLOR": "no",
    }
    agent = AGENT.model_copy(update={"env": ("ANTHROPIC_API_KEY", "OTHER"), "set": settings})
    launch = room.launch(Turn(1, "Do it.", endpoint=ENDPOINT), agent=agent, ANTHROPIC_API_KEY="secret", OTHER="secret")
    assert config(launch)["provider"] == {
        "anthropic": {"options": {"baseURL": "http://127.0.0.1:8787/v1", "apiKey": "key-1"}}
    }
    told = json.dumps(launch.env)
    assert not any(word in told for word in ("secret", "mine", "proxy"))
    assert (launch.env["COLOR"], launch.env["npm_config_offline"]) == ("no", "true")


def test_configuration_of_the_agents_set_lies_between_ours_and_who_is_asked(room: Room):
    given = {"share": "auto", "provider": {"anthropic": {"options": {"apiKey": "mine", "timeout": 5}}}, "theme": "x"}
    agent = AGENT.model_copy(update={"set": {"OPENCODE_CONFIG_CONTENT": json.dumps(given)}})
    found = config(room.launch(Turn(1, "Do it.", endpoint=ENDPOINT), agent=agent))
    assert (found["share"], found["theme"], found["snapshot"]) == ("auto", "x", False)
    assert found["provider"]["anthropic"]["options"] == {
        "apiKey": "key-1",
        "timeout": 5,
        "baseURL": "http://127.0.0.1:8787/v1",
    }


def test_a_primary_agent_a_plugin_and_a_tiers_settings_reach_the_command_line(room: Room):
    install = (Install(primary="lead"), Install(extension="plugins/mark.js"), Install(extension="~/mark.js"))
    tier = Tier(model="openai/gpt-5", settings={"variant": "high", "base_url": "http://gateway/v1"})
    launch = room.launch(Turn(1, "Do it.", install=install), tier=tier)
    assert launch.argv[4 + len(FLAGS) :] == ("--agent", "lead", "--variant", "high", "--title", "Session")
    assert config(launch)["plugin"] == [f"file://{room.box.work}/plugins/mark.js", f"file://{room.box.home}/mark.js"]
    assert config(launch)["provider"] == {"openai": {"options": {"baseURL": "http://gateway/v1"}}}


def test_a_resumed_turn_names_the_session_of_the_turn_before(room: Room):
    room.box.output(1).write_text('{"type":"text","sessionID":"ses_1"}\n')
    launch = room.launch(Turn(2, "Go on.", "resume"))
    assert launch.argv[4 + len(FLAGS) :] == ("-s", "ses_1")
    assert launch.watch.places == (
        room.box.output(2),
        room.box.errors(2),
        room.box.home / ".local/share/opencode/opencode.db",
        room.box.home / ".local/share/opencode/opencode.db-wal",
    )


def test_a_fresh_turn_names_none(room: Room):
    room.box.output(1).write_text('{"type":"text","sessionID":"ses_1"}\n')
    assert "-s" not in room.launch(Turn(2, "Go on.", "fresh")).argv


REFUSED: dict[str, tuple[Tier, Turn, str, str]] = {
    "no model": (Tier(), Turn(1, "x"), "the tier names no model", f"`model: {MODEL}`"),
    "no provider": (Tier(model="gpt-5"), Turn(1, "x"), "the model 'gpt-5' has no provider", "PROVIDER/MODEL"),
    "setting": (Tier(model=MODEL, settings={"speed": "9"}), Turn(1, "x"), "no setting 'speed'", "variant, base_url"),
    "resume of nothing": (TIER, Turn(2, "x", "resume"), "resumes the session of turn 1", "session: fresh"),
    "two primaries": (
        TIER,
        Turn(1, "x", install=(Install(primary="a"), Install(primary="b"))),
        "one primary agent, and the subjects name a and b",
        "only one subject",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_started_is_told_with_the_next_step(room: Room, case: str):
    tier, turn, message, hint = REFUSED[case]
    with pytest.raises(HarnessError, match=message) as caught:
        room.launch(turn, tier=tier)
    assert hint in (caught.value.hint or "")


def test_broken_configuration_in_set_is_told(room: Room):
    agent = AGENT.model_copy(update={"set": {"OPENCODE_CONFIG_CONTENT": "{"}})
    with pytest.raises(HarnessError, match="OPENCODE_CONFIG_CONTENT is no JSON object"):
        room.launch(agent=agent)


def test_without_ripgrep_it_is_not_started(room: Room):
    (room.root / "bin" / "rg").unlink()
    with pytest.raises(HarnessError, match="needs ripgrep, and would download it into every sandbox") as caught:
        room.launch()
    assert caught.value.hint == "install ripgrep (the program `rg`) on this machine"


def test_without_the_cli_it_is_not_started(room: Room):
    (room.root / "bin" / "opencode").unlink()
    with pytest.raises(HarnessError, match="there is no program 'opencode'"):
        room.launch()


def test_the_version_is_what_the_cli_says_in_an_empty_home(room: Room):
    room.program("opencode", 'ls -A "$HOME" >&2; [ -z "$(ls -A "$HOME")" ] && echo "opencode 1.18.33"')
    assert opencode.version(AGENT, room.world()) == "1.18.33"


def test_a_cli_that_cannot_say_its_version_is_told_with_what_it_said(room: Room):
    room.program("opencode", "echo broken >&2; exit 7")
    with pytest.raises(HarnessError, match="--version ended with exit code 7: broken"):
        opencode.version(AGENT, room.world())


def test_the_description_holds_what_changes_behaviour():
    agent = AGENT.model_copy(update={"env": ("B", "A"), "set": {"X": "1"}})
    found = opencode.describe(agent, Tier(model=MODEL, settings={"variant": "high"}))
    assert json.loads(json.dumps(found)) == found
    assert (found["model"], found["settings"], found["env"], found["set"]) == (
        MODEL,
        {"variant": "high"},
        ["A", "B"],
        {"X": "1"},
    )
    assert found["config"]["permission"]["doom_loop"] == "allow"


def test_it_is_a_paid_agent_that_can_be_rehearsed():
    traits = opencode.traits(AGENT)
    assert (traits.paid, traits.network, traits.rehearsal_model, traits.tested) == (True, "open", MODEL, ("1.18",))
    assert traits.logins == (".local/share/opencode/auth.json",)
    assert "ANTHROPIC_API_KEY" in traits.keys
    assert {".git/opencode", ".opencode/.gitignore", ".opencode/node_modules"} <= set(traits.litter)
