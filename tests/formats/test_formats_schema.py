"""The schemas say what people write; ids are what their alphabets allow."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from evalrepo.commands.schema import command
from evalrepo.errors import UsageError
from evalrepo.formats import ids, inert, result, schema, yaml
from evalrepo.records.base import plain_value

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parent.parent / "golden" / "results"


def errors(kind: str, value) -> list[str]:
    return [e.message for e in Draft202012Validator(schema.schema(kind)).iter_errors(value)]


def test_every_kind_has_a_schema_of_the_dialect_it_names():
    assert set(schema.schemas()) == {"config", "scenario", "rubric", "labels", "votes", "event", "record"}
    for made in schema.schemas().values():
        Draft202012Validator.check_schema(made)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.yaml")), ids=lambda p: p.name)
def test_the_examples_fit_their_schema(path):
    kind = "config" if path.name == "evalrepo.yaml" else "scenario"
    assert errors(kind, plain_value(yaml.read(path.read_bytes(), path.name).data)) == []


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.md")), ids=lambda p: p.name)
def test_results_fit_the_record_schema(path):
    assert errors("record", result.load_json(path.read_bytes())) == []


def test_text_that_looks_like_a_number_fits_and_a_list_may_be_one_item():
    assert errors("scenario", {"title": 1.10, "subject": "s", "turns": [{"prompt": 12}], "expect": "one"}) == []


@pytest.mark.parametrize(
    "change",
    [{"bogus": 1}, {"turns": []}, {"limits": {"wall_s": "10m"}}, {"subject": "no spaces please"}, {"title": []}],
)
def test_what_is_refused_does_not_fit(change):
    assert errors("scenario", {"title": "t", "subject": "s", "turns": [{"prompt": "p"}], **change})


def test_the_command_lists_kinds_and_prints_one():
    listed = CliRunner().invoke(command, [])
    assert [line.split()[0] for line in listed.output.splitlines()] == [
        "config",
        "scenario",
        "rubric",
        "labels",
        "votes",
        "event",
        "record",
    ]
    printed = CliRunner().invoke(command, ["config"])
    assert json.loads(printed.output)["title"] == "evalrepo config"
    assert isinstance(CliRunner().invoke(command, ["bogus"]).exception, UsageError)


def test_run_ids_are_eight_characters_that_are_hard_to_misread():
    assert ids.run_id(bytes(5)) == "00000000"
    assert ids.run_id(b"\xff" * 8) == "zzzzzzzz"
    assert not set(ids.run_id(bytes(range(100, 105)))) & set("ilou")


def test_ulids_sort_by_time():
    assert ids.ulid(1469918176385, bytes(10)) == "01ARYZ6S410000000000000000"
    assert ids.ulid(1, b"\xff" * 10) < ids.ulid(2, bytes(10))
    assert re.fullmatch("[0-9A-HJKMNP-TV-Z]{26}", ids.ulid((1 << 48) - 1, bytes(range(10))))


@pytest.mark.parametrize(
    "call", [lambda: ids.run_id(b"abcd"), lambda: ids.ulid(1 << 48, bytes(10)), lambda: ids.ulid(1, b"")]
)
def test_too_little_randomness_is_a_bug(call):
    with pytest.raises(ValueError, match="takes"):
        call()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("snake_case stays", "snake_case stays"),
        ("a\\|b", "a\\\\\\|b"),
        ("1. one", "1\\. one"),
        ("- item", "\\- item"),
        ("+1", "\\+1"),
        ("mailto:a", "mailto\\:a"),
        ("x" * 400, "x" * 299 + "…"),
        ("a\r\n\tb", "a b"),
    ],
)
def test_markdown_shows_text_as_it_is(text, shown):
    assert inert.markdown(text) == shown
