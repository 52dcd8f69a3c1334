"""The reader of our own log format: complete, tolerant at the end, strict before it, linear."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.agents import native
from evalrepo.agents.base import ReadError
from evalrepo.records.transcript import At, Call, EndReason, Prompt, Result, Transcript, Usage

SESSION = {"type": "session", "format": 1, "session": "s", "version": "2", "cwd": "/w", "home": "/h"}
PROMPT = {"type": "prompt", "text": "p"}
CALL = {"type": "tool_call", "id": "1", "tool": "read", "args": {"path": "a"}, "model": "m"}
RESULT = {"type": "tool_result", "id": "1", "ok": True, "text": "t"}
END = {"type": "end", "reason": "done"}


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(*rows, work="/w", **more) -> Transcript:
    return native.read({"s.jsonl": lines(*rows), **more}, work, agent="x")


def calls(transcript):
    return [event for event in transcript.events if isinstance(event, Call)]


def child(key, parent="s", call="1", **more):
    return {"type": "session", "session": key, "parent": parent, "call": call, **more}


def spawn(ident, key="", **facts):
    call = {"type": "tool_call", "id": ident, "tool": "spawn", "args": {"task": "t"}}
    return call, {"type": "tool_result", "id": ident, "text": "r", "spawn": {"child": key, **facts}}


def test_a_call_and_its_result_are_joined_and_stand_in_order():
    transcript = read(SESSION, PROMPT, CALL, RESULT, END)
    result = Result("1", True, "t", 1, 1, At("s.jsonl", 4))
    call = Call("1", "read", "read", {"path": "a"}, {"path": "a"}, 1, At("s.jsonl", 3), "main", result)
    assert transcript == Transcript(
        "x", "2", ("s",), (Prompt("p", 1, At("s.jsonl", 2)), call, result), models=("m",),
        usage=Usage(tool_calls=1), end=EndReason.DONE,
    )  # fmt: skip


def test_no_files_and_empty_files_are_an_empty_transcript():
    assert native.read({}, "/w", agent="x") == Transcript("x")
    assert native.read({"s.jsonl": b""}, "/w", agent="x").empty


@pytest.mark.parametrize(
    "tail", [b'{"type":"assist', b'{"type":"assistant","text":"\xc3', b"\0\0\0", b"[1, 2", b'{"a":1}}\n']
)
def test_a_broken_last_line_is_truncation(tail):
    transcript = native.read({"s.jsonl": lines(SESSION, PROMPT) + tail}, "/w", agent="x")
    assert transcript.truncated
    assert transcript.events == (Prompt("p", 1, At("s.jsonl", 2)),)


def test_a_last_line_that_only_lacks_its_newline_is_whole():
    transcript = native.read({"s.jsonl": lines(SESSION, PROMPT)[:-1]}, "/w", agent="x")
    assert (transcript.truncated, len(transcript.events)) == (False, 1)


@pytest.mark.parametrize(
    "middle", [b'{"type":', b"\xff", b"[1]", b"null", b"[" * 100_000, b'{"a":' + b"9" * 5000 + b"}"]
)
def test_a_broken_line_in_the_middle_is_refused_with_its_number(middle):
    with pytest.raises(ReadError) as caught:
        native.read({"s.jsonl": lines(SESSION) + middle + b"\n\n" + lines(PROMPT)}, "/w", agent="x")
    assert (caught.value.file, caught.value.line) == ("s.jsonl", 2)
    assert str(caught.value).startswith("s.jsonl:2: not ")


def test_a_newer_format_is_refused_in_a_sentence_of_its_own():
    with pytest.raises(ReadError, match=r"s\.jsonl:1: is of format 2; this version reads up to 1"):
        read({**SESSION, "format": 2})


def test_other_output_on_stdout_is_counted_and_not_an_error():
    data = b"Starting up\n" + lines(SESSION, PROMPT) + b"warning: [x]\n" + lines(END)
    transcript = native.read({"turn-1.out": data}, "/w", agent="x", noisy=True)
    assert (transcript.end, transcript.unknown, transcript.truncated) == (EndReason.DONE, {"text": 2}, False)


def test_unknown_rows_are_counted_by_type_and_skipped():
    transcript = read(SESSION, {"type": "mode"}, {"type": "mode"}, {"type": ["x"]}, {}, PROMPT)
    assert transcript.unknown == {"mode": 2, "['x']": 1, "None": 1}


def test_rows_that_come_twice_count_once():
    rows = [
        {**row, "seq": n, "usage": {"input_tokens": 5}} for n, row in enumerate((SESSION, PROMPT, CALL, RESULT, END))
    ]
    once, twice = read(*rows), read(*[row for row in rows for _ in (1, 2)])
    assert (len(calls(twice)), twice.usage, twice.unknown) == (1, once.usage, {})
    assert len(twice.events) == len(once.events) == 3


def test_calls_and_results_that_come_twice_without_a_number_are_counted_as_unknown():
    transcript = read(SESSION, PROMPT, CALL, CALL, RESULT, RESULT, {**RESULT, "id": "9"})
    assert len(transcript.events) == 3
    assert transcript.unknown == {"tool_call (again)": 1, "tool_result (again)": 1, "tool_result (no call)": 1}


def test_a_call_without_a_result_is_not_ok():
    assert not calls(read(SESSION, CALL))[0].ok


def test_an_exit_code_that_is_not_zero_is_not_ok():
    transcript = read(SESSION, CALL, {**RESULT, "exit_code": 2})
    assert (calls(transcript)[0].ok, calls(transcript)[0].result.exit_code) == (False, 2)


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("a/./b//c", "a/b/c"), ("/w/a", "a"), ("/w", "."), ("../x", "/x"), ("/w2/a", "/w2/a"), ("~/a", "/h/a"),
        ("sub/../a", "a"), (".env", ".env"), ("a/", "a"), ("/w/../w/a", "a"), ("~", "~"),
    ],
)  # fmt: skip
def test_paths_are_relative_to_the_sandbox(path, seen):
    assert calls(read(SESSION, {**CALL, "args": {"path": path}}))[0].canonical == {"path": seen}


def test_relative_paths_start_where_the_session_does():
    assert calls(read({**SESSION, "cwd": "/w/sub"}, CALL))[0].canonical == {"path": "sub/a"}


def test_a_foreign_tool_may_say_what_it_is():
    row = {**CALL, "tool": "Grab", "kind": "read", "args": {"f": "/w/a"}, "canonical": {"path": "/w/a", "odd": 1}}
    call = calls(read(SESSION, row))[0]
    assert (call.tool, call.kind, call.args, call.canonical) == ("Grab", "read", {"f": "/w/a"}, {"path": "a"})


def test_turns_are_counted_by_prompts_where_nothing_numbers_them():
    synthetic = {**PROMPT, "synthetic": True}
    transcript = read(SESSION, PROMPT, CALL, RESULT, synthetic, PROMPT, {"type": "assistant", "text": "x"})
    assert [e.turn for e in transcript.events] == [1, 1, 1, 1, 2, 2]


def test_sessions_are_ordered_by_their_turns_and_numbered_through():
    later = lines({**SESSION, "session": "a", "turn": 2}, PROMPT)
    transcript = native.read({"a": later, "b": lines({**SESSION, "turn": 1}, PROMPT, END)}, "/w", agent="x")
    assert transcript.sessions == ("s", "a")
    assert [e.turn for e in transcript.events] == [1, 2]
    unnumbered = native.read({"b": lines(SESSION, PROMPT), "a": lines(SESSION, PROMPT)}, "/w", agent="x")
    assert [(e.turn, e.at.file) for e in unnumbered.events] == [(1, "b"), (2, "a")]


def test_a_turn_whose_prompt_was_lost_keeps_its_number():
    said = {"type": "assistant", "text": "x"}
    transcript = native.read(
        {"a": lines({**SESSION, "turn": 1}, said), "b": lines({**SESSION, "turn": 2}, said)}, "/w", agent="x"
    )
    assert [e.turn for e in transcript.events] == [1, 2]


def test_a_child_is_found_by_its_call_or_by_the_calls_result():
    told, named = spawn("1"), spawn("2", "c2", resolved="r", requested="q")
    c1 = lines(child("c1"), {"type": "assistant", "text": "x", "model": "m1"})
    c2 = lines(child("c2", call=""), {"type": "assistant", "text": "x", "model": "m2"})
    transcript = read(SESSION, PROMPT, *told, *named, c1=c1, c2=c2)
    assert [(c.spawn.child, c.spawn.served) for c in calls(transcript)] == [("c1", ("m1",)), ("c2", ("m2",))]
    assert [(c.spawn.requested, c.spawn.resolved) for c in calls(transcript)] == [(None, None), ("q", "r")]
    assert transcript.children["c1"].events[0].turn == 1


def test_a_child_that_left_no_log_is_tolerated():
    call = calls(read(SESSION, *spawn("1", "gone", served="m")))[0]
    assert (call.spawn.child, call.spawn.served) == ("", ("m",))


def test_children_in_a_circle_hang_on_the_main_thread_once():
    a = lines(child("a", "b"), *spawn("1", "b"))
    b = lines(child("b", "a"), *spawn("1", "a"))
    transcript = read(SESSION, PROMPT, a=a, b=b)
    assert [len(list(t.walk())) for t in (transcript,)] == [3]
    assert transcript.usage.tool_calls == 2


def test_a_child_of_itself_is_one_child():
    assert list(read(SESSION, a=lines(child("a", "a"), *spawn("1", "a"))).children) == ["a"]


def test_very_deep_nesting_is_flattened():
    files = {f"c{n}": lines(child(f"c{n}", f"c{n - 1}" if n else "s"), *spawn("1")) for n in range(3000)}
    transcript = read(SESSION, *spawn("1"), **files)
    assert sum(1 for _ in transcript.walk()) == 3001
    assert transcript.usage.tool_calls == 3001


def test_usage_is_summed_over_children_and_unknown_stays_unknown():
    said = {"type": "assistant", "text": "x"}
    main = (SESSION, {**said, "usage": {"input_tokens": 1, "cost_usd": 0.5}}, *spawn("1", "c"))
    full = read(
        *main, c=lines(child("c"), {**said, "usage": {"input_tokens": 2, "cost_usd": 0.25, "output_tokens": 3}})
    )
    assert full.usage == Usage(3, 3, None, None, 0.75, 1, 1)
    silent = read(*main, c=lines(child("c"), said))
    assert (silent.usage.input_tokens, silent.usage.cost_usd) == (None, None)
    idle = read(*main, c=lines(child("c")))
    assert (idle.usage.input_tokens, idle.usage.cost_usd) == (1, 0.5)


@pytest.mark.parametrize("bad", [-1, True, "3", None, 1.5, [1]])
def test_numbers_that_are_not_sound_are_unknown(bad):
    assert read(SESSION, {**CALL, "usage": {"input_tokens": bad}}).usage.input_tokens is None


def test_an_infinite_cost_is_unknown():
    data = lines(SESSION) + b'{"type":"assistant","text":"x","usage":{"cost_usd":Infinity,"output_tokens":NaN}}\n'
    assert native.read({"s": data}, "/w", agent="x").usage == Usage()


def test_an_error_at_the_end_wins_over_a_cheerful_end_row():
    transcript = read(SESSION, PROMPT, {"type": "error", "message": "You've hit your limit"}, END)
    assert (transcript.end, transcript.error_kind) == (EndReason.ERROR, "rate-limit")


def test_an_error_that_the_agent_overcame_is_none():
    transcript = read(SESSION, PROMPT, {"type": "error", "message": "429"}, {"type": "assistant", "text": "ok"}, END)
    assert (transcript.end, transcript.error_kind, transcript.error_message) == (EndReason.DONE, "", "")


@pytest.mark.parametrize(
    ("kind", "message", "found"),
    [
        ("rate_limit", "", "rate-limit"), ("overloaded_error", "", "rate-limit"), ("", "API Error: 529", "rate-limit"),
        ("authentication_error", "", "auth"), ("", "Not logged in · Please run /login", "auth"),
        ("", "API Error: 500", "network"), ("", "Connection refused", "network"), ("", "dns ENOTFOUND h", "network"),
        ("", "Unknown command: /x:y", "not-loaded"), ("", "permission requested: bash; auto-rejecting", "permission"),
        ("idle", "", "idle"), ("odd", "odd", ""), ("", "line 14290 differs", ""),
    ],
)  # fmt: skip
def test_an_agents_words_for_an_error_have_a_kind(kind, message, found):
    assert read(SESSION, {"type": "error", "kind": kind, "message": message}).error_kind == found


def test_a_background_task_that_never_reported_is_truncation():
    call, result = spawn("1", background=True)
    assert read(SESSION, call, result, END).truncated
    assert not read(SESSION, call, result, {**PROMPT, "synthetic": True, "call": "1"}, END).truncated
    assert not read(SESSION, call, result).truncated


def test_lone_surrogates_are_replaced_wherever_they_are():
    bad = "a\ud83d"
    rows = [
        {**PROMPT, "text": bad},
        {**CALL, "args": {bad: [bad]}, "model": bad},
        {**RESULT, "text": bad},
        {"type": bad},
    ]
    transcript = read(SESSION, *rows)
    assert "�" in repr(transcript)
    repr(transcript).encode()
    assert calls(transcript)[0].result.size == 4


ROWS = [SESSION, PROMPT, CALL, RESULT, *spawn("2", "c"), {"type": "error", "message": "x"}, END]
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = sorted(
    {key for row in ROWS for key in row}
    | {"usage", "spawn", "parent", "call", "turn", "synthetic", "seq", "kind", "files"}
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_rows_of_any_shape_give_a_transcript(data):
    rows = data.draw(st.lists(st.sampled_from(ROWS), max_size=8))
    rows = [{**row, **data.draw(st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=2))} for row in rows]
    try:
        transcript = native.read({"a": lines(*rows), "b": lines(child("c", "s"), *rows)}, "/w", agent="x")
    except ReadError:
        assert any(row["type"] == "session" and row.get("format") != 1 for row in rows)
    else:
        assert transcript.usage.tool_calls == sum(len(calls(t)) for t in transcript.walk())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 600), st.binary(max_size=3), st.integers(0, 20))
def test_bytes_changed_anywhere_are_read_or_refused(at, new, cut):
    data = lines(*ROWS)
    data = data[:at] + new + data[at + cut :]
    line = 1
    try:
        native.read({"a": data}, "/w", agent="x")
    except ReadError as error:
        line = error.line
    assert 1 <= line <= data.count(b"\n") + 1


@settings(max_examples=50, deadline=None)
@given(st.permutations(ROWS))
def test_calls_are_as_many_in_any_order(rows):
    assert len(calls(read(*rows))) == 2


def test_a_hundred_thousand_rows_are_read_in_linear_time():
    def seconds(pairs):
        data = lines(
            SESSION, PROMPT, *(r for n in range(pairs) for r in ({**CALL, "id": str(n)}, {**RESULT, "id": str(n)}))
        )
        start = time.process_time()
        transcript = native.read({"s": data}, "/w", agent="x")
        assert transcript.usage.tool_calls == pairs
        return time.process_time() - start

    assert seconds(50_000) < 25 * max(seconds(5_000), 0.01)
