"""The real Claude Code against our model server: what it does, what we read of it, and how its failures are called."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import stage
from stage import Seen

from evalrepo.records.transcript import Call, EndReason, Event, Prompt, Said, Transcript
from tests.telling import unusual

SONNET, HAIKU = "claude-sonnet-4-5", "claude-haiku-5-5"
TASK = "Task 1: look after this project."
README = "1\thello world\n2\tsecond line\n3\t"
USUAL = Transcript("claude", "2.1.332", models=(SONNET,), end=EndReason.DONE)
WORDS = {"edit": "has been updated successfully", "write": "File created successfully", "spawn": "R"}


def play(tmp_path: Path, *turns: list[Mapping[str, Any]], **more: Any) -> Seen:
    seen = stage.play(tmp_path, "claude", turns, **more)
    assert seen.rep.isolation == "bwrap"
    return seen


def transcript(seen: Seen) -> Transcript:
    assert (seen.rep.verdict, seen.rep.message) == ("PASS", "")
    assert seen.transcript is not None
    return seen.transcript


def told(read: Transcript, indent: str = "") -> Iterator[str]:
    """All of a transcript but ids, places and the CLI's own longer sentences."""
    for name, value in unusual(read, USUAL, "sessions").items():
        own = tuple(v for v in value if not _bundled(v)) if name == "loaded" else value
        if own or name != "loaded":
            yield f"{indent}{name}: {own}"
    used = read.usage
    yield f"{indent}{used.input_tokens}+{used.output_tokens} tokens, {used.tool_calls} calls, {used.agents} agents"
    order = {call.id: n for n, call in enumerate((e for e in read.events if isinstance(e, Call)), 1)}
    kinds = {call.id: call.kind for call in read.events if isinstance(call, Call)}
    for event in read.events:
        yield f"{indent}{event.turn} {_event(event, order, kinds)}"
    for child in read.children.values():
        yield f"{indent}child:"
        yield from told(child, indent + "  ")


def _bundled(line: str) -> bool:
    """A skill that the CLI brings itself."""
    return line.startswith("skill ") and not line.endswith(("greet", "plug:ps"))


def _event(event: Event, order: dict[str, int], kinds: dict[str, str]) -> str:
    if isinstance(event, Prompt):
        return f"{'told' if event.synthetic else 'prompt'} {event.text!r}"
    if isinstance(event, Said):
        return f"said {event.text!r}"
    if isinstance(event, Call):
        assert event.result is None or event.result.call == event.id
        spawn = event.spawn
        models = f" -> {spawn.requested} / {spawn.resolved} / {','.join(spawn.served)}" if spawn else ""
        return f"{event.by} calls {order[event.id]} {event.tool} ({event.kind}) {dict(event.canonical)}{models}"
    words = WORDS.get(kinds[event.call], "")
    found = re.search(rf"{words}\d?(?= has|\s|<|$)" if words == "R" else words, event.text) if words else None
    assert event.size == len(event.text.encode())
    return f"result {order[event.call]} {'ok' if event.ok else 'not ok'} {event.exit_code} {found[0] if found else event.text!r}"


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


def test_a_plain_answer(tmp_path: Path):
    seen = play(tmp_path, [{"say": "All is well."}])
    assert list(told(transcript(seen))) == [
        "100+20 tokens, 0 calls, 0 agents",
        f"1 prompt {TASK!r}",
        "1 said 'All is well.'",
    ]
    assert [name for name in seen.native if not re.fullmatch(r"[0-9a-f-]{36}\.jsonl", name)] == ["turn-1.out"]
    assert seen.rep.models == (SONNET,)


