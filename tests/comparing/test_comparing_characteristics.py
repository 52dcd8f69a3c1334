"""The tables of docs/statistics.md are what `make characteristics` prints: lines that are quick, simulated again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from evalrepo.records.verdict import Policy

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs/statistics.md").read_text()


@pytest.fixture(scope="module")
def simulated():
    spec = importlib.util.spec_from_file_location("characteristics", TOP / "benchmarks/characteristics.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["characteristics"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["characteristics"]


@pytest.mark.parametrize("case", [0, 1, 2])
def test_a_line_of_six_cells_is_simulated_as_it_is_quoted(simulated, case):
    kind = simulated.CASES[case]
    assert simulated.line(kind, 6, 3, *simulated.answers(kind, 6, 3, Policy("base"))) in PAGE.splitlines()


def test_the_page_has_a_line_for_every_case(simulated):
    for case in simulated.CASES:
        for cells in simulated.CELLS:
            for reps in simulated.REPS:
                assert PAGE.count(f"| {case} | {cells} | {reps} |") == 1


@pytest.mark.parametrize("rate", [0.9, 0.3])
@pytest.mark.parametrize("plan", ["fixed", "sprt"])
def test_plans_of_a_confirmation_do_as_is_quoted(simulated, plan, rate):
    assert simulated.plan_line(plan, rate) in PAGE.splitlines()


def test_a_sequential_plan_keeps_its_error_and_sees_a_collapse(simulated):
    """Wald's bound is on the error without an end; a cap only leaves more open."""
    confirmed = {
        rate: float(simulated.plan_line("sprt", rate).split("|")[3]) for rate in (simulated.KNOWN, simulated.FALLEN[2])
    }
    assert confirmed[simulated.KNOWN] <= 5.0
    assert confirmed[simulated.FALLEN[2]] >= 95.0


def test_no_release_without_a_change_is_blocked_more_often_than_one_in_twenty():
    lines = [line.split("|") for line in PAGE.splitlines() if line.startswith("| no change |")]
    assert len(lines) == 8
    assert all(float(line[n]) <= 5.0 for line in lines for n in (4, 7))
