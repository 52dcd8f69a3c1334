"""The rules of the gate, one at a time, and laws that hold whatever was measured."""

from __future__ import annotations

import pytest
from comparing_rows import NEW, make_row
from hypothesis import given, settings
from hypothesis import strategies as st
from situations import BEFORE, FLAGGED, GOLDEN_CELL, a_diff, a_gate, cell, flagged, wide

from evalrepo.comparing.cells import recounted
from evalrepo.comparing.clusters import clusters
from evalrepo.comparing.confirm_plan import settled
from evalrepo.comparing.diff import diff
from evalrepo.comparing.pool import by_cell, pool, score
from evalrepo.comparing.statistics import sprt
from evalrepo.comparing.waivers import on, waivers
from evalrepo.records.event import Event
from evalrepo.records.inference import Fresh
from evalrepo.records.scenario import Scenario
from evalrepo.records.verdict import Policy

strips = st.text("PF", min_size=3, max_size=3)
releases = st.lists(st.tuples(strips, strips), min_size=1, max_size=8)
few = settings(max_examples=40, deadline=None)


def codes(verdict):
    return {r.code for r in verdict.reasons if r.kind != "note"}


def outcomes(verdict):
    return {(c.of, c.outcome) for c in verdict.confirmations}


def test_a_suspect_is_open_until_fresh_reps_confirm_or_clear_it():
    cells = wide(flagged(), cells=30)
    assert a_gate(*cells).answer == "inconclusive"
    for after, answer in (((2, 8), "block"), ((7, 8), "pass")):
        assert a_gate(*cells, fresh=[Fresh(FLAGGED, (8, 8), after, 8)]).answer == answer


def test_fresh_reps_are_not_looked_at_before_the_planned_number_is_there():
    found = a_gate(*wide(flagged()), fresh=[Fresh(FLAGGED, (7, 7), (0, 7), 8)])
    assert outcomes(found) == {("suspect", "open")}
    assert found.answer == "inconclusive"


def test_a_suspect_without_fresh_reps_makes_the_others_harder_to_confirm():
    fresh = [Fresh(FLAGGED, (8, 8), (4, 8), 8)]
    alone = a_gate(*wide(flagged()), fresh=fresh).confirmations[0]
    both = a_gate(*wide(flagged(), cell("E5-docs", "PPP", "FFF")), fresh=fresh).confirmations[0]
    assert (alone.outcome, both.outcome) == ("confirmed", "cleared")
    assert both.p == pytest.approx(2 * alone.p)


def test_fresh_reps_of_a_cell_that_nobody_flagged_say_nothing():
    assert a_gate(*wide(), fresh=[Fresh("S02-task · claude/haiku", (8, 8), (0, 8), 8)]).confirmations == ()


@pytest.mark.parametrize(("strip", "outcome"), [("FFF", "confirmed"), ("P" * 8, "cleared"), ("PF", "open")])
def test_a_sequential_plan_is_decided_by_its_boundary(strip, outcome):
    fresh = Fresh(FLAGGED, (0, 0), (strip.count("P"), len(strip)), 20, "sprt", strip)
    assert outcomes(a_gate(*wide(flagged()), fresh=[fresh])) == {("suspect", outcome)}
    assert sprt([c == "P" for c in strip]).state == {"confirmed": "drop", "cleared": "same", "open": "open"}[outcome]


def test_a_sequential_plan_divides_its_error_by_the_number_of_suspects():
    strip = "FPFFPFPP"
    fresh = Fresh(FLAGGED, (0, 0), (4, 8), 20, "sprt", strip)
    assert outcomes(a_gate(*wide(flagged()), fresh=[fresh])) == {("suspect", "confirmed")}
    others = [cell(f"E{n}-docs", "PPP", "PPF" if n > 5 else "FFF") for n in range(5, 9)]
    assert outcomes(a_gate(*wide(flagged(), *others), fresh=[fresh])) == {("suspect", "confirmed")}
    many = [cell(f"E{n}-docs", "PPP", "FFF") for n in range(5, 12)]
    assert outcomes(a_gate(*wide(flagged(), *many), fresh=[fresh])) == {("suspect", "open")}


def test_a_sequential_plan_that_ended_open_says_so_and_asks_for_no_more_reps():
    strip = "PPPFPPPFPPPFPPPFPPPF"
    fresh = Fresh(FLAGGED, (0, 0), (15, 20), 20, "sprt", strip)
    found = a_gate(*wide(flagged()), fresh=[fresh])
    [reason] = [r for r in found.reasons if r.code == "suspect"]
    assert "15 of 20 fresh reps passed, the sequential test ends after 20" in reason.text
    assert reason.command.startswith("evalrepo show ")


