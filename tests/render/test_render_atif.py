"""Transcripts as ATIF documents: valid by the format's own models, and read back as they were."""

from __future__ import annotations

import dataclasses
import json

import pytest
from atif import Trajectory
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.agents import atif, native
from evalrepo.records.transcript import At, Call, EndReason, Prompt, Result, Said, Spawn, Transcript, Usage
from evalrepo.render.atif import About, trajectory

AT = At("s.jsonl", 7)


def transcript(*rows: dict, **files: list[dict]) -> Transcript:
    """What the reader makes of these rows; more files are sub-agents'."""
    head = {"type": "session", "format": 1, "session": "s", "version": "2", "cwd": "/w"}
    data = {"s.jsonl": _lines([head, *rows]), **{f"{n}.jsonl": _lines(r) for n, r in files.items()}}
    return native.read(data, "/w", agent="x")


def _lines(rows: list[dict]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def prompt(text="Do.", **more):
    return {"type": "prompt", "text": text, **more}


def said(text, **more):
    return {"type": "assistant", "text": text, "model": "m", **more}


def call(ident, tool="read", **args):
    return {"type": "tool_call", "id": ident, "tool": tool, "args": args}


def answer(ident, text="", **more):
    return {"type": "tool_result", "id": ident, "text": text, **more}


def child(key, ident, name="helper", parent="s"):
    return {"type": "session", "session": key, "parent": parent, "call": ident, "name": name, "version": "2"}


def end(reason="done"):
    return {"type": "end", "reason": reason}


def document(given: Transcript, about: About | None = None) -> dict:
    """The JSON that is written, checked by the format's models and by its rule that a result is its call's step's."""
    made = json.loads(json.dumps(trajectory(given, about) if about else trajectory(given), indent=1))
    Trajectory.model_validate(made)
    assert made["schema_version"] == "ATIF-v1.8"
    ids = [one["trajectory_id"] for one in _within(made)]
    assert len(ids) == len(set(ids))
    for one in (made, *_within(made)):
        assert one["steps"]
        for step in one["steps"]:
            calls = {c["tool_call_id"] for c in step.get("tool_calls", ())}
            results = step.get("observation", {"results": []})["results"]
            assert {r["source_call_id"] for r in results if "source_call_id" in r} <= calls
            refs = [ref["trajectory_id"] for r in results for ref in r.get("subagent_trajectory_ref", ())]
            assert set(refs) <= {inner["trajectory_id"] for inner in one.get("subagent_trajectories", ())}
    return made


def _within(made: dict) -> list[dict]:
    inner = made.get("subagent_trajectories", [])
    return [*inner, *(below for one in inner for below in _within(one))]


def again(given: Transcript) -> Transcript:
    """Read back by our own reader of ATIF."""
    data = json.dumps(document(given)).encode()
    return atif.read({"s.jsonl": data}, "/w", agent=given.agent)


def bare(one: Transcript) -> Transcript:
    """Without what ATIF cannot hold: places in the log, rows that the reader did not know."""
    events = tuple(_bare_event(event) for event in one.events)
    children = {key: bare(inner) for key, inner in one.children.items()}
    return dataclasses.replace(one, events=events, children=children, unknown={})


def _bare_event(event):
    if isinstance(event, Call):
        return dataclasses.replace(event, at=AT, result=_bare_event(event.result) if event.result else None)
    return dataclasses.replace(event, at=AT)


def test_a_text_its_calls_and_their_results_are_one_step():
    given = transcript(
        prompt("Mend it."),
        said("First a look.", usage={"input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 30, "cost_usd": 0.5}),
        call("1", path="a.py"),
        call("2", "bash", command="make"),
        answer("1", "text"),
        answer("2", "boom", ok=False, exit_code=2),
        said("Mended."),
        end(),
    )
    made = document(given, About("RUN/S1/1", "asked-for", {"verdict": "PASS"}))
    assert made["steps"] == [
        {
            "step_id": 1,
            "source": "user",
            "message": "Mend it.",
            "extra": {"turn": 1, "raw_ref": "s.jsonl:2"},
        },
        {
            "step_id": 2,
            "source": "agent",
            "message": "First a look.",
            "extra": {"turn": 1, "raw_ref": "s.jsonl:3"},
            "tool_calls": [
                {
                    "tool_call_id": "1",
                    "function_name": "read",
                    "arguments": {"path": "a.py"},
                    "extra": {"kind": "read", "raw_ref": "s.jsonl:4"},
                },
                {
                    "tool_call_id": "2",
                    "function_name": "bash",
                    "arguments": {"command": "make"},
                    "extra": {"raw_ref": "s.jsonl:5"},
                },
            ],
            "observation": {
                "results": [
                    {"source_call_id": "1", "content": "text", "extra": {"raw_ref": "s.jsonl:6"}},
                    {
                        "source_call_id": "2",
                        "content": "boom",
                        "extra": {"is_error": True, "exit_code": 2, "raw_ref": "s.jsonl:7"},
                    },
                ]
            },
        },
        {
            "step_id": 3,
            "source": "agent",
            "message": "Mended.",
            "extra": {"turn": 1, "raw_ref": "s.jsonl:8"},
        },
    ]
    assert (made["trajectory_id"], made["session_id"]) == ("RUN/S1/1", "s")
    assert made["agent"] == {"name": "x", "version": "2", "model_name": "m"}
    assert made["extra"] == {
        "requested_model": "asked-for",
        "verdict": "PASS",
        "end_reason": "done",
        "cli": "x",
        "sessions": ["s"],
        "models": ["m"],
    }
    final = made["final_metrics"]
    assert final.pop("extra")["with_subagents"]["tool_calls"] == 2
    assert final == {
        "total_prompt_tokens": 40,
        "total_completion_tokens": 2,
        "total_cached_tokens": 30,
        "total_cost_usd": 0.5,
        "total_steps": 3,
    }


def test_a_result_that_comes_later_is_a_step_of_its_own():
    given = transcript(prompt(), call("1", "spawn", task="t"), said("Meanwhile."), answer("1", "done at last"), end())
    late = document(given)["steps"][3]
    assert (late["source"], late["message"]) == ("system", "")
    assert late["observation"]["results"] == [
        {"content": "done at last", "extra": {"call": "1", "raw_ref": "s.jsonl:5"}}
    ]
    assert bare(again(given)) == bare(given)


def test_sub_agents_are_inside_with_their_own_usage_and_their_three_models():
    usage = {"input_tokens": 5, "output_tokens": 1, "cache_write_tokens": 4, "cost_usd": 0.25}
    given = transcript(
        prompt(),
        said("", usage={"input_tokens": 7, "output_tokens": 3, "cache_write_tokens": 1, "cost_usd": 0.5}),
        call("1", "spawn", agent="reader", task="look", model="small"),
        answer("1", "seen", spawn={"resolved": "small-2", "child": "k1"}),
        call("2", "spawn", agent="reader", task="again"),
        end(),
        a=[child("k1", "1"), prompt("look"), {**said("seen", usage=usage), "model": "small-2b"}, end()],
        b=[child("k2", "9", parent="k1"), prompt("deeper"), said("deep", usage=usage), end()],
        c=[child("k3", "2"), prompt("again"), said("hm", usage=usage), end("cut")],
    )
    made = document(given)
    first = made["steps"][1]
    assert first["tool_calls"][0]["extra"] == {
        "kind": "spawn",
        "agent": "reader",
        "requested_model": "small",
        "resolved_model": "small-2",
        "served_models": ["small-2b"],
        "raw_ref": "s.jsonl:4",
    }
    assert first["observation"]["results"][0]["subagent_trajectory_ref"] == [{"trajectory_id": "k1"}]
    unanswered = made["steps"][2]["observation"]["results"]
    assert unanswered == [
        {
            "source_call_id": "2",
            "subagent_trajectory_ref": [{"trajectory_id": "k3"}],
            "extra": {"unanswered": True},
        }
    ]
    inner, cut = made["subagent_trajectories"]
    assert (inner["agent"]["model_name"], cut["extra"]["end_reason"]) == ("small-2b", "cut")
    assert [one["trajectory_id"] for one in inner["subagent_trajectories"]] == ["k2"]
    assert made["final_metrics"]["total_cost_usd"] == 0.5
    assert made["final_metrics"]["total_prompt_tokens"] == 8
    assert made["final_metrics"]["extra"]["with_subagents"]["cost_usd"] == 1.25
    assert bare(again(given)) == bare(given)


def test_turns_background_news_and_an_error_at_the_end_come_back():
    given = transcript(
        {"type": "loaded", "files": ["GUIDE.md"]},
        prompt("One."),
        call("1", "spawn", task="t"),
        answer("1", "started", spawn={"child": "k1", "background": True}),
        said("Wait."),
        prompt("<task 1 is done>", synthetic=True, call="1"),
        said("Both."),
        prompt("Two."),
        call("1", path="b"),
        answer("1", "b"),
        {"type": "error", "kind": "rate_limit", "message": "429: slow down"},
        k=[child("k1", "1"), prompt("t"), said("done"), end()],
    )
    made = document(given)
    assert made["extra"]["error"] == {"kind": "rate-limit", "message": "429: slow down"}
    assert made["extra"]["loaded"] == ["GUIDE.md"]
    assert [s["extra"].get("synthetic") for s in made["steps"] if s["source"] == "user"] == [None, True, None]
    back = again(given)
    assert bare(back) == bare(given)
    assert [e.turn for e in back.events if isinstance(e, Prompt)] == [1, 1, 2]
    assert (back.end, back.error_kind) == (EndReason.ERROR, "rate-limit")


def test_an_empty_transcript_is_a_document_with_one_step():
    made = document(Transcript("x"))
    assert made["steps"] == [{"step_id": 1, "source": "system", "message": "", "extra": {"empty": True}}]
    assert bare(again(Transcript("x"))).empty


def test_what_no_json_can_hold_is_replaced():
    deep: list = []
    for _ in range(500):
        deep = [deep]
    args = {"a\ud800": float("nan"), "b": (1, float("inf")), 3: deep, "o": object()}
    made = document(Transcript("x", events=(Call("\udfff", "t", "", args, {}, 1, AT),)))  # type: ignore[arg-type]
    (one,) = made["steps"][0]["tool_calls"]
    assert one["tool_call_id"] == "\ufffd"
    assert (one["arguments"]["a\ufffd"], one["arguments"]["b"]) == (None, [1, None])


def test_an_amount_that_sub_agents_exceed_is_left_out():
    inner = Transcript("x", usage=Usage(cost_usd=2.0, input_tokens=5))
    made = document(Transcript("x", children={"k": inner}, usage=Usage(cost_usd=1.0, input_tokens=5)))
    assert "total_cost_usd" not in made["final_metrics"]
    assert made["final_metrics"]["total_prompt_tokens"] == 0


texts = st.text(max_size=6)
idents = st.sampled_from(["1", "2", "3", ""])
places = st.just(AT)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts, lambda s: st.lists(s, max_size=2)
)
results = st.builds(
    Result, idents, st.booleans(), texts, st.just(0), st.integers(1, 3), places, st.none() | st.integers()
)
spawns = st.builds(Spawn, texts, texts, st.none() | texts, st.none() | texts, st.tuples(texts), idents)
made_calls = st.builds(
    Call, idents, texts, texts, st.dictionaries(texts, values, max_size=2), st.just({}), st.integers(1, 3), places,
    texts, st.none() | results, st.none() | spawns,
)  # fmt: skip
made_events = (
    st.builds(Prompt, texts, st.integers(1, 3), places, st.booleans())
    | st.builds(Said, texts, st.integers(1, 3), places)
    | made_calls
    | results
)
usages = st.builds(Usage, *[st.none() | st.integers(-1, 9)] * 4, st.none() | st.floats())


def made_transcripts(children):
    return st.builds(
        Transcript, texts, texts, st.lists(texts, max_size=2).map(tuple), st.lists(made_events, max_size=8).map(tuple),
        children, st.lists(texts, max_size=2).map(tuple), usages, st.sampled_from(list(EndReason)), texts, texts,
        st.booleans(), st.tuples(texts), st.tuples(texts), st.dictionaries(texts, st.integers(), max_size=1),
    )  # fmt: skip


hostile = st.recursive(
    made_transcripts(st.just({})),
    lambda inner: made_transcripts(st.dictionaries(idents, inner, max_size=2)),
    max_leaves=4,
)


@settings(max_examples=30, deadline=None)
@given(hostile)
def test_whatever_a_transcript_holds_the_document_is_valid(given_transcript):
    made = document(given_transcript, About("1", "m", {"x": float("nan")}))
    assert made["trajectory_id"] == "1"


kinds = st.sampled_from(["prompt", "news", "said", "call", "spawn", "answer", "failed"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(kinds, st.sampled_from(["1", "2", "3"])), max_size=12), st.lists(st.sampled_from("123")))
def test_what_our_reader_made_comes_back_through_the_document(steps, started):
    rows, turn = [prompt("p")], 1
    for kind, number in steps:
        turn += kind == "prompt"
        ident = f"{turn}.{number}"
        rows.append(
            {
                "prompt": prompt(f"p{ident}"),
                "news": prompt(f"n{ident}", synthetic=True),
                "said": said(f"t{ident}", usage={"input_tokens": 3, "output_tokens": 1, "cost_usd": 0.5}),
                "call": call(ident, path=ident),
                "spawn": call(ident, "spawn", task=ident, model="m1"),
                "answer": answer(ident, "r", spawn={"child": f"k{ident}"}),
                "failed": answer(ident, "no", ok=False, exit_code=1),
            }[kind]
        )
    files = {f"c{n}": [child(f"k1.{n}", f"1.{n}"), prompt("t"), said("r"), end()] for n in dict.fromkeys(started)}
    given_transcript = transcript(*rows, end(), **files)
    assert _counted(bare(again(given_transcript))) == _counted(bare(given_transcript))


def _counted(one: Transcript) -> Transcript:
    """A sub-agent whose turn the log does not say takes that of its call: the order of the children is not told."""
    return dataclasses.replace(one, children=dict(sorted(one.children.items())))


@pytest.mark.parametrize("reason", list(EndReason))
def test_the_end_is_told(reason):
    made = document(Transcript("x", end=reason))
    assert made["extra"]["end_reason"] == str(reason)
