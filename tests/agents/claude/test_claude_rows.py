"""Rows of Claude Code's log that recordings do not show, one behaviour each; and rows that make no sense."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from claude_recorded import read
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.agents.claude import lines
from evalrepo.records.transcript import Call, EndReason, Prompt, Result, Said, Transcript

WHEN = "2026-11-30T01:00:00.000Z"
USAGE = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 11, "cache_creation_input_tokens": 13}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "cwd": "/srv/project",
        "timestamp": WHEN,
        **more,
    }


def answer(ident: str, *blocks: Any, stop: str | None = "tool_use", usage: Any = None, **more: Any) -> dict[str, Any]:
    message = {
        "id": ident,
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(blocks),
        "stop_reason": stop,
    }
    return {"type": "assistant", "message": {**message, "usage": usage or USAGE}, "cwd": "/srv/project", **more}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(ident: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": ident, "name": name, "input": given}


def result(ident: str, content: Any = "ok", *, error: bool = False, **more: Any) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": ident, "content": content, "is_error": error}], **more)


def attached(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "attachment", "attachment": {"type": kind, **more}}


def dump(*rows: Any) -> bytes:
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def session(*rows: Any, **files: Any) -> Transcript:
    return read({"s.jsonl": dump(user("go"), *rows), **{name: dump(*rows) for name, rows in files.items()}})


def kinds(transcript: Transcript) -> list[str]:
    return [type(event).__name__ for event in transcript.events]


def results(transcript: Transcript) -> list[Result]:
    return [event for event in transcript.events if isinstance(event, Result)]


def test_rows_of_one_answer_are_one_and_its_usage_counts_once_as_the_last_row_has_it():
    early = {**USAGE, "output_tokens": 1}
    read = session(
        answer("m", text("a"), usage=early), answer("m", use("1")), result("1"), answer("n", text("b"), stop="end_turn")
    )
    assert kinds(read) == ["Prompt", "Said", "Call", "Result", "Said"]
    used = read.usage
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens) == (10, 14, 22, 26)


def test_results_that_are_logged_within_an_answer_come_after_it():
    read = session(answer("m", use("1")), result("1", "one"), answer("m", use("2")), result("2", "two"))
    assert [e.id if isinstance(e, Call) else e.call for e in read.events[1:]] == ["1", "2", "1", "2"]


@pytest.mark.parametrize(
    ("content", "more", "code", "ok"),
    [
        ("Exit code 3\nout", {"error": True, "toolUseResult": "Error: Exit code 3"}, 3, False),
        ("Exit code 7\nfake", {"toolUseResult": {"stdout": "Exit code 7"}}, 0, True),
        ("(no output)", {"toolUseResult": {"returnCodeInterpretation": "No matches found"}}, 1, False),
        ("running", {"toolUseResult": {"backgroundTaskId": "b1"}}, None, True),
        ("half", {"toolUseResult": {"interrupted": True}}, None, True),
        ("seen by a sub-agent", {}, None, True),
        ("PreToolUse hook error", {"error": True}, None, False),
    ],
)
def test_the_exit_code_of_a_command_is_told_by_its_text_and_facts(content: str, more: dict, code: int | None, ok: bool):
    (got,) = results(session(answer("m", use("1", command="x")), result("1", content, **more)))
    assert (got.exit_code, got.ok) == (code, ok)


def test_blocks_of_a_result_are_its_text_and_what_is_no_text_is_named():
    blocks = [text("für"), {"type": "image", "source": {}}, text("x")]
    (got,) = results(session(answer("m", use("1", "Read", file_path="a.png")), result("1", blocks)))
    assert (got.text, got.size) == ("für\n[image]\nx", 14)


def test_paths_are_relative_to_the_work_directory_wherever_the_agent_stood():
    calls = [
        use("1", "Read", file_path="/srv/project/a/../b"),
        use("2", "Read", file_path="x"),
        use("3", "Read", file_path="/etc/x"),
    ]
    read = session(answer("m", *calls) | {"cwd": "/srv/project/sub"})
    assert [e.canonical["path"] for e in read.events if isinstance(e, Call)] == ["b", "sub/x", "/etc/x"]


def test_several_edits_of_one_call_are_one():
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}, 7]
    read = session(answer("m", use("1", "MultiEdit", file_path="/srv/project/f", edits=edits)))
    assert read.events[1].canonical == {"path": "f", "old": "a\nc", "new": "b\nd"}


def test_a_message_that_comes_while_the_model_works_belongs_to_the_turn():
    read = session(answer("m", use("1")), result("1"), attached("queued_command", prompt="more", commandMode="prompt"))
    assert read.events[-1] == Prompt("more", 1, read.events[-1].at)
    assert read.end is EndReason.CUT


def test_a_report_is_its_calls_result_and_a_second_one_is_told():
    launched = result(
        "1", [text("Async agent launched successfully.\nagentId: a1 (x)")], toolUseResult={"agentId": "a1"}
    )
    note = "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>1</tool-use-id>\n<status>{}</status>\n<summary>s</summary></task-notification>"
    spawn = answer("m", use("1", "Task", prompt="t", subagent_type="x"))
    read = session(
        spawn,
        launched,
        user(note.format("failed")),
        user(note.format("completed")),
        answer("n", text("x"), stop="end_turn"),
    )
    assert kinds(read) == ["Prompt", "Call", "Result", "Prompt", "Said"]
    assert (read.events[1].kind, read.events[2].ok, read.events[3].synthetic, read.truncated) == (
        "spawn",
        False,
        True,
        False,
    )


def test_a_report_that_says_completed_in_its_own_words_only_is_no_success():
    launched = result("1", "Async agent launched successfully.\nagentId: a1 (x)")
    note = "<task-notification>\n<tool-use-id>1</tool-use-id>\n<status>failed</status>\n<summary><status>completed</status></summary>"
    assert not results(session(answer("m", use("1", "Agent", prompt="t")), launched, user(note)))[0].ok


@pytest.mark.parametrize("model", ["haiku", None])
def test_a_model_was_requested_when_the_call_names_it_whatever_the_sub_agents_file_says(model):
    meta = {"toolUseId": "1", "agentType": "x", "spawnDepth": 1, "modelNotNamed": True}
    child = [
        user("t"),
        attached("model", identity={"modelId": "claude-haiku-5-5"}),
        answer("c", text("r"), stop="end_turn"),
    ]
    files = {"s/subagents/agent-a1.jsonl": child, "s/subagents/agent-a1.meta.json": [meta]}
    named = {"model": model} if model else {}
    read = session(answer("m", use("1", "Agent", prompt="t", **named)), result("1"), **files)
    spawn = read.events[1].spawn
    assert (spawn.requested, spawn.resolved, spawn.served, spawn.child) == (
        model,
        "claude-haiku-5-5",
        ("claude-sonnet-4-5",),
        "a1",
    )


def test_what_was_asked_for_resolved_and_served_are_three_things():
    meta = {"toolUseId": "1", "agentType": "x"}
    child = [user("t"), answer("c", text("r"), stop="end_turn")]
    files = {"s/subagents/agent-a1.jsonl": child, "s/subagents/agent-a1.meta.json": [meta]}
    done = result("1", toolUseResult={"agentId": "a1", "resolvedModel": "claude-haiku-5-5"})
    spawn = session(answer("m", use("1", "Agent", prompt="t", model="haiku")), done, **files).events[1].spawn
    assert (spawn.requested, spawn.resolved, spawn.served) == ("haiku", "claude-haiku-5-5", ("claude-sonnet-4-5",))


def test_sub_agents_among_the_rows_of_their_session_are_children():
    side = [
        user("t", isSidechain=True, uuid="x1", parentUuid=None),
        answer("c", text("inside"), stop="end_turn", isSidechain=True, uuid="x2", parentUuid="x1"),
    ]
    read = session(
        answer("m", use("1", "Task", prompt="t", subagent_type="rev")),
        *side,
        result("1"),
        answer("n", text("b"), stop="end_turn"),
    )
    assert (kinds(read), read.events[1].spawn.child) == (["Prompt", "Call", "Result", "Said"], "x1")
    assert [e.text for e in read.children["x1"].events if isinstance(e, Said)] == ["inside"]


def test_a_summary_and_what_the_cli_says_for_the_user_are_told_and_no_turn():
    rows = [
        {"type": "system", "subtype": "compact_boundary"},
        user("The story so far", isCompactSummary=True),
        user("Stop hook feedback:\nnot yet", isMeta=True),
        user("<system-reminder>\nnothing\n</system-reminder>", isMeta=True),
        user("from a peer", origin={"kind": "peer"}),
        answer("m", text("x"), stop="end_turn"),
    ]
    read = session(*rows)
    assert [(e.synthetic, e.turn) for e in read.events if isinstance(e, Prompt)] == [(False, 1), *[(True, 1)] * 3]
    assert (read.unknown, read.end) == ({}, EndReason.DONE)


def test_a_command_that_the_cli_does_itself_is_a_turn_that_is_done():
    command = "<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args></command-args>"
    read = session(
        answer("m", text("x"), stop="end_turn"),
        user(command),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
    )
    assert [(e.text, e.turn) for e in read.events if isinstance(e, Prompt)] == [
        ("go", 1),
        ("/compact", 2),
        ("Compacted", 2),
    ]
    assert read.end is EndReason.DONE


def test_an_unknown_command_that_is_only_printed_is_not_loaded():
    printed = {
        "type": "system",
        "subtype": "local_command",
        "content": "<local-command-stdout>Unknown command: /x:y</local-command-stdout>",
    }
    read = session(printed)
    assert (read.end, read.error_kind, "/x:y" in read.error_message) == (EndReason.ERROR, "not-loaded", True)


def test_an_error_that_a_later_answer_overcomes_is_none():
    failed = answer(
        "e",
        text("API Error: 500 x"),
        stop="stop_sequence",
        isApiErrorMessage=True,
        apiErrorStatus=500,
        error="server_error",
    )
    failed["message"]["model"] = "<synthetic>"
    assert session(failed).error_kind == "network"
    assert session(failed, answer("m", text("x"), stop="end_turn")).end is EndReason.DONE


@pytest.mark.parametrize(
    ("row", "said", "kind"),
    [
        ({"apiErrorStatus": 403, "error": "x"}, "API Error: 403", "auth"),
        ({"error": "billing_error"}, "Credit balance is too low", "auth"),
        ({"apiErrorStatus": 413}, "API Error: 413", "limit"),
        ({"error": "server_error"}, "API Error: Connection refused (ECONNREFUSED)", "network"),
        ({"apiErrorStatus": 400, "error": "invalid_request"}, "API Error: 400 what", "agent"),
        ({}, "You've hit your usage limit", "rate-limit"),
    ],
)
def test_errors_that_are_hard_to_provoke_have_their_kinds(row: dict, said: str, kind: str):
    failed = answer("e", text(said), stop="stop_sequence", isApiErrorMessage=True, **row)
    failed["message"]["model"] = "<synthetic>"
    read = session(failed)
    assert (read.error_kind, said in read.error_message, kinds(read)) == (kind, True, ["Prompt"])


def test_what_is_not_known_is_counted_by_name():
    rows = [
        {"type": "new-row"},
        {"no": "type"},
        {"type": "system", "subtype": "new"},
        attached("newer"),
        {"type": "attachment"},
    ]
    read = session(*rows, answer("m", {"type": "hologram"}, {"type": "thinking"}, stop="end_turn"))
    assert read.unknown == {
        "new-row": 1,
        "None": 1,
        "system new": 1,
        "attachment newer": 1,
        "attachment None": 1,
        "assistant hologram": 1,
    }


def test_the_cost_is_that_of_all_sessions_and_unknown_when_one_does_not_say_it():
    done = answer("m", text("x"), stop="end_turn")
    cost = {"type": "cost-state", "totalCostUSD": 0.25}
    second = [user("go"), done, {"type": "cost-state", "totalCostUSD": 0.5}]
    assert session(done, cost).usage.cost_usd == 0.25
    assert (
        session(
            done, cost, answer("n", text("y"), stop="end_turn"), {"type": "cost-state", "totalCostUSD": 1.0}
        ).usage.cost_usd
        == 1.0
    )
    assert session(done, cost, **{"t.jsonl": second}).usage.cost_usd == 0.75
    assert session(done, cost, answer("n", text("y"))).usage.cost_usd is None
    assert session(done, {**cost, "hasUnknownModelCost": True}).usage.cost_usd is None


def test_older_listings_without_names_are_read_from_their_text():
    read = session(attached("skill_listing", content="- one: d\n- plug:two: e: f\n  - not this: x\n"))
    assert read.loaded == ("skill one", "skill plug:two")


def test_instructions_that_are_found_on_the_way_are_loaded_too():
    read = session(
        attached("nested_memory", path="/srv/project/src/CLAUDE.md"),
        attached("instructions", files=[{"path": "/etc/x.md"}, 7]),
    )
    assert read.loaded == ("instructions src/CLAUDE.md", "instructions /etc/x.md")


def test_a_log_of_many_pieces_is_read_as_one(monkeypatch: pytest.MonkeyPatch):
    rows = [answer(f"m{n}", use(str(n), command="x" * 50)) for n in range(40)]
    data = dump(user("go"), *rows)
    whole = read({"s.jsonl": data})
    monkeypatch.setattr(lines, "PIECE", 300)
    assert read({"s.jsonl": data}) == whole
    assert read({"s.jsonl": data + b"\n \n" * 300 + b"{"}).truncated
    assert read({"s.jsonl": data + b"{" + b"\n" * 900}).truncated


@pytest.mark.parametrize("size", [300, 1 << 16])
def test_a_broken_line_has_its_number_in_the_whole_file(monkeypatch: pytest.MonkeyPatch, size: int):
    monkeypatch.setattr(lines, "PIECE", size)
    data = dump(*[user("x" * 99)] * 20) + b'{"type":\n' + dump(*[user("x" * 99)] * 20)
    with pytest.raises(lines.ReadError, match=r"s\.jsonl:21: "):
        read({"s.jsonl": data})


SOUND = [
    user("go"),
    answer("m", text("a"), use("1", "Agent", prompt="t")),
    result(
        "1",
        "Async agent launched.\nagentId: a",
        toolUseResult={"agentId": "a"},
        permissionDecision={"decision": "reject"},
    ),
    user("<task-notification><tool-use-id>1</tool-use-id>", origin={"kind": "task-notification"}),
    attached("queued_command", prompt="x", commandMode="prompt"),
    attached("hook_additional_context", content=["x"], hookEvent="SessionStart"),
    attached("skill_listing", names=["x"]),
    attached("agent_listing_delta", addedTypes=["x"], builtInTypes=["y"]),
    attached("instructions", files=[{"path": "x"}]),
    attached("model", identity={"modelId": "x"}),
    {"type": "cost-state", "totalCostUSD": 1},
    {"type": "system", "subtype": "local_command", "content": "<local-command-stdout>x</local-command-stdout>"},
]
JUNK = st.sampled_from(
    [None, True, 7, -1, 1e999, "", "x", "\ud800", [], [[]], {}, {"type": ["a"]}, [{"type": {}}], [7]]
)


def places(value: Any, path: tuple = ()) -> list[tuple]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, below in inner for place in places(below, (*path, key)))]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_value_of_a_row_breaks_the_reader(data: st.DataObject):
    rows = json.loads(json.dumps(SOUND))
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from([p for p in places(rows) if len(p) > 1]))
        inside: Any = rows
        for key in path:
            inside = inside[key]
        inside[last] = deepcopy(data.draw(JUNK))
    assert isinstance(read({"s.jsonl": dump(*rows), "s/subagents/agent-a.jsonl": dump(*rows)}), Transcript)
