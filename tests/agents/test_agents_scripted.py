"""Every step kind, played for real by the player in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalrepo.agents import scripted
from evalrepo.agents.base import Turn
from evalrepo.errors import HarnessError
from evalrepo.records.config import Agent, Tier
from evalrepo.records.steps import STEPS
from evalrepo.records.transcript import At, Call, EndReason, Prompt, Result, Said, Spawn, Usage

PLAYER = Path(scripted.__file__).with_name("scripted_player.py")
AGENT = Agent(tiers={"any": Tier(script="any")})
RESUMED = Turn(2, "Go on.", "resume", session_id="s1", previous="s1")
FRESH = Turn(2, "Go on.", "fresh", session_id="s2", previous="s1")


def calls(transcript):
    return [event for event in transcript.events if isinstance(event, Call)]


def only(transcript):
    (call,) = calls(transcript)
    return call


def ended(pid):
    """Within two seconds it is gone, or dead and not yet waited for by whoever inherited it."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_what_was_said_is_the_whole_transcript(stage):
    ended = stage.play({"say": "Grüße"})
    assert (ended.returncode, ended.stdout) == (0, "Grüße\n")
    transcript = stage.transcript()
    assert transcript.events == (Prompt("Do it.", 1, At("s1.jsonl", 3)), Said("Grüße", 1, At("s1.jsonl", 4)))
    assert (transcript.agent, transcript.version, transcript.sessions) == ("scripted", "1", ("s1",))
    assert (transcript.models, transcript.end, transcript.truncated) == (("big-1",), EndReason.DONE, False)
    assert transcript.usage == Usage(3, 2, cost_usd=0, tool_calls=0, agents=0)
    assert (transcript.unknown, transcript.children) == ({}, {})


def test_no_steps_are_an_empty_transcript(stage):
    stage.play()
    assert stage.transcript().empty


def test_read_gives_the_raw_text_and_the_canonical_path(stage):
    (stage.box.work / "src").mkdir()
    (stage.box.work / "src/a b.txt").write_text("one\r\nzwö\n", newline="")
    stage.play({"read": f"{stage.box.work}/src/../src/a b.txt"})
    call = only(stage.transcript())
    at = At("s1.jsonl", 5)
    assert (call.kind, call.canonical, call.by, call.at) == ("read", {"path": "src/a b.txt"}, "main", At("s1.jsonl", 4))
    assert call.args == {"path": f"{stage.box.work}/src/../src/a b.txt"}
    assert call.result == Result("t1.1", True, "one\r\nzwö\n", 10, 1, at)
    assert call.result in stage.transcript().events


def test_a_path_outside_the_sandbox_stays_absolute(stage):
    (stage.box.home / "x.txt").write_text("x")
    stage.play({"read": "~/x.txt"}, {"read": "../home/x.txt"}, {"read": "/nowhere/at/all"})
    seen = calls(stage.transcript())
    home = stage.box.home_inside
    assert [c.canonical["path"] for c in seen] == [f"{home}/x.txt", f"{home}/x.txt", "/nowhere/at/all"]
    assert [(c.ok, c.result.text) for c in seen] == [
        (True, "x"), (True, "x"), (False, "No such file or directory: /nowhere/at/all")
    ]  # fmt: skip


def test_a_large_file_is_cut_and_says_so(stage):
    (stage.box.work / "log").write_bytes(b"x" * 400_000)
    stage.play({"read": "log"})
    text = only(stage.transcript()).result.text
    assert text.endswith("\n[cut after 262144 bytes]")
    assert text.count("x") == 262_144


def test_bytes_that_are_not_text_are_replaced(stage):
    (stage.box.work / "bin").write_bytes(b"a\xff\x00b")
    stage.play({"read": "bin"})
    assert only(stage.transcript()).result.text == "a�\x00b"


