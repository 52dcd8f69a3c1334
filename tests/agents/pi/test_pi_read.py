"""pi's session logs, recorded and trimmed, as Transcripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from pi_recorded import AGENT, PREFIX, read, recorded, told
from recorded import GOLDEN

from evalrepo.agents import pi
from evalrepo.agents.base import Growing, ReadError
from evalrepo.agents.pi.read import settled
from evalrepo.records.transcript import Call, EndReason, Prompt, Result, Said
from evalrepo.render.atif import trajectory

CASES = sorted(path.name[len(PREFIX) : -len(".transcript.txt")] for path in GOLDEN.glob(f"{PREFIX}*.transcript.txt"))
USED = {"input": 100, "output": 20, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}


def session(*rows: dict[str, Any], ident: str = "s1") -> bytes:
    head = {
        "type": "session",
        "version": 3,
        "id": ident,
        "timestamp": "2026-11-30T01:00:00.000Z",
        "cwd": "/srv/project",
    }
    return b"".join(json.dumps(row).encode() + b"\n" for row in (head, *rows))


def row(role: str, content: Any, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    own = {"model": "m", "stopReason": "stop", "usage": USED} if role == "assistant" else {}
    return {"type": "message", "message": {"role": role, "content": blocks, **own, **more}}


def call(name: str, ident: str = "c1", **args: Any) -> dict[str, Any]:
    block = {"type": "toolCall", "id": ident, "name": name, "arguments": args}
    return row("assistant", [block], stopReason="toolUse")


def answer(text: str, ident: str = "c1", tool: str = "bash", *, error: bool = False, **more: Any) -> dict[str, Any]:
    return row("toolResult", text, toolCallId=ident, toolName=tool, isError=error, **more)


def announced(text: str) -> dict[str, Any]:
    return {"type": "session_info", "name": text}


def transcript(*rows: dict[str, Any]):
    return read({"a.jsonl": session(*rows)})


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_session_reads_as_it_did(case: str):
    expected = (GOLDEN / f"{PREFIX}{case}.transcript.txt").read_text("utf-8")
    assert "\n".join(told(read(recorded(case)))) + "\n" == expected


@pytest.mark.parametrize("case", CASES)
def test_every_result_stands_at_its_call_and_where_the_model_saw_it(case: str):
    for part in read(recorded(case)).walk():
        results = [event for event in part.events if isinstance(event, Result)]
        calls = [event for event in part.events if isinstance(event, Call)]
        assert sorted(r.call for r in results) == sorted(c.id for c in calls if c.result)
        assert all(c.result in results for c in calls if c.result)


def test_a_torn_last_line_is_tolerated_and_a_broken_one_before_it_is_an_error():
    data = recorded("tools")["main-1.jsonl"]
    torn = read({"main-1.jsonl": data[:-40]})
    assert (torn.truncated, torn.end, torn.events[-1].at.line) == (True, EndReason.CUT, 22)
    broken = data.replace(b'{"type":"message"', b'{"type":', 1)
    with pytest.raises(ReadError, match=r"^main-1.jsonl:5: not JSON"):
        read({"main-1.jsonl": broken})


def test_what_the_reader_does_not_know_is_counted():
    found = transcript(
        {"type": "hologram"},
        row("user", "Do it."),
        row("oracle", "?"),
        row("assistant", [{"type": "smell"}], stopReason="bored"),
        {"type": "message", "message": 7},
    )
    names = ["hologram", "message (oracle)", "content (smell)", "stopReason (bored)", "message (no object)"]
    assert found.unknown == dict.fromkeys(names, 1)
    newer = session().replace(b'"version": 3', b'"version": 4')
    assert read({"a.jsonl": newer}).unknown == {"session (version 4)": 1}


def test_a_session_that_ends_after_a_call_was_cut():
    found = transcript(row("user", "Do it."), call("bash", command="sleep 9"))
    assert found.end is EndReason.CUT
    assert not any(isinstance(event, Result) for event in found.events)


def test_an_answer_that_was_asked_for_again_is_gone_but_was_paid_for():
    failed = {**row("assistant", "Half a", stopReason="error", errorMessage="500 x"), "id": "r1", "timestamp": "t1"}
    edit = {"type": "context_edit", "id": "e1", "timestamp": "t2", "targetId": "r1", "replacement": None}
    found = transcript(row("user", "Do it."), failed, edit, row("assistant", "Whole."))
    assert [event.text for event in found.events] == ["Do it.", "Whole."]
    assert (found.end, found.usage.output_tokens, found.usage.cost_usd) == (EndReason.DONE, 40, 1.0)
    alone = transcript(row("user", "Do it."), failed, edit)
    assert [event.text for event in alone.events] == ["Do it.", "Half a"]
    assert (alone.end, alone.error_kind) == (EndReason.ERROR, "network")


def test_what_happened_on_a_branch_that_was_left_still_happened():
    left = [
        {**call("bash", command="rm -rf src"), "id": "a", "parentId": "u"},
        {**answer("gone"), "id": "b", "parentId": "a"},
    ]
    summary = {"type": "branch_summary", "id": "c", "parentId": "u", "summary": "Tried rm.", "usage": USED}
    found = transcript(
        {**row("user", "Do it."), "id": "u"}, *left, summary, {**row("assistant", "Other way."), "id": "d"}
    )
    assert [type(event) for event in found.events] == [Prompt, Call, Result, Prompt, Said]
    assert (found.usage.input_tokens, found.usage.tool_calls) == (300, 1)


def test_the_rows_that_a_fork_copied_count_once():
    rows = [
        {**row("user", "One."), "id": "u", "timestamp": "t1"},
        {**row("assistant", "First."), "id": "a", "timestamp": "t2"},
    ]
    found = read(
        {
            "a.jsonl": session(*rows),
            "b.jsonl": session(*rows, row("user", "Two."), row("assistant", "Second."), ident="s2"),
        }
    )
    assert [event.text for event in found.events] == ["One.", "First.", "Two.", "Second."]
    assert (found.sessions, found.usage.input_tokens) == (("s1", "s2"), 200)


def test_a_price_that_pi_does_not_know_is_not_zero():
    free = {**USED, "cost": {"total": 0}}
    found = transcript(row("user", "Do it."), row("assistant", "One."), row("assistant", "Two.", usage=free))
    assert (found.usage.input_tokens, found.usage.cost_usd) == (200, None)


def test_a_price_that_pi_guessed_is_unknown():
    rows = session(announced("turn 1"), row("user", "Do it."), row("assistant", "One."))
    said = b'Warning: Model "new" not found for provider "anthropic". Using custom model id.\n'
    assert read({"a.jsonl": rows, "turn-1.err": said}).usage.cost_usd is None
    assert read({"a.jsonl": rows}).usage.cost_usd == 0.5


@pytest.mark.parametrize("case", CASES)
def test_it_can_be_exported_with_every_sub_agent_at_its_call(case: str):
    recording = read(recorded(case))
    if recording.empty:
        return
    document = trajectory(recording)
    Trajectory.model_validate(document)
    results = [result for step in document["steps"] for result in step.get("observation", {}).get("results", ())]
    referred = [ref["trajectory_id"] for result in results for ref in result.get("subagent_trajectory_ref", ())]
    assert referred == [child["trajectory_id"] for child in document.get("subagent_trajectories", ())]


def test_a_price_that_is_not_known_is_not_that_of_the_sub_agents():
    results = [{"agent": "scout", "task": "Look.", "messages": [row("assistant", "Seen.")["message"]]}]
    found = transcript(
        row("user", "Do it."),
        call("subagent", agent="scout", task="Look."),
        answer("Seen.", tool="subagent", details={"results": results}),
        row("assistant", "Done.", usage={**USED, "cost": {"total": 0}}),
    )
    assert (found.usage.cost_usd, [child.usage.cost_usd for child in found.children.values()]) == (None, [0.5])


def test_turns_are_those_that_were_announced_and_other_prompts_are_an_extensions():
    found = transcript(
        announced("turn 3"),
        row("user", "Do it."),
        row("assistant", "Done."),
        row("user", "And more."),
        row("assistant", "More."),
        announced("turn 4: /greet you"),
        row("user", "<skill>Say hello.</skill> you"),
        row("assistant", "Hello."),
    )
    prompts = [(event.turn, event.text, event.synthetic) for event in found.events if isinstance(event, Prompt)]
    assert prompts == [(3, "Do it.", False), (3, "And more.", True), (4, "/greet you", False)]


def test_without_announcements_every_prompt_is_a_turn_and_sessions_follow_by_name():
    found = read({"b.jsonl": session(row("user", "Two."), ident="s2"), "a.jsonl": session(row("user", "One."))})
    assert [(event.turn, event.text) for event in found.events] == [(1, "One."), (2, "Two.")]


def test_a_sub_agent_that_never_started_failed_whatever_the_flag_says():
    found = transcript(
        row("user", "Do it."),
        call("subagent", agent="scout", task="Look."),
        answer("spawn pi ENOENT", tool="subagent", details={}),
    )
    spawn = next(event for event in found.events if isinstance(event, Call))
    assert (spawn.ok, found.usage.agents, found.children) == (False, 0, {})


def test_a_sub_agent_of_which_only_the_end_is_told_is_a_child_with_its_cost():
    result = {
        "agent": "scout",
        "exitCode": 0,
        "model": "small",
        "finalOutput": "Seen.",
        "usage": {"input": 7, "output": 3, "cost": 0.25},
    }
    found = transcript(
        row("user", "Do it."), call("subagent", agent="scout", task="Look."),
        answer("Seen.", tool="subagent", details={"results": [result]}), row("assistant", "Done."),
    )  # fmt: skip
    (child,) = found.children.values()
    assert [event.text for event in child.events] == ["Look.", "Seen."]
    assert (child.models, found.usage.input_tokens, found.usage.cost_usd) == (("small",), 207, 1.25)


def test_looking_after_sub_agents_starts_none():
    found = transcript(row("user", "Do it."), call("subagent", action="list"), answer("none", tool="subagent"))
    assert [(event.kind, event.spawns) for event in found.events if isinstance(event, Call)] == [("", ())]


def test_an_error_output_counts_only_for_a_turn_that_is_in_no_session():
    said = {
        "turn-1.err": b"Error: odd\n",
        "turn-2.err": b'Warning: x\nError: Failed to load extension "x.ts": broken\n',
    }
    found = read({"a.jsonl": session(announced("turn 1"), row("user", "One."), row("assistant", "Done.")), **said})
    assert (found.end, found.error_kind) == (EndReason.ERROR, "not-loaded")
    alone = read(
        {
            "a.jsonl": session(announced("turn 1"), row("user", "One."), row("assistant", "Done.")),
            "turn-1.err": said["turn-1.err"],
        }
    )
    assert alone.end is EndReason.DONE


@pytest.mark.parametrize(
    ("message", "kind", "said"),
    [
        ('401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}', "auth", "HTTP 401: invalid x-api-key (put"),
        ("404 The model does not exist.", "agent", "HTTP 404: The model does not exist. (correct"),
        ("429: slow down", "rate-limit", "HTTP 429: slow down (the vendor"),
        ("503 no body", "network", "HTTP 503: no body (the vendor"),
        ("400 Your credit balance is too low", "auth", "HTTP 400: Your credit balance is too low (the account"),
        ("Your input exceeds the context window of this model", "limit", "Your input exceeds"),
        ("Stream ended without finish_reason", "truncated", "Stream ended without finish_reason (the vendor's answer broke off"),
        ("Connection error.", "network", "Connection error. (the vendor cannot"),
        ("something else", "agent", "something else"),
        ("", "agent", "the CLI says nothing"),
    ],
)  # fmt: skip
def test_an_error_is_of_the_right_kind_and_says_what_to_do(message: str, kind: str, said: str):
    found = transcript(row("user", "Do it."), row("assistant", [], stopReason="error", errorMessage=message))
    assert (found.end, found.error_kind) == (EndReason.ERROR, kind)
    assert found.error_message.startswith(said)


def test_calls_are_counted_as_they_come_those_of_sub_agents_and_scripts_too(tmp_path: Path):
    count = pi.counter(AGENT, Growing((tmp_path,)))
    assert count() == 0
    for case, calls in (("team", 8), ("code", 3)):
        (tmp_path / f"{case}.jsonl").write_bytes(recorded(case)["main-1.jsonl"])
        assert count() == calls
        (tmp_path / f"{case}.jsonl").unlink()
        count = pi.counter(AGENT, Growing((tmp_path,)))


def test_pi_is_over_when_the_last_that_it_says_is_that_it_settled(tmp_path: Path):
    output = tmp_path / "out"
    assert not settled(output)
    output.write_bytes(b'{"type":"session"}\n{"type":"agent_start"}\n{"type":"agent_settled","aborted":false}\n')
    assert settled(output)
    with output.open("ab") as file:
        file.write(b'{"type":"agent_start"}\n')
    assert not settled(output)
