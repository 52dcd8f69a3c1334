"""Laws of the YAML door: what is written comes back, and any text is data or a finding with a place."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from evalrepo.codes import CODES
from evalrepo.errors import DataError, Finding
from evalrepo.formats import emit, traps, yaml
from evalrepo.records.base import plain_value
from evalrepo.records.event import Event


def told(read, data: bytes) -> tuple[Finding, ...]:
    try:
        read(data, "f.yaml")
    except DataError as error:
        return error.findings
    return ()


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
awkward = st.sampled_from(
    [
        "no",
        "Yes",
        "12:30",
        "1e3",
        "~",
        "null",
        "- a",
        "a: b",
        "a #b",
        "'",
        '"',
        "=",
        "2026-07-06",
        "{x}",
        "\x85\u2028\ufeff",
    ]
)


@given(
    why=texts | awkward,
    by=texts | awkward,
    paths=st.lists(texts | awkward, min_size=1, max_size=3),
    amount=st.none() | st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_an_event_comes_back_as_it_was_also_from_an_older_yaml(why, by, paths, amount):
    data = {
        "event": "thaw",
        "at": "2026-07-06T12:00:00Z",
        "by": by + "x",
        "why": why + "x",
        "paths": paths,
        "amount": amount,
    }
    event = Event.model_validate({k: v for k, v in data.items() if v is not None})
    text = yaml.dump_event(event)
    assert yaml.event_file(text, "e.yaml") == event
    older = YAML(typ="safe", pure=True)
    older.version = (1, 1)
    assert older.load(text.decode()) == event.model_dump(mode="json", exclude_defaults=True)


def test_an_event_reads_like_a_note():
    data = {
        "event": "freeze",
        "at": "2026-07-06T12:00:00Z",
        "by": "A <a@b.c>",
        "why": "first set",
        "paths": ["scenarios-reserve"],
    }
    assert yaml.dump_event(Event.model_validate(data)).decode() == (
        'event: freeze\nat: "2026-07-06T12:00:00Z"\nby: "A <a@b.c>"\nwhy: first set\npaths:\n  - scenarios-reserve\n'
    )


def test_a_name_that_is_not_unicode_is_refused_with_a_way_out():
    with pytest.raises(DataError) as caught:
        emit.scalar("caf\udce9")
    assert caught.value.findings[0].code == "LED006"
    assert "\\udce9" in str(caught.value.findings[0])


fragments = st.sampled_from(
    [
        "a",
        ": ",
        "\n",
        "- ",
        "  ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "'",
        '"',
        "#",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "\\u",
        "\t",
        "?",
        "~",
        "1",
        "é",
        "---\n",
        "title",
    ]
)


@given(st.lists(fragments, max_size=25).map("".join) | st.text(max_size=30))
@example("a: 'b\n\n")
@example("? ")
@settings(max_examples=300, deadline=None)
def test_any_text_is_data_or_a_finding_with_a_place(text):
    data = text.encode("utf-8", "replace")
    for read in (yaml.read, yaml.scenario_file):
        findings = told(read, data)
        assert all(f.code in CODES for f in findings)
        assert all(f.place.line <= len(traps.lines(text)) for f in findings)


@given(st.binary(max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_data_or_a_finding(data):
    for read in (yaml.rubric_file, yaml.config_file):
        assert all(str(finding).startswith("f.yaml") for finding in told(read, data))


plain_data = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(texts, plain_data, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_json_text_is_read_as_json_says(data):
    text = emit_json(data)
    assert plain_value(yaml.read(text.encode(), "f.yaml").data) == data


def emit_json(value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{emit_json(k)}: {emit_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(emit_json, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in value) + '"'
    return (
        {None: "null", True: "true", False: "false"}.get(value, str(value))
        if not isinstance(value, int) or isinstance(value, bool)
        else str(value)
    )
