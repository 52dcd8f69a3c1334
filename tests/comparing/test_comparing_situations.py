"""Every situation in text and markdown as a file to read, and one verdict in all formats.

GOLDEN=write writes the files anew; read what changed before it is committed.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from situations import SITUATIONS

from evalrepo.errors import Exit
from evalrepo.records.verdict import EXITS
from evalrepo.render.json import verdict_json
from evalrepo.render.markdown import verdict_markdown
from evalrepo.render.safe import width
from evalrepo.render.text import answer_text, verdict_text

GOLDEN = Path(__file__).parent.parent / "golden" / "diff"
ANSWERS = {
    "diff-same-revision": 0, "diff-nothing-changed": 0, "diff-one-regression": 1, "diff-noise": 0,
    "diff-fell-below-bar": 1, "diff-errors": 0, "diff-unmeasured": 0, "diff-not-comparable": 0,
    "diff-nothing-comparable": 2, "diff-no-cells": 2, "diff-two-tiers": 0, "diff-long-names": 1,
    "diff-hostile-names": 1, "gate-pass": 0, "gate-golden-failed-once": 1, "gate-below-bar": 1,
    "gate-below-bar-already": 1, "gate-suspect": 3, "gate-few-reps": 3, "gate-missing": 4, "gate-scenario-dropped": 4,
    "gate-scenario-edited": 4, "gate-scenario-added": 0, "gate-errors": 4, "gate-frozen": 4, "gate-first-release": 0,
    "gate-policy-changed": 0, "gate-no-cells": 4, "gate-everything-at-once": 4,
}  # fmt: skip


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize(("kind", "render"), [("txt", verdict_text), ("md", verdict_markdown)])
def test_a_situation_reads_as_its_golden_file(name, kind, render):
    file = GOLDEN / f"{name}.{kind}"
    shown = render(SITUATIONS[name]())
    if os.environ.get("GOLDEN") == "write":
        file.write_text(shown)
    assert shown == file.read_text()


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_exit_code_is_the_one_that_design_promises(name):
    assert SITUATIONS[name]().exit == ANSWERS[name]


@pytest.mark.parametrize("name", SITUATIONS)
def test_all_formats_say_the_same(name):
    verdict = SITUATIONS[name]()
    text, markdown, data = verdict_text(verdict), verdict_markdown(verdict), json.loads(verdict_json(verdict))
    assert data["exit"] == verdict.exit == EXITS[verdict.answer]
    assert data["answer"] == verdict.answer
    assert f"{answer_text(verdict)} (exit {verdict.exit})" in text
    assert markdown.splitlines()[0].startswith(f"### evalrepo {verdict.question}: {answer_text(verdict)} · ")
    assert len(data["cells"]) == len(verdict.cells)
    for reason in verdict.reasons:
        assert reason.command in ("", *(r["command"] for r in data["reasons"]))
    for cell in verdict.cells:
        assert text.count(f"{cell.after.passes}/{cell.after.valid} {cell.after.strip}"[:10]) if cell.after else True


@pytest.mark.parametrize("name", SITUATIONS)
def test_text_fits_eighty_columns_and_holds_no_control_character(name):
    text = verdict_text(SITUATIONS[name]())
    for line in text.splitlines():
        only_word = line.removesuffix(" \\").removeprefix("  → ").strip()
        assert width(line) <= 80 or " " not in only_word, line
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", verdict_markdown(SITUATIONS[name]()))


@pytest.mark.parametrize("name", SITUATIONS)
def test_no_cell_is_ever_called_significant(name):
    assert "significant" not in verdict_text(SITUATIONS[name]()).lower()


@pytest.mark.parametrize("name", [n for n in SITUATIONS if n.startswith("gate")])
def test_whatever_is_no_pass_names_its_reason_and_the_next_command(name):
    verdict = SITUATIONS[name]()
    if verdict.exit:
        deciding = [r for r in verdict.reasons if r.kind == verdict.answer]
        assert deciding
        assert all(r.command or r.code == "gone" for r in deciding)
        assert all(any(c.isdigit() for c in r.text) or r.code == "no-cells" for r in deciding)


def test_every_exit_code_of_an_answer_is_in_the_table():
    assert set(EXITS.values()) <= {int(e) for e in Exit}


def test_a_verdict_is_a_function_of_the_set_of_cells():
    from situations import a_gate, cell

    cells = [cell("E2", "PPP", "PFF"), cell("E1", "PPP", None), cell("E3", "PPF", "PPP")]
    assert a_gate(*cells) == a_gate(*reversed(cells))
