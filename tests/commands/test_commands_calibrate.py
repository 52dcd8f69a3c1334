"""Labels by people, blind; a judge held against them; and what an uncalibrated judge may not do."""

from __future__ import annotations

import json
import sys

import pytest

from tests.commands.conftest import Repo
from tests.commands.test_commands_score import typed

CONFIG = """\
version: 1
subjects:
  team: {{paths: [subjects/**], agents: [scripted], install: {{scripted: {{copy: {{.: ~/team}}}}}}}}
agents: {{scripted: {{tiers: {{told: {{script: told}}}}}}}}
judge: {judge}
reps: 1
bar: {{passes: 1, of: 1}}
"""
RUBRIC = """\
---
title: Words
questions:
  told: {ask: Is it told?}
---
Look at the words.
"""
SCENARIO = """\
title: It is told in {n} words
subject: team
turns: [{{prompt: "Say what you did, number {n}."}}]
checks:
  - {{id: says-it, axis: A, text: {{matches: done}}}}
  - {{id: judged, axis: B, judge: {{rubric: words, question: told}}}}
conformance:
  - {{name: told, expect: PASS, script: [{{say: "It is done, {word} {n}."}}]}}
  - {{name: hidden, expect: {{FAIL: A}}, script: [{{say: Nothing.}}]}}
  - {{name: empty, expect: {{ERROR: empty}}, script: []}}
"""
JUDGE = """\
import json, sys
text = sys.stdin.read()
place = next(l.split("]")[0][1:] for l in text.splitlines() if "the agent says" in l)
answer = "yes" if "plainly" in text else "no"
print(json.dumps({"reason": "So.", "evidence": [{"place": place, "quote": "done"}], "answer": answer,
                  "model": "stub-1"}))
"""
WORDS = ("plainly", "plainly", "hardly", "hardly")


@pytest.fixture
def measured(empty: Repo) -> Repo:
    """Four measured reps; a judge who says yes to two of them; four labels of two kinds calibrate it."""
    script = empty.path.parent / "judge.py"
    script.write_text(JUDGE)
    rule = {"labels": 4, "each": 2, "kappa": 0.6}
    judge = json.dumps({"command": [sys.executable, "-I", str(script)], "calibration": rule})
    scenarios = {f"scenarios/T{n}.yaml": SCENARIO.format(n=n, word=word) for n, word in enumerate(WORDS)}
    empty.commit(
        {"evalrepo.yaml": CONFIG.format(judge=judge), "rubrics/words.md": RUBRIC, "subjects/a.md": "Say it.\n"}
        | scenarios,
        "the world",
    )
    empty.run("run", exit=None)
    return empty


def label(repo: Repo, *answers: str, by: str = "Ann") -> str:
    """Label T0 to T3, each by itself so that the shuffled order does not matter."""
    said = ""
    for number, answer in enumerate(answers):
        text = f"{answer}\n“It is done” is said\n"
        said += typed(repo, "score", f"T{number}", "--label", "words/told", "--by", by, text=text)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "labels")
    return said


def judged(repo: Repo) -> dict[str, tuple[str, bool, str]]:
    """Scenario → the judge's check: outcome, whether it gates, evidence; of the newest record of each."""
    found = {}
    for record in sorted(repo.records(), key=lambda r: r["end"]):
        (check,) = [c for c in record["reps"][0]["checks"] if c["id"] == "judged"]
        found[record["scenario"]] = (check["outcome"], check["gating"], check["evidence"][0]["text"])
    return found


def test_a_judge_that_nobody_calibrated_is_shown_and_decides_nothing(measured: Repo):
    assert {name: found[:2] for name, found in judged(measured).items()} == {
        "T0": ("pass", False),
        "T1": ("pass", False),
        "T2": ("fail", False),
        "T3": ("fail", False),
    }
    assert all("advisory: not calibrated" in found[2] for found in judged(measured).values())
    shown = " ".join(measured.run("show", "T2").split())
    assert "advisory, in no verdict (not calibrated)" in shown
    ran = " ".join(measured.run("run", "T0", "T2", "--fresh", "1").split())
    assert "2 reps have answers of an advisory judge, in no verdict (words/told: not calibrated)" in ran
    assert {verdict for *_, verdict in measured.reps()} == {"PASS"}
    assert "nobody has labelled reps by words" in measured.run("calibrate", "words", exit=2)


