"""A check with what it rests on: which part of a row is shown, and of a file its beginning."""

from __future__ import annotations

from evalrepo.render.resting import LINES, SHOWN, CheckSheet, RestsOn, beginning, check_lines, excerpt


def test_of_a_long_row_the_part_about_the_call_is_shown():
    row = '{"a":"' + "x" * 500 + '","calls":[{"id":"c7","tool":"read"}' + "y" * 500
    assert '"id":"c7","tool":"read"' in excerpt(row, "c7")
    assert len(excerpt(row, "c7")) <= SHOWN + 2
    assert excerpt("short", "c7") == "short"
    assert '"text":"it says' in excerpt('{"meta":"' + "x" * 500 + '","text":"it says so"' + "y" * 500)


def test_of_a_file_the_first_lines_are_shown_and_more_is_said_to_be_there():
    assert beginning("one\ntwo\n") == "one\ntwo"
    assert beginning("line\n" * 20) == "\n".join(["line"] * LINES) + "…"
    assert beginning("x" * 5000) == "x" * SHOWN + "…"
    assert beginning("") == ""


def test_rows_that_are_named_twice_stand_once_and_nothing_in_them_acts():
    rows = (
        RestsOn("first", "log.jsonl", 3, '{"text":"\x1b[31m\u202e"}'),
        RestsOn("second", "log.jsonl", 3, '{"text":"\x1b[31m\u202e"}'),
        RestsOn("the file", "a.txt", 0, "one\n\ttwo", "added, 8 bytes"),
        RestsOn("gone", "b.txt", 0, None, "removed by the agent"),
    )
    lines = list(check_lines(CheckSheet("c", "A", "fail", False, "judge", rows, "file: {path: a.txt}")))
    assert lines == [
        "  A c: fail, not gating, by judge",
        "    asks file: {path: a.txt}",
        "    first (log.jsonl:3)",
        '    | {"text":"\\x1b[31m\\u202e"}',
        "    second (log.jsonl:3)",
        "    the file (a.txt, added, 8 bytes)",
        "    | one",
        "    | \\ttwo",
        "    gone (b.txt, removed by the agent)",
    ]
