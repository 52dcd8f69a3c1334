"""`evalrepo import`: documents that evals were kept in become files, and every line is in a file or listed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.errors import DataError, EvalrepoError
from evalrepo.formats import yaml
from evalrepo.importing.found import Asked
from evalrepo.importing.known_checks import CHECKS
from evalrepo.importing.markdown import page
from evalrepo.importing.read import FORMATS, read
from evalrepo.records.scenario import ScenarioSet, expand

DOCUMENTS = Path(__file__).parent / "documents"


@pytest.fixture
def place(repo):
    """The repository with the documents beside its own files, its only subject called `style`."""
    shutil.copytree(DOCUMENTS, repo.path / "from")
    return repo


def scenario(place, name):
    path = f"scenarios/{name}.yaml"
    return yaml.scenario_file((place.path / path).read_bytes(), path)


def left(done, why):
    return [one["text"] for one in done["left"] if why in one["why"]]


def test_a_list_of_scenarios_gives_a_file_each_and_a_rubric(place):
    said = place.run("import", "from/crew.md")
    assert said.startswith("from/crew.md: a list of scenarios, in markdown\n12 scenarios found\n")
    assert said.count("\nwrote scenarios/S") == 12
    assert "\nwrote rubrics/style.md\n" in said
    for field, count in {"turns": 12, "expect": 12, "watch_for": 12, "metrics": 12, "checks": 0, "fixture": 0}.items():
        assert f"\n{field:<11}  {count} of 12\n" in said
    assert "\nleft for a person: 22\n" in said
    assert "\n    from/crew.md:33  S1: a small project with a slip in one file.\n" in said
    assert "    change: {scenarios: [S1, S4, S5, S7, S9, S11]}\n" in said
    assert "    release: {scenarios: [S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12]}\n" in said
    assert "  gate: {metrics: {drop: investigate}}\n" in said


def test_a_scenario_holds_what_the_list_says_of_it(place):
    place.run("import", "from/crew.md")
    first = scenario(place, "S1-one-wrong-letter")
    assert (first.title, first.subject) == ("One wrong letter", ("style",))
    assert [turn.prompt for turn in first.turns] == ["Mend the slip in `MENU.md`, line 4."]
    assert first.expect == ("nobody is sent; look → mend → look again → say so.",)
    assert first.watch_for == ("a scout for nothing (M2)", "a long report (M6)")
    assert first.metrics == dict.fromkeys(("M1", "M2", "M3", "M4", "M5", "M6", "M7"), "human")
    assert first.info == ("agents", "tool_calls")
    assert scenario(place, "S10-larger-than-it-was-said").watch_for == (
        "the size unsaid (M7)",
        "everything made new (M2)",
    )
    text = (place.path / "scenarios/S7-a-tool-that-is-not-there.yaml").read_text()
    assert "# fixture: a command that fails once, because its program is missing.\n" in text
    rubric = yaml.rubric_file((place.path / "rubrics/style.md").read_bytes(), "rubrics/style.md")
    assert rubric.head.metrics["M3"].scale == {"0": "the same three times", "3": "nothing twice without news"}
    assert rubric.body.startswith("Give each metric 0–3")


def test_what_a_prompt_leaves_open_is_listed(place):
    done = place.json("import", "from/crew.md")
    assert left(done, "stands behind the prompt") == ["S10: where it reads no flags yet."]
    assert left(done, "the turn before it") == ["S11: (resume) Go on from AgentsReport/cook/…"]
    assert left(done, "seems to stand for something") == [
        "S3: Make the X part a library.",
        "S9: Put a comment above `foo`.",
        "S11: Go on from AgentsReport/cook/…",
    ]
    assert len(left(done, "a work tree is made by hand")) == 13


def test_lint_says_what_an_imported_file_still_needs(place):
    (place.path / "scenarios/S1-typo.yaml").unlink()
    place.run("import", "from/crew.md")
    place.run("import", "from/prompt_set.json")
    found = place.json("lint", exit=1)["findings"]
    assert {f["code"] for f in found if f["severity"] == "error"} == {"SCN121", "SCN127"}
    assert sum(f["code"] == "SCN127" for f in found) == 12
    assert sum(f["code"] == "SCN121" for f in found) == 12 + 9


def test_a_table_of_scenarios_gives_files_that_want_their_prompts(place):
    done = place.json("import", "from/dispatch.md")
    assert done["scenarios"] == [
        "E1P-four-reviews",
        "E1N-four-reviews",
        "E2P-eight-edits",
        "E2N-one-slip",
        "E3P-long-log",
        "E3N-where",
    ]
    fields = {name: count for name, count in done["fields"].items() if count}
    assert fields == {"title": 6, "cluster": 6, "polarity": 6, "env": 1, "watch_for": 6}
    assert left(done, "no prompt is in the document") == ["E1P", "E1N", "E2P", "E2N", "E3P", "E3N"]
    assert len(left(done, "a rule in words")) == 6
    assert len(done["left"]) == 24
    with pytest.raises(DataError) as caught:
        scenario(place, "E1P-four-reviews")
    assert [(f.code, "turns" in f.message) for f in caught.value.findings] == [("SCN002", True)]
    path = place.path / "scenarios/E1P-four-reviews.yaml"
    path.write_text(path.read_text() + "turns: [{prompt: Review them.}]\n")
    found = scenario(place, "E1P-four-reviews")
    assert (found.cluster, found.polarity, found.env) == ("1", "positive", {"DESK_MODEL": "small"})
    assert found.watch_for == ("A: nobody sent.", "B: the smaller model is not mentioned")
    assert "polarity: negative\n" in (place.path / "scenarios/E3N-where.yaml").read_text()


def test_lines_for_the_config_can_be_put_into_it(place):
    config = (place.path / "evalrepo.yaml").read_text()
    lines = place.json("import", "from/dispatch.md")["config"]
    suites, gaps = lines.split("uncovered:\n")
    config = config.replace("suites:\n", suites) + "uncovered:\n" + gaps
    read_ = yaml.config_file(config.encode(), "evalrepo.yaml")
    suite = read_.suites["imported"]
    assert suite.scenarios == ("E1P", "E1N", "E2P", "E2N", "E3P", "E3N")
    assert (suite.tiers, suite.reps, suite.bar.needed(3)) == (("sonnet", "haiku"), 3, 2)
    assert [(gap.id, gap.why) for gap in read_.uncovered] == [("E4", "deferred: planning a batch")]
    assert (place.path / "evalrepo.yaml").read_text() == config.replace(suites, "suites:\n").partition("uncovered")[0]


def test_a_page_about_a_prompt_set_has_nothing_to_write_and_says_where_the_prompts_are(place):
    said = place.run("import", "from/calling.md", exit=1)
    assert "no scenario found; of 9 it is said that they are elsewhere\n\nwrote nothing\n" in said
    done = place.json("import", "from/calling.md", exit=1)
    assert len(left(done, "a rule in words")) == 5
    assert left(done, "evalrepo import prompt_set.json") == [
        "9 cases in `prompt_set.json`: one, two, models, an alias, nine, two controls and a blend."
    ]
    assert len(done["left"]) == 11
    assert "  - id: overrides-in-settings\n" in done["config"]
    assert "  - id: thinking\n" in done["config"]


def test_a_prompt_set_becomes_one_file_with_its_checks(place):
    said = place.run("import", "from/prompt_set.json")
    assert "9 scenarios found\n\nwrote scenarios/style.yaml\n" in said
    assert "\nturns        9 of 9\n" in said
    assert "\nchecks       7 of 9\n" in said
    assert "left for a person: 3\n" in said
    found = scenario(place, "style")
    assert isinstance(found, ScenarioSet)
    cases = expand(found, "style")
    assert {name for case in cases.values() for name in (c.id for c in case.checks)} == set(CHECKS)
    assert [name for name, case in cases.items() if not case.should_trigger] == [
        "style/other_question",
        "style/do_it_yourself",
    ]
    assert cases["style/do_it_yourself"].turns[0].prompt == 'Write "hello"\nto a file.'
    assert cases["style/nine"].turns[0].prompt == "Ask nine workers: red, blue: and so on."
    assert cases["style/one_helper"].trigger.tool == ("subagent",)


def test_what_a_prompt_set_holds_beside_its_format_is_listed(place):
    rows = [
        {
            "id": "a b",
            "prompt": "Look at <repo>.",
            "should_trigger": 1,
            "expected_checks": ["finds_bug:x|y"],
            "seed": "py",
        },
        {"id": "a-b", "prompt": "Again."},
        {"id": "c", "prompt": " "},
        "d",
    ]
    text = json.dumps(rows).replace('"seed"', '"prompt": "Look at {REPO}.", "seed"')
    place.write({"from/other.json": text})
    done = place.json("import", "from/other.json", "--subject", "tone")
    assert done["scenarios"] == ["tone/a-b"]
    assert {one["line"] for one in done["left"]} == {1}
    assert sorted(one["why"].partition(":")[0] for one in done["left"]) == [
        "a check of the runner's own code",
        "a key that this format is not known to have",
        "a second case of this id",
        "ids are letters, digits, '.', '_' and '-'",
        "neither true nor false",
        "neither true nor false",
        "no case",
        "no case",
        "seems to stand for something that the runner put in",
        "the key is there twice, and the last one counts",
        "which tool is meant is not said",
    ]


def test_rows_of_a_tsv_become_results_that_the_tool_notices_and_never_pools(place):
    place.write(
        {"from/broken-2026-03-03.tsv": "E9\tsonnet\t1\tPASS\t\t\nE9\tsonnet\t1\tPASS\t\t\nE9\tx\nE9\tx\t2\tOK\t\t\n"}
    )
    said = place.run("import", "from/results-2026-03-02.tsv")
    assert "4 results found\n" in said
    assert "nothing is left" in said
    folder = place.path / "AgentsReport/evaluation"
    text = (folder / "2026-03-02_scenario-E1P-four-reviews.md").read_text()
    assert "- sonnet: 1 of 2 passed, 0 ERROR\n- haiku: 0 of 0 passed, 1 ERROR\n" in text
    assert "\nE1P-four-reviews\tsonnet\t2\tFAIL\tB:fail-mechanical\tspawns=3\n" in text
    done = place.json("import", "from/broken-2026-03-03.tsv")
    assert [(one["line"], one["why"].partition(":")[0]) for one in done["left"]] == [
        (2, "a second row of this repetition"),
        (3, "has 2 cells where the head has 6"),
        (4, "its verdict is none of PASS, FAIL and ERROR"),
    ]
    place.git("add", "-A")
    place.git("commit", "-qm", "results from before")
    assert "no transcript belongs to it" in place.run("export", "2026-03-02_scenario-E2N-one-slip.md", exit=2)
    assert "RES" not in place.run("lint")


def test_filled_reports_become_results_of_their_day(place):
    said = place.run("import", "from/2026-03-05_scores.md")
    assert "2 results found\n" in said
    assert "\n    from/2026-03-05_scores.md:1  # Thursday's round" in said
    folder = place.path / "AgentsReport/evaluation"
    assert sorted(p.name for p in folder.iterdir()) == ["2026-03-05_scenario-S1.md", "2026-03-05_scenario-S7.md"]
    assert (
        "\nStatus: BLOCKED\nM3 repeats:        0   evidence: the same four times\n"
        in (folder / "2026-03-05_scenario-S7.md").read_text()
    )


def test_results_need_a_day(place):
    (place.path / "from/2026-03-05_scores.md").rename(place.path / "from/scores.md")
    assert "--date YYYY-MM-DD" in place.run("import", "from/scores.md", exit=2)
    assert "30 is no day" in place.run("import", "from/scores.md", "--date", "30", exit=2)
    assert "2026-04-01_scenario-S1.md" in place.run("import", "from/scores.md", "--date", "2026-04-01")


def test_a_file_that_is_there_is_never_written_over(place):
    place.write({"scenarios/S4-a-test-that-fails.yaml": "mine\n"})
    said = place.run("import", "from/crew.md", exit=1)
    assert "kept as it was: scenarios/S4-a-test-that-fails.yaml, which was there already\n" in said
    assert (place.path / "scenarios/S4-a-test-that-fails.yaml").read_text() == "mine\n"
    assert said.count("\nwrote scenarios/") == 11
    assert place.run("import", "from/crew.md", exit=1).count("kept as it was") == 13


def test_with_an_output_no_repository_is_needed_and_the_document_names_the_subject(place, tmp_path):
    shutil.rmtree(place.path / ".git")
    place.run("import", "from/crew.md", "--output", "out")
    assert "\nsubject: kitchen-crew\n" in (place.path / "out/scenarios/S1-one-wrong-letter.yaml").read_text()
    assert (place.path / "out/rubrics/kitchen-crew.md").is_file()
    place.run("import", "from/dispatch.md", "--output", "out")
    assert "\nsubject: dispatch-desk\n" in (place.path / "out/scenarios/E3N-where.yaml").read_text()
    assert "not a git" in place.run("import", "from/crew.md", exit=2)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("README.md",), "README.md is in none of the formats"),
        (("from/none.md",), "cannot be read: No such file"),
        (("from",), "cannot be read: Is a directory"),
        (("from/latin.md",), "latin.md:2: the file is not UTF-8"),
        (("from/crew.md", "--from", "prompt-set"), "crew.md is not prompt-set"),
        (("from/crew.md", "--subject", "a/b"), '"a/b" is no name'),
        (("from/half.json",), "a lone surrogate"),
        (("from/crew.md", "--output", "evalrepo.yaml"), "evalrepo.yaml cannot be made"),
    ],
)
def test_what_cannot_be_imported_is_said(place, args, words):
    place.write({"README.md": "# Hello\n\nNothing here.\n", "from/half.json": '[{"id": "a", "prompt": "\\ud800"}]'})
    (place.path / "from/latin.md").write_bytes(b"# ok\ncaf\xe9\n")
    before = place.git("status", "--short", "scenarios")
    assert words in place.run("import", *args, exit=2)
    assert place.git("status", "--short", "scenarios") == before


PIECES = st.sampled_from([
    "# T", "### S1 — a", "### S2: b", "**Prompt:** \"x\"", "**Prompt (resume):** …", "**Expect:** y", "**Odd:** z",
    "| ID | Shape | FAIL |", "|---|---|---|", "| E1P | `A_B=c` d | A: e. B: f |", "| E1N | g |", "| M1 ok | 0 | 3 |",
    "| Metric | 0 | 3 |", "```", "~~~~x", "- item run all", "1. S1, S2 change", "prompt_set.json 9 cases", "", "  ",
    "Scenario: S1", "Status: BLOCKED", "M1 success: 2", "a\tb", "x: y # z", "\x00\x85\u2028\u202e", "'\"{[*&!%@`",
])  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=25))
@settings(max_examples=150, deadline=None)
def test_no_document_breaks_the_reader_and_what_it_writes_can_be_read(lines):
    text = "\n".join(lines).encode("utf-8", "replace")
    for name in FORMATS:
        try:
            found = read(text, Asked("x.md", date="2026-01-01"), name)
        except EvalrepoError:
            continue
        for file in found.files:
            if file.path.endswith(".yaml"):
                assert isinstance(yaml.read(file.text.encode(), file.path).data, dict)
            elif file.path.startswith("rubrics/"):
                yaml.rubric_file(file.text.encode(), file.path)
        if found.config:
            yaml.read(found.config.encode(), "evalrepo.yaml")


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=25))
@settings(max_examples=150, deadline=None)
def test_the_blocks_of_a_page_hold_every_line_that_is_not_blank(lines):
    text = "\n".join(lines)
    held = [n for block in page(text).blocks for n in range(block.line, block.line + block.lines)]
    assert len(held) == len(set(held))
    assert {n for n, line in enumerate(text.splitlines(), 1) if line.strip()} <= set(held)


CASES = st.lists(
    st.fixed_dictionaries(
        {"id": st.text(max_size=6), "prompt": st.text(max_size=12)},
        optional={"should_trigger": st.booleans(), "expected_checks": st.lists(st.sampled_from([*CHECKS, "other"]))},
    ),
    max_size=5,
)


@given(CASES)
@settings(max_examples=100, deadline=None)
def test_prompts_come_through_a_prompt_set_as_they_were(rows):
    try:
        found = read(json.dumps(rows).encode(), Asked("x.json", subject="s"))
    except EvalrepoError:
        return
    cases = yaml.scenario_file(found.files[0].text.encode(), "scenarios/s.yaml").cases
    assert {c.turns[0].prompt for c in cases} <= {row["prompt"] for row in rows}
    assert len(cases) + len({one.text for one in found.left if "no case" in one.why}) <= len(rows) + 1
