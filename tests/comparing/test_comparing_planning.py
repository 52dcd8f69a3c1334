"""What reps could show: against the tables of the statistics, and the price by what is recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalrepo.comparing.planning import ASSUMED, Known, Question, outlook, rate_of

ASKED = Question((3, 5, 8), 0.05, 0.10, 2, "release")


def cells(size: int, here: tuple[int, int] = (0, 0), before: tuple[int, int] = (0, 0)) -> list[Known]:
    return [Known(f"S{i:02}", "claude", "opus", 3, (2, 3), here, before, (0.5,), (60.0,)) for i in range(size)]


@pytest.mark.parametrize(
    ("size", "three", "five"),
    [(6, 0.42, 0.28), (12, 0.26, 0.18), (30, 0.14, 0.10), (60, 0.10, 0.08), (100, 0.08, 0.06)],
)
def test_the_drop_that_reps_show_is_that_of_the_simulated_table(size: int, three: float, five: float):
    options = outlook(cells(size), ASKED).options
    assert rate_of(cells(size)) == ASSUMED == 0.9
    assert options[0].drop == pytest.approx(three, abs=0.04)
    assert options[1].drop == pytest.approx(five, abs=0.03)


def test_a_single_cell_of_three_reps_shows_no_drop_at_all():
    assert outlook(cells(1), ASKED).options[0].drop is None


def test_where_a_cell_becomes_suspect_and_how_often_that_is_chance():
    three, five, eight = outlook(cells(30), ASKED).options
    assert (three.suspect, five.suspect, eight.suspect) == (1, 2, 5)
    assert three.false_suspects == pytest.approx(0.6, abs=0.05)


@pytest.mark.parametrize(("size", "share"), [(6, 0.843), (12, 0.711), (30, 0.427), (60, 0.182), (100, 0.058)])
def test_the_chance_that_every_cell_is_at_its_bar_is_that_of_the_table(size: int, share: float):
    assert outlook(cells(size), ASKED).options[0].unchanged == pytest.approx(share, abs=1e-3)


def test_the_margin_of_six_cells_at_three_reps_is_fifteen_points():
    assert outlook(cells(6), ASKED).options[0].margin == pytest.approx(0.15, abs=0.01)


def test_the_price_counts_only_what_is_missing_and_says_what_is_unknown():
    held = [*cells(2, (3, 3)), Known("T", "pi", "default", 3, (2, 3))]
    three, five, _ = (option.price for option in outlook(held, ASKED).options)
    assert (three.reps, three.usd, three.unpriced, three.untimed) == (3, 0, 3, 3)
    assert (five.reps, five.usd, five.unpriced, five.seconds) == (9, 2.0, 5, 240)


def test_both_sides_of_a_comparison_are_priced():
    held = [replace(c, base=n) for n, c in enumerate(cells(3, (3, 3)))]
    three, five, _ = outlook(held, replace(ASKED, base="v1")).options
    assert three.base is not None
    assert (three.price.reps, three.base.reps, three.base.usd, three.both.seconds) == (0, 6, 3.0, 360)
    assert (five.both.reps, five.both.usd) == (6 + 12, 9.0)
    shared = outlook([replace(held[0], base=None), *held[1:]], ASKED).options[0]
    assert shared.base is not None
    assert shared.base.reps == 3
    assert outlook(cells(3), ASKED).options[0].base is None


def test_a_cell_without_prices_takes_those_of_its_tier():
    held = [*cells(2), replace(cells(1)[0], scenario="T", usd=(), seconds=())]
    found = outlook(held, ASKED)
    assert (found.cells[2].usd, found.cells[2].seconds) == (0.5, 60)
    assert found.options[0].price.unpriced == 0


def test_which_cells_need_more_and_why():
    kinds = [(3, 3), (2, 2), (1, 3), (0, 3), (2, 3)]
    held = [replace(cells(1)[0], scenario=str(n), here=counts) for n, counts in enumerate(kinds)]
    said = [cell.needs for cell in outlook(held, ASKED).cells]
    assert said == ["", "1 rep missing", "a fall shows from 8 reps on", "no room to fall", ""]


def test_all_passed_on_both_sides_is_a_tripwire_and_one_fail_is_not():
    full = outlook(cells(4, (3, 3), (3, 3)), ASKED)
    assert (full.saturated, full.sides) == (True, 2)
    assert not outlook([*cells(3, (3, 3), (3, 3)), *cells(1, (3, 3), (2, 3))], ASKED).saturated
    assert not outlook(cells(4), ASKED).saturated


def test_one_rep_moves_the_overall_rate_by_its_share_of_a_scenario():
    assert outlook(cells(6, (3, 3)), ASKED).options[0].flip == pytest.approx(1 / 18)
