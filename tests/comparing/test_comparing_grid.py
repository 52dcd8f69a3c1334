"""Which cells there are, for whom, and what counts in a gate."""

from __future__ import annotations

from evalrepo.comparing.grid import Place, gate_grid, joined, open_grid
from evalrepo.records.config import Config
from evalrepo.records.scenario import Scenario

CONFIG = Config.model_validate(
    {
        "subjects": {"team": {"paths": ["s/**"], "agents": ["mine"]}, "other": {"paths": ["o/**"]}},
        "agents": {
            "mine": {"kind": "command", "argv": ["x"], "tiers": {"small": {}, "big": {}}},
            "scripted": {"tiers": {"good": {"script": "good"}, "bad": {"script": "bad"}}},
        },
        "suites": {
            "release": {"scenarios": ["S*"], "reps": 5, "bar": {"passes": 4, "of": 5}},
            "small": {"scenarios": ["S*"], "tiers": ["small"]},
            "played": {"scenarios": ["S*"], "agents": ["scripted"]},
        },
    }
)


def scenario(subject: str = "team") -> Scenario:
    return Scenario.model_validate(
        {
            "title": "t",
            "subject": subject,
            "turns": [{"prompt": "p"}],
            "behaviours": [{"name": "good", "script": [{"say": "x"}]}],
        }
    )


SCENARIOS = {"S1": scenario(), "S2": scenario("other")}


def test_a_subjects_own_agents_run_its_scenarios_at_all_their_tiers():
    grid = open_grid(CONFIG, SCENARIOS, ["S1"])
    assert list(grid) == [("S1", "mine", "small"), ("S1", "mine", "big")]
    assert grid["S1", "mine", "big"] == Place(3, (2, 3))


def test_a_scenario_that_nobody_runs_has_no_cell():
    assert open_grid(CONFIG, SCENARIOS, ["S2"]) == {}


def test_a_scripted_tier_has_a_cell_only_where_the_scenario_has_its_script():
    grid = open_grid(CONFIG, SCENARIOS, ["S1"], CONFIG.suites["played"])
    assert list(grid) == [("S1", "scripted", "good")]


def test_a_model_free_cell_counts_only_for_a_suite_that_lists_its_agent():
    played = CONFIG.subjects["team"].model_copy(update={"agents": ("scripted",)})
    config = CONFIG.model_copy(update={"subjects": {"team": played}})
    assert gate_grid(config, SCENARIOS, {"release": ["S1"]}) == {}
    assert list(gate_grid(config, SCENARIOS, {"played": ["S1"]})) == [("S1", "scripted", "good")]
    assert gate_grid(config, {"S1": SCENARIOS["S1"]}, {}) == {}


def test_the_largest_reps_and_the_strictest_bar_of_the_suites_that_hold_a_cell_decide():
    grid = gate_grid(CONFIG, SCENARIOS, {"small": ["S1"], "release": ["S1"]})
    assert grid["S1", "mine", "small"] == Place(5, (4, 5), ("small", "release"))
    assert grid["S1", "mine", "big"] == Place(5, (4, 5), ("release",))


def test_joining_is_the_same_in_any_order_but_for_names():
    one, other = Place(3, (2, 3), ("a",)), Place(5, (1, 2), ("b",))
    assert (joined(one, other).reps, joined(one, other).bar) == (joined(other, one).reps, joined(other, one).bar)
