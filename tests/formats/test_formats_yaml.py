"""YAML as people write it: what is read, what is refused, and where the finger points."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from evalrepo.codes import CODES
from evalrepo.errors import DataError, Finding
from evalrepo.formats import yaml
from evalrepo.records.base import Plain

DATA = Path(__file__).parent / "data"


def refused(text: str | bytes, read=yaml.read) -> list[Finding]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(DataError) as caught:
        read(data, "f.yaml")
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    for finding in caught.value.findings:
        assert finding.code in CODES
        if finding.place.line:
            assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1
    return list(caught.value.findings)


TRAPS = {
    "not UTF-8": (b"a: 1\nb: \xff\n", "YML001", (2, 4), "UTF-8"),
    "UTF-16": ("a: 1\n".encode("utf-16"), "YML001", (1, 1), "UTF-8"),
    "escape character": ("a: b\nc: \x1b[31m\n", "YML002", (2, 4), "\\u001b"),
    "NUL": ("a: b\x00\n", "YML002", (1, 5), "\\u0000"),
    "line separator": ("a: b\u2028c\n", "YML002", (1, 5), "\\u2028"),
    "a megabyte": ("a: " + "b" * 1_000_000, "YML003", (0, 0), "split"),
    "deep flow": ("[" * 3000, "YML004", (1, 65), "flatten"),
    "deep block": ("\n".join(" " * n + "a:" for n in range(100)), "YML004", (65, 65), "flatten"),
    "many values": ("[" + "a," * 100_001 + "]", "YML004", (1, 200_000), "split"),
    "empty": ("", "YML005", (1, 1), "keys"),
    "only a comment": ("# a: 1\n", "YML005", (1, 1), "keys"),
    "two documents": ("a: 1\n---\nb: 2\n", "YML006", (2, 1), "---"),
    "directive": ("%YAML 1.1\n---\na: no\n", "YML006", (1, 1), "1.2"),
    "open list": ("a: [1, 2\nb: 3\n", "YML007", (2, 2), ","),
    "open quote": ('a: 1\nb: "x\nc: 2\n', "YML007", (2, 4), "quote"),
    "a line by itself": ("a: 1\nb\nc: 2\n", "YML007", (2, 1), ""),
    "unindent": ("a:\n    b: 1\n  c: 2\n", "YML007", (3, 3), "indent"),
    "at sign": ("a: @b\n", "YML007", (1, 4), "quotes"),
    "regular expression in double quotes": ('a: "\\d+"\n', "YML007", (1, 5), "single quotes"),
    "tab": ("a:\n\tb: 1\n", "YML008", (2, 1), "spaces"),
    "tab in a list": ("a:\n  - b\n\t- c\n", "YML008", (3, 1), "spaces"),
    "duplicate key": ("a: 1\nb: 2\na: 3\n", "YML009", (3, 1), "keep one"),
    "tag": ("a: !!python/object/apply:os.system ['id']\n", "YML010", (1, 4), "remove"),
    "local tag": ("a: !x y\n", "YML010", (1, 4), "remove"),
    "anchor": ("a: &x 1\n", "YML011", (1, 4), "write the value out"),
    "alias of nothing": ("a: *x\n", "YML011", (1, 4), "write the value out"),
    "star": ("a: * b\n", "YML011", (1, 5), "in quotes"),
    "merge key": ("<<: {a: 1}\n", "YML012", (1, 1), "defaults"),
    "list as a key": ("? [a, b]\n: c\n", "YML013", (1, 3), "quotes"),
    "null as a key": ("~: 1\n", "YML013", (1, 1), "quotes"),
    "half a surrogate": ('a: "x\\ud83d y"\n', "YML014", (1, 4), "both halves"),
    "huge number": ("a: " + "9" * 5000 + "\n", "YML015", (1, 4), "quotes"),
    "issue number": ("a: fix issue #12 now\n", "YML016", (1, 4), "quotes"),
    "template": ("a: {{ var }}\n", "YML017", (1, 5), '"{{'),
    "template and text": ("a: {{ var }} b\n", "YML017", (1, 5), '"{{'),
    "colon": ("prompt: Fix: the bug\n", "YML018", (1, 12), "quotes"),
    "colon in braces": ("a: [{prompt: Fix: the bug}]\n", "YML018", (1, 17), "quotes"),
    "colon in a list": ("- prompt: Fix: the bug\n", "YML018", (1, 14), "quotes"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_is_named_with_its_place_and_a_way_out(trap):
    text, code, place, hint = TRAPS[trap]
    finding = refused(text)[0]
    assert (finding.code, (finding.place.line, finding.place.column)) == (code, place), finding
    assert hint in finding.hint


@pytest.mark.parametrize("trap", [t for t in TRAPS if t not in ("a megabyte", "many values")])
def test_the_slow_parser_refuses_the_same(trap, monkeypatch):
    monkeypatch.setitem(sys.modules, "ruamel.yaml.cyaml", None)
    text, code, place, _ = TRAPS[trap]
    finding = refused(text)[0]
    assert (finding.code, finding.place.line) == (code, place[0]), finding


def test_an_alias_bomb_is_refused_at_once():
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10 if n else ['x'] * 10)}]\n" for n in range(9))
    start = time.perf_counter()
    assert {f.code for f in refused(levels)} == {"YML011"}
    assert time.perf_counter() - start < 1


def test_a_list_that_holds_itself_is_refused():
    assert {f.code for f in refused("a: &a [*a]\n")} == {"YML011"}


def test_all_faults_of_a_file_are_told_together_with_the_line_of_the_first_key():
    found = refused("a: &x 1\nb: !y 2\na: 3\n")
    assert [f.code for f in found] == ["YML011", "YML010", "YML009"]
    assert "the first is in line 1" in found[2].message


SCALARS = {
    "010": 10,
    "0o17": 15,
    "0x1F": 31,
    "-3": -3,
    "1.10": 1.1,
    "1e3": 1000.0,
    "true": True,
    "False": False,
}
TEXTS = ["2026-07-06", "2026-13-45", "yes", "no", "on", "off", "1_000", "12:30:45", ".inf", ".nan", "1e999", "0b1", "y"]


@pytest.mark.parametrize("spelling", SCALARS)
def test_an_unquoted_scalar_keeps_its_spelling_beside_its_value(spelling):
    value = yaml.read(f"a: {spelling}\n".encode(), "f").data["a"]
    assert isinstance(value, Plain)
    assert (str.__str__(value), value.value) == (spelling, SCALARS[spelling])
    assert type(value.value) is type(SCALARS[spelling])


@pytest.mark.parametrize("text", TEXTS)
def test_what_only_other_readers_take_for_a_value_is_text(text):
    assert type(yaml.read(f"a: {text}\n".encode(), "f").data["a"]) is str


@pytest.mark.parametrize("text", ["true", "3", "null", ""])
def test_a_quoted_scalar_is_text(text):
    assert yaml.read(f'a: "{text}"\n'.encode(), "f").data == {"a": text}
    assert type(yaml.read(f"a: '{text}'\n".encode(), "f").data["a"]) is str


def test_null_is_none_and_keys_are_text():
    data = yaml.read(b"a:\nb: ~\nc: null\n1: x\ntrue: y\n", "f").data
    assert data == {"a": None, "b": None, "c": None, "1": "x", "true": "y"}
    assert {type(key) for key in data} == {str}


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm():
    document = yaml.read(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n  y\r\n", "f")
    assert document.data == {"a": "1", "b": "x\ny\n"}
    assert str(document.where(["b"])) == "f:2:1"


@pytest.mark.parametrize("text", ["{a: What is this?}", "{a: http://x.example/y?z=1}", "[a?b, c]"])
def test_question_marks_and_colons_inside_text_in_brackets_are_text(text):
    assert yaml.read(text.encode(), "f").data == YAML(typ="safe", pure=True).load(text)


def test_surrogate_escapes_are_joined():
    assert yaml.read(rb'a: "\ud83d\ude00"', "f").data == {"a": "\N{GRINNING FACE}"}
    assert yaml.read(rb"a: '\ud83d\ude00'", "f").data == {"a": r"\ud83d\ude00"}


def test_a_comment_after_a_space_is_a_comment():
    assert yaml.read(b"a: one two # three\nb: one#two\nc: x   #---\n", "f").data == {
        "a": "one two",
        "b": "one#two",
        "c": "x",
    }


def test_every_path_has_its_place():
    document = yaml.read(b"a:\n  - b: 1\n    c: [2, {d: 3}]\n", "f")
    places = {(): "1:1", ("a",): "1:1", ("a", 0): "2:5", ("a", 0, "c"): "3:5", ("a", 0, "c", 1, "d"): "3:13"}
    assert {path: str(document.where(path)).removeprefix("f:") for path in places} == places
    assert str(document.where(["a", 0, "missing", "deep"])) == "f:2:5"


@pytest.mark.parametrize("path", sorted(DATA.glob("*.yaml")), ids=lambda p: p.name)
def test_the_example_loads(path):
    read = yaml.config_file if path.name == "evalrepo.yaml" else yaml.scenario_file
    assert read(path.read_bytes(), path.name)


def test_a_wrong_file_has_all_its_faults_named():
    found = refused((DATA / "wrong.txt").read_bytes(), yaml.scenario_file)
    expected = (DATA / "wrong.findings.txt").read_text()
    assert "\n".join(map(str, found)) + "\n" == expected
    for word in ("Input", "pydantic", "instance of", "dictionary", "literal", "extra", "field"):
        assert word not in expected


def test_keys_with_an_underscore_for_python_are_unknown():
    text = "title: t\nsubject: s\nturns: [{prompt: p}]\nmetrics: {M1: {ladder: [{score: 3, if_: a}, {score: 0}]}}\n"
    (finding,) = refused(text, yaml.scenario_file)
    assert (finding.code, finding.hint) == ("SCN001", 'did you mean "if"?')


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("10m", "wall_s: 600"),
        ("1h 30m", "wall_s: 5400"),
        ('"90"', "wall_s: 90"),
        ("500ms", "wall_s: 0.5"),
        ("[]", "wall_s: 600"),
    ],
)
def test_a_duration_with_a_unit_is_answered_in_seconds(written, hint):
    text = f"title: t\nsubject: s\nturns: [{{prompt: p}}]\nlimits: {{wall_s: {written}}}\n"
    (finding,) = refused(text, yaml.scenario_file)
    assert (finding.code, finding.hint, finding.place.line) == ("SCN003", hint, 4)
    assert "must be a number of seconds" in finding.message


@pytest.mark.parametrize(("word", "hint"), [("yes", "true"), ("on", "true"), ("no", "false"), ("Off", "false")])
def test_a_boolean_of_another_yaml_is_answered_with_ours(word, hint):
    check = f"{{id: a, axis: A, gating: {word}, status: COMPLETE}}"
    text = f"title: t\nsubject: s\nturns: [{{prompt: p}}]\nchecks: [{check}]\n"
    (finding,) = refused(text, yaml.scenario_file)
    assert (finding.code, finding.hint) == ("SCN003", f"gating: {hint}")


def test_the_same_cause_has_the_same_number_in_every_family():
    assert [f.code for f in refused("version: 1\nbogus: 2\n", yaml.config_file)] == ["CFG001"]
    assert [f.code for f in refused("title: t\nsubject: s\nturns: [{prompt: p}]\nbogus: 2\n", yaml.scenario_file)] == [
        "SCN001"
    ]
    assert [f.code for f in refused("---\ntitle: t\nquestions: {q: {ask: a}}\nbogus: 1\n---\n", yaml.rubric_file)] == [
        "RUB001"
    ]
    event = 'event: thaw\nat: "2026-07-06T12:00:00Z"\nby: me\nwhy: so\nbogus: 1\n'
    assert [f.code for f in refused(event, yaml.event_file)] == ["LED001"]


def test_a_rubric_keeps_its_text_and_its_places():
    text = "---\r\ntitle: t\r\nquestions:\r\n  q: {ask: 'Is it?'}\r\n---\r\n# Scale\r\n\r\n--- not a fence\r\n"
    rubric = yaml.rubric_file(text.encode(), "r.md")
    assert rubric.body == "# Scale\n\n--- not a fence\n"
    assert [str(f.place) for f in refused(text.replace("ask:", "aks:"), yaml.rubric_file)] == [
        "f.yaml:4:3",
        "f.yaml:4:7",
    ]


@pytest.mark.parametrize("text", ["# Scale\n", "---\ntitle: t\n", "", "\n---\ntitle: t\n---\n"])
def test_a_rubric_without_a_head_is_refused(text):
    assert [f.code for f in refused(text, yaml.rubric_file)] == ["RUB006"]
