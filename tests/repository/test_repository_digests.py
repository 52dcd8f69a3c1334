from __future__ import annotations

import copy
import json
from hashlib import sha256

import pytest

from evalrepo.records.base import Plain
from evalrepo.records.config import Config
from evalrepo.records.scenario import Scenario, expand, with_defaults
from evalrepo.repository import digests as module
from evalrepo.repository.digests import (
    affected,
    canonical,
    comparable,
    digests,
    explain,
    files_digest,
    subject_files,
    subject_part,
)

FILES = {
    "subjects/team/AGENTS.md": "be good",
    "subjects/team/agents/worker.md": "work",
    "subjects/other/x.md": "x",
    "fixtures/small/a.txt": "a",
    "fixtures/small/sub/b.txt": "b",
    "rubrics/team.md": "scale",
    "scenarios/files/S1/hidden_test.py": "assert True",
    "scenarios/files/S1/pre.sh": "true",
    "checks/e3.py": "def dual(): ...",
    "docs/readme.md": "prose",
}

CONFIG = {
    "subjects": {
        "team": {
            "paths": ["subjects/team/**"],
            "install": {"scripted": {"copy": {".": "~/team"}}, "claude": {"plugin_dir": "."}},
        },
        "other": {"paths": ["subjects/other/**"]},
    },
    "agents": {
        "scripted": {"tiers": {"good": {"script": "good"}, "bad": {"script": "bad"}}},
        "claude": {"tiers": {"sonnet": {"model": "sonnet"}}, "comparable": {"cli": "minor"}},
    },
    "judge": {"command": ["ask"]},
}

SCENARIO = {
    "title": "A title",
    "cluster": "1",
    "twin": "S1R",
    "subject": "team",
    "fixture": "small",
    "setup": [{"run": "make"}],
    "env": {"A": "1"},
    "faults": [{"command": "make", "missing": True}],
    "turns": [{"prompt": "Do it"}],
    "limits": {"wall_s": 60},
    "preconditions": [{"id": "p", "command": {"run": "sh pre.sh", "files": {"pre.sh": "scenarios/files/S1/pre.sh"}}}],
    "validity": [{"id": "v", "error": "odd", "calls": {"tool": "read", "min": 1}}],
    "checks": [
        {"id": "c", "axis": "A", "calls": {"tool": "spawn", "min": 1}},
        {
            "id": "h",
            "axis": "B",
            "all_of": [
                {"not": {"command": {"run": "t", "files": {"t.py": "scenarios/files/S1/hidden_test.py"}}}},
                {"python": {"call": "checks/e3.py:dual"}},
            ],
        },
    ],
    "trigger": {"tool": "skill"},
    "should_trigger": True,
    "metrics": {"M1": {"judge": {"rubric": "team", "question": "M1"}}, "M5": "human"},
    "info": ["tokens"],
    "expect": ["prose"],
    "watch_for": ["prose"],
    "conformance": [{"name": "good", "script": [{"say": "done"}], "expect": "PASS"}],
    "behaviours": [{"name": "bad", "script": [{"say": "no"}]}],
}


class Cell:
    """One cell in a repository; `change` edits it, `digest` reads it from the index."""

    def __init__(self, lab):
        self.lab = lab
        self.config = copy.deepcopy(CONFIG)
        self.scenario = copy.deepcopy(SCENARIO)
        self.description = {"argv": ["x"]}
        self.cli = "1.2.3"
        lab.write(FILES)

    def digest(self, agent="scripted", tier="good", tree="INDEX"):
        self.lab.git("add", "-A")
        return digests(
            self.lab.open().tree(tree),
            Config.model_validate(self.config),
            Scenario.model_validate(self.scenario),
            agent,
            tier,
            cli=self.cli,
            description=self.description,
        )


@pytest.fixture
def cell(lab):
    return Cell(lab)


NAMES = ("subject", "stimulus", "instrument", "apparatus")


def changed(a, b):
    return {name for name in NAMES if getattr(a, name) != getattr(b, name)}


def parts(a, b):
    return {
        (n, p) for n in NAMES for p in a.parts[n].keys() | b.parts[n].keys() if a.parts[n].get(p) != b.parts[n].get(p)
    }


def test_commit_index_and_work_tree_agree(cell):
    from_work_tree = cell.digest(tree="WORKTREE")
    cell.lab.commit()
    assert cell.digest(tree="HEAD") == cell.digest(tree="INDEX") == cell.digest(tree="WORKTREE") == from_work_tree
    assert all(len(getattr(from_work_tree, name)) == 64 for name in NAMES)


