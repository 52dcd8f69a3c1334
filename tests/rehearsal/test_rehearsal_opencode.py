"""The real opencode against our model server: what it does, what its transcript says, and what it leaves."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import stage

from evalrepo.records.transcript import EndReason, Transcript
from tests import telling
from tests.telling import usage

SONNET, HAIKU = "anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"
PROMPT = ("prompt", "Task 1: look after this project.")
README = "<path>/srv/project/README.md</path>\n<type>file</type>\n<content>\n1: hello world\n2: second line\n\n(End of file - total 2 lines)\n</content>"
REVIEWER = f"---\ndescription: Reviews files.\nmode: subagent\nmodel: {HAIKU}\n---\nYou review.\n"
LEAD = "---\ndescription: Leads.\nmode: primary\n---\nYou lead. MARK-LEAD\n"
SKILL = "---\nname: greet\ndescription: Greets. MARK-SKILL\n---\nSay hello.\n"
PLUGIN = """export const Mark = async () => ({
  "experimental.chat.system.transform": async (_, output) => { output.system.push("MARK-PLUGIN") },
})
"""
DEEP = "---\ndescription: Delegates.\nmode: subagent\npermission:\n  task: allow\n---\nYou delegate.\n"
TEAM = {
    "opencode.json": '{"subagent_depth": 2}',
    "deep.md": DEEP,
    "lead.md": LEAD,
    "reviewer.md": REVIEWER,
    "SKILL.md": SKILL,
    "mark.js": PLUGIN,
    "AGENTS.md": "# Rules\nMARK-RULES\n",
}
INSTALL = {
    "copy": {
        "opencode.json": "opencode.json",
        "deep.md": ".opencode/agent/deep.md",
        "lead.md": ".opencode/agent/lead.md",
        "reviewer.md": ".opencode/agent/reviewer.md",
        "SKILL.md": ".opencode/skills/greet/SKILL.md",
        "mark.js": ".opencode/plugin/mark.js",
        "AGENTS.md": "AGENTS.md",
    },
    "primary": "lead",
    "prove": {"agent": "lead", "skill": "greet"},
}
USUAL = Transcript("opencode", "1.18.33", end=EndReason.DONE)
INHERITED = (None, SONNET, (SONNET,))


def story(transcript: Transcript | None) -> list[Any]:
    """As `telling.story`; ids of sessions, which results name, are cut."""
    return [_shown(line) for line in telling.story(transcript)]


def _shown(line: tuple[Any, ...]) -> tuple[Any, ...]:
    if line[0] == "child":
        return ("child", [_shown(inner) for inner in line[1]])
    return (*line[:3], re.sub(r"ses_\w+", "ses_", line[3])) if line[0] == "result" else line


def rest(transcript: Transcript | None) -> dict[str, Any]:
    return telling.rest(transcript, USUAL)


def turns(seen: stage.Seen) -> list[int]:
    assert seen.transcript is not None
    return [event.turn for event in seen.transcript.events]


def flat(told: list[Any]) -> list[tuple[Any, ...]]:
    """The lines of sub-agents where they stand."""
    return [inner for line in told for inner in (flat(line[1]) if line[0] == "child" else [line])]


def play(tmp_path: Path, *turns: list[dict[str, Any]], **more: Any) -> stage.Seen:
    return stage.play(tmp_path, "opencode", turns, **more)


def test_it_reads_edits_writes_searches_and_runs_what_the_script_says(tmp_path: Path):
    steps = [
        {"say": "Let me look."}, {"read": "README.md"}, {"edit": {"path": "src/app.py", "old": "a - b", "new": "a + b"}},
        {"write": {"path": "docs/new.md", "content": "new\n"}}, {"search": {"pattern": "hel+o", "path": "."}},
        {"run": "echo out; echo err >&2; exit 3"}, {"say": "It failed."}, {"say": "All done."},
    ]  # fmt: skip
    seen = play(tmp_path, steps)
    assert story(seen.transcript) == [
        PROMPT,
        ("said", "Let me look."),
        ("call", "main", "read", "read", {"path": "README.md"}),
        ("result", True, None, README),
        ("call", "main", "edit", "edit", {"path": "src/app.py", "old": "a - b", "new": "a + b"}),
        ("result", True, None, "Edit applied successfully."),
        ("call", "main", "write", "write", {"path": "docs/new.md", "content": "new\n"}),
        ("result", True, None, "Wrote file successfully."),
        ("call", "main", "grep", "search", {"pattern": "hel+o", "path": "."}),
        ("result", True, None, "Found 1 matches\n/srv/project/README.md:\n  Line 1: hello world\n"),
        ("call", "main", "bash", "shell", {"command": "echo out; echo err >&2; exit 3"}),
        ("result", False, 3, "out\nerr\n"),
        ("said", "It failed.\n\nAll done."),
    ]
    assert rest(seen.transcript) == {"models": (SONNET,), "loaded": ("agent build",), "usage": usage(6, 5)}
    assert seen.work["src/app.py"] == b"def add(a, b):\n    return a + b\n"
    assert sorted(seen.work) == [".gitignore", "README.md", "docs/new.md", "src/app.py"]
    assert {asked.model for asked in seen.asked} == {"claude-sonnet-4-5"}, "no other model is asked for a title"


def test_the_subject_is_there_and_its_sub_agents_have_their_own_models(tmp_path: Path):
    deeper = {"spawn": {"task": "Go deeper.", "steps": [{"run": "echo 3"}], "reports": "Deepest."}}
    steps = [
        {"skill": "greet"},
        {"spawn": {"task": "Review it.", "agent": "reviewer", "steps": [{"read": "README.md"}], "reports": "Fine."}},
        {"spawn": {"task": "Count one.", "background": True, "steps": [{"run": "echo 1"}], "reports": "One."}},
        {"spawn": {"task": "Count two.", "agent": "general", "model": "haiku", "steps": [{"run": "echo 2"}]}},
        {"spawn": {"task": "Fail.", "agent": "nobody", "error": "there is none"}},
        {"spawn": {"task": "Go deep.", "agent": "deep", "steps": [deeper], "reports": "Deep."}},
        {"say": "All done."},
    ]
    seen = play(tmp_path, steps, subject=TEAM, install=INSTALL)
    told = story(seen.transcript)
    assert told[:2] == [PROMPT, ("call", "main", "skill", "skill", {"skill": "greet"})]
    assert told[3:] == [
        ("call", "main", "task", "spawn", {"agent": "reviewer", "task": "Review it."}, (None, HAIKU, (HAIKU,))),
        ("child", [
            ("prompt", "Review it."),
            ("call", "reviewer", "read", "read", {"path": "README.md"}),
            ("result", True, None, README),
            ("said", "Fine."),
        ]),
        ("result", True, None, report("Fine.")),
        ("call", "main", "task", "spawn", {"agent": "general", "task": "Count one."}, INHERITED),
        counted("Count one.", 1, "One."),
        ("call", "main", "task", "spawn", {"agent": "general", "task": "Count two."}, INHERITED),
        counted("Count two.", 2, "Done."),
        ("result", True, None, report("One.")),
        ("result", True, None, report("Done.")),
        ("call", "main", "task", "spawn", {"agent": "no-such-agent", "task": "Fail."}, (None, None, ())),
        ("result", False, None, "Unknown agent type: no-such-agent is not a valid agent type"),
        ("call", "main", "task", "spawn", {"agent": "deep", "task": "Go deep."}, INHERITED),
        ("child", [
            ("prompt", "Go deep."),
            ("call", "deep", "task", "spawn", {"agent": "general", "task": "Go deeper."}, INHERITED),
            counted("Go deeper.", 3, "Deepest."),
            ("result", True, None, report("Deepest.")),
            ("said", "Deep."),
        ]),
        ("result", True, None, report("Deep.")),
        ("said", "All done."),
    ]  # fmt: skip
    haikus = 2 * 0.0002
    assert rest(seen.transcript) == {
        "models": (SONNET,),
        "loaded": ("agent lead", "skill greet"),
        "usage": usage(16, 11, agents=5, cost=14 * 0.0006 + haikus),
    }
    assert (seen.rep.verdict, seen.rep.message) == ("PASS", "")
    marks = {mark for asked in seen.asked for mark in re.findall(r"MARK-[A-Z]+", json.dumps(asked.body))}
    assert marks == {"MARK-LEAD", "MARK-SKILL", "MARK-PLUGIN", "MARK-RULES"}
    assert set(seen.work) - {"README.md", "src/app.py", ".gitignore", *INSTALL["copy"].values()} == {
        ".opencode/.gitignore"
    }


def report(text: str) -> str:
    return f'<task id="ses_" state="completed">\n<task_result>\n{text}\n</task_result>\n</task>'


def counted(task: str, number: int, said: str) -> tuple[Any, ...]:
    call = ("call", "general", "bash", "shell", {"command": f"echo {number}"})
    return ("child", [("prompt", task), call, ("result", True, 0, f"{number}\n"), ("said", said)])


def test_a_second_turn_goes_on_with_the_session(tmp_path: Path):
    first, second = [{"read": "README.md"}, {"say": "One."}], [{"run": "echo two"}, {"say": "Two."}]
    seen = play(tmp_path, first, second, prompts=["First.", "Second."])
    assert story(seen.transcript) == [
        ("prompt", "First."),
        ("call", "main", "read", "read", {"path": "README.md"}),
        ("result", True, None, README),
        ("said", "One."),
        ("prompt", "Second."),
        ("call", "main", "bash", "shell", {"command": "echo two"}),
        ("result", True, 0, "two\n"),
        ("said", "Two."),
    ]
    assert rest(seen.transcript) == {"models": (SONNET,), "loaded": ("agent build",), "usage": usage(4, 2)}
    assert turns(seen) == [1, 1, 1, 1, 2, 2, 2, 2]
    assert len(seen.transcript.sessions) == 1  # type: ignore[union-attr]


def test_a_turn_that_is_cut_leaves_its_half_and_a_fresh_session_goes_on(tmp_path: Path):
    prompts = [{"prompt": "First.", "stop_after": {"file": "half.txt"}}, {"prompt": "Go on.", "session": "fresh"}]
    half = "trap '' TERM; echo half > half.txt; sleep 3.14159e2"
    seen = play(tmp_path, [{"say": "Half."}, {"run": half}], [{"read": "half.txt"}, {"say": "Whole."}], prompts=prompts)
    assert (seen.rep.verdict, seen.rep.message) == ("PASS", "")
    assert story(seen.transcript) == [
        ("prompt", "First."),
        ("said", "Half."),
        ("call", "main", "bash", "shell", {"command": half}),
        ("prompt", "Go on."),
        ("call", "main", "read", "read", {"path": "half.txt"}),
        ("result", True, None, README.replace("README.md", "half.txt").replace("hello world\n2: second line", "half").replace("2 lines", "1 lines")),
        ("said", "Whole."),
    ]  # fmt: skip
    assert rest(seen.transcript) == {"models": (SONNET,), "loaded": ("agent build",), "usage": usage(2, 2)}
    assert turns(seen) == [1, 1, 1, 2, 2, 2, 2]
    assert len(seen.transcript.sessions) == 2  # type: ignore[union-attr]


def test_calls_are_counted_before_they_are_run_a_sub_agents_included(tmp_path: Path):
    spawn = {"spawn": {"task": "Work.", "steps": [{"run": "echo 1"}, {"run": "sleep 3.14159e2"}]}}
    prompts = [{"prompt": "First.", "stop_after": {"tool_calls": 3}}]
    seen = play(tmp_path, [spawn, {"say": "Never said."}], prompts=prompts)
    assert (seen.rep.verdict, seen.rep.message) == ("PASS", "")
    assert [line[3:] for line in story(seen.transcript)[2][1] if line[0] == "call"] == [
        ("shell", {"command": "echo 1"}),
        ("shell", {"command": "sleep 3.14159e2"}),
    ]


def test_without_isolation_it_does_the_same(tmp_path: Path):
    seen = play(tmp_path, [{"read": "README.md"}, {"say": "Done."}], isolated=False)
    work = tmp_path / "boxes" / "0001" / "project"
    assert story(seen.transcript) == [
        PROMPT,
        ("call", "main", "read", "read", {"path": "README.md"}),
        ("result", True, None, README.replace("/srv/project", str(work))),
        ("said", "Done."),
    ]
    assert seen.rep.verdict == "PASS"


def test_a_subject_that_asks_for_permissions_hangs_neither_the_agent_nor_its_sub_agents(tmp_path: Path):
    subject = {"opencode.json": json.dumps({"permission": {"bash": "ask", "edit": "ask", "external_directory": "ask"}})}
    child = [{"run": "echo child | cat"}, {"read": "/etc/passwd"}]
    steps = [{"run": "echo main | cat"}, {"write": {"path": "new.env", "content": "A=1\n"}}, {"read": "new.env"}]
    seen = play(
        tmp_path,
        [*steps, {"spawn": {"task": "Look outside.", "steps": child}}, {"say": "Done."}],
        subject=subject,
        install={"copy": {"opencode.json": "opencode.json"}},
        limits={"idle_s": 60},
    )
    results = [line for line in flat(story(seen.transcript)) if line[0] == "result"]
    assert (seen.rep.verdict, [ok for _, ok, *_ in results], seen.transcript.denied) == ("PASS", [True] * 6, ())  # type: ignore[union-attr]


ERRORS = {
    "auth": ({"status": 401}, "auth", "HTTP 401: invalid x-api-key (put a valid key"),
    "no-model": ({"status": 404}, "agent", "HTTP 404: model: not found (correct the tier's `model`"),
    "rate-limit": ({"status": 429}, "rate-limit", "HTTP 429: This request would exceed your account's rate limit."),
}


@pytest.mark.parametrize(("fail", "kind", "message"), ERRORS.values(), ids=ERRORS)
def test_an_error_of_the_vendor_is_the_harness_trouble_and_says_what_to_do(
    tmp_path: Path, fail: dict[str, Any], kind: str, message: str
):
    seen = play(tmp_path, [{"fail": fail}])
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", kind)
    assert seen.rep.message.startswith(message), seen.rep.message
    assert story(seen.transcript) == [PROMPT]


def test_a_prompt_that_is_too_long_is_summed_up_and_the_agent_goes_on(tmp_path: Path):
    seen = play(tmp_path, [{"fail": {"error": "prompt is too long"}}])
    assert seen.transcript is not None
    assert [type(event).__name__ for event in seen.transcript.events] == ["Prompt", "Prompt", "Said"]
    assert [event.synthetic for event in seen.transcript.events[:2]] == [False, True]  # type: ignore[union-attr]
    assert rest(seen.transcript) == {"models": (SONNET,), "loaded": ("agent build",), "usage": usage(2, 0)}


def test_a_model_that_never_answers_is_idle(tmp_path: Path):
    seen = play(tmp_path, [{"fail": {"hang": True}}], limits={"idle_s": 20})
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "idle")
    assert (story(seen.transcript), seen.transcript.end) == ([PROMPT], "cut")  # type: ignore[union-attr]


def test_without_a_key_it_says_how_to_give_one(tmp_path: Path):
    seen = play(tmp_path, [], rehearse=False, isolated=True)
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "auth")
    assert "env: [ANTHROPIC_API_KEY]" in seen.rep.message


def test_a_model_that_it_does_not_know_is_named_with_those_that_it_does(tmp_path: Path):
    seen = play(tmp_path, [{"say": "Never said."}], model="anthropic/claude-nope")
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "agent")
    assert "Model not found: anthropic/claude-nope. Did you mean: " in seen.rep.message


def test_a_primary_agent_that_is_not_there_is_not_replaced_in_silence(tmp_path: Path):
    seen = play(tmp_path, [{"say": "Done."}], install={"primary": "nobody"})
    assert (seen.rep.verdict, seen.rep.error) == ("ERROR", "not-loaded")
    assert 'agent "nobody" not found' in seen.rep.message


@pytest.fixture
def _heard_signals():
    """A job in the background ignores SIGINT, and what it starts does too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heard_signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_one_that_is_killed_leaves_a_transcript_up_to_there_and_no_shell(tmp_path: Path, how: signal.Signals):
    command = "trap '' TERM; sleep 3.14159e2"
    seen = play(
        tmp_path,
        [{"say": "Started."}, {"run": command}],
        isolated=False,
        meanwhile=stage.strike("3.14159e2", how, "opencode", every=True),
    )
    assert seen.rep.verdict == "ERROR"
    assert story(seen.transcript) == [
        PROMPT,
        ("said", "Started."),
        ("call", "main", "bash", "shell", {"command": command}),
    ]
    assert seen.transcript.end == "cut"  # type: ignore[union-attr]
