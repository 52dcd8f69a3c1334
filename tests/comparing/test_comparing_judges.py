"""A judge that may decide on one side and not on the other makes no comparison; one that nobody calibrated is told."""

from __future__ import annotations

import json

from comparing_rows import NEW, OLD, make_row

from evalrepo.comparing.cells import Planned, compare_cell
from evalrepo.comparing.judges import uncalibrated
from evalrepo.records.row import from_record, pack, unpack
from evalrepo.records.verdict import Label
from tests.commands.conftest import Repo, empty
from tests.commands.test_commands_calibrate import label, measured

__all__ = ["empty", "measured"]

PLANNED = Planned("S1", "claude", "haiku", OLD, NEW)


def judged(run: str, identity, **found):
    row = make_row(run, "PPP", identity)
    return row._replace(reps=tuple(rep._replace(**found) for rep in row.reps))


def test_a_judge_that_was_advisory_at_the_base_and_decides_now_makes_the_cell_not_comparable():
    old, new = judged("aaaaaaaa", OLD, advisory=("told",)), judged("bbbbbbbb", NEW, deciding=("told",))
    found = compare_cell(PLANNED, [old, new])
    assert found.label is Label.NOT_COMPARABLE
    assert found.why == "a judge decides told in some of these reps and is advisory in others"
    for alike in (judged("aaaaaaaa", OLD, deciding=("told",)), judged("aaaaaaaa", OLD, deciding=("other",))):
        assert compare_cell(PLANNED, [alike, new]).label is Label.SAME


def test_answers_of_another_model_are_not_compared_where_they_decide():
    old = judged("aaaaaaaa", OLD, deciding=("told",), judges={"words/told": "m-1"})
    new = judged("bbbbbbbb", NEW, deciding=("told",), judges={"words/told": "m-2"})
    found = compare_cell(PLANNED, [old, new])
    assert (found.label, found.why) == (Label.NOT_COMPARABLE, "words/told judged by m-1 → m-2")
    shown = [judged(r.run, i, advisory=("told",), judges=r.reps[0].judges) for r, i in ((old, OLD), (new, NEW))]
    assert compare_cell(PLANNED, shown).label is Label.SAME
    unasked = judged("bbbbbbbb", NEW)
    assert compare_cell(PLANNED, [old, unasked]).label is Label.SAME


def test_reps_that_an_uncalibrated_judge_decided_are_counted_with_their_cells():
    old, new = judged("aaaaaaaa", OLD), judged("bbbbbbbb", NEW, deciding=("says",), uncalibrated=True)

    class Bare:
        cells = (compare_cell(PLANNED, [old, new]),)

    (note,) = uncalibrated(Bare)
    assert (note.kind, note.code) == ("note", "uncalibrated")
    assert note.text.startswith("an uncalibrated judge decided checks of 3 reps, as its rubric allows: S1")


def test_a_row_keeps_what_judges_decided_through_the_cache():
    row = judged(
        "aaaaaaaa", NEW, deciding=("a",), advisory=("b", "c"), uncalibrated=True, raters={}, judges={"w/a": "m"}
    )
    assert unpack(json.loads(json.dumps(pack(row)))) == row


def test_results_from_before_a_judge_was_calibrated_are_not_compared_with_later_ones(measured: Repo):
    base = measured.git("rev-parse", "HEAD").strip()
    label(measured, "yes", "yes", "no", "no")
    measured.run("calibrate", "words")
    measured.commit({"subjects/a.md": "Say it well.\n"}, "another subject, a calibrated judge")
    measured.run("run", exit=None)
    records = sorted((r for r in measured.records() if r["scenario"] == "T2"), key=lambda r: r["end"])
    old, new = (from_record(record, "x").reps[0] for record in records)
    assert (old.advisory, old.deciding, old.verdict) == (("judged",), (), "PASS")
    assert (new.advisory, new.deciding, new.verdict) == ((), ("judged",), "FAIL")
    said = " ".join(measured.run("diff", base, "HEAD", exit=None).split())
    assert "a judge decides judged in some of these reps and is advisory in others" in said
    assert "suspect" not in said
    measured.run("rescore", exit=None)
    again = [r for r in measured.records() if r["scenario"] == "T2" and r.get("rescored_from") == records[0]["run"]]
    assert [from_record(r, "x").reps[0].deciding for r in again] == [("judged",)]
    said = " ".join(measured.run("diff", base, "HEAD", exit=None).split())
    assert "advisory" not in said
    assert "not comparable" not in said
    assert "nothing worse than noise" in said
