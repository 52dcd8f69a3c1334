"""How codex is started: argv, configuration, environment, sessions; with a program in its place that is none."""

from __future__ import annotations

import json
import shlex
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalrepo.agents import codex
from evalrepo.agents.base import Box, Endpoint, Launch, Turn
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Install, Tier
from evalrepo.records.steps import Step
from evalrepo.world import World

TIER = Tier(model="gpt-5.5")
HERE = Endpoint("http://127.0.0.1:8787", "key-of-the-rehearsal")
THREAD = '{"type":"thread.started","thread_id":"01a22a05-b47a-7dc3-9060-49043cfb5475"}\n'


class Bench:
    """A box, and a PATH with a `codex` and perhaps a `node`."""

    def __init__(self, root: Path, program: str = "#!/bin/sh\necho codex-cli 0.171.0\n", *, node: bool = False) -> None:
        for name in ("work", "home", "tmp", "out", "bin"):
            (root / name).mkdir()
        self.box = Box.bare(root / "work", root / "home", root / "tmp", root / "out")
        self.bin = root / "bin"
        self.put("codex", program)
        if node:
            self.put(
                "node",
                '#!/bin/sh\n[ "$1" = --version ] && exec echo v22.19.0\nshift\nexec echo codex-cli 0.170.9 "$@"\n',
            )
        self.environ = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(root / "real")}

    def put(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def world(self, **environ: str) -> World:
        return World(self.bin, {**self.environ, **environ}, lambda: datetime(2026, 11, 29, tzinfo=UTC), bytes)

    def launch(self, turn: Turn, tier: Tier = TIER, settings: dict[str, Any] | None = None, **environ: str) -> Launch:
        return codex.launch(agent(**(settings or {})), tier, self.box, turn, self.world(**environ))


def agent(**settings: Any) -> Agent:
    return Agent.model_validate({"tiers": {"any": {"model": "gpt-5.5"}}, **settings})


def turn(number: int = 1, **more: Any) -> Turn:
    return Turn(number, "Look after it.", **more)


def config(launch: Launch) -> dict[str, Any]:
    """The overrides on the command line, as TOML reads them."""
    given = [launch.argv[n + 1] for n, word in enumerate(launch.argv) if word == "-c"]
    return {key: tomllib.loads(f"v = {value}")["v"] for key, _, value in (text.partition("=") for text in given)}


def test_a_rehearsal_has_full_permission_one_provider_and_no_way_out(tmp_path: Path):
    bench = Bench(tmp_path)
    launch = bench.launch(turn(endpoint=HERE))
    words = [word for word in launch.argv if "=" not in word and word != "-c"]
    assert words == [
        str(bench.bin / "codex"), "exec", "--json", "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "-m", "gpt-5.5", "-",
    ]  # fmt: skip
    assert config(launch) == {
        "analytics.enabled": False,
        "feedback.enabled": False,
        "check_for_update_on_startup": False,
        "features.plugins": False,
        "features.apps": False,
        "features.unbounded_connection_retries": False,
        "projects": {bench.box.work_inside: {"trust_level": "trusted"}},
        "model_provider": "direct",
        "model_providers.direct": {
            "name": "OpenAI", "wire_api": "responses", "supports_websockets": False,
            "request_max_retries": 1, "stream_max_retries": 1,
            "base_url": "http://127.0.0.1:8787/v1", "env_key": "CODEX_API_KEY",
        },
        "web_search": "disabled",
    }  # fmt: skip
    assert launch.stdin == b"Look after it."
    assert launch.env["CODEX_API_KEY"] == HERE.key
    assert (launch.env["HOME"], launch.env["TMPDIR"]) == (bench.box.home_inside, bench.box.tmp_inside)
    assert launch.watch.places == (bench.box.home / ".codex/sessions", bench.box.output(1))


def test_a_rehearsal_is_given_nothing_of_the_users_and_all_that_is_set(tmp_path: Path):
    settings = {"env": ["OPENAI_API_KEY", "MY_TOKEN", "CODEX_HOME"], "set": {"MODE": "x"}}
    users = {"OPENAI_API_KEY": "sk-1", "MY_TOKEN": "t-1", "CODEX_HOME": "/somewhere"}
    env = Bench(tmp_path).launch(turn(endpoint=HERE), settings=settings, **users).env
    assert not {"OPENAI_API_KEY", "MY_TOKEN", "CODEX_HOME"} & set(env)
    assert env["MODE"] == "x"


@pytest.mark.parametrize(
    ("named", "login", "provider"),
    [
        (["OPENAI_API_KEY"], False, {"env_key": "OPENAI_API_KEY"}),
        (["OPENAI_API_KEY", "CODEX_API_KEY"], True, {"env_key": "CODEX_API_KEY"}),
        ([], True, {"requires_openai_auth": True}),
        (["GITHUB_TOKEN"], False, {"env_key": "CODEX_API_KEY"}),
    ],
)
def test_a_real_run_uses_the_key_that_is_named_before_a_login(
    tmp_path: Path, named: list[str], login: bool, provider: dict[str, Any]
):
    bench = Bench(tmp_path)
    if login:
        (bench.box.home / ".codex").mkdir()
        (bench.box.home / ".codex/auth.json").write_text("{}")
    launch = bench.launch(turn(), settings={"env": named}, **dict.fromkeys(named, "sk-1"))
    found = config(launch)["model_providers.direct"]
    assert {k: v for k, v in found.items() if k in ("env_key", "requires_openai_auth", "base_url")} == provider
    assert {name: launch.env.get(name) for name in named} == dict.fromkeys(named, "sk-1")
    assert "web_search" not in config(launch)


def test_settings_of_the_tier_reach_the_configuration(tmp_path: Path):
    tier = Tier(model="gpt-6-astra", settings={"effort": "high", "retries": "3", "web_search": "live"})
    found = config(Bench(tmp_path).launch(turn(), tier))
    assert (found["model_reasoning_effort"], found["web_search"]) == ("high", "live")
    assert found["model_providers.direct"]["stream_max_retries"] == 3


@pytest.mark.parametrize(
    ("tier", "install", "says"),
    [
        (Tier(), {}, "the tier names no model"),
        (Tier(model="m", settings={"speed": "high"}), {}, "codex has no setting 'speed'"),
        (Tier(model="m", settings={"retries": "many"}), {}, "`retries` is 'many'"),
        (TIER, {"primary": "lead"}, "`install` with `primary`"),
        (TIER, {"plugin_dir": "plugin"}, "`install` with `plugin_dir`"),
    ],
)
def test_what_codex_cannot_do_is_refused_with_a_hint(tmp_path: Path, tier: Tier, install: dict[str, Any], says: str):
    with pytest.raises(HarnessError, match=says) as caught:
        Bench(tmp_path).launch(turn(install=(Install.model_validate(install),)), tier)
    assert caught.value.hint


def test_a_later_turn_resumes_the_session_that_the_last_one_printed(tmp_path: Path):
    bench = Bench(tmp_path)
    bench.box.output(1).write_text("noise\n" + THREAD.replace("5475", "0001"))
    bench.box.output(2).write_text('{"type":"thread.started"\n' + THREAD)
    argv = bench.launch(turn(3, session="resume")).argv
    assert argv[1:4] == ("exec", "resume", "--json")
    assert argv[-2:] == ("01a22a05-b47a-7dc3-9060-49043cfb5475", "-")
    assert "resume" not in bench.launch(turn(3, session="fresh")).argv


def test_a_session_that_never_began_cannot_be_resumed(tmp_path: Path):
    bench = Bench(tmp_path)
    bench.box.output(1).write_text("it broke\n")
    with pytest.raises(HarnessError, match="turn 2 resumes a session, and no turn before it began one"):
        bench.launch(turn(2, session="resume"))


def test_a_script_of_node_is_given_to_the_node_of_the_users_path(tmp_path: Path):
    bench = Bench(tmp_path, "#!/usr/bin/env node\n", node=True)
    launch = bench.launch(turn())
    assert launch.argv[:3] == (str(bench.bin / "node"), str(bench.bin / "codex"), "exec")
    assert set(launch.readable) >= {bench.bin / "codex", bench.bin / "node"}
    assert launch.env["PATH"].endswith(str(bench.bin))
    assert codex.version(agent(), bench.world()) == "0.170.9"


def test_the_version_is_the_number_that_the_program_prints(tmp_path: Path):
    bench = Bench(tmp_path)
    assert codex.version(agent(), bench.world()) == "0.171.0"
    bench.put("codex", "#!/bin/sh\necho no luck >&2\nexit 3\n")
    with pytest.raises(HarnessError, match="codex --version ended with exit code 3: no luck"):
        codex.version(agent(), bench.world())
    (bench.bin / "codex").unlink()
    with pytest.raises(HarnessError, match="there is no program 'codex'"):
        codex.version(agent(), bench.world())


def test_a_turn_is_over_when_its_last_event_is_printed(tmp_path: Path):
    bench = Bench(tmp_path)
    done = bench.launch(turn()).done
    assert done is not None
    assert not done()
    bench.box.output(1).write_text(THREAD)
    assert not done()
    bench.box.output(1).write_text(THREAD + '{"type":"turn.completed","usage":{}}\n')
    assert done()


CATALOG = '{"models": [{"slug": "gpt-5.5", "display_name": "GPT-5.5", "context_window": 9}, {"slug": "small"}]}'


@pytest.mark.parametrize(("models", "new"), [(["haiku", "small"], ["haiku"]), (["small"], None), ([], None)])
def test_a_model_that_only_the_script_knows_is_added_to_the_catalogue(
    tmp_path: Path, models: list[str], new: list[str] | None
):
    said = f"[ \"$*\" = 'debug models' ] && echo {shlex.quote(CATALOG)}"
    bench = Bench(tmp_path, f"#!/bin/sh\n{said}\n")
    inner = [{"spawn": {"task": f"With {model}.", "model": model}} for model in models]
    script = (Step.model_validate({"spawn": {"task": "All.", "steps": inner}}),)
    found = config(bench.launch(turn(endpoint=HERE, script=script)))
    if new is None:
        assert "model_catalog_json" not in found
        return
    assert found["model_catalog_json"] == f"{bench.box.home_inside}/.codex/models.json"
    written = json.loads((bench.box.home / ".codex/models.json").read_text())["models"]
    assert [model["slug"] for model in written] == ["gpt-5.5", "small", *new]
    assert written[-1]["context_window"] == 9


def test_main_sessions_come_first_and_what_each_turn_printed_last(tmp_path: Path):
    bench = Bench(tmp_path)
    folder = bench.box.home / ".codex/sessions/2026/11/30"
    folder.mkdir(parents=True)
    for name, parent in (("rollout-1-a", None), ("rollout-2-b", "a"), ("rollout-3-c", None)):
        head = {"type": "session_meta", "payload": {"id": name[-1], **({"parent_thread_id": parent} if parent else {})}}
        (folder / f"{name}.jsonl").write_text(json.dumps(head) + "\n")
    (folder / "link.jsonl").symlink_to("/etc/passwd")
    for number in (10, 2):
        bench.box.output(number).write_text(THREAD)
    bench.box.errors(2).write_text("noise")
    assert list(codex.native(agent(), bench.box)) == [
        "rollout-1-a.jsonl", "rollout-3-c.jsonl", "rollout-2-b.jsonl", "turn-2.out", "turn-10.out",
    ]  # fmt: skip


def test_the_description_holds_all_that_changes_behaviour_and_no_value_of_the_users():
    given = agent(env=["B_KEY", "A_KEY"], set={"MODE": "x"}, home="inherit")
    found = codex.describe(given, Tier(model="gpt-5.5", settings={"effort": "low"}))
    assert {name: found[name] for name in ("kind", "model", "settings", "env", "set", "home")} == {
        "kind": "codex", "model": "gpt-5.5", "settings": {"effort": "low"}, "env": ["A_KEY", "B_KEY"],
        "set": {"MODE": "x"}, "home": "inherit",
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found


def test_traits_name_the_login_the_keys_and_what_must_stay_secret():
    traits = codex.traits(agent(env=["MY_TOKEN"]))
    assert (traits.paid, traits.network, traits.model_free) == (True, "open", False)
    assert traits.logins == (".codex/auth.json",)
    assert traits.keys == ("CODEX_API_KEY", "OPENAI_API_KEY")
    assert set(traits.secrets) == {"CODEX_API_KEY", "OPENAI_API_KEY", "MY_TOKEN"}
    assert traits.tested == ("0.171",)
