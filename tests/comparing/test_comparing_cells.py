"""What a cell is called."""

from __future__ import annotations

import pytest
from comparing_rows import NEW, OLD

from evalrepo.comparing.cells import compare_cell, unexplained
from evalrepo.comparing.pool import Identity
from evalrepo.records.verdict import Label

EARLY = "2026-10-01T10:00:00Z"


@pytest.mark.parametrize(
    ("old", "new", "label"),
    [
        ("PPP", "PPP", Label.SAME), ("FFF", "FFF", Label.SAME), ("PPP", "PPF", Label.WORSE),
        ("PPP", "PFF", Label.SUSPECT), ("PPF", "FFF", Label.SUSPECT), ("PFF", "PPP", Label.BETTER),
        ("PPP", "PP", Label.SAME), ("PPPPP", "PPP", Label.SAME),
    ],
)  # fmt: skip
def test_a_compared_cell_is_called_by_its_counts(row, planned, old, new, label):
    rows = [row("run00001", old, OLD, start=EARLY), row("run00002", new)]
    assert compare_cell(planned(), rows).label is label


def test_a_cell_without_any_record_is_missing(planned):
    found = compare_cell(planned(), [])
    assert (found.label, found.missing_side, found.why) == (Label.MISSING, "both", "never measured")


def test_a_candidate_with_only_the_bases_scores_is_stale(row, planned):
    found = compare_cell(planned(), [row("run00001", "PPP", OLD, start=EARLY)])
    assert (found.label, found.missing_side) == (Label.STALE, "after")
    assert found.why == "last 3/3 on 2026-10-01, with another subject"
    assert found.before.counts == (3, 3)


def test_a_base_that_was_never_measured_is_missing_although_the_candidate_was(row, planned):
    found = compare_cell(planned(), [row("run00001", "PPP")])
    assert (found.label, found.missing_side) == (Label.MISSING, "before")


def test_a_cell_that_the_base_does_not_have_is_new(row, planned):
    assert compare_cell(planned(new=True), [row("run00001", "PPP")]).label is Label.NEW
    assert compare_cell(planned(before=None), [row("run00001", "PPP")]).label is Label.NEW


def test_a_new_cell_that_was_measured_on_the_bases_subject_is_compared(row, planned):
    rows = [row("run00001", "PPP", OLD, start=EARLY), row("run00002", "PFF")]
    assert compare_cell(planned(new=True), rows).label is Label.SUSPECT


def test_a_cell_that_the_candidate_does_not_have_is_gone(row, planned):
    found = compare_cell(planned(after=None), [row("run00001", "PPP", OLD, start=EARLY)])
    assert (found.label, found.before.counts) == (Label.GONE, (3, 3))


def test_another_instrument_at_the_base_is_not_comparable_and_named(row, planned):
    old = Identity("subject-old", "stimulus", "instrument-before")
    rows = [row("run00001", "PPP", old, start=EARLY), row("run00002", "PPP")]
    parts = {"oid-run00001": {"instrument": {"checks": "a" * 64, "scorer": "1"}}}
    expected = {"instrument": {"checks": "b" * 64, "scorer": "2"}}
    assert "run00001" in [r.run for r in unexplained(planned(), rows)]
    found = compare_cell(planned(), rows, expected, parts)
    assert (found.label, found.missing_side) == (Label.NOT_COMPARABLE, "before")
    assert found.why == "the base was measured with another instrument (checks, scorer 1 → 2)"


def test_another_cli_or_model_is_not_comparable_and_named(row, planned):
    cli = {"cli": "1.1", "settings": "s"}
    rows = [row("run00001", "PPP", OLD, start=EARLY), row("run00002", "PPP", apparatus_parts=cli)]
    assert compare_cell(planned(), rows).why == "CLI version 1.0 → 1.1"
    rows = [row("run00001", "PPP", OLD, start=EARLY), row("run00002", "PPP", rep_model="model-2")]
    assert compare_cell(planned(), rows).why == "resolved model model-1 → model-2"


def test_of_several_models_the_newest_that_both_sides_have_is_compared(row, planned):
    rows = [
        row("run00001", "PPP", OLD, start=EARLY),
        row("run00002", "PPF"),
        row("run00003", "FFF", rep_model="model-2", start="2026-11-05T10:00:00Z"),
    ]
    found = compare_cell(planned(), rows)
    assert (found.label, found.after.model) == (Label.WORSE, "model-1")


def test_one_identity_on_both_sides_is_the_same_cell_whatever_it_scored(row, planned):
    found = compare_cell(planned(before=NEW), [row("run00001", "PFF")])
    assert (found.label, found.before, found.moved) == (Label.SAME, found.after, ())
    assert found.below_bar
    assert not found.fell_below_bar


def test_axes_and_checks_that_failed_more_often_are_listed(row, planned):
    rows = [row("run00001", "PPF", OLD, start=EARLY), row("run00002", "FFF", failed=("check-a", "check-b"))]
    moved = {(m.kind, m.name): (m.before, m.after) for m in compare_cell(planned(), rows).moved}
    assert moved == {("axis", "A"): (1, 3), ("check", "check-a"): (1, 3), ("check", "check-b"): (0, 3)}


def test_a_bar_is_a_rate_rounded_up(row, planned):
    rows = [row("run00001", "PPPPP", OLD, start=EARLY), row("run00002", "PPPFF")]
    found = compare_cell(planned(reps=5), rows)
    assert (found.needed, found.below_bar, found.fell_below_bar) == (4, True, True)


def test_errors_alone_leave_a_cell_missing_and_are_named(row, planned):
    rows = [row("run00001", "PPP", OLD, start=EARLY), row("run00002", "EE")]
    found = compare_cell(planned(), rows)
    assert (found.label, found.why, found.after.errors) == (Label.MISSING, "no valid rep: ERROR 2 idle", 2)