TOOLS = f"""
1000+200 tokens, 9 calls, 0 agents
1 prompt {TASK!r}
1 said 'A look.'
1 main calls 1 Read (read) {{'path': 'README.md'}}
1 result 1 ok None {README!r}
1 main calls 2 Bash (shell) {{'command': 'cat /srv/project/src/app.py'}}
1 result 2 ok 0 'def add(a, b):\\n    return a - b'
1 main calls 3 Edit (edit) {{'path': 'src/app.py', 'old': 'a - b', 'new': 'a + b'}}
1 result 3 ok None 'has been updated successfully'
1 main calls 4 Bash (shell) {{'command': 'cat /srv/project/new.md'}}
1 result 4 not ok 1 'Exit code 1\\ncat: /srv/project/new.md: No such file or directory'
1 main calls 5 Write (write) {{'path': 'new.md', 'content': 'für\\n'}}
1 result 5 ok None 'File created successfully'
1 main calls 6 Bash (shell) {{'command': 'echo out; echo err >&2; exit 3'}}
1 result 6 not ok 3 'Exit code 3\\nout\\nerr'
1 main calls 7 Bash (shell) {{'command': 'grep -rnE --exclude-dir=.git -e hello -- /srv/project || [ $? -eq 1 ]'}}
1 result 7 ok 0 '/srv/project/README.md:1:hello world'
1 main calls 8 Read (read) {{'path': 'missing.md'}}
1 result 8 not ok None 'File does not exist. Note: your current working directory is /srv/project.'
1 main calls 9 Nope () {{}}
1 result 9 not ok None '<tool_use_error>Error: No such tool available: Nope</tool_use_error>'
1 said 'Done here.'
"""


def test_reading_editing_and_failing_commands(tmp_path: Path):
    steps = [
        {"say": "A look."}, {"read": "README.md"}, {"edit": {"path": "src/app.py", "old": "a - b", "new": "a + b"}},
        {"write": {"path": "new.md", "content": "für\n"}}, {"run": "echo out; echo err >&2; exit 3"}, {"search": "hello"},
        {"read": "missing.md"}, {"call": {"tool": "Nope", "args": {"a": 1}}}, {"say": "Done here."},
    ]  # fmt: skip
    seen = play(tmp_path, steps)
    assert list(told(transcript(seen))) == lines(TOOLS)
    assert seen.work["src/app.py"] == b"def add(a, b):\n    return a + b\n"
    assert seen.work["new.md"] == "für\n".encode()
    assert set(seen.work) == {"README.md", "src/app.py", ".gitignore", "new.md"}


SPAWNS = f"""
1000+200 tokens, 6 calls, 3 agents
1 prompt {TASK!r}
1 main calls 1 Agent (spawn) {{'agent': 'general-purpose', 'task': 'Read the readme.'}} -> None / {SONNET} / {SONNET}
1 result 1 ok None 'R1'
1 main calls 2 Agent (spawn) {{'agent': 'general-purpose', 'task': 'Look at the app.', 'model': 'haiku'}} -> haiku / {HAIKU} / {HAIKU}
1 result 2 ok None 'R2'
1 main calls 3 Agent (spawn) {{'agent': 'rev', 'task': 'Never.'}} -> None / None / 
1 result 3 not ok None 'ERROR'
1 said 'Both are done.'
child:
  200+40 tokens, 1 calls, 0 agents
  1 prompt 'Read the readme.'
  1 general-purpose calls 1 Read (read) {{'path': 'README.md'}}
  1 result 1 ok None {README!r}
  1 said 'R1'
child:
  models: ('{HAIKU}',)
  400+80 tokens, 2 calls, 1 agents
  1 prompt 'Look at the app.'
  1 general-purpose calls 1 Agent (spawn) {{'agent': 'general-purpose', 'task': 'Look deeper.'}} -> None / {HAIKU} / {HAIKU}
  1 result 1 ok None 'R3'
  1 said 'R2'
  child:
    models: ('{HAIKU}',)
    200+40 tokens, 1 calls, 0 agents
    1 prompt 'Look deeper.'
    1 general-purpose calls 1 Bash (shell) {{'command': 'exit 4'}}
    1 result 1 not ok 4 'Exit code 4'
    1 said 'R3'
"""  # noqa: W291 - a model that nobody resolved


