"""Recorded sessions of Claude Code as Transcripts, in full."""

from __future__ import annotations

import pytest
from claude_recorded import read, recorded, session, told

from evalrepo.agents.base import ReadError
from evalrepo.records.transcript import EndReason

TOOLS = r"""
1200+240 tokens, cache 0+0, 0.0072 USD, 11 calls, 0 agents
1   3 prompt 'Task 1: look after this project.'
1  21 said 'A look.'
1  22 main calls 1 Read (read) path='README.md'
1  23 result 1 ok None 30 '1\thello world\n2\tsecond line\n3\t'
1  31 main calls 2 Bash (shell) command='cat /srv/project/src/app.py'
1  32 result 2 ok 0 31 'def add(a, b):\n    return a - b'
1  37 main calls 3 Edit (edit) path='src/app.py' old='a - b' new='a + b'
1  38 result 3 ok None 131 'The file /srv/project/src/app.py has been updated successfully. (file '
1  42 main calls 4 Bash (shell) command='cat /srv/project/new.md'
1  43 result 4 not ok 1 63 'Exit code 1\ncat: /srv/project/new.md: No such file or directory'
1  48 main calls 5 Write (write) path='new.md' content='für\n'
1  49 result 5 ok None 117 'File created successfully at: /srv/project/new.md (file state is curre'
1  53 main calls 6 Bash (shell) command='echo out; echo err >&2; exit 3'
1  54 result 6 not ok 3 19 'Exit code 3\nout\nerr'
1  58 main calls 7 Bash (shell) command='grep -c nothing README.md'
1  59 result 7 not ok 1 1 '0'
1  63 main calls 8 Bash (shell) command='seq 1 20000'
1  64 result 8 ok 0 2218 '<persisted-output>\nOutput too large (106.3KB). Full output saved to: /'
1  70 main calls 9 Read (read) path='missing.md'
1  71 result 9 not ok None 74 'File does not exist. Note: your current working directory is /srv/proj'
1  76 main calls 10 Nope ()
1  77 result 10 not ok None 68 '<tool_use_error>Error: No such tool available: Nope</tool_use_error>'
1  81 main calls 11 Bash (shell) command='grep -rnE -e hello -- /srv/project'
1  82 result 11 ok 0 36 '/srv/project/README.md:1:hello world'
1  86 said 'Done here.'
"""

TEAM = r"""
1000+200 tokens, cache 0+0, 0.00484 USD, 7 calls, 3 agents
1   3 prompt 'Task 1: look after this project.'
1  21 main calls 1 Agent (spawn) agent='general-purpose' task='Look at the readme now.' model='haiku' -> haiku / claude-haiku-5-5 / claude-haiku-5-5 [a1]
1  23 main calls 2 Agent (spawn) agent='general-purpose' task='Look at the app now.' -> None / claude-sonnet-4-5 / claude-sonnet-4-5 [a2]
1  27 result 2 ok None 279 '  <tools-used-before-summary>…</tools-used-before-summary>\n  \n[Subagen'
1  29 result 1 ok None 429 '<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>toolu_0001_0</t'
1  37 main calls 3 Agent (spawn) agent='general-purpose' task='bad' -> None / None /  []
1  38 result 3 not ok None 263 '<tool_use_error>InputValidationError: [\n  {\n    "code": "invalid_value'
1  42 said 'end'
a1:
    models: ('claude-haiku-5-5',)
    200+40 tokens, cache 0+0, None USD, 1 calls, 0 agents
    1   1 prompt 'Look at the readme now.'
    1  14 general-purpose calls 1 Read (read) path='README.md'
    1  15 result 1 ok None 30 '1\thello world\n2\tsecond line\n3\t'
    1  21 said 'R1'
a2:
    500+100 tokens, cache 0+0, None USD, 3 calls, 1 agents
    1   1 prompt 'Look at the app now.'
    1  13 general-purpose calls 1 Bash (shell) command='exit 4'
    1  14 result 1 not ok 4 11 'Exit code 4'
    1  20 general-purpose calls 2 Agent (spawn) agent='general-purpose' task='Look deeper now.' -> None / claude-sonnet-4-5 / claude-sonnet-4-5 [a3]
    1  21 result 2 ok None 278 '  <tools-used-before-summary>…</tools-used-before-summary>\n  \n[Subagen'
    1  25 said 'R2'
    a3:
        200+40 tokens, cache 0+0, None USD, 1 calls, 0 agents
        1   1 prompt 'Look deeper now.'
        1  13 general-purpose calls 1 Read (read) path='src/app.py'
        1  14 result 1 ok None 38 '1\tdef add(a, b):\n2\t    return a - b\n3\t'
        1  20 said 'R3'
"""

