"""A check in the words of its file, on one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalrepo.formats import yaml
from evalrepo.formats.words import check_words, flow

EVERY = next(
    block
    for block in re.findall(r"```yaml\n(.*?)```", Path("docs/formats.md").read_text(), re.DOTALL)
    if block.startswith("# scenarios/every-check")
)


def scenario(text: str):
    return yaml.scenario_file(text.encode(), "scenarios/S1.yaml")


def one(words: str):
    """The only check of a scenario with these words."""
    return scenario(f"title: T\nsubject: s\nturns: [{{prompt: p}}]\nchecks: [{{id: c, axis: A, {words}}}]\n").checks[0]


def test_the_words_of_every_kind_of_check_read_back_as_the_same_check():
    for check in scenario(EVERY).checks:
        again = one(check_words(check))
        assert (again.kind, again.arguments) == (check.kind, check.arguments), check.id
        assert (again.scope, again.turn, again.needs) == (check.scope, check.turn, check.needs)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("order: {first: {tool: [read], path: README.md}, then: {tool: edit}}",
         "order: {first: {tool: read, path: README.md}, then: {tool: edit}}"),
        ("any_call: {tool: read, path: {pattern: ^docs/}}, scope: all, turn: 2, needs: c2",
         "any_call: {tool: read, path: {pattern: '^docs/'}}, scope: all, turn: 2, needs: c2"),
        ("any_call: {tool: mine, args: {properties: {path: {const: x}}}}",
         "any_call: {tool: mine, args: {properties: {path: {const: x}}}}"),
        ("text: {matches: 'it''s \\w+', words_max: 200}", "text: {matches: 'it''s \\w+', words_max: 200}"),
        ("command: {run: sh test.sh, exit: 0}", "command: {run: sh test.sh, exit: 0}"),
        ("changes: {none: true}", "changes: {none: true}"),
        ("not: {any_call: {tool: spawn, model: [large, \"true\"]}}", "not: {any_call: {tool: spawn, model: [large, 'true']}}"),
    ],
)  # fmt: skip
def test_literals_and_single_items_stand_as_a_person_writes_them(words: str, said: str):
    assert check_words(one(words)) == said


def test_text_that_acts_is_written_out():
    assert flow("a\x1b[0m\n\u202e") == '"a\\u001b[0m\\n\\u202e"'
    assert flow({"yes": [1, 2.5, 3.0, None, "no", "12", ""]}) == "{'yes': [1, 2.5, 3, null, 'no', '12', '']}"