def test_sub_agents_with_and_without_a_model_nested_and_refused(tmp_path: Path):
    deeper = {"spawn": {"task": "Look deeper.", "steps": [{"run": "exit 4"}], "reports": "R3"}}
    steps = [
        {"spawn": {"task": "Read the readme.", "steps": [{"read": "README.md"}], "reports": "R1"}},
        {"spawn": {"task": "Look at the app.", "model": "haiku", "steps": [deeper], "reports": "R2"}},
        {"spawn": {"task": "Never.", "agent": "rev", "error": "no"}},
        {"say": "Both are done."},
    ]
    found = list(told(transcript(play(tmp_path, steps))))
    refused = next(n for n, line in enumerate(found) if line.startswith("1 result 3"))
    assert "InputValidationError" in found[refused]
    assert [*found[:refused], "1 result 3 not ok None 'ERROR'", *found[refused + 1 :]] == lines(SPAWNS)


def test_two_sub_agents_in_parallel_and_a_report_that_comes_late(tmp_path: Path):
    steps = [
        {"spawn": {"task": "Read the readme slowly.", "background": True, "model": "haiku", "steps": [{"sleep": 1.5}, {"read": "README.md"}], "reports": "R1"}},
        {"spawn": {"task": "Look at the app.", "steps": [{"read": "src/app.py"}], "reports": "R2"}},
        {"say": "Both are done."},
    ]  # fmt: skip
    read = transcript(play(tmp_path, steps))
    first, second = (event for event in read.events if isinstance(event, Call))
    assert [(c.spawn.requested, c.spawn.resolved, c.spawn.served) for c in (first, second)] == [
        ("haiku", HAIKU, (HAIKU,)),
        (None, SONNET, (SONNET,)),
    ]
    order = [e.id if isinstance(e, Call) else e.text if isinstance(e, Said | Prompt) else e.call for e in read.events]
    waiting = "Waiting for the sub-agents to report."
    assert order == [TASK, first.id, second.id, second.id, waiting, first.id, "Both are done."]
    assert first.result is not None
    assert "<result>R1</result>" in first.result.text
    assert (first.ok, second.ok, read.truncated) == (True, True, False)
    assert (read.usage.agents, read.usage.input_tokens, read.usage.output_tokens) == (2, 700, 140)
    assert [child.models for child in read.children.values()] == [(HAIKU,), (SONNET,)]


TURNS = f"""
400+80 tokens, 1 calls, 0 agents
1 prompt 'First thing.'
1 said 'one'
2 prompt '--second /thing'
2 main calls 1 Read (read) {{'path': 'README.md'}}
2 result 1 ok None {README!r}
2 said 'two'
3 prompt 'Third thing.'
3 said 'three'
"""


def test_a_session_that_is_resumed_and_a_fresh_one(tmp_path: Path):
    prompts = ["First thing.", "--second /thing", {"prompt": "Third thing.", "session": "fresh"}]
    seen = play(
        tmp_path, [{"say": "one"}], [{"read": "README.md"}, {"say": "two"}], [{"say": "three"}], prompts=prompts
    )
    read = transcript(seen)
    assert list(told(read)) == lines(TURNS)
    assert len(read.sessions) == 2
    assert seen.rep.usage is not None
    assert read.usage.cost_usd == pytest.approx(0.0024)
    assert seen.rep.usage.cost_usd is None


STUBBORN = (
    "trap '' TERM; touch AgentsReport.md; (trap '' TERM; exec python3 -c 'import time; time.sleep(60)'); echo over"
)