TURNS = r"""
300+60 tokens, cache 0+0, 0.0024 USD, 1 calls, 0 agents
1   3 prompt 'First thing.'
1  20 said 'one'
2  27 prompt 'Second thing.'
2  32 main calls 1 Read (read) path='README.md'
2  33 result 1 ok None 30 '1\thello world\n2\tsecond line\n3\t'
2  37 said 'two'
3   3 prompt 'Third thing.'
3  20 said 'three'
"""

SUBJECT = r"""
loaded: ('agent rev', 'hook SessionStart: Delegate everything.', 'agent plug:pa', 'skill greet', 'skill plug:ps', 'hook UserPromptSubmit: Be brief.', 'instructions CLAUDE.md')
600+120 tokens, cache 0+0, 0.00302 USD, 4 calls, 1 agents
1   6 prompt '/greet Bob and\nEve'
1   7 told 'Base directory for this skill: /srv/project/.claude/skills/greet\n\nSay '
1  28 main calls 1 Skill (skill) skill='plug:ps'
1  29 result 1 ok None 24 'Launching skill: plug:ps'
1  30 told 'Base directory for this skill: /srv/project/plug/skills/ps\n\nP\n'
1  37 main calls 2 Bash (shell) command='echo forbidden'
1  41 result 2 not ok None 100 'PreToolUse:Bash hook error: [grep -q forbidden && { echo not that >&2;'
1  45 main calls 3 Bash (shell) command='touch x'
1  46 result 3 not ok None 60 'Permission to use Bash with command touch x has been denied.'
1  51 main calls 4 Agent (spawn) agent='rev' task='Review it now.' -> None / claude-haiku-5-5 / claude-haiku-5-5 [a1]
1  52 result 4 ok None 217 '[Subagent hand-back] […] The report follows:\n  Fine.\nagentId: a1 (use '
1  56 said 'Hello.'
a1:
    models: ('claude-haiku-5-5',)
    loaded: ('skill greet', 'skill plug:ps', 'instructions CLAUDE.md')
    100+20 tokens, cache 0+0, None USD, 0 calls, 0 agents
    1   1 prompt 'Review it now.'
    1  15 said 'Fine.'
"""

WENT_ON = r"""
300+60 tokens, cache 0+0, 0.0024 USD, 3 calls, 1 agents
1   3 prompt 'Begin.'
1  21 main calls 1 Agent (spawn) agent='general-purpose' task='Look at it now.' -> None / claude-sonnet-4-5 / claude-sonnet-4-5 [a1]
1  22 result 1 ok None 58 'Async agent launched successfully. […]\nagentId: a1 […]'
1  28 main calls 2 Bash (shell) command="touch AgentsReport.md; python3 -c 'import time; time.sleep(20)'"
1  35 result 2 not ok None 180 "[Tool call interrupted: the session ended before this call's result wa"
1  37 told '<task-notification>\n<task-id>a1</task-id>\n<output-file>/tmp/claude-655'
2  39 prompt 'Go on.'
2  43 said 'on'
a1:
    end: cut
    100+20 tokens, cache 0+0, None USD, 1 calls, 0 agents
    1   1 prompt 'Look at it now.'
    1  13 general-purpose calls 1 Bash (shell) command="python3 -c 'import time; time.sleep(20)'"
"""