def test_every_part_of_a_whole_cell_has_a_value(cell):
    found = cell.digest()
    values = [value for part in found.parts.values() for value in part.values()]
    assert "missing" not in values
    assert found.parts["instrument"]["scorer"] == "1"
    assert found.parts["apparatus"]["cli"] == "1.2.3"


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("turns", [{"prompt": "Do that"}], ("stimulus", "prompts")),
        ("turns", [{"prompt": "Do it", "stop_after": {"tool_calls": 3}}], ("stimulus", "prompts")),
        ("setup", [], ("stimulus", "setup")),
        ("env", {"A": "2"}, ("stimulus", "env")),
        ("faults", [], ("stimulus", "faults")),
        ("limits", {"wall_s": 61}, ("stimulus", "limits")),
        ("preconditions", [], ("stimulus", "preconditions")),
        ("fixture", None, ("stimulus", "fixture")),
        ("validity", [], ("instrument", "validity")),
        ("should_trigger", False, ("instrument", "trigger")),
        ("conformance", [{"name": "good", "script": [{"say": "other"}], "expect": "PASS"}], ("apparatus", "script")),
    ],
)
def test_a_change_of_the_scenario_is_in_its_part_alone(cell, key, value, part):
    before = cell.digest()
    cell.scenario[key] = value
    after = cell.digest()
    assert parts(before, after) == {part}
    assert changed(before, after) == {part[0]}


def test_checks_and_metrics_are_the_instruments(cell):
    before = cell.digest()
    cell.scenario["checks"][0]["gating"] = False
    assert parts(before, cell.digest()) == {("instrument", "checks")}
    cell.scenario = copy.deepcopy(SCENARIO)
    cell.scenario["metrics"]["M2"] = "human"
    assert parts(before, cell.digest()) == {("instrument", "metrics")}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", "Another"),
        ("cluster", "2"),
        ("twin", "S1Q"),
        ("info", ["cost"]),
        ("expect", []),
        ("watch_for", ["more"]),
        ("polarity", "negative"),
        ("behaviours", [{"name": "bad", "script": [{"say": "different"}]}]),
        ("tripwire", "guid"),
        ("limits", {"wall_s": 60, "idle_s": 180}),
        ("faults", [{"command": "make", "missing": True, "exit": 1}]),
    ],
)
def test_what_only_people_read_and_defaults_spelled_out_are_in_no_digest(cell, key, value):
    before = cell.digest()
    cell.scenario[key] = value
    assert parts(before, cell.digest()) == set()
    assert explain(before, cell.digest()) == []


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("subjects/team/agents/worker.md", ("subject", "paths")),
        ("fixtures/small/sub/b.txt", ("stimulus", "fixture")),
        ("scenarios/files/S1/pre.sh", ("stimulus", "preconditions")),
        ("rubrics/team.md", ("instrument", "rubrics")),
        ("scenarios/files/S1/hidden_test.py", ("instrument", "hidden")),
        ("checks/e3.py", ("instrument", "modules")),
        ("docs/readme.md", None),
        ("subjects/other/x.md", None),
    ],
)
def test_a_file_is_in_the_digest_that_reads_it(cell, file, part):
    before = cell.digest()
    cell.lab.write({file: "changed"})
    after = cell.digest()
    assert parts(before, after) == ({part} if part else set())
    (cell.lab.top / file).unlink()
    gone = cell.digest()
    assert parts(before, gone) == ({part} if part else set())
    config, scenario = Config.model_validate(cell.config), Scenario.model_validate(cell.scenario)
    tree = cell.lab.open().tree("INDEX")
    cell.lab.write({file: "changed"})
    cell.lab.git("add", "-A")
    read = cell.lab.open().tree("INDEX").match(*affected(tree, config, scenario))
    assert (file in read) is (part is not None)


def test_an_added_file_and_a_mode_count(cell):
    before = cell.digest()
    cell.lab.write({"fixtures/small/new": ""})
    assert changed(before, cell.digest()) == {"stimulus"}
    (cell.lab.top / "fixtures/small/new").unlink()
    (cell.lab.top / "subjects/team/AGENTS.md").chmod(0o755)
    assert changed(before, cell.digest()) == {"subject"}


def test_a_subject_that_moves_as_a_whole_is_the_same_subject(cell):
    before = cell.digest()
    cell.lab.git("mv", "subjects/team", "elsewhere")
    cell.config["subjects"]["team"]["paths"] = ["elsewhere/**"]
    assert cell.digest() == before
    cell.config["subjects"]["renamed"] = cell.config["subjects"].pop("team")
    cell.scenario["subject"] = "renamed"
    assert cell.digest() == before


