"""Every situation in text and markdown as a file to read, and one verdict in all formats.

GOLDEN=write writes the files anew; read what changed before it is committed.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from situations import AFTER, BEFORE, HERE, SITUATIONS, a_diff, a_gate, cell

from evalrepo.comparing.diff import diff
from evalrepo.errors import Exit
from evalrepo.records.verdict import EXITS, Policy
from evalrepo.render.github import verdict_github
from evalrepo.render.json import verdict_json
from evalrepo.render.junit import verdict_junit
from evalrepo.render.markdown import verdict_markdown
from evalrepo.render.safe import md, safe, width
from evalrepo.render.text import answer_text, label_text, verdict_text

GOLDEN = Path(__file__).parent.parent / "golden" / "diff"
ANSWERS = {
    "diff-same-revision": 0, "diff-nothing-changed": 0, "diff-one-regression": 1, "diff-noise": 0,
    "diff-small-everywhere": 1, "diff-fell-below-bar": 1, "diff-errors": 0, "diff-unmeasured": 0,
    "diff-not-comparable": 0, "diff-nothing-comparable": 2, "diff-no-cells": 2, "diff-two-tiers": 0,
    "diff-many-scenarios": 0, "diff-five-reps": 1, "diff-single-reps": 0, "diff-metrics": 0, "diff-long-names": 1,
    "diff-hostile-names": 1, "gate-pass": 0, "gate-pass-with-noise": 0, "gate-nothing-measured-anew": 0,
    "gate-margin-out-of-reach": 3, "gate-margin-not-shown": 3, "gate-golden-failed-once": 1, "gate-golden-cleared": 0,
    "gate-golden-failed-again": 1, "gate-drop-everywhere": 1, "gate-drop-in-one-tier": 1, "gate-below-bar": 3,
    "gate-below-bar-already": 0, "gate-bar-for-every-cell": 1, "gate-suspect": 3, "gate-suspect-confirmed": 1,
    "gate-suspect-cleared": 0, "gate-suspect-half-confirmed": 3, "gate-few-reps": 3, "gate-missing": 4,
    "gate-scenario-dropped": 4, "gate-scenario-edited": 4, "gate-scenario-added": 0, "gate-new-below-bar": 1,
    "gate-errors": 4, "gate-pass-hangs-on-errors": 3, "gate-degenerate": 4, "gate-metric-fell": 3,
    "gate-metric-blocks": 1, "gate-metric-waived": 0, "gate-metric-waived-in-the-range": 3, "gate-frozen": 4,
    "gate-first-release": 0, "gate-policy-changed": 0, "gate-no-cells": 4, "gate-everything-at-once": 4,
}  # fmt: skip
SHORT = ("diff-one-regression", "gate-pass", "gate-everything-at-once", "gate-suspect")
"""Situations that are kept as JUnit XML and GitHub annotations too."""


KINDS = {"txt": verdict_text, "md": verdict_markdown, "xml": verdict_junit, "github": verdict_github}
FILES = [(n, k) for n in SITUATIONS for k in KINDS if k in ("txt", "md") or n in SHORT]


@pytest.mark.parametrize(("name", "kind"), FILES)
def test_a_situation_reads_as_its_golden_file(name, kind):
    file = GOLDEN / f"{name}.{kind}"
    shown = KINDS[kind](SITUATIONS[name]())
    if os.environ.get("GOLDEN") == "write":
        file.write_text(shown)
    assert shown == file.read_text()


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_exit_code_is_the_one_that_design_promises(name):
    assert SITUATIONS[name]().exit == ANSWERS[name]


def assert_all_agree(verdict):
    """One verdict in all formats and the exit code."""
    text, markdown, data = verdict_text(verdict), verdict_markdown(verdict), json.loads(verdict_json(verdict))
    junit, github = ElementTree.fromstring(verdict_junit(verdict)), verdict_github(verdict)
    assert data["exit"] == verdict.exit == EXITS[verdict.answer]
    assert data["answer"] == verdict.answer
    said = f"{verdict.question}: {answer_text(verdict)} (exit {verdict.exit})"
    assert text.splitlines()[-1] == said
    assert markdown.splitlines()[0].startswith(f"### evalrepo {verdict.question}: {answer_text(verdict)} · ")
    assert junit.findtext("testsuite/system-out").splitlines()[0] == said
    failed = [*junit.iter("failure"), *junit.iter("error")]
    assert bool(failed) == bool(verdict.exit)
    assert sum(int(s.get(k)) for s in junit for k in ("failures", "errors")) == len(failed)
    assert github.startswith(f"::{'error' if verdict.exit else 'notice'} title=evalrepo {verdict.question}::")
    assert all(
        line.startswith(("::error title=", "::warning title=", "::notice title=", "and "))
        for line in github.splitlines()
    )
    assert len(data["cells"]) == len(verdict.cells) == len(junit.find("testsuite[@name='cells']").findall("testcase"))
    flat = re.sub(r"\s+", "", text)
    for reason in verdict.reasons:
        assert re.sub(r"\s+", "", safe(reason.text)) in flat
        assert re.sub(r"\s+", "", safe(reason.command)) in re.sub(r"\\\n\s*", "", text).replace(" ", "").replace(
            "\n", ""
        )
        assert md(reason.text) in markdown
        if verdict.exit and reason.kind != "note":
            assert any(f.get("message") == safe(reason.text) for f in failed)
    for one in verdict.cells:
        assert verdict.suspects.count(one.name) == (one.label == "suspect")
        assert md(label_text(one)) in markdown


@pytest.mark.parametrize("name", SITUATIONS)
def test_all_formats_say_the_same(name):
    assert_all_agree(SITUATIONS[name]())


letters = st.text("PF", min_size=1, max_size=4) | st.text("PFE", min_size=1, max_size=5) | st.none()
drawn_cells = st.lists(st.tuples(letters, letters, st.booleans(), st.booleans(), st.booleans()), max_size=6)
policies = st.fixed_dictionaries({
    "bar": st.sampled_from(["count", "every-cell"]), "margin": st.sampled_from([0.1, 1.0]),
    "metric_drop": st.sampled_from(["investigate", "block"]), "changed": st.booleans(),
})  # fmt: skip


@given(drawn_cells, policies, st.booleans())
@settings(max_examples=60, deadline=None)
def test_whatever_was_measured_all_formats_say_the_same(found, policy, frozen):
    cells = [
        cell(f"S{n}", was, now, scored=scored, golden=golden, control=control)
        for n, (was, now, scored, golden, control) in enumerate(found)
    ]
    assert_all_agree(a_diff(*cells))
    verdict = a_gate(*cells, frozen=["x: FRZ001 was edited"] if frozen else [], **policy)
    assert_all_agree(verdict)
    assert_fits(verdict)


def assert_fits(verdict):
    """80 columns, and no control character."""
    for line in verdict_text(verdict).splitlines():
        only_word = line.removesuffix(" \\").removeprefix("  → ").strip()
        assert width(line) <= 80 or " " not in only_word, line
    for render in (verdict_text, verdict_markdown, verdict_junit, verdict_github):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", render(verdict))


@pytest.mark.parametrize("name", SITUATIONS)
def test_text_fits_eighty_columns_and_holds_no_control_character(name):
    assert_fits(SITUATIONS[name]())


@pytest.mark.parametrize("name", SITUATIONS)
def test_no_cell_is_ever_called_significant(name):
    assert "significant" not in verdict_text(SITUATIONS[name]()).lower()


@pytest.mark.parametrize("name", [n for n in SITUATIONS if n.startswith("gate") and ANSWERS[n]])
def test_whatever_is_no_pass_names_its_reason_and_the_next_command(name):
    verdict = SITUATIONS[name]()
    deciding = [r for r in verdict.reasons if r.kind == verdict.answer]
    assert deciding
    assert all(r.command or r.code == "gone" for r in deciding)
    assert all(any(c.isdigit() for c in r.text) or r.code == "no-cells" for r in deciding)


def test_a_candidate_that_is_not_here_is_measured_at_its_commit():
    there = AFTER._replace(name="v1.3")
    cells = [cell("E1-edits", None, "PPP"), cell("E2-retry", "PPP", None), cell("E3-docs", "PPP", "PPP")]
    run = "evalrepo run {} --agent claude --tier haiku --reps 3 --at v1.3"
    [base, own] = [r.command for r in diff(BEFORE, there, cells, Policy("v1.3")).reasons]
    assert base == run.format("E1-edits") + " --against v1.2"
    assert own == run.format("E2-retry")
    same = there._replace(subjects=BEFORE.subjects)
    [alike, _] = [r.command for r in diff(BEFORE, same, cells, Policy("v1.3")).reasons]
    assert "--against" not in alike
    [back, _] = [r.command for r in diff(HERE, there, cells, Policy("v1.3")).reasons]
    assert back == run.format("E1-edits").removesuffix(" --at v1.3")


def test_every_exit_code_of_an_answer_is_in_the_table():
    assert set(EXITS.values()) <= {int(e) for e in Exit}


def test_a_verdict_is_a_function_of_the_set_of_cells():
    cells = [cell("E2", "PPP", "PFF"), cell("E1", "PPP", None), cell("E3", "PPF", "PPP")]
    assert a_gate(*cells) == a_gate(*reversed(cells))


def test_reps_that_came_too_late_to_decide_are_counted_and_the_setting_is_named():
    found = a_diff(cell("E1", "PPPPP", "PPPF"), cell("E2", "PPP", "PPP"))
    assert [(e.reps, e.why) for e in found.validity.excluded] == [
        (3, "after the first 3 of a cell, which decide (`reps` in evalrepo.yaml)")
    ]
    assert "excluded: 3 reps after the first 3 of a cell" in verdict_text(found)
