"""Whose rep is next when two runs are at work at once."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.running.campaign import jobs_of


def cells(**needs: int) -> list:
    return [SimpleNamespace(header=SimpleNamespace(cell=(name, "a", "t")), need=n) for name, n in needs.items()]


def turns(*lanes: list) -> str:
    return " ".join(f"{'AB'[j.lane]}{j.rep}" for j in jobs_of(lanes))


def test_two_sides_take_turns_and_who_is_first_changes_with_every_rep():
    assert turns(cells(S1=4), cells(S1=4)) == "A1 B1 B2 A2 A3 B3 B4 A4"


def test_a_run_by_itself_measures_all_cells_alike():
    assert [(j.cell, j.rep) for j in jobs_of([cells(S1=2, S2=1)])] == [(0, 1), (1, 1), (0, 2)]


def test_the_side_that_needs_more_goes_on_alone():
    assert turns(cells(S1=1), cells(S1=3)) == "A1 B1 B2 B3"


def test_every_cell_takes_its_turns_by_itself_whatever_its_number_on_the_other_side():
    jobs = list(jobs_of([cells(S1=2, S2=2), cells(S2=2)]))
    assert [("AB"[j.lane], j.cell, j.rep) for j in jobs] == [
        ("A", 0, 1), ("A", 1, 1), ("B", 0, 1), ("A", 0, 2), ("B", 0, 2), ("A", 1, 2),
    ]  # fmt: skip


@given(st.integers(0, 9), st.integers(0, 9))
@settings(max_examples=60)
def test_every_rep_is_run_once_and_the_sides_drift_apart_by_one_at_most_while_both_run(a: int, b: int):
    jobs = list(jobs_of([cells(S1=a), cells(S1=b)]))
    assert Counter(j.lane for j in jobs) == Counter({0: a, 1: b}) - Counter()
    assert len(set(jobs)) == a + b
    ahead = [sum(1 if j.lane == 0 else -1 for j in jobs[: n + 1]) for n in range(2 * min(a, b))]
    assert all(abs(n) <= 1 for n in ahead)