def test_files_that_change_places_are_not_the_same_subject(cell):
    cell.lab.write({"a/f": "1", "b/f": "2"})
    cell.config["subjects"]["team"]["paths"] = ["a/**", "b/**"]
    before = cell.digest()
    cell.lab.write({"a/f": "2", "b/f": "1"})
    assert changed(before, cell.digest()) == {"subject"}


def test_the_whole_install_map_counts_for_every_agent(cell):
    before = cell.digest()
    cell.config["subjects"]["team"]["install"]["claude"]["plugin_dir"] = "sub"
    assert parts(before, cell.digest()) == {("subject", "install")}
    assert cell.digest().subject == cell.digest("claude", "sonnet").subject


def test_several_subjects_are_combined_in_order_of_name(cell):
    cell.scenario["subject"] = ["team", "other"]
    one = cell.digest()
    cell.scenario["subject"] = ["other", "team"]
    assert cell.digest() == one
    assert set(one.parts["subject"]) == {"other:paths", "other:install", "team:paths", "team:install"}
    cell.lab.write({"subjects/other/x.md": "y"})
    assert explain(one, cell.digest()) == ["subject: the subject's files (other): changed"]


def test_what_is_missing_is_said_in_its_part_and_nothing_is_raised(cell):
    cell.scenario["fixture"] = "gone"
    cell.scenario["metrics"] = {"M1": {"judge": {"rubric": "gone", "question": "x"}}}
    cell.scenario["checks"] = [
        {"id": "a", "axis": "A", "python": {"call": "gone.py:f"}},
        {"id": "b", "axis": "A", "command": {"run": "x", "files": {"a": "gone", "b": "checks/e3.py"}}},
    ]
    cell.config["subjects"]["team"]["paths"] = ["gone/**"]
    found = cell.digest("nobody", "nothing").parts
    assert found["subject"]["paths"] == "missing"
    assert found["stimulus"]["fixture"] == "missing"
    assert [found["instrument"][p] for p in ("rubrics", "hidden", "modules")] == ["missing"] * 3
    assert [found["apparatus"][p] for p in ("agent", "tier")] == ["missing"] * 2
    cell.scenario["subject"] = "unknown"
    assert cell.digest().parts["subject"] == {"paths": "missing", "install": "missing"}
    cell.config["agents"]["scripted"]["tiers"]["good"]["script"] = "no-such"
    assert cell.digest().parts["apparatus"]["script"] == "missing"


def test_the_apparatus_is_agent_tier_script_and_version(cell):
    good, bad = cell.digest(), cell.digest(tier="bad")
    assert parts(good, bad) == {("apparatus", "tier"), ("apparatus", "script")}
    cell.scenario["behaviours"] = [{"name": "bad", "script": [{"say": "never"}]}]
    assert parts(bad, cell.digest(tier="bad")) == {("apparatus", "script")}
    cell.description = {"argv": ["y"]}
    assert parts(good, cell.digest()) == {("apparatus", "description")}
    cell.description = {"argv": ["x"]}
    cell.config["agents"]["scripted"]["set"] = {"X": "1"}
    assert parts(good, cell.digest()) == {("apparatus", "agent")}


def test_another_tier_beside_it_and_the_price_change_nothing(cell):
    before = cell.digest()
    cell.config["agents"]["scripted"]["tiers"]["more"] = {"script": "bad"}
    cell.config["agents"]["scripted"]["paid"] = True
    assert cell.digest() == before


def test_a_rehearsed_script_is_part_of_the_apparatus(cell):
    assert cell.digest("claude", "rehearsal:good").parts["apparatus"]["script"] not in ("none", "missing")
    assert cell.digest("claude", "sonnet").parts["apparatus"]["script"] == "none"


def test_the_version_counts_as_far_as_it_is_to_be_compared(cell):
    old = cell.digest("claude", "sonnet")
    assert old.parts["apparatus"]["cli"] == "1.2"
    cell.cli = "1.2.4"
    assert cell.digest("claude", "sonnet") == old
    cell.cli = "1.3.0"
    assert explain(old, cell.digest("claude", "sonnet")) == ["apparatus: the CLI's version: 1.2 → 1.3"]


