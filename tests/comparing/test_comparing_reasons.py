"""Which scenarios a reason rests on, and that one which rests on the reserve says how many looks there were."""

from __future__ import annotations

from situations import a_diff, a_gate, cell, wide

from evalrepo.records.inference import Background, Looked

TOLD = "[reserve of team: held-out, look 2 of 3, 1 look preceded it]"
HELD = (Looked("team", 2, 3, ("R1",), masked=True),)


def test_a_scenario_whose_name_begins_like_one_of_the_reserve_says_nothing_of_looks():
    found = a_diff(cell("R10-other", "PPP", "PFF"), cell("R1", "PPP", "PPP", set="reserve"), looks=HELD)
    (suspect,) = [r for r in found.reasons if r.code == "suspect"]
    assert suspect.scenarios == ("R10-other",)
    assert TOLD not in suspect.text


def test_a_suspect_of_the_reserve_says_how_many_looks_preceded_it():
    found = a_diff(cell("R10-other", "PPP", "PPP"), cell("R1", "PPP", "PFF", set="reserve"), looks=HELD)
    (suspect,) = [r for r in found.reasons if r.code == "suspect"]
    assert suspect.scenarios == ("R1",)
    assert suspect.text.endswith(TOLD)


def test_a_drop_over_all_cells_rests_on_the_reserve_though_it_names_none_of_it():
    cells = [*(cell(f"S{n:02}-task", "PPP", "FFF") for n in range(2, 9)), cell("R1", "PPP", "FFF", set="reserve")]
    found = a_diff(*cells, looks=HELD)
    (drop,) = [r for r in found.reasons if r.code == "drop"]
    assert "R1" in drop.scenarios
    assert drop.text.endswith(TOLD)
    open_ = a_gate(*wide()[:3], cell("R1", "PPP", "PPP", set="reserve"), known=Background(looks=HELD))
    (margin,) = [r for r in open_.reasons if r.code == "margin"]
    assert margin.text.endswith(TOLD)


def test_more_than_three_cells_are_all_said_to_be_rested_on():
    names = [f"S{n:02}-task" for n in range(2, 7)]
    found = a_gate(*(cell(name, "PPP", None) for name in names), cell("R1", "PPP", None, set="reserve"))
    missing = [r.scenarios for r in found.reasons if r.code in ("missing", "stale")]
    assert sorted(missing) == [("R1",), tuple(names)]