def test_labels_are_given_blind_and_kept_at_once(measured: Repo):
    said = label(measured, "yes", "yes", "no", "no")
    shown = said.split("next:")[0]
    for hidden in ("scripted", "PASS", "judge", "T0", "judged"):
        assert hidden not in shown.replace("words/told", "")
    labels = (measured.path / "rubrics/words.labels.yaml").read_text()
    assert labels.count('"by": "Ann"') == 4
    assert labels.count('"answer": "yes"') == 2
    assert "0 labels added" in typed(measured, "score", "T0", "--label", "words", "--by", "Ann", text="")
    run, twice = measured.records()[0]["run"], "yes\n“done”\nb\nno\n“done”\n"
    back = typed(measured, "score", run, "--label", "words", "--by", "Cy", text=twice, exit=130)
    assert "stopped after 1 of 4" in back
    (given,) = [line for line in (measured.path / "rubrics/words.labels.yaml").read_text().splitlines() if "Cy" in line]
    assert '"answer": "no"' in given
    refused = typed(measured, "score", "T0", "--label", "words", "--by", "Bob", text="maybe\nyes\nno place\n", exit=130)
    assert "'maybe' is not offered" in refused
    assert "it names no place" in refused
    assert "stopped after 0 of 1" in refused
    assert "names no question" in typed(measured, "score", "T0", "--label", "words/other", text="", exit=2)