@pytest.mark.parametrize("session", ["fresh", "resume"])
def test_a_turn_that_is_stopped_in_the_middle_and_a_session_that_goes_on(tmp_path: Path, session: str):
    prompts = [
        {"prompt": "Begin with it.", "stop_after": {"file": "AgentsReport.md"}},
        {"prompt": "Go on with it.", "session": session},
    ]
    began = time.monotonic()
    seen = play(
        tmp_path, [{"say": "I begin."}, {"run": STUBBORN}], [{"read": "README.md"}, {"say": "Done."}], prompts=prompts
    )
    assert time.monotonic() - began < 40
    read = transcript(seen)
    assert [e.text for e in read.events if isinstance(e, Prompt | Said)] == [
        "Begin with it.",
        "I begin.",
        "Go on with it.",
        "Done.",
    ]
    cut, done = (event for event in read.events if isinstance(event, Call))
    assert (cut.turn, cut.ok, done.turn, done.ok, read.end) == (1, False, 2, True, EndReason.DONE)
    assert len(read.sessions) == (2 if session == "fresh" else 1)


SUBJECT = {
    "greet/SKILL.md": "---\nname: greet\ndescription: how to greet\n---\nSay hello to $ARGUMENTS.\n",
    "rev.md": "---\nname: rev\ndescription: reviews\nmodel: haiku\n---\nYou review.\n",
    "settings.json": '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo Delegate everything."}]}]}}',
    "CLAUDE.md": "Be kind.\n",
    "plug/.claude-plugin/plugin.json": '{"name":"plug","version":"1.0.0"}',
    "plug/skills/ps/SKILL.md": "---\nname: ps\ndescription: plugin skill\n---\nP\n",
}
INSTALL = {
    "copy": {
        "greet": ".claude/skills/greet",
        "rev.md": ".claude/agents/rev.md",
        "CLAUDE.md": "CLAUDE.md",
        "plug": "plug",
    },
    "home": {"settings.json": "~/.claude/settings.json"},
    "plugin_dir": "plug",
    "prove": {"hook_context": "Delegate everything.", "skill": "plug:ps", "agent": "rev"},
}


def test_a_subject_is_there_and_the_log_proves_it(tmp_path: Path):
    steps = [
        {"skill": "plug:ps"},
        {"spawn": {"task": "Review it.", "agent": "rev", "reports": "R1"}},
        {"say": "Hello."},
    ]
    seen = play(tmp_path, steps, prompts=["/greet Bob and Eve"], subject=SUBJECT, install=INSTALL)
    read = transcript(seen)
    assert {line for line in read.loaded if not _bundled(line)} == {
        "hook SessionStart: Delegate everything.", "agent rev", "skill greet", "skill plug:ps", "instructions CLAUDE.md",
    }  # fmt: skip
    prompts = [
        (event.synthetic, event.text.split("\n")[-1] or event.text.split("\n")[-2])
        for event in read.events
        if isinstance(event, Prompt)
    ]
    assert prompts == [(False, "/greet Bob and Eve"), (True, "Say hello to Bob and Eve."), (True, "P")]
    spawn = next(e.spawn for e in read.events if isinstance(e, Call) and e.spawn)
    assert (spawn.agent, spawn.requested, spawn.resolved, spawn.served) == ("rev", None, HAIKU, (HAIKU,))


def test_a_subject_that_is_not_there_is_no_verdict(tmp_path: Path):
    install = {"copy": {"CLAUDE.md": "CLAUDE.md"}, "prove": {"skill": "plug:ps"}}
    seen = play(tmp_path, [{"say": "x"}], subject={"CLAUDE.md": "x\n"}, install=install)
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "not-loaded")


