"""Any CLI as data, driven for real."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evalrepo import registry
from evalrepo.agents import command, scripted
from evalrepo.agents.base import Turn
from evalrepo.agents.executable import find
from evalrepo.errors import HarnessError, UsageError
from evalrepo.records.config import Agent, Tier

FAKE = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1:] == ["--version"]:
    print("fake 1.2"); sys.exit()
out = sys.stdout
if os.environ.get("LOG"):
    path = os.path.expanduser(os.environ["LOG"])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    out = open(path, "a")
def row(**fields): print(json.dumps(fields), file=out)
row(type="session", format=1, session=sys.argv[1], cwd=os.getcwd())
row(type="prompt", text=sys.argv[2] if len(sys.argv) > 2 else sys.stdin.read())
row(type="tool_call", id="1", tool="shell", args={"command": " ".join(sys.argv[3:])})
row(type="tool_result", id="1", text=" ".join(sorted(k for k in os.environ if k.isupper())))
row(type="end", reason="done")
"""


@pytest.fixture
def cli(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bin")
    (folder / "fake").write_text(FAKE)
    (folder / "fake").chmod(0o755)
    return folder


@pytest.fixture
def stage(stage, cli):
    environ = {"PATH": f"{cli}:{os.environ['PATH']}", "KEY": "k", "OTHER": "o", "GIT_DIR": "/g"}
    stage.world = replace(stage.world, environ=environ)
    return stage


def agent(*argv, **more):
    return Agent.model_validate({"kind": "command", "argv": list(argv), "tiers": {"t": {"model": "m"}}, **more})


def play(stage, described, turn=None, tier=None):
    turn = turn or Turn(1, "Do it.", session_id="id1")
    launch = command.launch(described, tier or described.tiers["t"], stage.box, turn, stage.world)
    ended = stage.start(launch)
    assert ended.returncode == 0, ended.stderr
    stage.box.output(turn.number).write_text(ended.stdout)
    return launch


def read(stage, described):
    files = {name: path.read_bytes() for name, path in command.native(described, stage.box).items()}
    return command.read(described, files, stage.box.work_inside)


def test_a_cli_that_prints_its_log_is_read_from_its_output(stage):
    described = agent("fake", "{session}", "{prompt}", "{model}", "{turn}", "{effort}", '{"json": 1}')
    tier = Tier(model="small", settings={"effort": "high"})
    launch = play(stage, described, tier=tier)
    play(stage, described, Turn(2, "More.", "fresh", session_id="id2", previous="id1"), tier)
    transcript = read(stage, described)
    assert transcript.sessions == ("id1", "id2")
    assert [(e.text, e.turn) for e in transcript.events if hasattr(e, "synthetic")] == [("Do it.", 1), ("More.", 2)]
    assert transcript.events[1].canonical == {"command": 'small 1 high {"json": 1}'}
    assert command.counter(described, launch.watch)() == 1


def test_the_environment_holds_what_is_named_and_set_and_nothing_else(stage):
    described = agent("fake", "{session}", "{prompt}", env=["KEY", "GIT_DIR", "ABSENT"], set={"MODE": "x"})
    launch = command.launch(described, described.tiers["t"], stage.box, Turn(1, "p", session_id="i"), stage.world)
    assert (launch.env["KEY"], launch.env["MODE"], launch.env["HOME"]) == ("k", "x", stage.box.home_inside)
    assert not {"OTHER", "GIT_DIR", "ABSENT"} & set(launch.env)
    assert command.traits(described).secrets == ("KEY", "GIT_DIR", "ABSENT")


def test_a_log_in_home_is_found_by_its_glob_and_resumed(stage):
    described = agent(
        "fake", "{session}", "{prompt}", set={"LOG": "~/.fake/deep/a.jsonl"},
        resume_argv=["fake", "{session}", "{prompt}", "again"], transcript={"glob": "~/.fake/**/*.jsonl"},
    )  # fmt: skip
    launch = play(stage, described)
    play(stage, described, Turn(2, "More.", "resume", session_id="id1", previous="id1"))
    (stage.box.home / ".fake/notes.txt").write_text("no log")
    assert list(command.native(described, stage.box)) == ["deep/a.jsonl"]
    transcript = read(stage, described)
    assert transcript.sessions == ("id1",)
    assert ([e.turn for e in transcript.events], transcript.unknown) == ([1, 1, 1, 2, 2, 2], {})
    assert command.counter(described, launch.watch)() == 2
    assert launch.watch.places == (stage.box.home / ".fake",)


def test_a_log_in_the_sandbox_is_litter(stage):
    described = agent(
        "fake", "{session}", "{prompt}", set={"LOG": ".fake/a.jsonl"}, transcript={"glob": ".fake/a.jsonl"}
    )
    launch = play(stage, described)
    assert command.traits(described).litter == (".fake",)
    assert launch.watch.places == (stage.box.work / ".fake/a.jsonl",)
    assert read(stage, described).events[0].text == "Do it."


def test_links_that_leave_the_sandbox_are_no_log(stage, tmp_path):
    described = agent("fake", "{prompt}", transcript={"glob": "~/.fake/*.jsonl"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.jsonl").write_text("{}")
    (stage.box.home / ".fake").symlink_to(tmp_path / "elsewhere")
    assert command.native(described, stage.box) == {}
    with pytest.raises(HarnessError, match="leaves the sandbox"):
        command.native(agent("fake", transcript={"glob": "~/../x/*.jsonl"}), stage.box)


def test_the_prompt_can_come_on_stdin(stage):
    described = agent("fake", "{session}", stdin="prompt")
    play(stage, described)
    assert read(stage, described).events[0].text == "Do it."


def test_the_format_atif_is_read(stage):
    described = agent("fake", "{prompt}", transcript={"glob": "~/t.json", "format": "atif"})
    (stage.box.home / "t.json").write_text(
        '{"schema_version": "ATIF-v1.6", "steps": [{"source": "user", "message": "hi"}]}'
    )
    assert read(stage, described).events[0].text == "hi"


def test_a_placeholder_that_nothing_fills_is_said(stage):
    described = agent("fake", "{prompt}", "{effort}")
    with pytest.raises(HarnessError, match=r"argv asks for \{effort\}") as caught:
        play(stage, described)
    assert "{prompt}" in caught.value.hint
    assert command.problems(described, described.tiers["t"]) == ["effort"]
    with pytest.raises(HarnessError, match="names no model"):
        play(stage, agent("fake", "{model}"), tier=Tier())


def test_a_prompt_with_braces_stays_as_it_is(stage):
    described = agent("fake", "{session}", "{prompt}")
    play(stage, described, Turn(1, "Use {model} and {x}.", session_id="i"))
    assert read(stage, described).events[0].text == "Use {model} and {x}."


def test_resuming_needs_a_command_line_of_its_own(stage):
    with pytest.raises(HarnessError, match="resume_argv"):
        play(stage, agent("fake", "{prompt}"), Turn(2, "p", "resume", session_id="i", previous="i"))


def test_a_missing_program_names_the_places_that_were_searched(stage, cli):
    with pytest.raises(HarnessError, match=f"no program 'nowhere-found' in {cli}"):
        play(stage, agent("nowhere-found"))
    with pytest.raises(HarnessError, match="no program /nowhere/x"):
        command.version(agent("/nowhere/x"), stage.world)


def test_the_version_is_the_first_line_that_is_printed(stage):
    assert command.version(agent("fake", version=["fake", "--version"]), stage.world) == "fake 1.2"
    assert command.version(agent("fake"), stage.world) == ""
    with pytest.raises(HarnessError, match="exit code 3"):
        command.version(agent("fake", version=["sh", "-c", "exit 3"]), stage.world)


def test_what_can_change_behaviour_is_described_without_secret_values(stage):
    described = agent("fake", "{prompt}", env=["KEY"], set={"A": "1"})
    said = command.describe(described, Tier(model="m", settings={"b": "2"}))
    assert (said["argv"], said["env"], said["set"], said["settings"]) == (
        ["fake", "{prompt}"],
        ["KEY"],
        {"A": "1"},
        {"b": "2"},
    )
    other = agent("fake", "{prompt}", env=["KEY"], set={"A": "1"}, transcript={"format": "atif"})
    assert command.describe(other, Tier(model="m", settings={"b": "2"})) != said


def test_what_a_script_needs_is_itself_and_its_interpreter(stage, cli):
    (cli / "python3").symlink_to(os.path.realpath(sys.executable))
    needed = find("fake", stage.world).readable
    assert cli / "fake" in needed
    prefix = Path(os.path.realpath(sys.executable)).parent.parent
    assert prefix in needed or str(prefix).startswith("/usr")


def test_what_a_node_program_needs_is_its_whole_tree_and_the_links_to_it(stage, cli):
    entry = cli / "lib/node_modules/pkg/bin/cli.js"
    entry.parent.mkdir(parents=True)
    entry.write_text("#!/bin/sh\n")
    entry.chmod(0o755)
    (cli / "tool").symlink_to("lib/node_modules/pkg/bin/cli.js")
    found = find("tool", stage.world)
    assert found.path == cli / "tool"
    assert found.readable == (cli, cli / "lib/node_modules")


def test_what_an_environment_of_python_needs_is_itself_and_its_base(stage, cli):
    base, venv = cli / "base/bin", cli / "venv"
    base.mkdir(parents=True)
    (venv / "bin").mkdir(parents=True)
    (base / "python3").write_bytes(b"\x7fELF")
    (base / "python3").chmod(0o755)
    (venv / "bin/python3").symlink_to(base / "python3")
    (venv / "pyvenv.cfg").write_text(f"home = {base}\n")
    (venv / "bin/tool").write_text(f"#!{venv}/bin/python3\n")
    (venv / "bin/tool").chmod(0o755)
    needed = find(str(venv / "bin/tool"), stage.world).readable
    assert venv in needed
    assert cli / "base" in needed


def test_the_registry_knows_the_built_in_agents_and_every_command(stage):
    builtin = Agent(tiers={"t": Tier()})
    assert registry.module("scripted", builtin) is scripted
    assert registry.module("anything", agent("x")) is command
    assert registry.module("scripted", agent("x")) is command
    for name in ("claude2", "command"):
        with pytest.raises(UsageError, match="no built-in agent") as caught:
            registry.module(name, builtin)
        assert "kind: command" in caught.value.hint