def test_search_finds_lines_and_leaves_git_out(stage):
    for name, text in (("b/x.py", "def f():\n  g()\n"), ("a.py", "g()\n"), (".git/config", "g()\n")):
        (stage.box.work / name).parent.mkdir(exist_ok=True)
        (stage.box.work / name).write_text(text)
    stage.play({"search": r"g\("}, {"search": {"pattern": "def", "path": "b/x.py"}}, {"search": "("})
    seen = calls(stage.transcript())
    assert [c.kind for c in seen] == ["search"] * 3
    assert [c.canonical for c in seen][:2] == [{"pattern": r"g\(", "path": "."}, {"pattern": "def", "path": "b/x.py"}]
    assert [c.result.text for c in seen][:2] == ["a.py:1:g()\nb/x.py:2:  g()", "b/x.py:1:def f():"]
    assert not seen[2].ok
    assert "not a regular expression" in seen[2].result.text


def test_edit_replaces_the_exact_text_once_and_fails_when_it_is_absent(stage):
    (stage.box.work / "a").write_bytes(b"x\r\nx\r\n")
    stage.play({"edit": {"path": "a", "old": "x", "new": "y"}}, {"edit": {"path": "a", "old": "z", "new": ""}})
    assert (stage.box.work / "a").read_bytes() == b"y\r\nx\r\n"
    seen = calls(stage.transcript())
    assert [(c.kind, c.ok) for c in seen] == [("edit", True), ("edit", False)]
    assert seen[0].canonical == {"path": "a", "old": "x", "new": "y"}
    assert seen[1].result.text == "the old text is not in a"


def test_write_makes_folders(stage):
    stage.play({"write": {"path": "n/o/p.txt", "content": "é"}})
    assert (stage.box.work / "n/o/p.txt").read_text("utf-8") == "é"
    assert only(stage.transcript()).canonical == {"path": "n/o/p.txt", "content": "é"}


def test_run_has_the_real_output_and_exit_code(stage):
    stage.play({"run": "echo out; echo err >&2; pwd; exit 3"}, {"run": "kill -9 $$"})
    seen = calls(stage.transcript())
    assert [(c.kind, c.ok, c.result.exit_code) for c in seen] == [("shell", False, 3), ("shell", False, 137)]
    assert seen[0].result.text == f"out\nerr\n{stage.box.work}\n"
    assert seen[0].canonical == {"command": "echo out; echo err >&2; pwd; exit 3"}


def test_a_command_over_its_time_is_ended_with_its_group(stage):
    stage.play({"run": {"command": "sleep 60 & echo $! > pid; wait", "timeout_s": 0.3}})
    result = only(stage.transcript()).result
    assert (result.ok, result.exit_code, result.text) == (False, 124, "\n[timed out after 0.3 s]")
    assert ended(int((stage.box.work / "pid").read_text()))


def test_a_daemon_that_a_command_leaves_does_not_block_it(stage):
    start = time.monotonic()
    stage.play({"run": "sleep 5 & echo $!"})
    result = only(stage.transcript()).result
    os.kill(int(result.text), signal.SIGKILL)
    assert result.ok
    assert time.monotonic() - start < 4


