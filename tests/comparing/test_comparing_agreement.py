"""Agreement of raters: worked numbers, published tables, and laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrepo.comparing.statistics import ac1, agreement, binomial, corrected, kappa, rogan_gladen

HALF = [[20, 5], [10, 15]]
PREVALENT = [[45, 3], [2, 0]]
SKIN = [[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]]
"""Two dermatologists on 88 patients: the SAS documentation of PROC FREQ, "Cohen's Kappa Coefficient"."""
DIAGNOSES = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
"""Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, table 18.1: κ .68."""


def test_kappa_is_four_tenths_where_seven_tenths_agree_and_five_would_by_chance() -> None:
    found = kappa(HALF)
    assert found is not None
    assert agreement(HALF)[0] == pytest.approx(0.7)
    assert found.value == pytest.approx(0.4)
    assert found.error == pytest.approx(0.1296, abs=5e-5)


def test_kappa_falls_below_zero_where_one_class_is_rare_and_ac1_does_not() -> None:
    first, second = kappa(PREVALENT), ac1(PREVALENT)
    assert first is not None
    assert second is not None
    assert agreement(PREVALENT)[0] == pytest.approx(0.9)
    assert first.value == pytest.approx(-0.0504, abs=5e-5)
    assert second.value == pytest.approx(0.8895, abs=5e-5)
    gwet = ac1(HALF)
    assert gwet is not None
    assert gwet.value == pytest.approx(0.4059, abs=5e-5)


@pytest.mark.parametrize(
    ("weights", "value", "error", "low", "high"),
    [("equal", 0.3449, 0.0724, 0.2030, 0.4868), ("linear", 0.5082, 0.0655, 0.3798, 0.6366)],
)
def test_a_published_table_gives_its_published_kappa_and_interval(
    weights: str, value: float, error: float, low: float, high: float
) -> None:
    found = kappa(SKIN, weights)  # type: ignore[arg-type]
    assert found is not None
    assert (found.value, found.error) == (pytest.approx(value, abs=5e-5), pytest.approx(error, abs=5e-5))
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_three_diagnoses_agree_as_the_text_book_says() -> None:
    found = kappa(DIAGNOSES)
    assert found is not None
    assert round(found.value, 2) == 0.68


def test_two_categories_have_the_same_kappa_under_every_weighting() -> None:
    assert kappa(HALF) == kappa(HALF, "linear") == kappa(HALF, "quadratic")


def test_kappa_of_one_class_alone_is_unknown_and_not_one() -> None:
    assert kappa([[50, 0], [0, 0]]) is None
    assert kappa([[0, 0], [0, 0]]) is None
    assert ac1([[0, 0], [0, 0]]) is None
    assert agreement([[0, 0], [0, 0]]) == (0.0, 0.0, 1.0)


def test_a_rate_is_corrected_for_the_errors_of_its_rater() -> None:
    assert rogan_gladen(0.7, 0.9, 0.8) == pytest.approx(0.714286, abs=5e-7)
    assert rogan_gladen(0.1, 0.9, 0.8) == 0.0
    assert rogan_gladen(0.95, 0.9, 0.8) == 1.0
    assert rogan_gladen(0.7, 0.5, 0.5) is None
    assert corrected((7, 10), (5, 10), (4, 10)) is None


def test_the_corrected_interval_covers_what_is_true_about_as_often_as_it_says() -> None:
    true, se, sp, n, known = 0.3, 0.9, 0.85, 40, 30
    rate = true * se + (1 - true) * (1 - sp)
    covered = 0.0
    for k in range(n + 1):
        for hits in range(known + 1):
            likely = binomial(k, n, rate) * binomial(hits, known, se)
            if likely < 1e-7:
                continue
            for clear in range(known + 1):
                found = corrected((k, n), (hits, known), (clear, known))
                covered += likely * binomial(clear, known, sp) * (found is not None and found[0] <= true <= found[1])
    assert 0.94 <= covered <= 0.99


SQUARE = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size)
)


@given(SQUARE)
def test_coefficients_are_at_most_one_and_do_not_depend_on_who_is_first(matrix: list[list[int]]) -> None:
    other = [list(column) for column in zip(*matrix, strict=True)]
    for of in (kappa, ac1):
        found, again = of(matrix), of(other)
        assert (found is None) == (again is None)
        if found is not None and again is not None:
            assert found.value <= 1 + 1e-12
            assert found.low <= found.value + 1e-12
            assert found.value == pytest.approx(again.value)
            assert found.error == pytest.approx(again.error, abs=1e-6)
            assert math.isfinite(found.error)
