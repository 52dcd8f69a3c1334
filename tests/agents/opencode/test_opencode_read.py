"""What recorded rows of opencode's database say as a Transcript."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from recorded import files_of

from evalrepo.agents import opencode
from evalrepo.agents.base import ReadError
from evalrepo.records.config import Agent, Tier
from evalrepo.records.transcript import At, Call, EndReason, Prompt, Result, Said, Spawn, Transcript, Usage

AGENT = Agent(tiers={"t": Tier()})
LOG = "opencode.jsonl"
SONNET, HAIKU = "anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"


def recorded(case: str) -> bytes:
    return files_of("opencode-1.18.33-", case)["jsonl"]


def read(data: bytes) -> Transcript:
    return opencode.read(AGENT, {LOG: data}, "/srv/project")


def rows(*given: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in given).encode()


def at(line: int) -> At:
    return At(LOG, line)


def call(
    ident: str, names: tuple[str, str], args: dict, canonical: dict, line: int, **more: Any
) -> list[Call | Result]:
    """A call and, where `text` is given, its result; turn 1 of the main thread."""
    tool, kind = names
    text, ok, code = more.get("text"), more.get("ok", True), more.get("code")
    result = None if text is None else Result(ident, ok, text, len(text), 1, at(line), code)
    made = Call(ident, tool, kind, args, canonical, 1, at(line), result=result, spawn=more.get("spawn"))
    return [made] if result is None else [made, result]


def test_failing_unknown_and_parallel_calls_are_what_the_model_saw():
    unknown = "Model tried to call unavailable tool 'nosuchtool'. Available tools: bash, edit, glob, grep, invalid, read, skill, task, todowrite, webfetch, write."
    schema = 'The read tool was called with invalid arguments: SchemaError(Missing key\n  at ["filePath"]).\nPlease rewrite the input so it satisfies the expected schema.'
    late = "(no output)\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 300 ms. If this command is expected to take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.\n</shell_metadata>"
    note = "<path>/srv/project/sub/note.txt</path>\n<type>file</type>\n<content>\n1: note\n\n(End of file - total 1 lines)\n</content>\n\n<system-reminder>\nInstructions from: /srv/project/sub/AGENTS.md\n# Rules for sub\n\n</system-reminder>"
    todo = {"content": "a", "status": "pending", "priority": "low"}
    missing = call(
        "toolu_8b82a9aa1c934f19bb8d",
        ("read", "read"),
        {"filePath": "/srv/project/missing.txt"},
        {"path": "missing.txt"},
        16,
        text="File not found: /srv/project/missing.txt",
        ok=False,
    )
    slow = call(
        "toolu_1013dbf69be146768861",
        ("bash", "shell"),
        {"command": "sleep 9", "description": "slow", "timeout": 300},
        {"command": "sleep 9"},
        17,
        text=late,
        ok=False,
    )
    fine = call(
        "toolu_80d5ababb55a4ee1a859",
        ("bash", "shell"),
        {"command": "echo ok", "description": "ok"},
        {"command": "echo ok"},
        18,
        text="ok\n",
        code=0,
    )
    glob = call(
        "toolu_b78cd685f7e349a8b967",
        ("glob", "search"),
        {"pattern": "**/*.md"},
        {"pattern": "**/*.md"},
        22,
        text="/srv/project/sub/AGENTS.md\n/srv/project/README.md",
    )
    todos = call(
        "toolu_2a3bab2574d340f7a7ce", ("todowrite", ""), {"todos": [todo]}, {}, 23, text=json.dumps([todo], indent=2)
    )
    noted = call(
        "toolu_5bd3e460f9b6497d8400",
        ("read", "read"),
        {"filePath": "sub/note.txt"},
        {"path": "sub/note.txt"},
        24,
        text=note,
    )
    assert read(recorded("tools")) == Transcript(
        agent="opencode",
        version="1.18.33",
        sessions=("ses_dd5e2a5a1ffely6b72piwRz6B5",),
        events=(
            Prompt("do the task", 1, at(4)),
            *call("toolu_835cb5cb5b834e79af92", ("nosuchtool", ""), {"tool": "nosuchtool", "error": unknown}, {}, 7, text=f"The arguments provided to the tool are invalid: {unknown}", ok=False),
            *call("toolu_e62fb9ea381242f0b792", ("read", "read"), {"path": "x"}, {}, 11, text=schema, ok=False),
            Said("Three at once.", 1, at(15)),
            missing[0], slow[0], fine[0], missing[1], slow[1], fine[1],
            glob[0], todos[0], noted[0], glob[1], todos[1], noted[1],
            Said("Thought.", 1, at(29)),
        ),
        models=(SONNET,),
        usage=Usage(411, 87, 5000, 300, pytest.approx(0.005163), 8, 0),
        end=EndReason.DONE,
        loaded=("agent build", "instructions /srv/project/sub/AGENTS.md"),
    )  # fmt: skip


def test_a_sub_agent_that_broke_is_a_failed_call_with_a_child_that_says_why():
    child = "ses_dd5e0c015ffebnsj27Dn75bG4v"
    refused = (
        "HTTP 401: invalid x-api-key (put a valid key into the variable that the agent's `env` names, or log in again)"
    )
    assert read(recorded("broken-child")) == Transcript(
        agent="opencode",
        version="1.18.33",
        sessions=("ses_dd5e11aa9ffey2CjMvJytJ6UUl",),
        events=(
            Prompt("do the task", 1, at(4)),
            *call(
                "toolu_9563843780b847ab95fc", ("task", "spawn"),
                {"description": "c", "prompt": "go", "subagent_type": "general"}, {"agent": "general", "task": "go"}, 7,
                text=f"Subagent failed (task_id: {child}): invalid x-api-key", ok=False,
                spawn=Spawn("general", "go", None, SONNET, (), child),
            ),
            Said("It failed.", 1, at(11)),
        ),
        children={
            child: Transcript(
                agent="opencode", version="1.18.33", sessions=(child,), events=(Prompt("go", 1, at(15)),),
                end=EndReason.ERROR, error_kind="auth", error_message=refused,
            )
        },
        models=(SONNET,),
        usage=Usage(200, 40, 0, 0, pytest.approx(0.0012), 1, 0),
        end=EndReason.DONE,
        loaded=("agent build",),
    )  # fmt: skip


def test_a_killed_cli_leaves_its_running_call_without_a_result():
    command = "trap '' TERM; sleep 77"
    running = {"command": command, "description": "slow"}
    assert read(recorded("killed")) == Transcript(
        agent="opencode",
        version="1.18.33",
        sessions=("ses_dd5ede305ffem0ADKeHUNnZoiO",),
        events=(
            Prompt("do the task", 1, at(4)),
            Said("Started.", 1, at(7)),
            *call("toolu_da4c802d8a964a73b0e7", ("bash", "shell"), running, {"command": command}, 8),
        ),
        models=(SONNET,),
        usage=Usage(tool_calls=1),
        end=EndReason.CUT,
        loaded=("agent build",),
    )


def test_turns_of_a_cut_a_fresh_and_a_resumed_session_are_told_apart():
    seen = read(recorded("turns"))
    assert [(type(event).__name__, event.turn) for event in seen.events] == [
        ("Prompt", 1), ("Said", 1), ("Call", 1),
        ("Prompt", 2), ("Call", 2), ("Result", 2), ("Said", 2),
        ("Prompt", 3), ("Said", 3),
    ]  # fmt: skip
    assert seen.sessions == ("ses_dd5dea33cffeEsfSeqhQoGrK91", "ses_dd5de4b1fffe8ctvkefGgSdIq1")
    assert (seen.end, seen.usage.tokens) == (EndReason.DONE, 360)


def test_sub_agents_of_sub_agents_are_linked_and_their_usage_is_added_once():
    seen = read(recorded("team"))
    spawns = {call.canonical["task"]: call.spawn for call in seen.events if isinstance(call, Call) if call.spawn}
    assert {task: (spawn.agent, spawn.requested, spawn.resolved, spawn.served) for task, spawn in spawns.items()} == {
        "Review it.": ("reviewer", None, HAIKU, (HAIKU,)),
        "Count one.": ("general", None, SONNET, (SONNET,)),
        "Count two.": ("general", None, SONNET, (SONNET,)),
        "Go deep.": ("deep", None, SONNET, (SONNET,)),
    }
    deep = seen.children[spawns["Go deep."].child]
    assert [child.events[0].text for child in deep.children.values()] == ["Go deeper."]  # type: ignore[union-attr]
    assert {child.usage.tokens for child in deep.children.values()} == {240}
    assert (deep.usage.tokens, deep.usage.agents, len(seen.children)) == (480, 1, 4)
    assert seen.usage == Usage(1500, 300, 0, 0, pytest.approx(13 * 0.0006 + 2 * 0.0002), 10, 5)
    assert seen.loaded == ("agent lead", "skill greet")


ERRORS = {
    "refused-key": ("auth", "HTTP 401: invalid x-api-key (put a valid key into the variable"),
    "no-key": ("auth", "ProviderAuthError: Anthropic API key is missing."),
    "server-error": ("network", "HTTP 500: boom (the vendor cannot be reached or is down"),
    "broken-stream": ("truncated", "APIError: Connection reset by server (the vendor's answer broke off"),
    "too-long": ("limit", "ContextOverflowError: Session too large to compact"),
    "unknown-model": ("agent", "ProviderModelNotFoundError: Model not found: anthropic/claude-nope. Did you mean:"),
    "unknown-agent": ("not-loaded", 'AgentNotFound: agent "nope" not found. Falling back to default agent (install'),
    "denied": ("permission", "opencode stopped: nobody gave it the permission for bash"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_has_its_kind_and_says_what_to_do(case: str):
    kind, message = ERRORS[case]
    seen = read(recorded(case))
    assert (seen.end, seen.error_kind) == (EndReason.ERROR, kind)
    assert seen.error_message.startswith(message), seen.error_message
    assert isinstance(seen.events[0], Prompt)
    assert (seen.events[0].turn, seen.events[0].synthetic) == (1, False)
    assert seen.denied == (("bash",) if case == "denied" else ())


@pytest.mark.parametrize(
    ("status", "kind"),
    [(402, "auth"), (403, "auth"), (404, "agent"), (413, "limit"), (429, "rate-limit"), (500, "network"), (529, "rate-limit"), (400, "agent")],
)  # fmt: skip
def test_the_status_decides_what_an_error_of_the_vendor_is(status: int, kind: str):
    data = recorded("refused-key").replace(b'"statusCode": 401', f'"statusCode": {status}'.encode())
    assert read(data).error_kind == kind


def test_a_cut_stream_that_was_asked_for_again_is_no_error():
    seen = read(recorded("cut-stream"))
    assert [event.text for event in seen.events] == ["do the task", "Half an ans", "second answer"]  # type: ignore[union-attr]
    assert (seen.end, seen.usage) == (EndReason.DONE, Usage(100, 20, 0, 0, 0.0006))


def test_a_cut_stream_at_the_end_is_a_cut_session():
    kept = recorded("cut-stream").splitlines(keepends=True)[:8]
    assert read(b"".join(kept)).end is EndReason.CUT


def test_an_answer_that_reached_its_length_is_the_agents_own_end():
    seen = read(recorded("length"))
    assert (seen.end, seen.events[-1]) == (EndReason.DONE, Said("Half", 1, at(7)))


def test_a_turn_that_left_nothing_in_the_database_is_cut():
    data = recorded("length") + rows({"table": "turn", "number": 2, "session": ""})
    seen = read(data)
    assert (seen.end, len(seen.events)) == (EndReason.CUT, 2)


def test_an_error_that_was_only_printed_belongs_to_its_turn():
    error = {"name": "UnknownError", "data": {"message": "no"}}
    turn = {"table": "turn", "number": 2, "session": ""}
    seen = read(recorded("length") + rows(turn, {"table": "error", "turn": 2, "error": error}))
    assert (seen.end, seen.error_message) == (EndReason.ERROR, "UnknownError: no")


def test_without_a_database_a_printed_error_is_all_there_is():
    error = {"name": "ConfigInvalidError", "data": {"message": "bad"}}
    seen = read(rows({"table": "turn", "number": 1, "session": ""}, {"table": "error", "turn": 1, "error": error}))
    assert (seen.events, seen.end, seen.error_kind) == ((), EndReason.ERROR, "agent")


def session(*parts: dict[str, Any], role: str = "assistant", **message: Any) -> list[dict[str, Any]]:
    """A session with a prompt and one answer of these parts."""
    made = {"role": role, "time": {"created": 1, "completed": 2}, "finish": "stop", **message}
    told = [{"table": "part", "id": f"p{n}", "message_id": "m2", "data": part} for n, part in enumerate(parts, 1)]
    return [
        {"table": "session", "id": "s1", "directory": "/srv/project"},
        {"table": "message", "id": "m1", "session_id": "s1", "data": {"role": "user"}},
        {"table": "part", "id": "p0", "message_id": "m1", "data": {"type": "text", "text": "Do it."}},
        {"table": "message", "id": "m2", "session_id": "s1", "data": made},
        *told,
    ]


def test_what_is_not_known_is_counted():
    given = [
        *session({"type": "hologram"}),
        {"table": "dream"},
        {"table": "message", "id": "m9", "session_id": "s1", "data": {"role": "ghost"}},
    ]
    assert read(rows(*given)).unknown == {"part hologram": 1, "dream": 1, "message of ghost": 1}  # fmt: skip


def test_a_session_without_our_rows_of_turns_counts_its_prompts():
    again = [
        {"table": "message", "id": "m3", "session_id": "s1", "data": {"role": "user"}},
        {"table": "part", "id": "p9", "message_id": "m3", "data": {"type": "text", "text": "More."}},
    ]
    seen = read(rows(*session({"type": "text", "text": "Yes."}), *again))
    assert [(event.text, event.turn) for event in seen.events] == [("Do it.", 1), ("Yes.", 1), ("More.", 2)]  # type: ignore[union-attr]
    assert seen.end is EndReason.CUT  # fmt: skip


def test_a_prompt_that_a_plugin_or_the_cli_added_is_synthetic():
    added = [
        {"table": "turn", "number": 1, "session": "s1"},
        *session({"type": "text", "text": "Yes."}),
        {"table": "message", "id": "m3", "session_id": "s1", "data": {"role": "user"}},
        {"table": "part", "id": "p8", "message_id": "m3", "data": {"type": "text", "text": "From a plugin."}},
        {
            "table": "part",
            "id": "p9",
            "message_id": "m3",
            "data": {"type": "text", "text": "Go on.", "synthetic": True},
        },
    ]
    prompts = [event for event in read(rows(*added)).events if isinstance(event, Prompt)]
    assert [(event.text, event.turn, event.synthetic) for event in prompts] == [
        ("Do it.", 1, False),
        ("From a plugin.", 1, True),
        ("Go on.", 1, True),
    ]


def test_a_summary_is_not_something_that_the_agent_said():
    seen = read(rows(*session({"type": "text", "text": "Summary."}, summary=True, agent="compaction")))
    assert (len(seen.events), seen.loaded) == (1, ())


def test_tokens_without_a_price_have_an_unknown_cost():
    tokens = {"input": 10, "output": 5, "reasoning": 3, "cache": {"read": 0, "write": 0}}
    seen = read(rows(*session({"type": "text", "text": "Yes."}, tokens=tokens, cost=0)))
    assert seen.usage == Usage(10, 8, 0, 0, None)


def test_a_call_whose_arguments_were_still_coming_was_not_made():
    tool = {"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "pending", "input": {}, "raw": "{"}}
    seen = read(rows(*session(tool, finish=None, time={"created": 1})))
    assert (len(seen.events), seen.end) == (1, EndReason.CUT)


def test_an_answer_that_was_ended_from_outside_is_cut_and_no_error():
    aborted = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    seen = read(rows(*session({"type": "text", "text": "Half"}, finish=None, error=aborted)))
    assert (seen.end, seen.error_message) == (EndReason.CUT, "")


def test_one_id_for_two_calls_is_two_calls():
    tool = {
        "type": "tool",
        "tool": "bash",
        "callID": "call_0",
        "state": {"status": "completed", "input": {"command": "x"}, "output": "o", "metadata": {"exit": 0}},
    }
    calls = [event for event in read(rows(*session(tool, tool))).events if isinstance(event, Call)]
    assert [(made.id, made.ok) for made in calls] == [("call_0", True), ("line-6", True)]  # fmt: skip


def test_a_torn_last_line_is_tolerated_and_a_broken_one_before_it_is_named():
    data = recorded("length")
    assert read(data[:-20]).truncated
    with pytest.raises(ReadError, match=r"opencode\.jsonl:2: not JSON"):
        read(data.replace(b'{"table": "session"', b'{"table" "session"', 1))


def test_a_database_that_could_not_be_read_is_an_error_with_its_reason():
    with pytest.raises(ReadError, match="database cannot be read: file is not a database"):
        read(rows({"table": "failure", "why": "file is not a database"}))


def test_a_million_bytes_are_read_whole():
    text = "x" * 1_000_000
    assert read(rows(*session({"type": "text", "text": text}))).events[-1].text == text  # type: ignore[union-attr]


def test_reading_twice_gives_the_same():
    assert dataclasses.asdict(read(recorded("team"))) == dataclasses.asdict(read(recorded("team")))
