"""The real pi against our model server: what it does, what its transcript says, and what it leaves."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import stage

from evalrepo.records.transcript import Call, EndReason, Prompt, Result, Transcript
from tests import telling
from tests.telling import usage

SONNET, HAIKU = "anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"
MODEL = "rehearsal/model"
PROMPT = ("prompt", "Task 1: look after this project.")
README = "hello world\nsecond line\n"
HOME = "/home/dev/.pi/agent"
SLEEP = "sleep 3.1459e2"
USUAL = Transcript("pi", models=("model",), end=EndReason.DONE, loaded=("tool subagent",))


def story(transcript: Transcript | None) -> list[Any]:
    """As `telling.story`, for calls that start several sub-agents: what was asked of each, and its story."""
    return telling.story(transcript, _call)


def _call(line: tuple[Any, ...], call: Call, transcript: Transcript) -> Iterator[tuple[Any, ...]]:
    yield line
    for spawn in call.spawns:
        facts = (spawn.agent, spawn.task, spawn.requested, spawn.resolved, spawn.served)
        yield (facts, story(transcript.children[spawn.child])) if spawn.child else (facts,)


def whole(seen: stage.Seen, **facts: Any) -> Transcript:
    """The transcript, after everything of it but its events was compared."""
    assert seen.transcript is not None, seen.rep.message
    assert telling.rest(seen.transcript, USUAL) == facts
    assert not [n for n in seen.work if n not in (*stage.FILES, "NOTES.md")]
    return seen.transcript


def test_it_answers_reads_edits_and_a_shell_fails(tmp_path: Path):
    steps = [
        {"say": "A look first."},
        {"read": "README.md"},
        {"edit": {"path": "src/app.py", "old": "a - b", "new": "a + b"}},
        {"write": {"path": "NOTES.md", "content": "mended\n"}},
        {"run": "echo out; echo err >&2; exit 3"},
        {"search": "second"},
        {"search": "nowhere"},
        {"say": "The tests fail."},
    ]
    seen = stage.play(tmp_path, "pi", [steps])
    transcript = whole(seen, usage=usage(7, 6))
    search = "grep -rnE --exclude-dir=.git -e {} -- . || [ $? -eq 1 ]".format
    assert story(transcript) == [
        PROMPT,
        ("said", "A look first."),
        ("call", "main", "read", "read", {"path": "README.md"}),
        ("result", True, None, README),
        ("call", "main", "edit", "edit", {"path": "src/app.py", "old": "a - b", "new": "a + b"}),
        ("result", True, None, "Successfully replaced 1 block(s) in src/app.py."),
        ("call", "main", "write", "write", {"path": "NOTES.md", "content": "mended\n"}),
        ("result", True, None, "Successfully wrote to NOTES.md"),
        ("call", "main", "bash", "shell", {"command": "echo out; echo err >&2; exit 3"}),
        ("result", False, 3, "out\nerr\n\n\nCommand exited with code 3"),
        ("call", "main", "bash", "shell", {"command": search("second")}),
        ("result", True, 0, "./README.md:2:second line\n"),
        ("call", "main", "bash", "shell", {"command": search("nowhere")}),
        ("result", True, 0, "(no output)"),
        ("said", "The tests fail."),
    ]
    assert (seen.rep.verdict, seen.rep.message, seen.rep.exit_code) == ("PASS", "", 0)
    assert seen.work["src/app.py"] == b"def add(a, b):\n    return a + b\n"
    assert {asked.protocol for asked in seen.asked} == {"chat"}


REVIEWER = f"---\nname: reviewer\ndescription: Reviews.\ntools: read\nmodel: {HAIKU}\n---\nYou review.\n"
TEAM = {"install": {"copy": {"reviewer.md": "~/.pi/agent/agents/reviewer.md"}}, "subject": {"reviewer.md": REVIEWER}}
BUNDLED = {"extension": "bundled:subagent"}


def test_a_sub_agent_is_a_child_with_the_models_that_were_asked_for_resolved_and_served(tmp_path: Path):
    steps = [
        {"spawn": {"task": "Read README.md.", "steps": [{"read": "README.md"}], "reports": "A greeting."}},
        {"spawn": {"task": "Review it.", "agent": "reviewer", "model": "big", "serves": "haiku-x", "reports": "Fine."}},
        {"spawn": {"task": "Do not even start.", "error": "no such agent"}},
        {"say": "Done."},
    ]
    transcript = whole(stage.play(tmp_path, "pi", [steps], **TEAM), usage=usage(7, 4, 2, cost=7 * 0.0006 - 0.0004))
    unknown = 'Agent failed: Error: Unknown agent: "no-such-agent". Available agents: "general", "reviewer".'
    assert story(transcript) == [
        PROMPT,
        ("call", "main", "subagent", "spawn", {"agent": "general", "task": "Read README.md."}),
        (
            ("general", "Read README.md.", None, MODEL, ("model",)),
            [
                ("prompt", "Task: Read README.md."),
                ("call", "general", "read", "read", {"path": "README.md"}),
                ("result", True, None, README),
                ("said", "A greeting."),
            ],
        ),
        ("result", True, None, "A greeting."),
        ("call", "main", "subagent", "spawn", {"agent": "reviewer", "task": "Review it.", "model": "big"}),
        (
            ("reviewer", "Review it.", "big", HAIKU, ("haiku-x",)),
            [("prompt", "Task: Review it."), ("said", "Fine.")],
        ),
        ("result", True, None, "Fine."),
        ("call", "main", "subagent", "spawn", {"agent": "no-such-agent", "task": "Do not even start."}),
        (("no-such-agent", "Do not even start.", None, None, ()),),
        ("result", False, None, unknown),
        ("said", "Done."),
    ]


def test_two_sub_agents_that_start_together_are_one_call_and_two_spawns(tmp_path: Path):
    tasks = ("Read README.md.", "Look at src/app.py.")
    steps = [
        {"spawn": {"task": tasks[0], "background": True, "steps": [{"read": "README.md"}], "reports": "A greeting."}},
        {"spawn": {"task": tasks[1], "model": "big", "reports": "A sum."}},
        {"say": "Both are back."},
    ]
    both = [{"id": "two", "axis": "A", "spawns": {"exactly": 2}}, {"id": "one", "axis": "B", "calls": {"exactly": 1, "tool": "subagent"}},
            {"id": "models", "axis": "C", "spawn_model": {"any": {"requested": {"const": "big"}}}}]  # fmt: skip
    seen = stage.play(tmp_path, "pi", [steps], checks=both, tier=BUNDLED)
    transcript = whole(seen, usage=usage(5, 2, 2))
    report = (
        "Parallel: 2/2 succeeded\n\n### [general] completed\n\nA greeting.\n\n---\n\n### [general] completed\n\nA sum."
    )
    assert story(transcript) == [
        PROMPT,
        ("call", "main", "subagent", "spawn", {}),
        (
            ("general", tasks[0], None, MODEL, ("model",)),
            [
                ("prompt", f"Task: {tasks[0]}"),
                ("call", "general", "read", "read", {"path": "README.md"}),
                ("result", True, None, README),
                ("said", "A greeting."),
            ],
        ),
        (
            ("general", tasks[1], "big", MODEL, ("model",)),
            [("prompt", f"Task: {tasks[1]}"), ("said", "A sum.")],
        ),
        ("result", True, None, report),
        ("said", "Both are back."),
    ]
    assert (seen.rep.verdict, len(seen.rep.spawns)) == ("PASS", 2)


def test_anthropics_models_are_asked_in_their_own_protocol(tmp_path: Path):
    seen = stage.play(tmp_path, "pi", [[{"read": "README.md"}, {"say": "Hello."}]], model=SONNET)
    transcript = whole(seen, models=("claude-sonnet-4-5",), usage=usage(2, 1))
    assert story(transcript) == [
        PROMPT,
        ("call", "main", "read", "read", {"path": "README.md"}),
        ("result", True, None, README),
        ("said", "Hello."),
    ]
    assert {(asked.protocol, asked.model) for asked in seen.asked} == {("messages", "claude-sonnet-4-5")}


def test_the_second_turn_goes_on_with_the_session_and_a_fresh_one_knows_nothing_of_it(tmp_path: Path):
    prompts = [
        {"prompt": "Say one."},
        {"prompt": "@README.md -- say two.", "session": "resume"},
        {"prompt": "Say three.", "session": "fresh"},
    ]
    seen = stage.play(tmp_path, "pi", [[{"say": "One."}], [{"say": "Two."}], [{"say": "Three."}]], prompts=prompts)
    transcript = whole(seen, usage=usage(3, 0))
    assert [(event.turn, *line) for event, line in zip(transcript.events, story(transcript), strict=True)] == [
        (1, "prompt", "Say one."),
        (1, "said", "One."),
        (2, "prompt", "@README.md -- say two."),
        (2, "said", "Two."),
        (3, "prompt", "Say three."),
        (3, "said", "Three."),
    ]
    assert len(transcript.sessions) == 2
    assert len({event.at.file for event in transcript.events[:4]}) == 1
    assert seen.rep.verdict == "PASS"


def test_a_turn_that_is_stopped_in_the_middle_leaves_nothing_and_a_fresh_session_goes_on(tmp_path: Path):
    steps = [{"write": {"path": "NOTES.md", "content": "half\n"}}, {"run": f"trap '' TERM; {SLEEP}"}]
    prompts = [{"prompt": "Begin.", "stop_after": {"tool_calls": 2}}, {"prompt": "Go on.", "session": "fresh"}]
    seen = stage.play(tmp_path, "pi", [steps, [{"read": "NOTES.md"}, {"say": "It goes on."}]], prompts=prompts)
    transcript = seen.transcript
    assert transcript is not None
    assert (seen.rep.verdict, seen.rep.message) == ("PASS", "")
    assert story(transcript)[:4] == [
        ("prompt", "Begin."),
        ("call", "main", "write", "write", {"path": "NOTES.md", "content": "half\n"}),
        ("result", True, None, "Successfully wrote to NOTES.md"),
        ("call", "main", "bash", "shell", {"command": steps[1]["run"]}),
    ]
    assert story(transcript)[-4:] == [
        ("prompt", "Go on."),
        ("call", "main", "read", "read", {"path": "NOTES.md"}),
        ("result", True, None, "half\n"),
        ("said", "It goes on."),
    ]
    assert (transcript.end, transcript.truncated) == ("done", False)


EXTENSION = """export default function (pi) {
  pi.on("before_agent_start", () => ({ message: { customType: "team", content: "MARK-HOOK", display: false } }))
}
"""
SKILL = "---\nname: greet\ndescription: Greets. MARK-SKILL\n---\nSay hello.\n"


@pytest.mark.parametrize("place", ["~/.pi/agent", ".pi"])
def test_exactly_what_the_subject_brings_is_loaded_and_proven(tmp_path: Path, place: str):
    install = {
        "copy": {
            "hook.ts": f"{place}/extensions/hook.ts",
            "SKILL.md": f"{place}/skills/greet/SKILL.md",
            "AGENTS.md": "AGENTS.md",
        },
        "extension": f"{place}/extensions/hook.ts",
        "skill": f"{place}/skills/greet",
        "prove": {"hook_context": "MARK-HOOK", "skill": "greet", "instructions": "AGENTS.md"},
    }
    where = f"{HOME}/skills" if place.startswith("~") else ".pi/skills"
    fixture = {
        "README.md": "hello\n",
        ".pi/settings.json": '{"sessionDir": "elsewhere"}',
        ".pi/extensions/evil.ts": "throw new Error('not declared')",
        ".agents/skills/x/SKILL.md": SKILL.replace("greet", "x"),
    }
    reading = {"call": {"tool": "read", "args": {"path": f"{where}/greet/SKILL.md"}}}
    steps = [{"skill": "greet"} if place.startswith("~") else reading, {"say": "Hello."}]
    subject = {"hook.ts": EXTENSION, "SKILL.md": SKILL, "AGENTS.md": "Be kind.\n"}
    seen = stage.play(tmp_path, "pi", [steps], files=fixture, subject=subject, install=install)
    assert (seen.rep.verdict, seen.rep.message) == ("PASS", "")
    assert seen.transcript is not None
    assert seen.transcript.loaded == ("instructions /srv/project/AGENTS.md", "skill greet", "message team: MARK-HOOK")
    assert ("call", "main", "read", "skill", {"skill": "greet", "path": f"{where}/greet/SKILL.md"}) in story(
        seen.transcript
    )
    assert [event.text for event in seen.transcript.events if isinstance(event, Prompt) and event.synthetic] == [
        "MARK-HOOK"
    ]


def test_a_pi_that_forgets_to_end_is_ended_and_the_rep_counts(tmp_path: Path):
    keep = "export default function (pi) { pi.on('agent_settled', () => { setInterval(() => {}, 1000) }) }\n"
    install = {"copy": {"keep.ts": "~/.pi/agent/extensions/keep.ts"}}
    seen = stage.play(tmp_path, "pi", [[{"say": "Done."}]], subject={"keep.ts": keep}, install=install)
    assert story(seen.transcript) == [PROMPT, ("said", "Done.")]
    assert (seen.rep.verdict, seen.rep.timing.lingered) == ("PASS", True)


def test_without_isolation_it_sees_the_hosts_paths_and_nothing_of_the_users_home(tmp_path: Path):
    seen = stage.play(tmp_path, "pi", [[{"run": "echo $HOME $OPENAI_API_KEY"}, {"say": "Done."}]], isolated=False,
                      settings={"env": ["MY_SECRET_KEY"]}, environ={"MY_SECRET_KEY": "sk-of-the-user"})  # fmt: skip
    result = next(event for event in seen.transcript.events if isinstance(event, Result))
    home, key = result.text.split()
    assert home.startswith(str(tmp_path / "boxes"))
    assert re.fullmatch("[0-9a-f]{32}", key)
    assert seen.rep.verdict == "PASS"


FAULTS = [
    ({"status": 401}, "auth", "HTTP 401: .*put a valid key"),
    ({"status": 404}, "agent", "HTTP 404: .*pi --list-models"),
    ({"status": 429}, "rate-limit", "HTTP 429: .*--jobs"),
    ({"status": 500}, "network", "HTTP 500: .*try again later"),
    ({"status": 529, "error": "Overloaded"}, "rate-limit", "HTTP 529: Overloaded .*--jobs"),
    ({"error": "prompt is too long"}, "limit", "context"),
    ({"truncate": True}, "truncated", "broke off"),
]


@pytest.mark.parametrize("model", [None, SONNET])
@pytest.mark.parametrize(("fault", "kind", "message"), FAULTS)
def test_what_breaks_is_the_right_error_and_says_what_to_do(
    tmp_path: Path, fault: dict[str, Any], kind: str, message: str, model: str | None
):
    seen = stage.play(tmp_path, "pi", [[{"run": "echo hi"}, {"fail": fault}]], model=model)
    assert (seen.rep.verdict, seen.rep.error, seen.rep.exit_code) == ("ERROR", kind, 0)
    assert re.search(message, seen.rep.message)
    assert story(seen.transcript)[:3] == [
        PROMPT,
        ("call", "main", "bash", "shell", {"command": "echo hi"}),
        ("result", True, 0, "hi\n"),
    ]
    assert (seen.transcript.end, seen.transcript.error_kind) == ("error", kind)


def test_a_model_that_never_answers_is_idle(tmp_path: Path):
    seen = stage.play(tmp_path, "pi", [[{"fail": {"hang": True}}]], limits={"idle_s": 4, "startup_s": 60})
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "idle")
    assert seen.seconds < 60


def test_without_a_key_it_is_an_error_that_names_the_way_out(tmp_path: Path):
    seen = stage.play(tmp_path, "pi", [[]], model=SONNET, rehearse=False)
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "auth")
    assert re.fullmatch(r"No API key found for anthropic\. \(name its key in .*`home: inherit`\)", seen.rep.message)
    assert list(seen.native) == ["turn-1.err"]


def test_a_model_that_nobody_has_is_an_error_and_one_that_pi_does_not_know_is_asked(tmp_path: Path):
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
    nobodys = stage.play(tmp_path / "1", "pi", [[]], model="nobody/claude", rehearse=False)
    assert (nobodys.rep.error, "pi --list-models" in nobodys.rep.message) == ("agent", True)
    new = stage.play(tmp_path / "2", "pi", [[{"say": "Hello."}]], model="anthropic/claude-of-tomorrow")
    assert (new.rep.verdict, new.transcript.models) == ("PASS", ("claude-of-tomorrow",))
    assert (new.transcript.usage.input_tokens, new.transcript.usage.cost_usd) == (100, None)


def test_a_vendor_that_cannot_be_reached_is_a_network_error(tmp_path: Path):
    key = {"settings": {"env": ["ANTHROPIC_API_KEY"]}, "environ": {"ANTHROPIC_API_KEY": "sk-ant-none-0123456789"}}
    seen = stage.play(tmp_path, "pi", [[]], model=SONNET, rehearse=False, **key)
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "network")
    assert "the vendor cannot be reached" in seen.rep.message


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_one_that_is_killed_leaves_a_transcript_up_to_there_and_no_shell(tmp_path: Path, how: signal.Signals):
    command = f"trap '' INT TERM; echo $$ > pid; {SLEEP}"
    seen = stage.play(
        tmp_path,
        "pi",
        [[{"say": "Started."}, {"run": command}]],
        isolated=False,
        meanwhile=stage.strike(SLEEP, how),
    )
    assert seen.rep.verdict == "ERROR"
    assert story(seen.transcript)[:3] == [
        PROMPT,
        ("said", "Started."),
        ("call", "main", "bash", "shell", {"command": command}),
    ]
    assert seen.transcript.end == "cut"
