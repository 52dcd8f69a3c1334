"""A metric that is unset is a dash wherever people see it, empty or null in data, and never 0 or None."""

from __future__ import annotations

import json

import pytest

from evalrepo.formats.result_body import body
from evalrepo.formats.scorecard import Card, Mark, dump
from evalrepo.records.record import MetricScore, Record
from evalrepo.records.unset import score_word
from evalrepo.render.explained import Explained, MetricSheet, explained_text
from evalrepo.render.record import record_text
from evalrepo.render.rows import csv_lines, jsonl, rows_of, tsv
from evalrepo.render.text import plain

UNSET = {
    "M1": MetricScore(score=None, source="human", evidence="not scored yet"),
    "M2": MetricScore(score=0, source="mechanical", evidence="no other rung fits"),
}


@pytest.fixture
def record() -> Record:
    """One rep with a metric that is unset and one that is 0."""
    text = json.dumps({
        "schema": 1, "run": "k7m2q9ab", "start": "2026-11-29T21:53:48Z", "end": "2026-11-29T21:59:01Z",
        "evalrepo": "0.1.0", "scenario": "S1", "title": "T", "agent": "claude", "tier": "small", "subjects": ["s"],
        "digests": dict.fromkeys(("subject", "stimulus", "instrument", "apparatus"), "1" * 64), "commit": "3f" * 20,
        "dirty": False, "isolation": "bwrap", "bar": {"passes": 1, "of": 1}, "clone": "0" * 16, "sequence": 1,
        "reps": [{
            "rep": 1, "attempt": 1, "verdict": "PASS", "timing": {"start": "2026-11-29T21:53:48Z", "seconds": 1.0},
            "metrics": {name: m.model_dump(mode="json") for name, m in UNSET.items()},
        }],
    })  # fmt: skip
    return Record.model_validate_json(text)


def test_a_score_is_its_number_and_none_a_dash():
    assert [score_word(score) for score in (0, 3, 2.5, None)] == ["0", "3", "2.5", "–"]


def test_show_and_the_result_file_have_a_dash(record: Record):
    shown = record_text(record, "r.md", plain)
    assert "  M1 – (human) not scored yet\n" in shown
    assert "  M2 0 of 3 (mechanical) no other rung fits\n" in shown
    assert "| rep | M1 | M2 |\n| --- | --- | --- |\n| 1 | – | 0 |" in body(record)


def test_an_explained_rep_has_a_dash():
    metrics = tuple(MetricSheet(name, m.score, m.source, m.evidence) for name, m in UNSET.items())
    said = explained_text(
        Explained(
            "S1", "claude", "small", "k7m2q9ab", "r.md", "T", 1, 1, "", "PASS", "", "", "", "so", True, False, "",
            metrics=metrics,
        ),
        plain,
    )  # fmt: skip
    assert "  M1: – (human)\n    not scored yet\n  M2: 0 of 3 (mechanical)\n" in said


def test_exports_have_a_dash_nothing_or_null(record: Record):
    (_, row) = tsv([record])
    assert row.rstrip("\n").endswith("M1=– M2=0")
    assert "M1= M2=0" in list(csv_lines(rows_of(record)))[1]
    assert json.loads(next(jsonl(rows_of(record))))["metrics"] == {"M1": None, "M2": 0}


def test_a_card_has_a_dash_for_what_is_not_given():
    card = Card("S1", "k7m2q9ab", "claude/small", 1, "Ann", None, {"M1": Mark(None), "M2": Mark(0, "line 3")})
    lines = dump([card], {}).splitlines()
    assert [line for line in lines if line.startswith("M")] == ["M1: –   evidence:", "M2: 0   evidence: line 3"]
