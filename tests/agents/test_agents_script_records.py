"""Scripts as data: found by name, made plain, dumped."""

from __future__ import annotations

from evalrepo.records import script
from evalrepo.records.scenario import Scenario
from evalrepo.records.steps import Conformance, Step

WHEN = {
    "when": {"subject": "A.md", "contains": "say which model"},
    "then": [{"say": "yes"}],
    "else": [{"when": {"subject": "B.md", "contains": "x"}, "then": [{"say": "b"}]}],
}


def resolved(*raw, **files):
    found = script.resolve([Step.model_validate(s) for s in raw], {f"{n}.md": t for n, t in files.items()})
    return script.dump(found)


def test_words_are_found_over_a_line_break():
    assert resolved(WHEN, {"say": "end"}, A=b"Always say\n   which model answered") == [{"say": "yes"}, {"say": "end"}]


def test_the_else_branch_is_resolved_too():
    assert resolved(WHEN, A=b"nothing", B=b"x") == [{"say": "b"}]


def test_a_missing_file_has_no_words_and_a_missing_else_no_steps():
    assert resolved(WHEN) == []


def test_conditions_within_a_sub_agent_are_resolved():
    (spawn,) = resolved({"spawn": {"task": "t", "steps": [WHEN]}}, A=b"say which model")
    assert spawn["spawn"]["steps"] == [{"say": "yes"}]


def test_every_file_that_a_condition_names_is_known():
    steps = [Step.model_validate({"spawn": {"task": "t", "steps": [WHEN]}})]
    assert list(script.conditions(steps)) == ["A.md", "B.md"]


def test_a_dump_has_every_default():
    assert resolved({"run": "true"}, {"search": "x"}, {"read": "a"}, {"sleep": 2}, {"fail": {"error": "e"}}) == [
        {"run": {"command": "true", "timeout_s": 60.0}},
        {"search": {"pattern": "x", "path": "."}},
        {"read": "a"},
        {"sleep": 2.0},
        {"fail": {"error": "e", "kind": None, "status": None, "exit": 1, "hang": False, "truncate": False}},
    ]


def scenario():
    return Scenario.model_validate({
        "title": "t",
        "subject": "s",
        "turns": [{"prompt": "p"}],
        "conformance": [{"name": name, "expect": "PASS", "script": []} for name in ("same", "good")],
        "behaviours": [{"name": "same", "script": [{"say": "behaviour"}]}],
    })  # fmt: skip


def test_a_tiers_script_is_found_behaviours_first():
    assert script.names(scenario()) == ("same", "good")
    assert script.find(scenario(), "same").script[0].say == "behaviour"
    assert script.find(scenario(), "good").name == "good"
    assert script.find(scenario(), "none") is None


def test_a_turn_that_a_script_does_not_have_is_empty():
    played = Conformance.model_validate({"name": "n", "expect": "PASS", "turns": [[{"say": "1"}], [{"say": "2"}]]})
    assert [script.dump(script.steps_of_turn(played, n, {})) for n in (1, 2, 3)] == [[{"say": "1"}], [{"say": "2"}], []]
