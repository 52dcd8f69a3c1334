"""What other people wrote reaches a terminal or a page as text, never as an instruction."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.render.safe import fenced, md, safe, safe_lines, shortened, width, wrapped
from evalrepo.render.text import table

ANY = st.text(max_size=60)
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"), ("\x1b]0;title\x07", "\\x1b]0;title\\x07"), ("\x9b2J", "\\x9b2J"),
        ("a\nb", "a\\nb"), ("\u202egnp.exe", "\\u202egnp.exe"), ("z\u200bw", "z\\u200bw"), ("\udcff", "\\xff"),
        ("日本語 é ★", "日本語 é ★"),
    ],
)  # fmt: skip
def test_a_control_or_invisible_character_is_shown_and_does_nothing(text, shown):
    assert safe(text) == shown


@given(ANY)
@settings(max_examples=200)
def test_nothing_unsafe_survives_anywhere(text):
    assert not UNSAFE.search(safe(text))
    assert not UNSAFE.search(safe_lines(text).replace("\n", ""))
    assert not UNSAFE.search(md(text))
    assert not UNSAFE.search("".join(table([(text, "x")], ("a", "b"), shrink=0)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"), ("a|b", "a\\|b"), ("a\\|b", "a\\\\\\|b"),
        ("<script>", "&lt;script>"), ("# heading", "\\# heading"), ("a\n# heading", "a\\\\n# heading"),
        ("12. item", "12\\. item"), ("- item", "\\- item"), ("@everyone", "&#64;everyone"), ("**b**", "\\*\\*b\\*\\*"),
    ],
)  # fmt: skip
def test_markdown_reads_other_peoples_text_as_text(text, shown):
    assert md(text) == shown


@given(ANY)
@settings(max_examples=100)
def test_a_markdown_cell_is_one_line_without_a_bare_pipe(text):
    assert "\n" not in md(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*\|", md(text))


@given(st.text(alphabet="`a\n", max_size=30))
@settings(max_examples=100)
def test_a_fence_is_longer_than_any_run_of_backticks_inside(text):
    opened, *inside, closed = fenced(text).split("\n")
    assert set(opened) == set(closed) == {"`"}
    assert max((len(run) for line in inside for run in re.findall("`+", line)), default=0) < len(closed)


@given(ANY, st.integers(8, 40))
@settings(max_examples=200)
def test_shortened_and_wrapped_text_respects_columns(text, columns):
    assert width(shortened(safe(text), columns)) <= columns
    assert all(width(line) <= columns for line in wrapped(text, then="  ", columns=columns))


@given(ANY)
@settings(max_examples=100)
def test_wrapping_loses_nothing(text):
    assert "".join(wrapped(text, columns=10)).replace(" ", "") == safe(text).replace(" ", "")


@given(st.lists(st.tuples(ANY, ANY), max_size=5))
@settings(max_examples=100)
def test_a_table_holds_eighty_columns_when_one_column_gives_way(rows):
    rows = [(a, b[:20]) for a, b in rows if width(safe(b[:20])) <= 60]
    assert all(width(line) <= 80 for line in table(rows, ("name", "what"), shrink=0))


def test_wide_characters_keep_columns_under_their_heads():
    lines = table([("日本語", "1"), ("ab", "2"), ("é★", "3")], ("name", "n"), shrink=0)
    assert lines == ["name    n", "------  -", "日本語  1", "ab      2", "é★      3"]


def test_a_command_is_never_cut_inside_a_word():
    from evalrepo.render.text import command_lines

    path = "refs/evalrepo/runs/k7m2q9ab:" + "x" * 90
    assert command_lines(f"git show {path}") == ["  → git show \\", f"      {path}"]