def test_a_judge_that_agrees_with_people_decides_from_then_on(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    said = measured.run("calibrate", "words")
    assert "question told · judge stub-1" in said
    assert "4 labelled reps, agreement 100%" in said
    assert "κ 1.00" in said
    assert "calibrate: the judge decides" in said
    assert (measured.path / "rubrics/words.votes.yaml").read_text().count('"judge": "stub-1"') == 4
    measured.git("add", "-A")
    measured.git("commit", "-qm", "calibrated")
    measured.run("run", "T2", "--fresh", "1", exit=None)
    assert judged(measured)["T2"][:2] == ("fail", True)


def test_a_judge_that_disagrees_stays_advisory_and_where_is_listed(measured: Repo):
    label(measured, "yes", "no", "yes", "no")
    said = measured.run("calibrate", "words", exit=1)
    assert "κ 0.00" in said
    assert "advisory: κ 0.00 is below 0.6" in said
    assert "people no, judge yes: T1" in said
    assert "people yes, judge no: T2" in said
    data = measured.json("calibrate", "words", exit=1)
    assert data["questions"][0]["matrix"] == [[1, 1], [1, 1]]
    assert data["questions"][0]["decides"] is False


def test_another_text_of_the_rubric_is_not_calibrated_by_the_old_one(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    measured.run("calibrate", "words")
    measured.commit({"rubrics/words.md": RUBRIC.replace("Look at", "Look closely at")}, "other words")
    said = measured.run("calibrate", "words", "--no-ask", exit=1)
    assert "4 reps not asked" in said
    asked = measured.run("calibrate", "words")
    assert "calibrate: the judge decides" in asked
    assert (measured.path / "rubrics/words.votes.yaml").read_text().count('"answer"') == 8


def test_two_people_who_differ_leave_a_rep_unsettled(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    label(measured, "no", "yes", "no", "no", by="Bob")
    said = measured.run("calibrate", "words", exit=1)
    assert "1 rep on which people differ" in said
    assert "Ann and Bob agree on 3 of 4 reps, κ 0.50 (" in said
    assert "advisory: 3 of 4 labelled reps" in said


def test_a_new_judge_is_asked_and_the_old_ones_votes_are_shown_beside_it(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    measured.run("calibrate", "words")
    other = measured.path.parent / "other.py"
    other.write_text(JUDGE.replace("stub-1", "stub-2").replace('"plainly" in text', "True"))
    config = (measured.path / "evalrepo.yaml").read_text().replace("judge.py", "other.py")
    measured.commit({"evalrepo.yaml": config}, "another judge")
    assert "evalrepo.yaml asks" in measured.run("lint")
    said = measured.run("calibrate", "words", exit=1)
    assert "question told · judge stub-2" in said
    assert "not the judge of today" in said.partition("judge stub-1")[2].partition("question")[0]
    assert "advisory: κ 0.00 is below 0.6" in said.partition("judge stub-2")[2]
    rows = measured.json("calibrate", "words", "--no-ask", exit=1)["questions"]
    assert {row["judge"]: (row["today"], row["decides"]) for row in rows} == {
        "stub-1": (False, True),
        "stub-2": (True, False),
    }


def test_a_judge_whose_model_moved_is_asked_again_when_that_is_wished(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    measured.run("calibrate", "words")
    script = measured.path.parent / "judge.py"
    script.write_text(script.read_text().replace("stub-1", "stub-9"))
    assert "stub-9" not in measured.run("calibrate", "words")
    said = measured.run("calibrate", "words", "--again")
    assert "question told · judge stub-9" in said
    assert (measured.path / "rubrics/words.votes.yaml").read_text().count('"judge": "stub-9"') == 4
    script.write_text(script.read_text().replace('"plainly" in text', "True"))
    assert "κ 1.00" in measured.run("calibrate", "words", "--again").partition("stub-9")[2]
    assert "two different things" in measured.run("calibrate", "words", "--again", "--no-ask", exit=2)


def test_a_judge_that_gave_no_answer_is_asked_once_more(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    script = measured.path.parent / "judge.py"
    script.write_text("raise SystemExit('no network')\n")
    measured.commit({"rubrics/words.md": RUBRIC.replace("Look at", "Look well at")}, "asked anew")
    said = measured.run("calibrate", "words", exit=1)
    assert "4 reps without an answer of the judge" in said
    script.write_text(JUDGE)
    assert "calibrate: the judge decides" in measured.run("calibrate", "words")
    votes = (measured.path / "rubrics/words.votes.yaml").read_text()
    assert '"answer": ""' not in votes


def test_labels_of_another_wording_count_for_nothing_and_are_given_anew(measured: Repo):
    label(measured, "yes", "yes", "no", "no")
    asked = RUBRIC.replace("Is it told?", "Is it told in full?")
    measured.commit({"rubrics/words.md": asked}, "another question")
    assert '4 labels of "told" as it was worded before' in measured.run("lint")
    said = measured.run("calibrate", "words", exit=1)
    assert "4 labels of the question as it was worded before" in said
    assert "advisory: 0 of 4 labelled reps" in said
    label(measured, "yes", "yes", "no", "no")
    assert "calibrate: the judge decides" in measured.run("calibrate", "words")
    assert (measured.path / "rubrics/words.labels.yaml").read_text().count('"by": "Ann"') == 4


def test_the_rubrics_prose_and_the_reference_are_shown_to_who_labels(measured: Repo):
    measured.commit(
        {
            "rubrics/words.md": RUBRIC.replace("Is it told?", "Is it told?, reference: true"),
            "scenarios/T0.yaml": SCENARIO.format(n=0, word="plainly").replace(
                "question: told", "question: told, reference: 'It says plainly.'"
            ),
        },
        "beside a reference",
    )
    said = typed(measured, "score", "T0", "--label", "words/told", text="yes\n“It is done” is said\n")
    assert "Look at the words." in said
    assert "known to be right: It says plainly." in said


def test_labels_that_cannot_be_used_stop_a_run_with_their_place(measured: Repo):
    measured.commit({"rubrics/words.labels.yaml": "labels:\n  - {question: told}\n"}, "broken labels")
    said = measured.run("run", "T0", "--fresh", "1", exit=2)
    assert "rubrics/words.labels.yaml:2" in said
    assert "RUB002" in said
    assert "Traceback" not in said
    assert "RUB002" in measured.run("lint", exit=1)


RESOLVED = """\
title: It is told
subject: team
turns: [{prompt: Say what you did.}]
checks:
  - {id: says-it, axis: A, text: {matches: plainly, ambiguous: done}}
  - {id: judged, axis: B, judge: {resolves: says-it, rubric: words, question: told}}
behaviours: [{name: told, script: [{say: "It is done, hardly."}]}]
conformance:
  - {name: plain, expect: PASS, script: [{say: "It is done, plainly."}]}
  - {name: hidden, expect: {FAIL: A}, script: [{say: Nothing.}]}
  - {name: empty, expect: {ERROR: empty}, script: []}
"""


def test_a_judge_that_may_resolve_uncalibrated_is_marked_in_every_report(measured: Repo):
    lenient = RUBRIC.replace("questions:", "judge: {uncalibrated: true}\nquestions:")
    config = (measured.path / "evalrepo.yaml").read_text()
    config += "suites: {all: {scenarios: ['*'], agents: [scripted]}}\ngate: {suites: [all]}\n"
    files = {"rubrics/words.md": lenient, "scenarios/T2.yaml": RESOLVED, "evalrepo.yaml": config}
    measured.commit(files, "resolves")
    ran = measured.run("run", "T2", exit=None)
    (record,) = [r for r in measured.records() if r["scenario"] == "T2" and r["reps"][0]["verdict"] == "FAIL"]
    found = {check["id"]: (check["outcome"], check["by"]) for check in record["reps"][0]["checks"]}
    assert found == {"says-it": ("fail", "judge"), "judged": ("fail", "judge")}
    assert record["reps"][0]["judged"][0]["uncalibrated"] == "not calibrated"
    mark = "1 rep has a check that an uncalibrated judge decided, as its rubric allows: words/told"
    assert mark in " ".join(ran.split())
    said = " ".join(measured.run("show", record["run"]).split())
    assert mark in said
    assert "decides uncalibrated (not calibrated)" in said
    (path,) = (measured.path / "AgentsReport").rglob(f"*T2*{record['run']}.md")
    assert mark in path.read_text()
    base = measured.git("rev-parse", "HEAD").strip()
    measured.commit({"subjects/a.md": "Say it well.\n"}, "another subject")
    measured.run("run", "T2", exit=None)
    for command in (("diff", base, "HEAD"), ("gate", "--baseline", base)):
        shown = " ".join(measured.run(*command, exit=None).split())
        assert "an uncalibrated judge decided checks of 2 reps, as its rubric allows: T2" in shown, command


def test_a_judge_that_may_not_resolve_leaves_the_check_ambiguous(measured: Repo):
    measured.commit({"scenarios/T2.yaml": RESOLVED}, "resolves")
    measured.run("run", "T2", exit=None)
    (record,) = [r for r in measured.records() if r["scenario"] == "T2" and r["reps"][0]["verdict"] == "ERROR"]
    found = {check["id"]: (check["outcome"], check["gating"]) for check in record["reps"][0]["checks"]}
    assert found == {"says-it": ("ambiguous", True), "judged": ("fail", False)}
    assert "uncalibrated" not in record["reps"][0]["judged"][0]


UNASKED = """\
title: A file is written, and no judge is asked
subject: team
turns: [{prompt: Say what you did.}]
checks:
  - {id: says-it, axis: A, text: {matches: done, ambiguous: perhaps}}
  - {id: judged, axis: B, judge: {resolves: says-it, rubric: words, question: told, votes: 1}}
behaviours: [{name: told, script: [{write: {path: R.md, content: "the whole truth\\n"}}, {say: It is done.}]}]
conformance:
  - {name: plain, expect: PASS, script: [{say: It is done.}]}
  - {name: hidden, expect: {FAIL: A}, script: [{say: Nothing.}]}
  - {name: empty, expect: {ERROR: empty}, script: []}
"""


def test_calibrate_asks_about_the_files_that_a_run_shows_and_with_the_votes_of_the_scenario(measured: Repo):
    script, seen = measured.path.parent / "judge.py", measured.path.parent / "seen"
    script.write_text(f"import sys; open({str(seen)!r}, 'a').write(sys.stdin.read())\n")
    measured.commit({"scenarios/T9.yaml": UNASKED}, "another scenario")
    measured.run("run", "T9")
    assert not seen.exists()
    typed(measured, "score", "T9", "--label", "words/told", text="no\nR.md\n")
    said = measured.run("calibrate", "words", exit=1)
    assert "1 rep without an answer of the judge" in said
    assert "] file R.md, added" in seen.read_text()
    assert seen.read_text().count("Question: Is it told?") == 2


def test_a_calibrated_judge_that_breaks_is_an_error_on_its_axis_and_an_advisory_one_is_none(measured: Repo):
    script = measured.path.parent / "judge.py"
    script.write_text("raise SystemExit('no network')\n")
    measured.run("run", "T0", "--fresh", "1")
    script.write_text(JUDGE)
    label(measured, "yes", "yes", "no", "no")
    measured.run("calibrate", "words")
    script.write_text("raise SystemExit('no network')\n")
    said = measured.run("run", "T1", "--fresh", "1", exit=4)
    (rep,) = [r["reps"][0] for r in measured.records() if r["reps"][0]["verdict"] == "ERROR"]
    assert (rep["error"], [c["gating"] for c in rep["checks"] if c["id"] == "judged"]) == ("judge", [True])
    assert "axis B" in rep["message"]
    assert "ERROR" in said
