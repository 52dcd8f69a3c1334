"""The real codex against our model server: what it does, what its transcript says, and what it leaves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import stage

from evalrepo.agents import codex
from evalrepo.agents.base import Box, Endpoint, Turn
from evalrepo.records.config import Agent, Tier
from evalrepo.records.steps import Step
from evalrepo.records.transcript import Call, EndReason, Transcript, Usage
from evalrepo.rehearsal.play import Part
from evalrepo.rehearsal.server import ModelServer
from evalrepo.world import World
from tests import telling
from tests.telling import story

PLAIN, CODE = "gpt-5.5", "gpt-6-astra"
"""A model that calls tools, and one that writes scripts which call them."""

PROMPT = ("prompt", "Task 1: look after this project.")
README = "hello world\nsecond line\n"
SYSTEM = ("skill imagegen", "skill openai-docs", "skill skill-creator", "skill skill-installer")
"""Skills that the CLI brings."""

USUAL = Transcript("codex", "0.171.0", end=EndReason.DONE, loaded=SYSTEM)

ROLE = 'name = "reviewer"\ndescription = "Reviews."\ndeveloper_instructions = "MARK-ROLE"\nmodel = "gpt-5.6-sol"\n'
HOOKS = """{"hooks": {
  "SessionStart": [{"hooks": [{"type": "command", "command": "echo MARK-HOOK"}]}],
  "PreToolUse": [{"matcher": ".*", "hooks": [{"type": "command", "command": "if grep -q forbidden; then echo no >&2; exit 2; fi"}]}]
}}"""
SKILL = "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n"
TEAM = {"AGENTS.md": "MARK-RULES\n", "reviewer.toml": ROLE, "SKILL.md": SKILL, "hooks.json": HOOKS}
INSTALL = {
    "copy": {
        "AGENTS.md": "AGENTS.md",
        "reviewer.toml": ".codex/agents/reviewer.toml",
        "SKILL.md": ".agents/skills/greet/SKILL.md",
        "hooks.json": ".codex/hooks.json",
    },
    "prove": {"hook_context": "MARK-HOOK", "skill": "greet"},
}
RULES = "# AGENTS.md instructions for /srv/project\n\n<INSTRUCTIONS>\nMARK-RULES\n\n</INSTRUCTIONS>"
REFUSED = "Reasoning effort `unheard-of` is not supported for model `gpt-5.5`. Supported reasoning efforts: low, medium, high, xhigh"


def rest(transcript: Transcript | None) -> dict[str, Any]:
    return telling.rest(transcript, USUAL)


def usage(answers: int, calls: int, agents: int = 0) -> Usage:
    """codex knows no price."""
    return telling.usage(answers, calls, agents, price=None)


def play(tmp_path: Path, *turns: list[dict[str, Any]], **more: Any) -> stage.Seen:
    return stage.play(tmp_path, "codex", turns, **more)


def ran(by: str, command: str, kind: str = "shell", **more: str) -> tuple[Any, ...]:
    return ("call", by, "exec_command", kind, {**more, "command": command})


def patched(by: str, kind: str, **more: str) -> tuple[Any, ...]:
    return ("call", by, "apply_patch", kind, more)


def succeeded(*files: str) -> tuple[Any, ...]:
    return ("result", True, None, "".join(["Success. Updated the following files:\n", *(f"{f}\n" for f in files)]))


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize("model", [PLAIN, CODE])
def test_it_reads_edits_writes_searches_and_runs_what_the_script_says(tmp_path: Path, model: str, isolated: bool):
    steps = [
        {"say": "Let me look."}, {"read": "README.md"}, {"edit": {"path": "src/app.py", "old": "a - b", "new": "a + b"}},
        {"write": {"path": "docs/new.md", "content": "new\n"}}, {"search": {"pattern": "hel+o", "path": "."}},
        {"search": "no such words"}, {"run": "echo out; exit 3"}, {"say": "It failed."}, {"say": "Done."},
    ]  # fmt: skip
    seen = play(tmp_path, steps, model=model, isolated=isolated)
    assert story(seen.transcript) == [
        PROMPT,
        ("said", "Let me look."),
        ran("main", "cat README.md", "read", path="README.md"),
        ("result", True, 0, README),
        ran("main", "cat src/app.py", "read", path="src/app.py"),
        ("result", True, 0, "def add(a, b):\n    return a - b\n"),
        patched("main", "edit", path="src/app.py", old="    return a - b\n", new="    return a + b\n"),
        succeeded("M src/app.py"),
        patched("main", "write", path="docs/new.md", content="new\n"),
        succeeded("A docs/new.md"),
        ran("main", "rg -n -e hel+o .", "search", pattern="hel+o", path="."),
        ("result", True, 0, "./README.md:1:hello world\n"),
        ran("main", "rg -n -e 'no such words' .", "search", pattern="no such words", path="."),
        ("result", True, None, ""),
        ran("main", "echo out; exit 3"),
        ("result", False, 3, "out\n"),
        ("said", "It failed.\n\nDone."),
    ]
    assert rest(seen.transcript) == {"models": (model,), "usage": usage(8, 7)}
    assert (seen.rep.verdict, seen.rep.message) == ("PASS", "")
    assert (seen.work["src/app.py"], seen.work["docs/new.md"]) == (b"def add(a, b):\n    return a + b\n", b"new\n")


def test_the_subject_is_there_and_its_sub_agents_have_their_own_models(tmp_path: Path):
    steps = [
        {"skill": "greet"},
        {"run": "echo forbidden"},
        {"spawn": {"task": "Review it.", "agent": "reviewer", "steps": [{"read": "README.md"}], "reports": "Fine."}},
        {"spawn": {"task": "Fail.", "agent": "reviewer", "error": "there is none"}},
        {"say": "All done."},
    ]  # fmt: skip
    seen = play(tmp_path, steps, subject=TEAM, install=INSTALL, isolated=True)
    skill = 'cat "$(ls -d .*/skills/greet/SKILL.md ~/.*/skills/greet/SKILL.md 2>/dev/null | head -n 1)"'
    found = story(seen.transcript)
    waited, notified = found.pop(9), found.pop(9)
    assert found == [
        PROMPT,
        ran("main", skill, "skill", skill="greet"),
        ("result", True, 0, SKILL),
        ran("main", "echo forbidden"),
        ("result", False, None, "Command blocked by PreToolUse hook: no. Command: echo forbidden"),
        ("call", "main", "spawn_agent", "spawn", {"agent": "reviewer", "task": "Review it."},
         (None, "gpt-5.6-sol", ("gpt-5.6-sol",))),
        ("child", [
            ("prompt", "Review it."),
            ran("reviewer", "cat README.md", "read", path="README.md"),
            ("result", True, 0, README),
            ("said", "Fine."),
        ]),
        ("call", "main", "wait_agent", "", {}),
        ("result", True, None, "Fine."),
        ("call", "main", "spawn_agent", "spawn", {"agent": "reviewer", "task": "Fail."}, (None, None, ())),
        ("result", False, None, REFUSED),
        ("said", "All done."),
    ]  # fmt: skip
    assert (waited[:3], notified[0]) == (("result", True, None), "told")
    assert rest(seen.transcript) == {
        "models": (PLAIN,), "usage": usage(8, 6, 1),
        "loaded": (*SYSTEM, "skill greet", RULES, "MARK-HOOK", "agent reviewer"),
    }  # fmt: skip
    assert seen.rep.verdict == "PASS"


PAIR = [
    {"spawn": {"task": "Count one.", "background": True, "steps": [{"run": "echo 1"}], "reports": "One."}},
    {"spawn": {"task": "Count two.", "model": "haiku", "steps": [{"run": "sleep 1; echo 2"}], "reports": "Two."}},
    {"say": "Both."},
]


def counted(by: str, task: str, command: str, said: str, report: str) -> tuple[Any, ...]:
    return ("child", [("prompt", task), ran(by, command), ("result", True, 0, said), ("said", report)])


def test_two_sub_agents_work_at_once_and_one_has_a_model_of_the_script(tmp_path: Path):
    seen = play(tmp_path, PAIR)
    found = story(seen.transcript)
    assert [line for line in found if line[0] != "told" and not str(line[-1]).startswith("{\"status\"")] == [
        PROMPT,
        ("call", "main", "spawn_agent", "spawn", {"task": "Count one."}, (None, PLAIN, (PLAIN,))),
        counted("default", "Count one.", "echo 1", "1\n", "One."),
        ("call", "main", "spawn_agent", "spawn", {"task": "Count two.", "model": "haiku"}, ("haiku", "haiku", ("haiku",))),
        counted("default", "Count two.", "sleep 1; echo 2", "2\n", "Two."),
        ("call", "main", "wait_agent", "", {}),
        ("call", "main", "wait_agent", "", {}),
        ("result", True, None, "One."),
        ("result", True, None, "Two."),
        ("said", "Both."),
    ]  # fmt: skip
    assert rest(seen.transcript) == {"models": (PLAIN,), "usage": usage(7, 6, 2)}


def test_a_model_in_code_mode_talks_to_its_sub_agents_in_its_own_way(tmp_path: Path):
    deep = {"task": "Go deep.", "steps": [{"spawn": {"task": "Go deeper.", "reports": "Deepest."}}], "reports": "Deep."}
    seen = play(tmp_path, [*PAIR[:2], {"spawn": deep}, PAIR[2]], model=CODE)
    waited = [
        ("call", "main", "wait_agent", "", {}),
        ("result", True, None, '{"message":"Wait completed.","timed_out":false}'),
    ]
    below = [line if line[1] != "main" else ("call", "task_3", *line[2:]) for line in waited]
    assert story(seen.transcript) == [
        PROMPT,
        ("call", "main", "spawn_agent", "spawn", {"agent": "task", "task": "Count one."}, (None, CODE, (CODE,))),
        counted("task", "Count one.", "echo 1", "1\n", "One."),
        ("call", "main", "spawn_agent", "spawn", {"agent": "task_2", "task": "Count two.", "model": "haiku"},
         ("haiku", "haiku", ("haiku",))),
        counted("task_2", "Count two.", "sleep 1; echo 2", "2\n", "Two."),
        *waited, ("told", "One."), ("result", True, None, "One."),
        *waited, ("told", "Two."), ("result", True, None, "Two."),
        ("call", "main", "spawn_agent", "spawn", {"agent": "task_3", "task": "Go deep."}, (None, CODE, (CODE,))),
        ("child", [
            ("prompt", "Go deep."),
            ("call", "task_3", "spawn_agent", "spawn", {"agent": "task", "task": "Go deeper."}, (None, CODE, (CODE,))),
            ("child", [("prompt", "Go deeper."), ("said", "Deepest.")]),
            *below, ("told", "Deepest."), ("result", True, None, "Deepest."),
            ("said", "Deep."),
        ]),
        *waited, ("told", "Deep."), ("result", True, None, "Deep."),
        ("said", "Both."),
    ]  # fmt: skip
    assert rest(seen.transcript) == {"models": (CODE,), "usage": usage(14, 10, 4)}


@pytest.mark.parametrize("model", [PLAIN, CODE])
def test_a_sub_agent_that_breaks_is_no_end_of_its_parent(tmp_path: Path, model: str):
    broken = {"task": "Break.", "steps": [{"fail": {"status": 500, "error": "boom"}}], "reports": "Never."}
    seen = play(tmp_path, [{"spawn": broken}, {"say": "It broke."}], model=model)
    assert seen.transcript is not None
    [call] = [e for e in seen.transcript.events if isinstance(e, Call) and e.kind == "spawn"]
    assert call.result is not None
    assert (call.ok, "high demand" in call.result.text) == (False, True)
    [child] = seen.transcript.children.values()
    assert (child.end, child.error_kind) == ("error", "network")
    assert (seen.transcript.end, seen.rep.verdict, seen.rep.error) == ("done", "ERROR", "network")


def test_a_second_turn_goes_on_with_the_session_whatever_its_prompt_looks_like(tmp_path: Path):
    prompt = '- Second: "quoted" $HOME\n  and a tail \n\n'
    seen = play(
        tmp_path,
        [{"read": "README.md"}, {"say": "One."}],
        [{"run": "echo two"}, {"say": "Two."}],
        prompts=["First.", {"prompt": prompt, "session": "resume"}],
    )
    assert story(seen.transcript) == [
        ("prompt", "First."),
        ran("main", "cat README.md", "read", path="README.md"),
        ("result", True, 0, README),
        ("said", "One."),
        ("prompt", prompt),
        ran("main", "echo two"),
        ("result", True, 0, "two\n"),
        ("said", "Two."),
    ]
    assert rest(seen.transcript) == {"models": (PLAIN,), "usage": usage(4, 2)}
    assert seen.transcript is not None
    assert [event.turn for event in seen.transcript.events] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert (len(seen.transcript.sessions), seen.rep.verdict) == (1, "PASS")


@pytest.mark.parametrize("model", [PLAIN, CODE])
def test_a_turn_that_is_cut_leaves_its_half_and_a_fresh_session_goes_on(tmp_path: Path, model: str):
    prompts = [{"prompt": "First.", "stop_after": {"file": "half.txt"}}, {"prompt": "Go on.", "session": "fresh"}]
    command = "echo half > half.txt; sleep 2.74e2"
    seen = play(
        tmp_path,
        [{"say": "Half."}, {"run": command}],
        [{"read": "half.txt"}, {"say": "Whole."}],
        prompts=prompts,
        model=model,
    )
    cut = ran("main", command) if model == PLAIN else ("call", "main", "exec", "", {})
    assert story(seen.transcript) == [
        ("prompt", "First."),
        ("said", "Half."),
        cut,
        ("prompt", "Go on."),
        ran("main", "cat half.txt", "read", path="half.txt"),
        ("result", True, 0, "half\n"),
        ("said", "Whole."),
    ]
    assert rest(seen.transcript) == {"models": (model,), "usage": usage(3, 2)}
    assert seen.transcript is not None
    assert (len(seen.transcript.sessions), seen.rep.verdict) == (2, "PASS")


def test_no_more_calls_are_made_than_the_turn_may(tmp_path: Path):
    steps = [{"run": f"echo {n} >> log.txt; sleep 0.2"} for n in range(9)]
    seen = play(tmp_path, steps, prompts=[{"prompt": "Go.", "stop_after": {"tool_calls": 3}}], model=CODE)
    assert seen.transcript is not None
    assert (seen.transcript.end, seen.rep.verdict) == ("cut", "PASS")
    assert 3 <= len([e for e in seen.transcript.events if isinstance(e, Call)]) <= 5


FAULTS = [
    ({"status": 400}, "agent", "stub"),
    ({"status": 401, "error": "bad key"}, "auth", "put a valid key"),
    ({"status": 403}, "auth", "403"),
    ({"status": 404}, "agent", "correct the tier's `model`"),
    ({"status": 429}, "rate-limit", "429"),
    ({"status": 500}, "network", "try again later"),
    ({"status": 529}, "rate-limit", "529"),
    ({"error": "prompt is too long"}, "limit", "does not fit into the model's context"),
    ({"truncate": True}, "truncated", "the vendor's answer broke off"),
]


@pytest.mark.parametrize(("fail", "kind", "says"), FAULTS, ids=[str(next(iter(f.values()))) for f, _, _ in FAULTS])
def test_a_fault_of_the_model_is_an_error_that_says_what_to_do(
    tmp_path: Path, fail: dict[str, Any], kind: str, says: str
):
    seen = play(tmp_path, [{"read": "README.md"}, {"fail": {"error": "stub", **fail}}])
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", kind)
    assert says in (seen.rep.message or "")
    assert seen.seconds < 10
    assert seen.transcript is not None
    assert seen.transcript.end == "error"


def test_a_model_that_never_answers_is_idle(tmp_path: Path):
    seen = play(tmp_path, [{"fail": {"hang": True}}], limits={"idle_s": 4})
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "idle")
    assert seen.transcript is not None
    assert (seen.transcript.end, story(seen.transcript)) == ("cut", [PROMPT])


def test_a_model_that_codex_does_not_know_is_asked_all_the_same(tmp_path: Path):
    seen = play(tmp_path, [{"read": "README.md"}, {"say": "Done."}], model="no-such-model")
    assert (seen.rep.verdict, rest(seen.transcript)["models"]) == ("PASS", ("no-such-model",))
    assert [asked.model for asked in seen.asked] == ["no-such-model"] * 2


def test_without_a_key_or_a_login_it_says_what_to_do(tmp_path: Path):
    seen = play(tmp_path, [{"say": "Never."}], rehearse=False)
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "auth")
    assert "Missing environment variable: `CODEX_API_KEY`" in (seen.rep.message or "")
    assert "env: [CODEX_API_KEY]" in (seen.rep.message or "")


def test_without_a_network_it_ends_soon(tmp_path: Path):
    seen = play(
        tmp_path, [{"say": "Never."}], rehearse=False, isolated=True, tier={"retries": "0"},
        settings={"env": ["OPENAI_API_KEY"]}, environ={"OPENAI_API_KEY": "sk-none-of-yours-1234567890"},
    )  # fmt: skip
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "network")
    assert seen.seconds < 40
    assert not any(b"sk-none-of-yours" in data for data in seen.native.values())


def test_a_rehearsal_gets_no_key_of_the_user(tmp_path: Path):
    names = ["OPENAI_API_KEY", "CODEX_API_KEY", "MY_TOKEN"]
    steps = [{"run": "env | grep -c sk-of-the-user"}, {"say": "Done."}]
    seen = play(
        tmp_path, steps, settings={"env": names, "set": {"MODE": "x"}}, environ=dict.fromkeys(names, "sk-of-the-user")
    )
    assert story(seen.transcript)[2] == ("result", False, 1, "0\n")
    assert not any("sk-of-the-user" in str(asked.headers) for asked in seen.asked)


@pytest.mark.parametrize("model", [PLAIN, CODE])
def test_nobody_else_is_asked_anything(tmp_path: Path, model: str):
    """What is not for the model server would go to the proxy, which a rehearsal itself never names."""
    stage.need("codex")
    work, home, tmp, out = (tmp_path / name for name in ("work", "home", "tmp", "out"))
    for place in (work, home, tmp, out):
        place.mkdir()
    (work / "README.md").write_text(README)
    box, world = Box.bare(work, home, tmp, out), World(work, dict(os.environ), lambda: datetime.now(UTC), os.urandom)
    steps = tuple(Step.model_validate(step) for step in ({"read": "README.md"}, {"say": "Done."}))
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    agent = Agent.model_validate({"tiers": {"t": {}}, "set": dict.fromkeys(proxies, "http://127.0.0.1:9")})
    with ModelServer(tmp_path) as server, socket.create_server(("127.0.0.1", 0)) as proxy:
        server.admit("k", Part(codex, steps, "Go.", str(work), str(home)))
        turn = Turn(1, "Go.", script=steps, endpoint=Endpoint(server.url, "k"))
        launch = codex.launch(agent, Tier(model=model), box, turn, world)
        assert not set(proxies) & set(launch.env)
        place = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        env = {**launch.env, **dict.fromkeys(proxies, place), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        ran = subprocess.run(
            launch.argv, check=True, input=launch.stdin, env=env, cwd=work, capture_output=True, timeout=60
        )
        proxy.settimeout(0)
        with pytest.raises(BlockingIOError):
            proxy.accept()
        assert (len(server.asked("k")), b"Done." in ran.stdout) == (2, True)


@pytest.mark.parametrize(("name", "nap"), [("SIGINT", "2.71e2"), ("SIGTERM", "2.72e2"), ("SIGKILL", "2.73e2")])
def test_a_signal_from_elsewhere_cuts_the_log_and_leaves_nothing_alive(tmp_path: Path, name: str, nap: str):
    command = f"trap '' TERM; sleep {nap}"
    steps = [{"say": "Started."}, {"run": command}, {"say": "Never said."}]
    seen = play(tmp_path, steps, meanwhile=stage.strike(f"sleep {nap}", getattr(signal, name), "/bin/codex exec"))
    assert seen.rep.verdict == "ERROR"
    assert seen.transcript is not None
    assert seen.transcript.end == "cut"
    assert story(seen.transcript)[:3] == [PROMPT, ("said", "Started."), ran("main", command)]