LEFT = r"""
truncated: True
300+60 tokens, cache 0+0, 0.0018 USD, 2 calls, 1 agents
1   3 prompt 'Task 1: look after this project.'
1  19 main calls 1 Agent (spawn) agent='general-purpose' task='Look at it now.' -> None / claude-sonnet-4-5 / claude-sonnet-4-5 [a1]
1  20 result 1 ok None 58 'Async agent launched successfully. […]\nagentId: a1 […]'
1  27 said 'Waiting for the sub-agents to report.'
a1:
    end: cut
    100+20 tokens, cache 0+0, None USD, 1 calls, 0 agents
    1   1 prompt 'Look at it now.'
    1  13 general-purpose calls 1 Bash (shell) command="touch started; python3 -c 'import time; time.sleep(30)'"
"""

COMPACTED = r"""
200+40 tokens, cache 0+0, 0.0024 USD, 1 calls, 0 agents
1   3 prompt 'Task 1: look after this project.'
1  21 main calls 1 Read (read) path='README.md'
1  22 result 1 ok None 30 '1\thello world\n2\tsecond line\n3\t'
1  32 told 'This session is being continued from a previous conversation that ran '
1  47 said 'Understood.'
"""

DENIED = r"""
denied: ('Bash', 'Edit')
600+120 tokens, cache 0+0, 0.0036 USD, 4 calls, 1 agents
1   3 prompt 'Task 1: look after this project.'
1  21 main calls 1 Bash (shell) command='touch x'
1  22 result 1 not ok None 204 "touch in '/srv/project/x' needs approval. The path is inside the worki"
1  28 main calls 2 Agent (spawn) agent='general-purpose' task='Mend it now.' -> None / claude-sonnet-4-5 / claude-sonnet-4-5 [a1]
1  32 result 2 ok None 279 '  <tools-used-before-summary>…</tools-used-before-summary>\n  \n[Subagen'
1  36 said 'end'
a1:
    denied: ('Edit',)
    300+60 tokens, cache 0+0, None USD, 2 calls, 0 agents
    1   1 prompt 'Mend it now.'
    1  13 general-purpose calls 1 Bash (shell) command='cat /srv/project/README.md'
    1  14 result 1 ok None 23 'hello world\nsecond line'
    1  20 general-purpose calls 2 Edit (edit) path='README.md' old='hello' new='x'
    1  21 result 2 not ok None 96 'Claude requested permissions to write to /srv/project/README.md, but y'
    1  25 said 'No.'
"""

INTERRUPTED = r"""
end: cut
100+20 tokens, cache 0+0, 0.0006 USD, 1 calls, 0 agents
1   3 prompt 'Task 1: look after this project.'
1  21 main calls 1 Bash (shell) command="touch started; python3 -c 'import time; time.sleep(20)'"
1  25 result 1 not ok None 225 "The user doesn't want to proceed with this tool use. The tool use was "
"""

SERVER_ERROR = r"""
end: error
error_kind: network
error_message: API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8787). (the vendor cannot be reached or is down: try again later)
100+20 tokens, cache 0+0, 0.0006 USD, 0 calls, 0 agents
1   3 prompt 'Task 1: look after this project.'
2  29 prompt 'Task 2: look after this project.'
2  33 said 'never'
"""

