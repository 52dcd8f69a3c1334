"""How Claude Code is started."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalrepo.agents import claude
from evalrepo.agents.base import Box, Endpoint, Turn
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Install, Tier
from evalrepo.world import World

TIER = Tier(model="claude-sonnet-4-5")
TURN = Turn(1, "Do it.", session_id="s1")
SECRETS = {
    "ANTHROPIC_API_KEY": "sk-real",
    "CLAUDE_CODE_OAUTH_TOKEN": "t",
    "AWS_PROFILE": "p",
    "https_proxy": "http://x",
}


def agent(**more: object) -> Agent:
    return Agent.model_validate({"tiers": {"t": {"model": "m"}}, **more})


@pytest.fixture
def box(tmp_path: Path) -> Box:
    for name in ("work", "home", "tmp", "out"):
        (tmp_path / name).mkdir()
    return replace(Box.bare(tmp_path / "work", tmp_path / "home", tmp_path / "tmp", tmp_path / "out"), isolated=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    program = tmp_path / "bin/claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '2.1.332 (Claude Code)'\n")
    program.chmod(0o755)
    environ = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path / "nobody"), **SECRETS}
    return World(tmp_path, environ, lambda: datetime(2026, 11, 29, tzinfo=UTC), lambda n: b"\7" * n)


def arguments(box: Box, world: World, turn: Turn = TURN, tier: Tier = TIER) -> list[str]:
    return list(claude.launch(agent(), tier, box, turn, world).argv[1:])


def test_a_turn_is_one_command_with_its_prompt_on_standard_input(box: Box, world: World):
    prompt = "--help /x für " + "y" * 100_000
    launch = claude.launch(agent(), TIER, box, replace(TURN, prompt=prompt), world)
    assert launch.argv == (
        str(world.cwd / "bin/claude"), "-p", "--output-format=json", "--model=claude-sonnet-4-5", "--session-id=s1",
        "--permission-mode=bypassPermissions",
    )  # fmt: skip
    assert launch.stdin == prompt.encode()
    assert launch.watch.places == (box.home / ".claude/projects",)
    assert launch.readable == (world.cwd / "bin/claude",)


def test_the_environment_is_made_from_nothing_and_keeps_the_cli_quiet(box: Box, world: World):
    env = claude.launch(
        agent(env=["ANTHROPIC_API_KEY"], set={"CLAUDE_CODE_SUBAGENT_MODEL": "haiku"}), TIER, box, TURN, world
    ).env
    assert env["ANTHROPIC_API_KEY"] == "sk-real"
    assert env["HOME"] == str(box.home)
    assert set(env) - {"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM"} == {
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_SUBAGENT_MODEL", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_MAX_RETRIES",
    }  # fmt: skip


def test_what_the_config_sets_has_the_last_word(box: Box, world: World):
    env = claude.launch(agent(set={"CLAUDE_CODE_MAX_RETRIES": "7"}), TIER, box, TURN, world).env
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "7"


def test_a_rehearsal_asks_nobody_else_and_takes_no_credential_along(box: Box, world: World):
    given = {
        "ANTHROPIC_BASE_URL": "http://vendor",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "h",
    }
    turn = replace(TURN, endpoint=Endpoint("http://127.0.0.1:8787", "rep-1"))
    env = claude.launch(agent(env=list(SECRETS), set=given), TIER, box, turn, world).env
    own = {name: value for name, value in env.items() if name in {*SECRETS, *given}}
    assert own == {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:8787", "ANTHROPIC_API_KEY": "rep-1", "ANTHROPIC_DEFAULT_HAIKU_MODEL": "h",
    }  # fmt: skip


def test_a_session_goes_on_or_is_a_new_one(box: Box, world: World):
    assert "--resume=s1" in arguments(box, world, replace(TURN, number=2, session="resume", previous="s1"))
    assert "--session-id=s2" in arguments(
        box, world, replace(TURN, number=2, session="fresh", session_id="s2", previous="s1")
    )


def test_the_subject_is_told_by_name(box: Box, world: World):
    install = (Install(primary="lead", plugin_dir="plug"), Install(plugin_dir="~/more"), Install(primary="lead"))
    found = arguments(box, world, replace(TURN, install=install))
    assert found[-3:] == [
        "--agent=lead",
        f"--plugin-dir={box.work_inside}/plug",
        f"--plugin-dir={box.home_inside}/more",
    ]


def test_two_primary_agents_are_refused(box: Box, world: World):
    with pytest.raises(HarnessError, match="one primary agent, and the subjects name a and b"):
        arguments(box, world, replace(TURN, install=(Install(primary="a"), Install(primary="b"))))


def test_a_tiers_settings_are_options(box: Box, world: World):
    tier = Tier(
        model="m",
        settings={"max_turns": "3", "append_system_prompt": "-x", "permission_mode": "acceptEdits", "effort": "low"},
    )
    assert arguments(box, world, tier=tier)[4:] == [
        "--permission-mode=acceptEdits", "--max-turns=3", "--append-system-prompt=-x", "--effort=low",
    ]  # fmt: skip


def test_a_setting_that_is_not_known_is_refused_with_those_that_are(box: Box, world: World):
    with pytest.raises(HarnessError, match="no setting 'temperature'") as caught:
        arguments(box, world, tier=Tier(model="m", settings={"temperature": "1"}))
    assert "max_turns" in (caught.value.hint or "")


def test_a_tier_without_a_model_is_refused(box: Box, world: World):
    with pytest.raises(HarnessError, match="names no model") as caught:
        arguments(box, world, tier=Tier())
    assert "model:" in (caught.value.hint or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="is about root")
def test_root_gets_full_permissions_only_in_an_isolated_sandbox(box: Box, world: World):
    bare = replace(box, isolated=False)
    with pytest.raises(HarnessError, match="as root") as caught:
        arguments(bare, world)
    assert "doctor" in (caught.value.hint or "")
    assert arguments(bare, world, tier=Tier(model="m", settings={"permission_mode": "acceptEdits"}))
    assert "IS_SANDBOX" not in claude.launch(agent(), TIER, box, TURN, world).env


def test_a_turn_is_over_when_the_cli_has_printed_its_result(box: Box, world: World):
    done = claude.launch(agent(), TIER, box, TURN, world).done
    assert done is not None
    assert not done()
    box.output(1).write_bytes(b"")
    assert not done()
    box.output(1).write_bytes(b"{}")
    assert done()


@pytest.mark.parametrize("more", [{"env": ["CLAUDE_CONFIG_DIR"]}, {"set": {"CLAUDE_CONFIG_DIR": "/x"}}])
def test_a_log_that_is_led_elsewhere_is_refused(box: Box, world: World, more: dict):
    with pytest.raises(HarnessError, match="CLAUDE_CONFIG_DIR"):
        claude.launch(agent(**more), TIER, box, TURN, world)


def test_a_missing_program_is_told_with_the_place(box: Box, world: World):
    (world.cwd / "bin/claude").unlink()
    alone = replace(world, environ={"PATH": str(world.cwd / "bin")})
    with pytest.raises(HarnessError, match="there is no program 'claude'"):
        arguments(box, alone)
    with pytest.raises(HarnessError, match="there is no program 'claude'"):
        claude.version(agent(), alone)


def test_the_version_is_the_number_that_it_prints(world: World):
    assert claude.version(agent(), world) == "2.1.332"
    (world.cwd / "bin/claude").write_text("#!/bin/sh\necho what\n")
    assert claude.version(agent(), world) == ""


def test_a_version_that_fails_says_why(world: World):
    (world.cwd / "bin/claude").write_text("#!/bin/sh\necho 'no such library' >&2\nexit 4\n")
    with pytest.raises(HarnessError, match="exit code 4: no such library"):
        claude.version(agent(), world)


@pytest.mark.skipif(shutil.which("claude") is None, reason="the CLI claude is not installed")
def test_the_real_cli_says_its_version_without_touching_home(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    real = World(
        tmp_path,
        {"PATH": os.environ["PATH"], "HOME": str(home)},
        lambda: datetime(2026, 11, 29, tzinfo=UTC),
        os.urandom,
    )
    assert claude.version(agent(), real) in claude.traits(agent()).tested
    assert list(home.iterdir()) == []


def test_what_changes_behaviour_is_described_and_secrets_only_by_name():
    described = claude.describe(
        agent(env=["ANTHROPIC_API_KEY"], set={"A": "b"}), Tier(model="m", settings={"effort": "low"})
    )
    assert described == {
        "kind": "claude", "model": "m", "settings": {"effort": "low"}, "env": ["ANTHROPIC_API_KEY"], "set": {"A": "b"}, "home": "private",
    }  # fmt: skip


def test_keys_and_named_variables_are_secrets():
    traits = claude.traits(agent(env=["MY_TOKEN", "ANTHROPIC_API_KEY"]))
    assert traits.secrets == ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "MY_TOKEN")
    assert (traits.paid, traits.network, traits.rehearsal_model) == (True, "open", "claude-sonnet-4-5")