def test_fresh_reps_cannot_lift_what_else_blocks():
    open_golden = a_gate(cell("E1-edits", "PPP", "PPF", golden=True), *wide()[1:])
    dropped = a_gate(*wide(*(cell(f"E{n}-docs", "PPP", "FFF") for n in range(2, 9))))
    assert (open_golden.answer, settled(open_golden)) == ("block", "")
    assert settled(dropped).startswith("the gate blocks whatever fresh reps say: ")
    assert settled(a_gate(*wide(), frozen=["x: FRZ001 was edited"])).startswith("the gate is invalid")
    assert settled(a_gate(*wide(flagged()))) == ""


@pytest.mark.parametrize(("after", "outcome"), [((5, 5), "cleared"), ((4, 4), "open"), ((8, 9), "confirmed")])
def test_a_golden_fail_is_cleared_by_five_fresh_passes_and_nothing_else(after, outcome):
    cells = [cell("E1-edits", "PPP", "PPF", golden=True), *wide()[1:]]
    found = a_gate(*cells, fresh=[Fresh(GOLDEN_CELL, after, after, 5)])
    assert outcomes(found) == {("golden", outcome)}
    assert ("golden" in codes(found)) == (outcome != "cleared")


def test_the_bar_is_one_test_of_the_family_and_every_cell_is_a_test_of_none():
    fallen = [cell(f"S{n}", "PPF", "PFF") for n in range(9)]
    by_count, by_cell_ = a_gate(*fallen), a_gate(*fallen, bar="every-cell")
    assert by_count.bar.holm >= by_count.bar.p
    assert by_cell_.bar.holm is None
    assert [r.code for r in by_cell_.reasons].count("below-bar") == 9
    assert "false-block" in {r.code for r in by_cell_.reasons}


def test_what_was_below_its_bar_at_the_base_too_does_not_block_unless_every_cell_must_be_above():
    cells = wide(cell("E4-retry-policy", "FFF", "FFF"), cells=30)
    assert a_gate(*cells).answer == "pass"
    assert a_gate(*cells, bar="every-cell").answer == "block"


def test_an_error_that_was_tried_again_counts_as_a_fail_in_the_worst_case():
    row = make_row("bbbbbbb2", "PPP", NEW)
    lost = row.reps[0]._replace(verdict="ERROR", error="idle", model="")
    again = row.reps[0]._replace(attempt=2, start="2026-11-01T11:00:00Z")
    found = score(pool(by_cell([row._replace(reps=(lost, again, *row.reps[1:]))])[row.cell], NEW).groups[0], 3)
    assert (found.counts, found.worst, found.best) == ((3, 3), (2, 3), (3, 3))


@pytest.mark.parametrize(
    ("now", "worst", "best"), [("PEPP", (2, 3), (3, 3)), ("EEPPP", (1, 3), (3, 3)), ("FPPE", (2, 3), (2, 3))]
)
def test_the_worst_case_is_of_the_first_reps(now, worst, best):
    found = cell("S1", "PPP", now)
    assert (found.after.worst, found.after.best) == (worst, best)
    assert recounted(found).after.counts == worst


@given(releases, st.lists(st.text("PFE", min_size=3, max_size=6), min_size=1, max_size=6))
@few
def test_a_pass_survives_every_error_counted_as_a_fail(plain, lossy):
    cells = [cell(f"S{n}", b, a) for n, (b, a) in enumerate(plain)] + [
        cell(f"T{n}", "PPP", a) for n, a in enumerate(lossy)
    ]
    found = a_gate(*cells, margin=1.0, max_error_rate=1.0)
    if found.answer == "pass":
        assert a_gate(*map(recounted, cells), margin=1.0, max_error_rate=1.0).answer == "pass"


@given(releases)
@few
def test_a_diff_of_the_same_reps_shows_no_change_and_tests_nothing(found):
    cells = [cell(f"S{n}", None, now, before=NEW) for n, (_, now) in enumerate(found)]
    verdict = diff(BEFORE, BEFORE, cells, Policy("HEAD"))
    assert {c.label for c in verdict.cells} == {"same"}
    assert (verdict.overall.difference, verdict.overall.test, verdict.exit) == (0, None, 0)
    assert [c.moved for c in verdict.cells] == [()] * len(cells)


@given(releases)
@few
def test_the_other_way_round_everything_is_mirrored(found):
    there = a_diff(*(cell(f"S{n}", b, a) for n, (b, a) in enumerate(found)))
    back = a_diff(*(cell(f"S{n}", a, b) for n, (b, a) in enumerate(found)))
    assert there.overall.difference == pytest.approx(-back.overall.difference)
    assert there.overall.test.p == pytest.approx(back.overall.test.p)
    assert there.overall.error == pytest.approx(back.overall.error)
    for one, other in zip(there.cells, back.cells, strict=True):
        assert one.p_worse + other.p_worse == pytest.approx(1, abs=1e-6)


