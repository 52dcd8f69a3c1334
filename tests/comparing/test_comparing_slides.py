"""Releases that become a little worse each time."""

from __future__ import annotations

import pytest

from evalrepo.comparing.trend import Release, SuitePoint, slide


def releases(*passes: int) -> list[Release]:
    """Five cells of six reps each; the passes are spread evenly."""
    made = []
    for n, total in enumerate(passes):
        counts = {(f"S{i}", "a", "t"): ((total + i) // 5, 6) for i in range(5)}
        made.append(Release(f"v{n}", total / 30, counts))
    return made


def test_three_falls_in_a_row_are_a_slide_though_no_step_shows_it():
    found = slide(releases(25, 28, 24, 21, 18))
    assert found is not None
    assert found.names == ("v1", "v2", "v3", "v4")
    assert found.p_drop < 0.05 < found.p_step


@pytest.mark.parametrize("passes", [(28, 24), (28, 24, 24), (28, 24, 21, 25), (20, 24, 28), (28,), ()])
def test_what_stays_or_recovers_is_none(passes: tuple[int, ...]):
    assert slide(releases(*passes)) is None


def test_a_suite_s_rate_is_the_mean_of_scenarios_not_of_reps():
    counts = {("S1", "a", "t"): (3, 3), ("S1", "a", "u"): (0, 3), ("S2", "a", "t"): (10, 10)}
    point = SuitePoint("c", "", "", counts, 4)
    assert point.rate == 0.75
    assert not point.whole
