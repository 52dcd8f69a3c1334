"""How many fresh reps the open cells of a gate need."""

from __future__ import annotations

import pytest
from comparing_rows import NEW, OLD, make_row
from hypothesis import example, given, settings
from hypothesis import strategies as st
from situations import cell

from evalrepo.comparing.confirm_plan import CAP, batch, fresh_of, needs, open_cells, within
from evalrepo.comparing.pool import Pool, pool
from evalrepo.comparing.statistics import sprt
from evalrepo.records.inference import Fresh


def reps(letters: str, *, old: bool = False, run: str = "ffffffff") -> Pool:
    return pool([make_row(run, letters, OLD if old else NEW)], OLD if old else NEW)


SUSPECT = cell("S1-task", "PPP", "FFF")
GOLDEN = cell("S2-task", "PPP", "PPF", golden=True)


def test_suspects_and_golden_fails_are_open_and_nothing_else():
    cells = [cell("S3-task", "PPP", "PPF"), SUSPECT, GOLDEN, cell("S4-task", "PPP", "PPP", golden=True)]
    assert [c.scenario for c in open_cells(cells)] == ["S2-task", "S1-task"]


def test_a_suspect_wants_reps_of_both_sides_and_a_golden_fail_five_of_the_candidate():
    fresh = [fresh_of(c, (None, None), None, 8) for c in (SUSPECT, GOLDEN)]
    found = needs([SUSPECT, GOLDEN], fresh, 0.05)
    assert [(n.before, n.after, n.lacking) for n in found] == [(8, 8, 16), (0, 5, 5)]


def test_reps_that_are_there_are_not_wanted_again_and_later_ones_do_not_count():
    fresh = fresh_of(SUSPECT, (reps("PPPPPPPPF", old=True), reps("FFFFFFFFPPP")), None, 8)
    assert (fresh.before, fresh.after, fresh.plan) == ((8, 8), (0, 8), "fixed")
    assert needs([SUSPECT], [fresh], 0.05) == []


def test_errors_are_topped_up():
    fresh = fresh_of(SUSPECT, (reps("PPE", old=True), reps("FFF")), None, 3)
    [need] = needs([SUSPECT], [fresh], 0.05)
    assert need.lacking == 1


def test_a_base_that_is_well_known_needs_no_fresh_reps_of_its_own():
    base = reps("P" * 19 + "F", old=True).groups[0]
    fresh = fresh_of(SUSPECT, (None, reps("FF")), base, 8)
    assert (fresh.plan, fresh.planned, fresh.strip) == ("sprt", CAP, "FF")
    [need] = needs([SUSPECT], [fresh], 0.05)
    assert (need.before, need.after, need.lacking) == (0, 3, 1)


@pytest.mark.parametrize("known", ["P" * 19, "P" * 17 + "FFF"])
def test_a_base_of_few_reps_or_a_worse_one_is_compared_by_a_fixed_plan(known: str):
    base = reps(known, old=True).groups[0]
    assert fresh_of(SUSPECT, (None, None), base, 8).plan == "fixed"


def test_a_fixed_plan_that_was_begun_stays_one():
    base = reps("P" * 30, old=True, run="eeeeeeee").groups[0]
    assert fresh_of(SUSPECT, (reps("P", old=True), None), base, 8).plan == "fixed"


@given(st.text("PF", max_size=CAP + 5))
@example("FFPPPPPPPFFPPPFPPPPFP")
@settings(max_examples=200)
def test_a_batch_never_passes_a_boundary_unseen(strip: str):
    more = batch(strip, 0.05)
    decided = sprt([x == "P" for x in strip]).state != "open"
    assert (more == 0) == (decided or len(strip) >= CAP)
    for kind in "PF":
        for short in range(1, more):
            assert sprt([x == "P" for x in strip + kind * short]).state == "open"


def test_a_budget_takes_whole_plans():
    cells = [SUSPECT, SUSPECT._replace(scenario="S9-task"), GOLDEN]
    found = needs(cells, [Fresh(c.name, (0, 0), (0, 0), 8 if c is not GOLDEN else 5) for c in cells], 0.05)
    chosen, left = within(found, 21)
    assert [n.cell.scenario for n in chosen] == ["S1-task", "S2-task"]
    assert [n.cell.scenario for n in left] == ["S9-task"]