@given(st.lists(st.tuples(strips, strips), min_size=2, max_size=8))
@few
def test_copying_every_rep_does_not_shrink_the_reported_error(found):
    once = a_diff(*(cell(f"S{n}", b, a) for n, (b, a) in enumerate(found)))
    twice = a_diff(*(cell(f"S{n}", b * 2, a * 2, reps=6) for n, (b, a) in enumerate(found)))
    assert twice.overall.error == pytest.approx(once.overall.error)
    assert twice.overall.interval == once.overall.interval
    assert twice.overall.difference == pytest.approx(once.overall.difference)


def test_tiers_and_twins_of_a_scenario_are_one_cluster():
    alone = a_diff(*(cell(f"S{n}", "PPP", "PPF" if n % 2 else "PPP") for n in range(24)))
    tiers = a_diff(
        *(cell(f"S{n}", "PPP", "PPF" if n % 2 else "PPP", tier=t) for n in range(24) for t in ("haiku", "sonnet"))
    )
    twins = a_diff(*(cell(f"S{n}", "PPP", "PPF" if n % 4 > 1 else "PPP", cluster=f"S{n // 2}") for n in range(24)))
    assert (alone.overall.clusters, tiers.overall.clusters, twins.overall.clusters) == (24, 24, 12)
    assert tiers.overall.error == pytest.approx(alone.overall.error)
    assert twins.overall.error > 1.3 * alone.overall.error
    assert twins.overall.interval is None


def test_scenarios_with_a_common_cluster_or_a_twin_are_one_whatever_else_they_name():
    def scenario(**more):
        return Scenario.model_validate({"title": "t", "subject": "s", "turns": [{"prompt": "p"}], **more})

    found = clusters(
        {
            "A": scenario(twin="A-reserve", cluster="x"), "A-reserve": scenario(twin="A", cluster="y"),
            "B": scenario(cluster="y"), "C": scenario(), "D": scenario(twin="gone"),
        }
    )  # fmt: skip
    assert found == {"A": "A", "A-reserve": "A", "B": "A", "C": "C", "D": "D"}


def event(**more):
    made = {"event": "waive", "at": "2026-11-01T10:00:00Z", "by": "A <a@b.c>", "why": "known", "metric": "M2"} | more
    return Event.model_validate(made)


def test_a_waiver_counts_when_it_is_older_than_the_range_and_not_past_its_last_day():
    events = {
        "1": event(until="2026-12-31"), "2": event(until="2026-11-05"), "3": event(until="2026-12-31"),
        "4": event(event="acknowledge", metric=None, commits=["0" * 40]),
    }  # fmt: skip
    found = on("2026-11-29", waivers(events, {"1", "2", "4"}))
    assert [w.problem for w in found] == [
        "",
        "its last day was 2026-11-05",
        "it was made since the baseline, and counts from the next release",
    ]


def test_a_suite_of_controls_that_pass_and_positives_that_fail_is_degenerate_either_way():
    positives = [cell(f"P{n}", "PPP", "FFF") for n in (1, 2)]
    controls = [cell(f"C{n}", "PPP", "PPP", control=True) for n in (1, 2)]
    assert "degenerate" in codes(a_gate(*positives, *controls))
    assert "degenerate" in codes(a_gate(*(c._replace(control=not c.control) for c in (*positives, *controls))))
    assert "degenerate" not in codes(a_gate(*positives, controls[0], cell("C2", "PPP", "PPF", control=True)))
    assert "degenerate" not in codes(a_gate(positives[0], *controls))
    assert "degenerate" not in codes(a_gate(*positives, cell("P3", "PPP", "PPP")))


def test_a_margin_of_one_asks_for_nothing_and_a_larger_margin_is_easier():
    cells = [cell(f"S{n}", "PPP", "PPP") for n in range(6)]
    answers = [a_gate(*cells, margin=m).answer for m in (0.1, 0.15, 0.16, 1.0)]
    assert answers == ["inconclusive", "inconclusive", "pass", "pass"]


def test_from_twenty_clusters_on_the_margin_is_students_and_below_it_is_exact():
    def bound(scenarios):
        cells = [cell(f"S{n}", "PPF", "PFP" if n % 3 else "PPP") for n in range(scenarios)]
        return a_gate(*cells).margin

    assert (bound(19).method, bound(20).method) == ("exact", "t")
    assert a_gate(*(cell(f"S{n}", "PPP", "PPP") for n in range(25))).margin.method == "exact"
