"""Every number here stands in the facts on statistics, or follows from a law."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.comparing.statistics import p_all_pass_bar, p_false_suspect, p_worse, suspect, wilson


@pytest.mark.parametrize(
    ("passes", "valid", "low", "high"),
    [
        (0, 3, 0, 0.5615),
        (1, 3, 0.0615, 0.7923),
        (2, 3, 0.2077, 0.9385),
        (3, 3, 0.4385, 1),
        (5, 5, 0.5655, 1),
        (4, 5, 0.3755, 0.9638),
    ],
)
def test_wilson_gives_the_published_intervals(passes, valid, low, high):
    assert wilson(passes, valid) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((3, 3), (3, 3), 0.5), ((3, 3), (2, 3), 0.8458), ((3, 3), (1, 3), 0.9611), ((3, 3), (0, 3), 0.9957),
        ((2, 3), (1, 3), 0.7882), ((2, 3), (0, 3), 0.9611), ((5, 5), (4, 5), 0.8346), ((5, 5), (3, 5), 0.9461),
        ((5, 5), (2, 5), 0.9852),
    ],
)  # fmt: skip
def test_p_worse_gives_the_published_numbers(before, after, expected):
    assert p_worse(before, after) == pytest.approx(expected, abs=1e-4)


def test_at_three_reps_a_suspect_is_a_fall_of_two_or_more():
    for before in range(4):
        for after in range(4):
            assert suspect((before, 3), (after, 3)) == (before - after >= 2)


@pytest.mark.parametrize(
    ("rate", "expected"), [(0.99, 0.0003), (0.95, 0.0062), (0.9, 0.0207), (0.8, 0.0563), (0.7, 0.0860), (0.5, 0.1094)]
)
def test_the_chance_of_a_false_suspect_at_three_reps_is_the_published_one(rate, expected):
    assert p_false_suspect(rate, 3, 3) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(("cells", "expected"), [(6, 0.843), (12, 0.711), (30, 0.427), (100, 0.058)])
def test_the_chance_that_every_cell_is_at_two_of_three_is_the_published_one(cells, expected):
    assert p_all_pass_bar(0.9, 2, 3, cells) == pytest.approx(expected, abs=1e-3)


counts = st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts)
@settings(max_examples=60, deadline=None)
def test_worse_one_way_is_better_the_other_way(before, after):
    assert p_worse(before, after) + p_worse(after, before) == pytest.approx(1, abs=1e-6)


@given(counts)
@settings(max_examples=60, deadline=None)
def test_an_interval_holds_the_rate_and_shrinks_with_more_reps(cell):
    passes, valid = cell
    low, high = wilson(passes, valid)
    assert 0 <= low <= passes / valid <= high <= 1
    wider = wilson(passes * 4, valid * 4)
    assert wider[1] - wider[0] < high - low
