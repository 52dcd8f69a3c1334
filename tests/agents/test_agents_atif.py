"""The reader of ATIF documents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.agents import atif
from evalrepo.agents.base import Growing, ReadError
from evalrepo.records.transcript import At, Call, EndReason, Prompt, Result, Said, Spawn, Usage


def step(number, source="agent", message="", **more):
    return {"step_id": number, "source": source, "message": message, **more}


def call(ident, name, **arguments):
    return {"tool_call_id": ident, "function_name": name, "arguments": arguments}


def trajectory(*steps, **more):
    agent = {"name": "mine", "version": "3", "model_name": "m"}
    return {"schema_version": "ATIF-v1.8", "session_id": "s", "agent": agent, "steps": list(steps), **more}


def read(*documents, work="/w"):
    files = {f"{n}.json": json.dumps(d, indent=1).encode() for n, d in enumerate(documents)}
    return atif.read(files, work, agent="x")


def calls(transcript):
    return [event for event in transcript.events if isinstance(event, Call)]


def test_steps_become_events_with_their_lines():
    results = [{"source_call_id": "c", "content": "out", "extra": {"exit_code": 2}}]
    transcript = read(
        trajectory(
            step(1, "system", "context"),
            step(2, "user", "Do."),
            step(3, message="On it.", tool_calls=[call("c", "Bash", command="ls")], observation={"results": results}),
        )
    )
    prompt, said, made, result = transcript.events
    assert (prompt, said) == (Prompt("Do.", 1, At("0.json", 16)), Said("On it.", 1, At("0.json", 21)))
    assert result == Result("c", False, "out", 3, 1, At("0.json", 21), 2)
    assert (made.tool, made.kind, made.canonical, made.result) == ("Bash", "shell", {"command": "ls"}, result)
    assert (transcript.version, transcript.models, transcript.sessions) == ("3", ("m",), ("s",))
    assert (transcript.loaded, transcript.end) == (("context",), EndReason.DONE)


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "canonical"),
    [
        ("Read", {"file_path": "/w/a"}, "read", {"path": "a"}),
        (
            "Edit",
            {"file_path": "a", "old_string": "x", "new_string": "y"},
            "edit",
            {"path": "a", "old": "x", "new": "y"},
        ),
        ("write_file", {"path": "/x", "contents": "c"}, "write", {"path": "/x", "content": "c"}),
        ("grep", {"pattern": "p", "path": "."}, "search", {"pattern": "p", "path": "."}),
        ("Skill", {"skill": "s"}, "skill", {"skill": "s"}),
        ("Fetch", {"path": "p"}, "", {}),
    ],
)
def test_common_tools_are_canonical(name, arguments, kind, canonical):
    (made,) = calls(read(trajectory(step(1, tool_calls=[call("c", name, **arguments)]))))
    assert (made.kind, made.canonical, made.args) == (kind, canonical, arguments)


def test_an_embedded_sub_agent_is_a_child_of_its_call():
    ref = {"source_call_id": "c", "content": "r", "subagent_trajectory_ref": [{"trajectory_id": "t"}]}
    ref["extra"] = {"resolved_model": "got"}
    made = call("c", "Task", prompt="p", subagent_type="rev", model="asked")
    inner = {**trajectory(step(1, "user", "p"), step(2, message="r", model_name="ran")), "trajectory_id": "t"}
    outer = trajectory(
        step(1, "user", "Do."),
        step(2, tool_calls=[made], observation={"results": [ref]}),
        subagent_trajectories=[inner],
    )
    transcript = read(outer)
    assert calls(transcript)[0].spawn == Spawn("rev", "p", "asked", "got", ("ran",), "t")
    assert [e.turn for e in transcript.children["t"].events] == [1, 1]


def test_a_sub_agent_in_a_file_of_its_own_is_found_by_its_path():
    ref = {"source_call_id": "c", "subagent_trajectory_ref": [{"trajectory_path": "1.json"}]}
    outer = trajectory(step(1, tool_calls=[call("c", "agent", task="p")], observation={"results": [ref]}))
    inner = {**trajectory(step(1, message="r")), "session_id": "child"}
    transcript = read(outer, inner)
    assert (transcript.sessions, list(transcript.children)) == (("s",), ["child"])
    assert calls(transcript)[0].spawn.child == "child"


def test_trajectories_that_refer_to_each_other_are_tolerated():
    def one(name, other):
        ref = {"source_call_id": "c", "subagent_trajectory_ref": [{"trajectory_id": other}]}
        steps = step(1, tool_calls=[call("c", "agent", task="p")], observation={"results": [ref]})
        return {**trajectory(steps), "trajectory_id": name}

    assert sum(len(calls(t)) for t in read(one("a", "b"), one("b", "a")).walk()) == 2
    assert len(list(read(one("a", "a")).walk())) == 1


def test_cached_tokens_are_taken_out_of_the_prompts():
    metrics = {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 3, "cost_usd": 0.5}
    assert read(trajectory(step(1, message="a", metrics=metrics))).usage == Usage(6, 3, 4, None, 0.5)
    totals = {"total_prompt_tokens": 10, "total_completion_tokens": 3}
    assert read(trajectory(step(1, message="a"), final_metrics=totals)).usage == Usage(10, 3)


def test_copied_context_is_left_out():
    transcript = read(trajectory(step(1, "user", "old", is_copied_context=True), step(2, "user", "new")))
    assert [(e.text, e.turn) for e in transcript.events] == [("new", 1)]


def test_an_error_and_an_end_are_taken_from_extra():
    transcript = read(trajectory(step(1, message="a"), extra={"error": "429", "end_reason": "done"}))
    assert (transcript.end, transcript.error_kind) == (EndReason.ERROR, "rate-limit")
    assert read(trajectory(extra={"end_reason": "cut"})).end is EndReason.CUT


def test_parts_of_a_message_are_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "image", "source": {}}, {"type": "text", "text": "b"}]
    assert read(trajectory(step(1, message=parts))).events[0].text == "a\nb"


@pytest.mark.parametrize(
    ("data", "line"), [(b'{\n"a": ', 2), (b"[]", 0), (b'{"schema_version": "ATIF-v2.0", "steps": []}', 0), (b"\xff", 0)]
)
def test_what_is_no_trajectory_is_refused(data, line):
    with pytest.raises(ReadError) as caught:
        atif.read({"a.json": data}, "/w", agent="x")
    assert caught.value.line == line


def test_tool_calls_are_counted_in_documents_that_are_written_anew(tmp_path):
    count = atif.Counter(Growing((tmp_path,)))
    assert count() == 0
    for number in (1, 3):
        made = [call(str(n), "x") for n in range(number)]
        (tmp_path / "a.json").write_text(json.dumps(trajectory(step(1, tool_calls=made))))
        assert count() == number


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
KEYS = ("source", "message", "tool_calls", "observation", "metrics", "step_id", "model_name")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3), max_size=3), st.dictionaries(st.sampled_from(
    ("agent", "extra", "final_metrics", "subagent_trajectories", "session_id")), JSON, max_size=2))  # fmt: skip
def test_documents_of_any_shape_give_a_transcript(changes, more):
    steps = [step(1, tool_calls=[call("c", "read", path="a")]) | change for change in changes]
    assert read({**trajectory(*steps), **more}).agent == "x"