BROKEN_CHILD = r"""
200+40 tokens, cache 0+0, 0.0012 USD, 1 calls, 0 agents
1   3 prompt 'Task 1: look after this project.'
1  21 main calls 1 Agent (spawn) agent='general-purpose' task='Look at it now.' -> None / claude-sonnet-4-5 /  [a1]
1  24 result 1 not ok None 316 'Agent terminated early due to an API error: API Error: 500 boom. This '
1  31 said 'No luck.'
a1:
    models: ()
    end: error
    error_kind: network
    error_message: API Error: 500 boom. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8787). (the vendor cannot be reached or is down: try again later)
    None+None tokens, cache None+None, None USD, 0 calls, 0 agents
    1   1 prompt 'Look at it now.'
"""


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("tools", TOOLS),
        ("team", TEAM),
        ("turns", TURNS),
        ("subject", SUBJECT),
        ("went-on", WENT_ON),
        ("left", LEFT),
        ("compacted", COMPACTED),
        ("denied", DENIED),
        ("interrupted", INTERRUPTED),
        ("server-error", SERVER_ERROR),
        ("broken-child", BROKEN_CHILD),
    ],
)
def test_a_recorded_session_is_read_as_what_the_model_saw(case: str, expected: str):
    assert list(told(read(recorded(case)))) == expected.strip("\n").split("\n")


def test_sessions_come_in_their_order_whatever_the_order_of_files():
    files = recorded("turns")
    assert read(dict(reversed(files.items()))) == read(files)
    assert read(files).sessions == (session(1), session(2))


ERRORS = {
    "no-key": ("auth", "Not logged in", "`env: [ANTHROPIC_API_KEY]`"),
    "refused-key": ("auth", "Invalid API key", "put a valid key"),
    "unknown-model": ("agent", "issue with the selected model", "the tier's `model`"),
    "rate-limit": ("rate-limit", "(429)", "fewer `--jobs`"),
    "overloaded": ("rate-limit", "529 Overloaded", "fewer `--jobs`"),
    "server-error": ("network", "500 Internal server error", "try again later"),
    "cut-stream": ("truncated", "Connection to the API was lost", "broke off: try again later"),
    "too-long": ("limit", "Prompt is too long", "does not fit"),
    "max-turns": ("limit", "stopped after 1 turns", "`max_turns`"),
    "max-budget": ("limit", "its money was spent", "`max_budget_usd`"),
    "unknown-command": ("not-loaded", "knows no command /nosuch:cmd", "is it part of the subject"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_has_its_kind_and_says_what_to_do(case: str):
    transcript = read(recorded(case))
    kind, said, advice = ERRORS[case]
    assert (transcript.end, transcript.error_kind) == (EndReason.ERROR, kind)
    assert said in transcript.error_message
    assert advice in transcript.error_message


@pytest.mark.parametrize("case", ["interrupted", "terminated", "killed"])
def test_a_session_that_a_signal_ended_is_cut(case: str):
    assert read(recorded(case)).end is EndReason.CUT


def test_a_session_without_its_last_words_does_not_know_what_it_cost():
    assert read(recorded("killed")).usage.cost_usd is None
    assert read(recorded("terminated")).usage.cost_usd == pytest.approx(0.0006)


def test_a_torn_last_line_is_truncation_and_a_broken_one_in_the_middle_an_error_with_its_number():
    files = recorded("tools")
    name = f"{session(1)}.jsonl"
    lines = files[name].splitlines(keepends=True)
    assert len(lines[42]) > 30
    torn = read({name: b"".join(lines[:42]) + lines[42][:30]})
    assert (torn.truncated, torn.end) == (True, EndReason.CUT)
    with pytest.raises(ReadError) as caught:
        read({name: b"".join([*lines[:42], lines[42][:30] + b"\n", *lines[43:]])})
    assert (caught.value.file, caught.value.line) == (name, 43)


def test_children_without_the_small_file_that_says_who_they_are_are_found_by_their_calls():
    files = {name: data for name, data in recorded("team").items() if not name.endswith(".meta.json")}
    children = read(files).children
    assert set(children) == {"a1", "a2", "a3"}
    assert [event.by for event in children["a1"].events if hasattr(event, "by")] == ["a1"]


def test_a_forked_session_does_not_repeat_the_rows_that_it_copied():
    files = recorded("turns")
    first = f"{session(1)}.jsonl"
    forked = {**files, "fork.jsonl": files[first]}
    assert read(forked).events == read(files).events
