"""codex's rollouts as they were recorded, trimmed, as Transcripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded import files_of

from evalrepo.agents import codex
from evalrepo.agents.base import Growing, ReadError
from evalrepo.agents.codex.faults import fault
from evalrepo.records.config import Agent
from evalrepo.records.transcript import Call, EndReason, Prompt, Result, Said, Transcript, Usage
from tests.telling import rest

PREFIX = "codex-0.171.0-"
AGENT = Agent.model_validate({"tiers": {"any": {"model": "gpt-5.5"}}})
USUAL = Transcript("codex", "0.171.0", end=EndReason.DONE, loaded=("skill imagegen",))
SHOWN = 60


def recorded(case: str) -> dict[str, bytes]:
    """The files of a recording, main session first."""
    return dict(sorted(files_of(PREFIX, case).items(), key=lambda file: ("main" not in file[0], file[0])))


def read(files: dict[str, bytes]) -> Transcript:
    return codex.read(AGENT, files, "/srv/project")


def lines(transcript: Transcript) -> list[str]:
    """The events, one a line: turn, who, what. Ids are given by their order."""
    ids = {call.id: number for number, call in enumerate(e for e in transcript.events if isinstance(e, Call))}
    return [_line(event, ids) for event in transcript.events]


def _line(event: Prompt | Said | Call | Result, ids: dict[str, int]) -> str:
    if isinstance(event, Call):
        canonical = " ".join(f"{name}={value!r}" for name, value in event.canonical.items())
        return f"{event.turn} {event.at.line:>2} {event.by} calls {ids[event.id]} {event.tool}/{event.kind} {canonical}".strip()
    if isinstance(event, Result):
        ok = "ok" if event.ok else "not ok"
        return f"{event.turn} {event.at.line:>2} result {ids[event.call]} {ok} {event.exit_code} {event.text[:SHOWN]!r}"
    kind = "said" if isinstance(event, Said) else "told" if event.synthetic else "prompt"
    return f"{event.turn} {event.at.line:>2} {kind} {event.text[:SHOWN]!r}"


def facts(transcript: Transcript) -> dict[str, Any]:
    """All but events and children; what is as usual is left out."""
    return rest(transcript, USUAL)


def spawns(transcript: Transcript) -> list[tuple[Any, ...]]:
    """Agent, requested, resolved and served model of each spawn, and whether it succeeded."""
    calls = [event for event in transcript.events if isinstance(event, Call) and event.spawn is not None]
    return [(c.spawn.agent, c.spawn.requested, c.spawn.resolved, c.spawn.served, c.ok) for c in calls if c.spawn]


def test_calls_are_told_by_their_items_in_the_order_that_the_model_saw():
    found = read(recorded("tools"))
    assert facts(found) == {"models": ("gpt-5.5",), "usage": Usage(511, 47, 5000, 0, None, 13, 0)}
    assert lines(found) == [
        "1  9 prompt 'Look after it.'",
        "1 10 said 'Three at once.'",
        "1 12 main calls 0 exec_command/read path='README.md' command='cat README.md'",
        "1 13 main calls 1 exec_command/search pattern='hello' path='.' command='grep -rn hello .'",
        "1 14 main calls 2 exec_command/shell command='sleep 0.3; echo late; exit 4'",
        "1 18 result 0 ok 0 'hello world\\n'",
        "1 19 result 1 ok 0 './README.md:1:hello world\\n'",
        "1 21 result 2 not ok 4 'late\\n'",
        "1 23 main calls 3 exec_command/shell command='cat README.md | wc -l'",
        "1 24 main calls 4 exec_command/shell command='cat README.md; rm -f foo'",
        "1 25 main calls 5 view_image/read path='pic.png'",
        "1 26 main calls 6 no_such/",
        "1 27 main calls 7 apply_patch/write path='new/a.md' content='one\\ntwo\\n'",
        "1 27 main calls 8 apply_patch/edit path='README.md' old='hello world\\n' new='bye world\\n'",
        "1 27 main calls 9 apply_patch/edit path='del.txt' new=''",
        "1 28 main calls 10 apply_patch/edit path='gone.md' old='a\\n' new='b\\n'",
        "1 29 main calls 11 exec_command/write path='shell.txt' content='q\\n'",
        "1 31 main calls 12 exec_command/shell command='sleep 30'",
        "1 34 result 3 ok 0 '1\\n'",
        "1 35 result 4 not ok None 'exec_command failed: CreateProcess { message: \"Rejected(\\\\\"`/'",
        "1 37 result 5 ok None ''",
        "1 38 result 6 not ok None 'unsupported call: no_such'",
        "1 39 result 7 ok None 'Success. Updated the following files:\\nA new/a.md\\nM README.md'",
        "1 39 result 8 ok None 'Success. Updated the following files:\\nA new/a.md\\nM README.md'",
        "1 39 result 9 ok None 'Success. Updated the following files:\\nA new/a.md\\nM README.md'",
        "1 40 result 10 not ok None 'apply_patch verification failed: Failed to read file to upda'",
        "1 42 result 11 ok None 'Success. Updated the following files:\\nA shell.txt\\n'",
        "1 43 result 12 not ok None ''",
        "1 45 said 'Done.'",
    ]


def test_what_scripts_of_code_mode_call_are_the_calls():
    found = read(recorded("code"))
    assert facts(found) == {"models": ("gpt-6-astra",), "usage": Usage(600, 120, 0, 0, None, 12, 0)}
    assert lines(found) == [
        "1 13 prompt 'Look after it.'",
        "1 14 said 'Go.'",
        "1 19 main calls 0 exec_command/read path='README.md' command='cat README.md'",
        "1 19 result 0 ok 0 'hello world\\n'",
        "1 20 main calls 1 exec_command/search pattern='hello' path='.' command='grep -rn hello .'",
        "1 20 result 1 ok 0 './README.md:1:hello world\\n'",
        "1 22 main calls 2 exec_command/shell command='echo out; exit 3'",
        "1 22 result 2 not ok 3 'out\\n'",
        "1 27 main calls 3 apply_patch/edit path='README.md' old='hello world\\n' new='goodbye\\n'",
        "1 27 main calls 4 apply_patch/write path='n/b.md' content='x\\n'",
        "1 27 result 3 ok None 'Success. Updated the following files:\\nA n/b.md\\nM README.md\\n'",
        "1 27 result 4 ok None 'Success. Updated the following files:\\nA n/b.md\\nM README.md\\n'",
        "1 30 main calls 5 exec/",
        "1 31 main calls 6 exec/",
        "1 32 main calls 7 exec/",
        "1 33 main calls 8 exec/",
        "1 34 main calls 9 exec/",
        "1 36 result 5 not ok None 'Script error:\\napply_patch verification failed: Failed to rea'",
        "1 37 result 6 not ok None \"Script error:\\nSyntaxError: Unexpected identifier 'error'\"",
        "1 38 result 7 not ok None 'Script error:\\nexec_command failed: CreateProcess { message: '",
        "1 39 result 8 ok None 'apply_patch clock__curr_time create_goal exec_command get_go'",
        '1 40 result 9 ok None \'{"goal":null,"remainingTokens":null,"completionBudgetReport"\'',
        "1 48 main calls 10 exec_command/shell command='sleep 1; echo quick'",
        "1 48 result 10 ok 0 'quick\\n'",
        "1 51 said 'end'",
        "1 56 main calls 11 exec_command/shell command='sleep 2; echo late'",
        "1 56 result 11 not ok None ''",
    ]


def test_hooks_skills_rules_and_roles_are_proven_and_a_spawn_answers_with_the_report():
    found = read(recorded("team"))
    assert facts(found) == {
        "loaded": (
            "skill as",
            "skill ps",
            "skill hh",
            "skill hs",
            "# AGENTS.md instructions for /srv/project\n\n<INSTRUCTIONS>\nAGENTS-HOME-MARK\n\n--- project-doc ---\n\nAGENTS-PROJECT-MARK\n\n</INSTRUCTIONS>",
            "HOOK-START-MARK",
            "HOOK-PROMPT-MARK",
            "agent reviewer",
        ),
        "models": ("gpt-5.5",),
        "usage": Usage(611, 67, 5000, 0, None, 6, 1),
    }
    assert lines(found) == [
        "1 10 prompt 'Look after it.'",
        "1 12 main calls 0 exec_command/shell command='echo forbidden'",
        "1 13 main calls 1 exec_command/skill skill='as' command='cat .agents/skills/as/SKILL.md'",
        "1 14 main calls 2 spawn_agent/spawn agent='reviewer' task='Task: review'",
        "1 15 main calls 3 spawn_agent/spawn agent='prole' task='Task: review'",
        "1 17 result 0 not ok None 'Command blocked by PreToolUse hook: HOOK-DENY. Command: echo'",
        "1 19 result 1 ok 0 '---\\nname: as\\ndescription: skill as does things\\n---\\n# as\\nBody'",
        "1 22 result 3 not ok None \"unknown agent_type 'prole'\"",
        "1 25 main calls 4 wait_agent/",
        "1 26 main calls 5 wait_agent/",
        "1 29 result 2 ok None 'The answer is 42.'",
        '1 29 result 4 ok None \'{"status":{"01a22a0d-3a9a-7b71-900e-e9b0782417ad":{"complete\'',
        "1 30 result 5 not ok None \"invalid agent id ${ID1}: Error(ParseChar { character: '$', i\"",
        '1 32 told \'<subagent_notification>\\n{"agent_path":"01a22a0d-3a9a-7b71-90\'',
        "1 33 said 'ok'",
    ]
    assert spawns(found) == [
        ("reviewer", None, "gpt-5.6-sol", ("gpt-5.6-sol",), True),
        ("prole", None, None, (), False),
    ]
    assert [(facts(child), lines(child)) for child in found.children.values()] == [
        (
            {
                "loaded": (
                    "ROLE-MARK be a reviewer",
                    "skill as",
                    "skill ps",
                    "skill hh",
                    "skill hs",
                    "# AGENTS.md instructions for /srv/project\n\n<INSTRUCTIONS>\nAGENTS-HOME-MARK\n\n--- project-doc ---\n\nAGENTS-PROJECT-MARK\n\n</INSTRUCTIONS>",
                    "HOOK-PROMPT-MARK",
                ),
                "models": ("gpt-5.6-sol",),
                "usage": Usage(311, 7, 5000, 0, None, 0, 0),
            },
            [
                "1 11 prompt 'Task: review'",
                "1 13 said 'The answer is 42.'",
            ],
        ),
    ]


def test_a_sub_agent_that_inherits_its_parents_words_has_only_its_own_calls():
    found = read(recorded("paths"))
    assert facts(found) == {"models": ("gpt-6-astra",), "usage": Usage(922, 74, 10000, 0, None, 5, 2)}
    assert lines(found) == [
        "1 13 prompt 'Look after it.'",
        "1 14 main calls 0 spawn_agent/spawn agent='a' task='q'",
        "1 15 main calls 1 spawn_agent/spawn agent='explorer' task='Task: q'",
        "1 16 main calls 2 spawn_agent/spawn agent='b' task='Task: q'",
        "1 17 main calls 3 spawn_agent/spawn agent='cc' task='Task: q'",
        "1 19 result 0 not ok None 'Reasoning effort `nosuch` is not supported for model `gpt-6-'",
        "1 22 result 2 not ok None 'agent path `/root/b` already exists'",
        "1 28 told 'The answer is 42.'",
        "1 28 result 1 ok None 'The answer is 42.'",
        "1 30 main calls 4 wait_agent/",
        '1 34 result 4 ok None \'{"message":"Wait completed.","timed_out":false}\'',
        "1 37 told 'The answer is 42.'",
        "1 37 result 3 ok None 'The answer is 42.'",
        "1 38 said 'end'",
    ]
    assert spawns(found) == [
        ("a", None, None, (), False),
        ("explorer", None, "gpt-6-astra", ("gpt-6-astra",), True),
        ("b", None, None, (), False),
        ("cc", None, "gpt-6-astra", ("gpt-6-astra",), True),
    ]
    assert [(facts(child), lines(child)) for child in found.children.values()] == [
        (
            {"models": ("gpt-6-astra",), "usage": Usage(311, 7, 5000, 0, None, 0, 0)},
            [
                "1 13 prompt 'Task: q'",
                "1 14 said 'The answer is 42.'",
            ],
        ),
        (
            {"loaded": (), "models": ("gpt-6-astra",), "usage": Usage(311, 7, 5000, 0, None, 0, 0)},
            [
                "1 30 prompt 'Task: q'",
                "1 31 said 'The answer is 42.'",
            ],
        ),
    ]


def test_a_sub_agent_that_ended_with_its_parent_leaves_its_spawn_without_a_result():
    found = read(recorded("left"))
    assert facts(found) == {"models": ("gpt-5.6-luna",), "usage": Usage(700, 140, 0, 0, None, 5, 1)}
    assert lines(found) == [
        "1 11 prompt 'Look after it.'",
        "1 14 main calls 0 spawn_agent/spawn task='Task: child one'",
        "1 18 main calls 1 spawn_agent/spawn task='Task: child two'",
        "1 26 main calls 2 wait_agent/",
        "1 26 result 0 ok None 'child report: readme says hello'",
        "1 26 result 2 ok None ''",
        '1 29 told \'<subagent_notification>\\n{"agent_path":"01a22a0d-edc9-7f22-a3\'',
        "1 30 said 'end'",
    ]
    assert spawns(found) == [
        ("", None, "gpt-5.6-luna", ("gpt-5.6-luna",), True),
        ("", None, "gpt-5.6-luna", ("gpt-5.6-luna",), False),
    ]
    assert [(facts(child), lines(child)) for child in found.children.values()] == [
        (
            {"models": ("gpt-5.6-luna",), "usage": Usage(200, 40, 0, 0, None, 1, 0)},
            [
                "1 11 prompt 'Task: child one'",
                "1 12 said 'c'",
                "1 16 default calls 0 exec_command/read path='README.md' command='cat README.md'",
                "1 16 result 0 ok 0 'hello world\\n'",
                "1 19 said 'child report: readme says hello'",
            ],
        ),
        (
            {"end": EndReason.CUT, "models": ("gpt-5.6-luna",), "usage": Usage(100, 20, 0, 0, None, 1, 0)},
            [
                "1 11 prompt 'Task: child two'",
                "1 12 said 'c'",
                "1 16 default calls 0 exec_command/read path='README.md' command='cat README.md'",
                "1 16 result 0 ok 0 'hello world\\n'",
                "1 19 told '<turn_aborted>\\nThe user interrupted the previous turn on pur'",
            ],
        ),
    ]


def test_turns_go_on_after_an_interrupt_and_a_model_that_answered_for_another_is_named():
    found = read(recorded("turns"))
    assert facts(found) == {"models": ("gpt-5.5", "other-model"), "usage": Usage(200, 40, 0, 0, None, 1, 0)}
    assert lines(found) == [
        "1  9 prompt 'Look after it.'",
        "1 10 said 'Started.'",
        "1 12 main calls 0 exec_command/shell command=\"python3 -c 'import time; time.sleep(100)'\"",
        "1 14 result 0 not ok None 'aborted by user'",
        "1 16 told '<turn_aborted>\\nThe user interrupted the previous turn on pur'",
        "2 23 prompt 'Go on.'",
        "2 24 said 'hello'",
    ]


def test_a_summary_that_takes_the_place_of_what_was_said_is_told():
    found = read(recorded("compacted"))
    assert facts(found) == {"end": EndReason.CUT, "models": ("gpt-5.5",), "usage": Usage(400, 80, 0, 0, None, 4, 0)}
    assert lines(found) == [
        "1  9 prompt 'Look after it.'",
        "1 10 main calls 0 exec_command/read path='README.md' command='cat README.md'",
        "1 13 result 0 ok 0 'hello world\\n'",
        "1 16 main calls 1 apply_patch/edit path='README.md' old='hello world\\n' new='goodbye world\\n'",
        "1 19 told 'A summary of what was done.'",
        "1 25 main calls 2 exec_command/read path='README.md' command='cat README.md'",
        "1 28 result 2 ok 0 'hello world\\n'",
        "1 31 main calls 3 apply_patch/edit path='README.md' old='hello world\\n' new='goodbye world\\n'",
    ]


def test_what_the_cli_refused_for_want_of_a_permission_is_denied():
    found = read(recorded("denied"))
    assert facts(found) == {
        "denied": ("apply_patch",),
        "models": ("gpt-5.5",),
        "usage": Usage(200, 40, 0, 0, None, 2, 0),
    }
    assert lines(found) == [
        "1  9 prompt 'Look after it.'",
        "1 10 main calls 0 apply_patch/edit path='README.md' old='hello world\\n' new='bye\\n'",
        "1 11 main calls 1 exec_command/shell command='echo x > y'",
        "1 13 result 0 not ok None 'patch rejected: writing is blocked by read-only sandbox; rej'",
        "1 15 result 1 not ok 1 '/bin/bash: line 1: y: Read-only file system\\n'",
        "1 17 said 'It was refused.'",
    ]


@pytest.mark.parametrize(
    ("case", "kind", "says"),
    [
        ("refused-key", "auth", "unexpected status 401"),
        ("no-key", "auth", "Missing environment variable: `CODEX_API_KEY`"),
        ("server-error", "network", "high demand"),
        ("rate-limit", "rate-limit", "Rate limit reached"),
        ("too-long", "limit", "does not fit into the model's context"),
        ("cut-stream", "truncated", "stream disconnected before completion"),
    ],
)
def test_an_error_at_the_end_has_its_kind(case: str, kind: str, says: str):
    found = read(recorded(case))
    assert (found.end, found.error_kind) == (EndReason.ERROR, kind)
    assert says in found.error_message


@pytest.mark.parametrize(
    ("info", "message", "kind", "says"),
    [
        ({"http_connection_failed": {"http_status_code": 404}}, "Not Found", "agent", "correct the tier's `model`"),
        ({"http_connection_failed": {"http_status_code": 503}}, "Unavailable", "network", "try again later"),
        ({"http_connection_failed": {"http_status_code": None}}, "Connection failed", "network", "try again later"),
        ({"response_too_many_failed_attempts": {"http_status_code": 429}}, "Too Many", "rate-limit", "--jobs"),
        ("usage_limit_exceeded", "Quota exceeded.", "rate-limit", "Quota exceeded. (the vendor refuses more requests"),
        ("server_overloaded", "At capacity.", "rate-limit", "At capacity."),
        ("unauthorized", "Your refresh token has expired.", "auth", "log in again"),
        ({"http_connection_failed": {"http_status_code": 400}}, "No 500 tokens.", "agent", "No 500 tokens."),
        ("other", '{"error": {"message": "No such parameter."}}', "agent", "No such parameter."),
        ("other", "workspace routing discovery failed", "network", "try again later"),
        ("a_new_one", "Something else.", "agent", "Something else."),
        (None, "", "agent", "says nothing about the error"),
    ],
)
def test_every_error_has_a_kind_and_says_what_to_do(info: Any, message: str, kind: str, says: str):
    found, told = fault({"message": message, "codex_error_info": info})
    assert found == kind
    assert says in told


def test_a_broken_last_line_is_a_cut_and_a_broken_line_before_it_an_error():
    [(name, data)] = recorded("denied").items()
    torn = read({name: data[:-20]})
    assert (torn.truncated, torn.end) == (True, EndReason.CUT)
    rows = data.split(b"\n")
    rows[4] = b'{"half'
    with pytest.raises(ReadError, match=r"main\.jsonl:5: not JSON"):
        read({name: b"\n".join(rows)})


def test_rows_that_are_not_known_are_counted():
    [(name, data)] = recorded("denied").items()
    new = [
        {"type": "a_new_row", "payload": {}},
        {"type": "event_msg", "payload": {"type": "a_new_event"}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "NewItem"}}},
        {"type": "response_item", "payload": {"type": "new_response"}},
        {"type": "response_item", "payload": None},
        {"type": 7},
    ]
    extra = b"".join(json.dumps(row).encode() + b"\n" for row in new)
    assert read({name: data + b"\n" + extra}).unknown == {
        "a_new_row": 1,
        "event_msg a_new_event": 1,
        "item NewItem": 1,
        "response_item new_response": 1,
        "response_item ": 1,
        "": 1,
    }


def test_nothing_at_all_is_an_empty_transcript():
    found = read({})
    assert (found.empty, found.sessions, found.end) == (True, (), EndReason.UNKNOWN)


def test_a_task_that_the_vendor_keeps_secret_is_not_known():
    files = recorded("paths")
    secret = "gAAAAA" + "Bq-_" * 20
    hidden = {name: data.replace(b"Task: q", secret.encode()) for name, data in files.items()}
    found = read(hidden)
    calls = [event for event in found.events if isinstance(event, Call) and event.spawn is not None]
    assert [call.spawn.task for call in calls if call.spawn] == ["q", "", "", ""]
    assert [e.text for c in found.children.values() for e in c.events if isinstance(e, Prompt)] == ["", ""]


@pytest.mark.parametrize(("case", "calls"), [("tools", 11), ("code", 11), ("team", 6), ("paths", 5)])
def test_calls_are_counted_once_while_the_log_grows(tmp_path: Path, case: str, calls: int):
    counted = codex.counter(AGENT, Growing((tmp_path,)))
    for name, data in recorded(case).items():
        path = tmp_path / name
        path.write_bytes(data[:2000])
        counted()
        path.write_bytes(data)
    assert counted() == calls
