"""DESIGN 5: which reps count."""

from __future__ import annotations

from comparing_rows import NEW, OLD

from evalrepo.comparing.pool import Identity, by_cell, pool, score


def scored(rows, identity=NEW, reps=3):
    found = pool(by_cell(rows)["S1", "claude", "haiku"], identity)
    return score(found.groups[0], reps)


def test_the_first_n_valid_reps_by_start_decide_whatever_a_late_top_up_says(row):
    early = row("run00001", "PFP", start="2026-11-01T10:00:00Z")
    late = row("run00002", "PPPP", start="2026-11-02T10:00:00Z")
    assert scored([late, early]).counts == (2, 3)
    assert scored([late, early]).beyond == 4
    assert scored([late, early], reps=5).strip == "PFPPP"


def test_an_error_is_shown_and_another_rep_takes_its_place(row):
    found = scored([row("run00001", "PEP"), row("run00002", "F", start="2026-11-02T10:00:00Z")])
    assert (found.strip, found.counts, found.errors) == ("PEPF", (2, 3), 1)
    assert found.errors_by_kind == {"idle": 1}


def test_the_last_attempt_of_a_rep_gives_its_verdict_and_the_others_are_counted_as_retries(row):
    base = row("run00001", "PP")
    first = base.reps[0]._replace(verdict="ERROR", error="idle", model="")
    again = base.reps[0]._replace(attempt=2, verdict="FAIL", start="2026-11-01T11:00:00Z")
    found = scored([base._replace(reps=(again, first, base.reps[1]))])
    assert (found.strip, found.retries, found.errors) == ("FP", 1, 0)


def test_fresh_and_confirmation_reps_are_never_pooled_and_are_named(row):
    rows = [row("run00001", "PPP"), row("run00002", "FFF", purpose="fresh"), row("run00003", "FF", purpose="confirm")]
    found = pool(by_cell(rows)["S1", "claude", "haiku"], NEW)
    assert found.groups[0].valid == 3
    assert {(e.reps, e.why.split(",")[0]) for e in found.excluded} == {
        (3, "of purpose fresh"),
        (2, "of purpose confirm"),
    }


def test_the_same_rep_counts_once_however_many_files_hold_it(row):
    original = row("run00001", "FFF")
    forged = original._replace(
        reps=tuple(r._replace(verdict="PASS") for r in original.reps), oid="other", path="AgentsReport/evaluation/z.md"
    )
    in_ref = original._replace(path="refs/evalrepo/runs/run00001:results/x.md", oid="third")
    found = pool(by_cell([forged, in_ref])["S1", "claude", "haiku"], NEW)
    assert score(found.groups[0], 3).counts == (0, 3)
    assert [e.reps for e in found.excluded] == [3]


def test_a_record_that_was_judged_again_stands_only_when_it_supersedes_the_first(row):
    first = row("run00001", "FFF")
    again = row("run00002", "PPP", rescored_from="run00001", start="2026-11-03T10:00:00Z")
    assert scored([first, again]).counts == (0, 3)
    assert scored([first, again._replace(supersedes="run00001")]).counts == (3, 3)


def test_a_rep_that_was_declared_bad_is_an_error_by_every_instrument_that_judges_it(row):
    first = row("run00001", "PPP", OLD)
    spoilt = tuple(r._replace(verdict="ERROR", error="defect") if r.rep == 2 else r for r in first.reps)
    corrected = first._replace(run="run00002", rescored_from="run00001", supersedes="run00001", reps=spoilt)
    again = row("run00003", "PPP", rescored_from="run00001", supersedes="run00001", start="2026-11-03T10:00:00Z")
    found = pool(by_cell([first, corrected, again])["S1", "claude", "haiku"], NEW)
    assert (score(found.groups[0], 3).counts, score(found.groups[0], 3).strip) == ((2, 2), "PEP")
    (why,) = found.excluded
    assert (why.reps, why.why) == (1, "in run run00003, declared bad by run00002: ERROR(defect) here too")


def test_a_run_cannot_supersede_reps_that_it_did_not_judge(row):
    first = row("run00001", "FFF")
    other = row("run00002", "PPP", supersedes="run00001", start="2026-11-03T10:00:00Z")
    assert scored([first, other]).counts == (0, 3)


def test_another_resolved_model_is_another_group(row):
    rows = [row("run00001", "PPP"), row("run00002", "FFF", rep_model="model-2", start="2026-11-02T10:00:00Z")]
    found = pool(by_cell(rows)["S1", "claude", "haiku"], NEW)
    assert [(g.model, g.valid) for g in found.groups] == [("model-2", 3), ("model-1", 3)]


def test_an_error_before_any_model_answered_makes_no_group_of_its_own(row):
    found = pool(by_cell([row("run00001", "EPP")])["S1", "claude", "haiku"], NEW)
    assert len(found.groups) == 1
    assert score(found.groups[0], 3).strip == "EPP"


def test_only_errors_are_a_score_without_a_valid_rep(row):
    assert scored([row("run00001", "EEE")]).counts == (0, 0)


def test_a_record_of_another_identity_is_stale_and_never_counted(row):
    found = pool(by_cell([row("run00001", "PPP", OLD)])["S1", "claude", "haiku"], NEW)
    assert found.groups == ()
    assert found.stale is not None
    assert found.other is None


def test_the_apparatus_must_agree_but_for_the_cli(row):
    identity = Identity("subject-new", "stimulus", "instrument", {"settings": "s"})
    rows = [row("run00001", "PPP"), row("run00002", "FFF", apparatus_parts={"cli": "1.0", "settings": "other"})]
    found = pool(by_cell(rows)["S1", "claude", "haiku"], identity)
    assert [g.valid for g in found.groups] == [3]
    assert found.other is not None


def test_failed_checks_metrics_and_usage_are_those_of_the_counted_reps(row):
    found = scored([row("run00001", "PFFPP")])
    assert found.failed == {"check-a": 2}
    assert found.axes == {"A": 2}
    assert found.metrics == {"M1": (3 + 1 + 1) / 3}
    assert found.usage == (101, None, 2, 1.5)