def test_a_command_sees_nothing_but_the_boxs_environment(stage):
    stage.play({"run": "env | cut -d= -f1 | sort | tr '\\n' ' '"})
    names = set(only(stage.transcript()).result.text.split()) - {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    assert names == {
        "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    }  # fmt: skip


def test_skill_and_own_tools_are_calls(stage):
    stage.play(
        {"skill": "tidy"}, {"call": {"tool": "fetch", "args": {"n": [1.5, None, True]}, "result": "r", "ok": False}}
    )
    skill, own = calls(stage.transcript())
    assert (skill.kind, skill.canonical, skill.ok) == ("skill", {"skill": "tidy"}, True)
    assert (own.tool, own.kind, own.args, own.canonical) == ("fetch", "", {"n": [1.5, None, True]}, {})
    assert own.result == Result("t1.2", False, "r", 1, 1, At("s1.jsonl", 7))


def test_a_foreground_sub_agent_has_its_own_log_and_three_models(stage):
    (stage.box.work / "a").write_text("hello")
    spawn = {"agent": "rev", "task": "Look.", "model": "asked", "resolves": "got", "serves": "ran", "reports": "Fine."}
    stage.play({"spawn": {**spawn, "steps": [{"read": "a"}]}}, {"say": "Done."})
    transcript = stage.transcript()
    call = only(transcript)
    assert call.spawn == Spawn("rev", "Look.", "asked", "got", ("ran",), "s1/child-1")
    assert (call.canonical, call.result.text) == ({"agent": "rev", "task": "Look.", "model": "asked"}, "Fine.")
    child = transcript.children["s1/child-1"]
    file = "s1/child-1.jsonl"
    read = child.events[1]
    assert child.events[0] == Prompt("Look.", 1, At(file, 2))
    assert (read.by, read.canonical, read.result.text, read.at) == ("rev", {"path": "a"}, "hello", At(file, 3))
    assert child.events[-1] == Said("Fine.", 1, At(file, 5))
    assert (child.models, child.end, transcript.models) == (("ran",), EndReason.DONE, ("big-1",))
    assert (transcript.usage.tool_calls, transcript.usage.agents, child.usage.tool_calls) == (2, 1, 1)
    assert transcript.usage.input_tokens > child.usage.input_tokens > 0


def test_a_sub_agent_without_a_model_requests_none_and_runs_on_its_parents(stage):
    stage.play({"spawn": {"task": "t"}})
    call = only(stage.transcript())
    assert call.args == {"task": "t"}
    assert call.spawn == Spawn("", "t", None, "big-1", ("big-1",), "s1/child-1")


def test_a_failing_spawn_leaves_no_child(stage):
    stage.play({"spawn": {"task": "t", "model": "m", "error": "no such model"}})
    call = only(stage.transcript())
    assert (call.ok, call.result.text, call.spawn) == (False, "no such model", Spawn("", "t", "m"))
    assert (stage.transcript().children, stage.transcript().usage.agents) == ({}, 0)


def test_a_background_sub_agent_reports_after_the_next_step(stage):
    stage.play({"spawn": {"task": "t", "background": True, "reports": "R"}}, {"say": "Waiting."}, {"say": "R it is."})
    shown = [getattr(e, "text", getattr(e, "tool", "")) for e in stage.transcript().events]
    assert shown == ["Do it.", "spawn", "launched", "Waiting.", "R", "R it is."]
    report = stage.transcript().events[4]
    assert (report.synthetic, report.turn) == (True, 1)
    assert not stage.transcript().truncated


def test_a_background_sub_agent_that_is_the_last_step_still_reports(stage):
    stage.play({"spawn": {"task": "t", "background": True, "reports": "R"}})
    assert stage.transcript().events[-1].text == "R"


def test_sub_agents_of_sub_agents_nest(stage):
    inner = {"spawn": {"task": "inner", "agent": "b", "steps": [{"run": "true"}], "reports": "i"}}
    stage.play(
        {"spawn": {"task": "outer", "agent": "a", "steps": [inner], "reports": "o"}}, {"spawn": {"task": "last"}}
    )
    transcript = stage.transcript()
    assert list(transcript.children) == ["s1/child-1", "s1/child-3"]
    outer = transcript.children["s1/child-1"]
    assert list(outer.children) == ["s1/child-2"]
    assert [c.by for c in calls(outer.children["s1/child-2"])] == ["b"]
    assert [c.by for c in calls(outer)] == ["a"]
    assert (transcript.usage.agents, transcript.usage.tool_calls) == (3, 4)


def test_a_sub_agent_that_breaks_is_a_failing_result_and_the_agent_goes_on(stage):
    ended = stage.play({"spawn": {"task": "t", "steps": [{"fail": {"error": "boom"}}]}}, {"say": "It broke."})
    transcript = stage.transcript()
    assert (ended.returncode, only(transcript).ok, only(transcript).result.text) == (0, False, "boom")
    assert transcript.children["s1/child-1"].end is EndReason.ERROR
    assert (transcript.end, transcript.events[-1].text) == (EndReason.DONE, "It broke.")


@pytest.mark.parametrize(
    ("fail", "code", "kind"),
    [
        ({"error": "API Error: 429 slow down"}, 1, "rate-limit"),
        ({"error": "x", "kind": "auth", "exit": 0}, 0, "auth"),
        ({"error": "connection refused", "exit": 7}, 7, "network"),
        ({"error": "who knows", "exit": 7}, 7, ""),
        ({"exit": 9}, 9, ""),
    ],
)
def test_a_failure_is_told_in_the_log_whatever_the_exit_code(stage, fail, code, kind):
    ended = stage.play({"say": "a"}, {"fail": fail}, {"say": "never"})
    transcript = stage.transcript()
    assert (ended.returncode, transcript.end, transcript.error_kind) == (code, EndReason.ERROR, kind)
    assert transcript.error_message == fail.get("error", "")
    assert [e.text for e in transcript.events] == ["Do it.", "a"]


def test_a_cut_log_is_truncated_and_keeps_what_was_whole(stage):
    stage.play({"say": "a"}, {"fail": {"truncate": True, "exit": 0}})
    transcript = stage.transcript()
    assert not stage.files()["s1.jsonl"].endswith(b"\n")
    assert (transcript.truncated, transcript.end) == (True, EndReason.UNKNOWN)
    assert transcript.events[-1].text == "a"


def test_a_hanging_agent_that_is_ended_says_that_it_was_cut(stage):
    launch = stage.launch({"say": "a"}, {"spawn": {"task": "t", "steps": [{"fail": {"hang": True}}]}})
    running = subprocess.Popen(launch.argv, env=launch.env, cwd=stage.box.work)
    child = stage.box.home / ".local/share/agent/sessions/s1/child-1.jsonl"
    while not child.exists() or child.read_bytes().count(b"\n") < 2:
        time.sleep(0.01)
    running.terminate()
    assert running.wait(5) == 143
    transcript = stage.transcript()
    assert (transcript.end, transcript.children["s1/child-1"].end) == (EndReason.CUT, EndReason.CUT)
    assert only(transcript).result is None
    assert not transcript.truncated


def test_sigterm_ends_the_running_command_too(stage):
    launch = stage.launch({"run": "echo $$ > pid; exec sleep 60"})
    running = subprocess.Popen(launch.argv, env=launch.env, cwd=stage.box.work)
    pid = stage.box.work / "pid"
    while not pid.exists() or not pid.read_text():
        time.sleep(0.01)
    running.terminate()
    assert running.wait(5) == 143
    assert ended(int(pid.read_text()))


def test_sleep_leaves_no_trace(stage):
    start = time.monotonic()
    stage.play({"sleep": 0.2})
    assert time.monotonic() - start >= 0.2
    assert stage.transcript().empty


def test_a_resumed_turn_goes_on_in_the_same_file(stage):
    stage.play({"run": "true"})
    stage.play({"say": "b"}, {"spawn": {"task": "t"}}, turn=RESUMED)
    assert list(stage.files()) == ["s1.jsonl", "s1/child-1.jsonl"]
    transcript = stage.transcript()
    assert transcript.sessions == ("s1",)
    assert [(type(e).__name__, e.turn) for e in transcript.events] == [
        ("Prompt", 1), ("Call", 1), ("Result", 1), ("Prompt", 2), ("Said", 2), ("Call", 2), ("Result", 2)
    ]  # fmt: skip
    assert transcript.children["s1/child-1"].events[0].turn == 2
    assert len({c.id for c in calls(transcript)}) == 2


def test_a_fresh_turn_has_a_session_of_its_own(stage):
    stage.play({"say": "a"})
    stage.play({"say": "b"}, turn=FRESH)
    transcript = stage.transcript()
    assert transcript.sessions == ("s1", "s2")
    assert [(e.text, e.turn, e.at.file) for e in transcript.events] == [
        ("Do it.", 1, "s1.jsonl"), ("a", 1, "s1.jsonl"), ("Go on.", 2, "s2.jsonl"), ("b", 2, "s2.jsonl")
    ]  # fmt: skip


def test_a_torn_log_is_repaired_when_the_session_is_resumed(stage):
    stage.play({"say": "a"}, {"fail": {"truncate": True}})
    stage.play({"say": "b"}, turn=RESUMED)
    assert [e.text for e in stage.transcript().events] == ["Do it.", "a", "Go on.", "b"]
    assert not stage.transcript().truncated


def test_resuming_what_is_not_there_ends_with_one(stage):
    ended = stage.play(turn=RESUMED)
    assert (ended.returncode, ended.stderr, stage.files()) == (1, "no session s1\n", {})


def test_an_error_of_the_first_turn_is_not_forgotten_in_the_second(stage):
    stage.play({"fail": {"error": "rate limit", "exit": 0}})
    stage.play({"say": "fine"}, turn=RESUMED)
    assert (stage.transcript().end, stage.transcript().error_kind) == (EndReason.ERROR, "rate-limit")


def test_installed_files_are_listed_as_loaded(stage):
    (stage.box.home / "team/sub").mkdir(parents=True)
    (stage.box.home / "team/sub/a.md").write_text("x")
    stage.play()
    assert stage.transcript().loaded == ("~/team/sub/a.md",)


def test_nothing_inside_says_what_it_is(stage):
    launch = stage.launch()
    told = " ".join((*launch.argv, *launch.env, *launch.env.values())).replace(str(stage.box.home.parent), "")
    assert "eval" not in told
    assert launch.argv[1:3] == ("-I", "-S")
    inside = [str(p.relative_to(stage.box.home)) for p in stage.box.home.rglob("*")]
    assert not [name for name in inside if "eval" in name]
    assert b"evalrepo" not in (stage.box.home / ".cache/agent/main.pyc").read_bytes()


def test_without_a_script_there_is_nothing_to_launch(stage):
    with pytest.raises(HarnessError, match="no script"):
        scripted.launch(AGENT, AGENT.tiers["any"], stage.box, Turn(1, "p"), stage.world)


def test_a_link_that_the_agent_planted_is_not_followed(stage, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (stage.box.home / ".cache").symlink_to(outside)
    with pytest.raises(HarnessError, match=r"cannot write ~/\.cache/agent/main\.pyc"):
        stage.launch()
    assert list(outside.iterdir()) == []


def test_tool_calls_are_counted_while_the_log_grows(stage):
    launch = stage.launch({"run": "true"}, {"spawn": {"task": "t", "steps": [{"run": "true"}, {"run": "true"}]}})
    count = scripted.counter(AGENT, launch.watch)
    assert count() == 0
    stage.start(launch)
    assert (count(), count()) == (4, 4)
    stage.play({"run": "true"}, turn=RESUMED)
    assert count() == 5
    with (stage.box.home / ".local/share/agent/sessions/s1.jsonl").open("ab") as log:
        log.write(b'{"type":"tool_call","id":"x"')
        log.flush()
        assert count() == 5
        log.write(b'}\n{"type":"assistant","text":"\\"tool_call\\""}\n{"tool_call"\n')
        log.flush()
        assert count() == 6


def test_the_player_says_its_version(stage):
    said = subprocess.check_output([sys.executable, "-I", "-S", str(PLAYER), "--version"], text=True)
    assert said.strip() == scripted.version(AGENT, stage.world)


def test_the_player_writes_what_json_reads(stage):
    args = {"s": 'q"\\\n\x1f é 😀', "n": [0, -1.5, 1e300, 10**20], "b": [True, False, None], "d": {}, "l": []}
    stage.play({"call": {"tool": "t", "args": args, "result": ""}})
    rows = [json.loads(line) for line in stage.files()["s1.jsonl"].splitlines()]
    assert next(r["args"] for r in rows if r["type"] == "tool_call") == args


def test_the_player_knows_every_step_kind():
    source = PLAYER.read_text()
    for kind in set(STEPS) - {"when"}:
        assert f'"{kind}": lambda' in source or f"def do_{kind}(" in source, kind