@pytest.mark.parametrize(
    ("cli", "how", "found"),
    [
        ("2.1.197 (Claude Code)", "exact", "2.1.197 (Claude Code)"),
        ("2.1.197 (Claude Code)", "minor", "2.1"),
        ("codex-cli 0.80.1", "minor", "0.80"),
        ("nightly", "minor", "nightly"),
        ("2.1.197", "any", "any"),
        ("", "exact", ""),
    ],
)
def test_versions(cli, how, found):
    assert comparable(cli, how) == found


def test_the_judge_counts_only_where_one_is_asked(cell):
    before = cell.digest()
    cell.config["judge"]["command"] = ["ask", "other"]
    assert parts(before, cell.digest()) == {("instrument", "judge")}
    cell.scenario["metrics"] = {}
    one = cell.digest()
    cell.config["judge"]["command"] = ["nobody"]
    assert cell.digest() == one
    assert one.parts["instrument"]["judge"] == one.parts["instrument"]["rubrics"] == "none"


def test_a_new_scorer_is_a_new_instrument(cell, monkeypatch):
    before = cell.digest()
    monkeypatch.setattr(module, "SCORER", 2)
    assert explain(before, cell.digest()) == ["instrument: the scorer's version: 1 → 2"]


def test_defaults_of_a_set_and_of_the_subject_are_as_if_written_in_the_scenario(cell):
    from evalrepo.records.scenario import ScenarioSet

    shared = {"checks": SCENARIO["checks"], "limits": {"wall_s": 60}, "fixture": "small"}
    own = {"turns": [{"prompt": "Do it"}]}
    as_set = ScenarioSet.model_validate(
        {"title": "Set", "subject": "team", "defaults": shared, "cases": [{"id": "one", **own}]}
    )
    config = Config.model_validate(
        {**CONFIG, "subjects": {"team": {"paths": ["subjects/team/**"], "defaults": shared}}}
    )
    plain = Scenario.model_validate({"title": "T", "subject": "team", **own, **shared})
    bare = Scenario.model_validate({"title": "U", "subject": "team", **own})
    cell.lab.git("add", "-A")
    tree = cell.lab.open().tree("INDEX")
    found = [
        digests(tree, config, scenario, "scripted", "good", cli="", description={})
        for scenario in (plain, expand(as_set, "S")["S/one"], with_defaults(bare, config.subjects["team"].defaults))
    ]
    assert found[0] == found[1] == found[2]


def test_names_that_are_no_text_have_digests(lab):
    import os

    name = os.fsdecode(b"fixtures/x/\xff\n")
    lab.commit({name: "1"})
    tree = lab.open().tree("HEAD")
    assert len(files_digest(tree.under("fixtures"))) == 64
    assert len(canonical({name: [name]})) > 0


def test_a_files_digest_is_sha256_of_sorted_lines(lab):
    lab.commit({"fixtures/x/b": "1", "fixtures/x/a": "2"})
    a, b = (lab.git("rev-parse", f"HEAD:fixtures/x/{name}") for name in "ab")
    lines = sorted([f"100644 {a} a".encode() + b"\x00", f"100644 {b} b".encode() + b"\x00"])
    assert files_digest(module.below(lab.open().tree("HEAD"), "fixtures/x")) == sha256(b"".join(lines)).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (1, 1.0),
        ((1, 2), [1, 2]),
        ({"x": {1, 2, 3}}, {"x": {3, 2, 1}}),
        ("1.10", Plain("1.10", 1.1)),
    ],
)
def test_equal_values_are_written_alike(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, "1"), (True, 1), (None, "None"), (0.1, 0.2), ([1], 1), (1e300, 1e301), ({"a": 1}, [["a", 1]])],
)
def test_different_values_are_not(one, other):
    assert canonical(one) != canonical(other)


def test_canonical_text_is_json_without_surprises():
    assert json.loads(canonical({"x": float("inf"), "y": float("nan"), "é": "\ud800"})) == {
        "x": "inf",
        "y": "nan",
        "é": "\ud800",
    }


def test_a_subjects_files_are_named_as_it_is_installed(cell):
    cell.lab.git("add", "-A")
    tree = cell.lab.open().tree("INDEX")
    subject = Config.model_validate(cell.config).subjects["team"]
    assert subject_files(tree, subject) == {
        "AGENTS.md": "subjects/team/AGENTS.md",
        "agents/worker.md": "subjects/team/agents/worker.md",
    }
    found, kinds = subject_part(tree, "team", subject)
    assert (found, kinds) == (cell.digest().subject, cell.digest().parts["subject"])


def test_a_missing_record_of_parts_still_says_that_something_differs(cell):
    one = cell.digest()
    two = one.model_copy(update={"subject": "0" * 64})
    assert explain(one, two) == ["subject: differs"]