@pytest.mark.parametrize(
    ("fail", "kind", "words"),
    [
        ({"status": 401, "error": "invalid x-api-key"}, "auth", "put a valid key"),
        ({"status": 404, "error": "model: x"}, "agent", "the tier's `model`"),
        ({"status": 429, "error": "slow down"}, "rate-limit", "slow down"),
        ({"status": 500, "error": "boom"}, "network", "500 boom"),
        ({"status": 529, "error": "Overloaded"}, "rate-limit", "529 Overloaded"),
        ({"error": "prompt is too long: 250000 tokens > 200000 maximum"}, "limit", "Prompt is too long"),
        ({"truncate": True, "error": "half of"}, "truncated", "Connection to the API was lost"),
    ],
    ids=["401", "404", "429", "500", "529", "too-long", "cut"],
)
def test_a_model_that_breaks_is_an_error_of_its_kind(tmp_path: Path, fail: dict, kind: str, words: str):
    seen = play(tmp_path, [{"fail": fail}])
    assert (seen.rep.verdict, seen.rep.error, words in seen.rep.message) == ("ERROR", kind, True)
    assert seen.seconds < 30


def test_a_model_that_hangs_is_idle(tmp_path: Path):
    seen = play(tmp_path, [{"read": "README.md"}, {"fail": {"hang": True}}], limits={"idle_s": 4})
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "idle")


def test_a_conversation_that_is_too_long_for_the_model_is_compacted_and_goes_on(tmp_path: Path):
    long = {"error": "prompt is too long: 250000 tokens > 200000 maximum"}
    read = transcript(play(tmp_path, [{"read": "README.md"}, {"fail": long}]))
    assert [(e.synthetic, e.turn) for e in read.events if isinstance(e, Prompt)] == [(False, 1), (True, 1)]


def test_a_permission_that_is_denied_is_told(tmp_path: Path):
    steps = [{"run": "touch x"}, {"edit": {"path": "README.md", "old": "hello", "new": "x"}}]
    seen = play(tmp_path, steps, tier={"permission_mode": "default"})
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "permission")
    assert seen.transcript is not None
    assert seen.transcript.denied == ("Bash", "Edit")


@pytest.mark.parametrize(("name", "value"), [("max_turns", "1"), ("max_budget_usd", "0.0001")])
def test_a_limit_of_the_tier_is_an_error_that_names_it(tmp_path: Path, name: str, value: str):
    seen = play(tmp_path, [{"run": "true 1"}, {"run": "true 2"}], tier={name: value})
    assert (seen.rep.verdict, seen.rep.error, f"`{name}`" in seen.rep.message) == ("ERROR", "limit", True)


def test_an_unknown_command_is_not_loaded(tmp_path: Path):
    seen = play(tmp_path, [{"say": "What?"}], prompts=["/nosuch:cmd do it"])
    assert (seen.rep.verdict, seen.rep.error, "/nosuch:cmd" in seen.rep.message) == ("ERROR", "not-loaded", True)


def test_a_model_that_the_cli_does_not_know_is_named_as_it_served(tmp_path: Path):
    seen = play(tmp_path, [{"say": "Hello."}], model="no-such-model-7")
    assert transcript(seen).models == ("no-such-model-7",)


def test_a_missing_key_says_where_to_name_it(tmp_path: Path):
    seen = play(tmp_path, [{"say": "Hello."}], rehearse=False)
    assert (seen.rep.verdict, seen.rep.error, "`env: [ANTHROPIC_API_KEY]`" in seen.rep.message) == (
        "ERROR",
        "auth",
        True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_a_cli_that_somebody_ends_is_no_verdict(tmp_path: Path, number: signal.Signals):
    steps = [{"run": "touch started; trap '' TERM; python3 -c 'import time; time.sleep(60)'; echo over"}]
    seen = play(tmp_path, steps, meanwhile=stage.strike("time.sleep(60)", number, "--output-format=json"))
    assert (seen.rep.verdict, seen.transcript and seen.transcript.end) == ("ERROR", EndReason.CUT)
    assert seen.seconds < 40


@pytest.mark.skipif(os.geteuid() != 0, reason="is about root")
def test_root_without_a_boundary_is_refused_with_a_sentence(tmp_path: Path):
    seen = stage.play(tmp_path, "claude", [[{"say": "Hello."}]], isolated=False)
    assert (seen.rep.verdict, "as root" in seen.rep.message) == ("ERROR", True)
