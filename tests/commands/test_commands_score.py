"""`evalrepo score`: people's scores through the terminal, cards and files of their own, and what diff and gate make of it."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

from tests.commands.conftest import CONFIG, GUIDE, SCENARIO, WORLD, Repo

METRICS = "metrics: {M1: human, M3: {ladder: [{score: 3, if: looks}, {score: 0}]}, M4: human}\n"
RUBRIC = """\
---
title: How the guide is followed
questions:
  M1: {ask: Was the goal met?, scale: {"0": not at all, "1": in part, "2": "yes, unshown", "3": "yes, and shown"}}
  M4: {ask: Was it verified?, scale: {"0": claims only, "3": a command shows it}}
---
Look at what was done.
"""
SCORED = WORLD | {
    "scenarios/S1-typo.yaml": SCENARIO.replace("conformance:", METRICS + "conformance:"),
    "rubrics/style.md": RUBRIC,
    "evalrepo.yaml": CONFIG + "reps: 1\nbar: {passes: 1, of: 1}\n",
}


@pytest.fixture
def measured(empty: Repo) -> Repo:
    """One measured rep whose M1 and M4 are people's."""
    empty.commit(SCORED, "the world")
    empty.run("run")
    return empty


def typed(repo: Repo, *args: str, text: str, exit: int = 0) -> str:  # noqa: A002
    """The command with these lines typed into it."""
    done = subprocess.run(
        [sys.executable, "-m", "evalrepo", *args],
        cwd=repo.path,
        env=repo.environment(),
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == exit, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def scores(repo: Repo, run: str = "") -> dict[str, tuple[int | None, str, str]]:
    """Metric → score, source, evidence of the only rep of the record that nothing supersedes, or of a run."""
    records = repo.records()
    old = {r["supersedes"] for r in records}
    (record,) = [r for r in records if (r["run"] == run if run else r["run"] not in old)]
    return {n: (m["score"], m["source"], m["evidence"]) for n, m in record["reps"][0]["metrics"].items()}


def test_a_walk_asks_for_what_is_peoples_and_makes_a_record_that_supersedes(measured: Repo):
    first = measured.records()[0]["run"]
    said = typed(measured, "score", "S1", text="2\nline 4 of the log\n-\n")
    assert "M1 Was the goal met?" in said
    assert "3  yes, and shown" in said
    assert "scored already: M3 3 (mechanical)" in said
    assert f"1 score of 1 rep by Test Person: S1-typo, supersedes run {first}" in said
    assert scores(measured) == {
        "M1": (2, "human", "line 4 of the log"),
        "M3": (3, "mechanical", "passed: looks"),
        "M4": (None, "human", "not scored yet"),
    }
    assert scores(measured, first)["M1"][0] is None
    new = measured.records()
    assert [r["reason"] for r in new if r.get("reason")] == ["scored by Test Person"]
    assert measured.git("log", "-1", "--format=%s").strip() == "evalrepo: 1 rep of 1 cell, recorded again"
    assert "supersedes run" in measured.run("show", "S1")
    assert "RES" not in measured.run("lint")


def test_evidence_that_is_not_there_is_asked_for_again(measured: Repo):
    said = typed(measured, "score", "S1", text="3\nit was fine\nline 400\nsrc/none.py shows it\n“hallo”\n-\n")
    assert "it names no place" in said
    assert "not there: line 400" in said
    assert "not there: src/none.py" in said
    assert scores(measured)["M1"] == (3, "human", "“hallo”")


def test_a_walk_that_stops_goes_on_where_it_was(measured: Repo):
    stopped = typed(measured, "score", "S1", text="1\nline 3\n", exit=130)
    assert "stopped; what was given is kept: evalrepo score S1 goes on" in stopped
    assert len(measured.records()) == 1
    said = typed(measured, "score", "S1", text="0\nREADME.md was not read again\n")
    assert "1 of 2 answers from before are kept" in said
    assert [scores(measured)[m][0] for m in ("M1", "M4")] == [1, 0]


def test_back_goes_to_the_metric_before(measured: Repo):
    typed(measured, "score", "S1", text="1\nline 3\nb\n3\nline 4\n-\n")
    assert scores(measured)["M1"] == (3, "human", "line 4")


@pytest.mark.tmux
def test_scores_are_entered_at_a_real_terminal(measured: Repo):
    def tmux(*args: str) -> str:
        line = ["tmux", "-L", "scores", "-f", "/dev/null", *args]
        env = measured.environment() | {"TMUX_TMPDIR": str(measured.home), "TERM": "xterm"}
        return subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout

    def wait_for(words: str) -> str:
        for _ in range(900):
            screen = tmux("capture-pane", "-p", "-t", "walk")
            if words in screen:
                return screen
            time.sleep(0.1)
        raise AssertionError(screen)

    start = f"cd {measured.path} && {sys.executable} -m evalrepo score S1; sleep 60"
    tmux("new-session", "-d", "-s", "walk", "-x", "80", "-y", "40", start)
    try:
        screen = wait_for("M1 (0-3,")
        assert all(len(line) <= 80 for line in screen.splitlines())
        for answer, next_words in (("2", "evidence"), ("line 4", "M4 (0-3,"), ("3", "evidence")):
            tmux("send-keys", "-t", "walk", answer, "Enter")
            wait_for(next_words)
        tmux("send-keys", "-t", "walk", "“hallo” stands in README.md", "Enter")
        wait_for("committed:")
    finally:
        tmux("kill-server")
    assert [scores(measured)[m][0] for m in ("M1", "M4")] == [2, 3]


def test_cards_are_written_filled_and_read(measured: Repo):
    run = measured.records()[0]["run"]
    assert "1 card in cards.txt" in measured.run("score", run, "--export", "cards.txt")
    card = (measured.path / "cards.txt").read_text()
    assert f"Run: {run}\nCell: scripted/default\nRep: 1\nStatus: COMPLETE\n" in card
    assert "# M3:" in card
    filled = re.sub(r"(M1 .*: +)0-3   evidence:", r"\g<1>2   evidence: line 4", card)
    filled = filled.rstrip() + " it never\nlooked again\n"
    (measured.path / "cards.txt").write_text(filled)
    said = measured.run("score", "--import", "cards.txt")
    assert "1 score of 1 rep by Test Person" in said
    assert scores(measured)["M1"] == (2, "human", "line 4")
    reason = next(r["reason"] for r in measured.records() if r.get("reason"))
    assert reason == "scored by Test Person; rep 1, Test Person: it never looked again"
    assert "nothing to record" in measured.run("score", "--import", "cards.txt")


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("0-3   evidence:", "7   evidence: line 4", "SCO001", "'7' is no score"),
        ("0-3   evidence:", "2", "SCO002", "M1 has a score and no evidence"),
        ("0-3   evidence:", "2 evidence: line 400", "SCO006", "M1: not there: line 400"),
        ("0-3   evidence:", "2 evidence: nice", "SCO006", "M1: it names no place"),
        ("# M3:", "M3: 1 evidence: line 4\n#", "SCO005", "M3 is not a person's to score"),
        ("Rep: 1", "Rep: 9", "SCO005", "there is no rep 9 that a person could score"),
        ("Run: ", "Run: x", "SCO005", "no record is called"),
        ("Cell: scripted/default", "Cell: scripted/other", "SCO005", "the card fits 0 reps"),
    ],
)
def test_a_card_that_cannot_be_used_records_nothing(measured: Repo, old: str, new: str, code: str, words: str):
    measured.run("score", "S1", "--export", "cards.txt")
    card = re.sub("M4 .*", "M4: 1 evidence: line 3", (measured.path / "cards.txt").read_text())
    (measured.path / "cards.txt").write_text(card.replace(old, new, 1))
    found = measured.json("score", "--import", "cards.txt", exit=1)["findings"]
    assert code in [f["code"] for f in found]
    assert words in "\n".join(f["message"] for f in found)
    assert len(measured.records()) == 1


def test_the_editor_fills_cards(measured: Repo):
    script = measured.path / "fill.py"
    script.write_text(
        "import re, sys\np = sys.argv[1]\ntext = open(p).read()\n"
        "open(p, 'w').write(re.sub('(M1 .*?:) +–   evidence:', r'\\1 3 evidence: line 4', text))\n"
    )
    measured.env["EDITOR"] = f"{sys.executable} {script}"
    measured.run("score", "S1", "--editor")
    assert scores(measured)["M1"] == (3, "human", "line 4")


def test_a_person_sees_what_they_gave_may_keep_correct_and_take_it_back(measured: Repo):
    typed(measured, "score", "S1", "--by", "Ann", text="3\nline 4\n1\nline 3\n")
    said = typed(measured, "score", "S1", "--by", "Ann", text="\n2\n“hallo”\n")
    assert "you gave 3: line 4 (Enter keeps it)" in said
    assert "1 score of 1 rep by Ann" in said
    assert [scores(measured)[m] for m in ("M1", "M4")] == [(3, "human", "line 4"), (2, "human", "“hallo”")]
    assert "nothing to record" in typed(measured, "score", "S1", "--by", "Ann", text="\n\n")
    typed(measured, "score", "S1", "--by", "Bob", text="0\nline 4\n-\n")
    said = typed(measured, "score", "S1", "--by", "Ann", text="-\n-\n")
    assert "2 scores (2 taken back) of 1 rep by Ann" in said
    assert [scores(measured)[m] for m in ("M1", "M4")] == [(0, "human", "line 4"), (None, "human", "taken back by Ann")]


def test_answers_outlive_what_somebody_else_records_meanwhile(measured: Repo):
    said = typed(measured, "score", "S1", "--rep", "1", "--by", "Ann B", text="3\nline 4\nq\n", exit=130)
    assert "evalrepo score S1 --rep 1 --by 'Ann B' goes on" in said
    typed(measured, "score", "S1", "--by", "Bob", text="3\nline 4\n-\n")
    assert "1 of 2 answers from before are kept" in typed(measured, "score", "S1", "--by", "Ann B", text="0\nline 3\n")
    assert scores(measured)["M1"] == (3, "human", "Bob 3: line 4; Ann B 3: line 4")


def test_what_is_no_text_is_no_evidence(measured: Repo):
    said = typed(measured, "score", "S1", text="3\nline 4\x1b[D\nÜbergabe: line 4, „hallo“\n-\n")
    assert "it holds characters that are no text: line 4\\x1b[D" in said
    assert scores(measured)["M1"] == (3, "human", "Übergabe: line 4, „hallo“")


def test_a_second_person_scores_blind_and_agreement_is_shown(measured: Repo):
    typed(measured, "score", "S1", "--by", "Ann", text="3\nline 4\n0\nline 3\n")
    said = typed(measured, "score", "S1", "--by", "Bob", text="1\nline 3\n0\nline 4\n")
    assert "line 4" not in said.split("evidence")[0]
    assert "Ann and Bob agree on 1 of 2 scores (weighted κ 0.43)" in said.replace("\n    ", " ")
    assert scores(measured)["M1"] == (1, "human", "Ann 3: line 4; Bob 1: line 3")
    assert [len(r["reps"][0]["metrics"]["M1"].get("ratings", ())) for r in measured.records()].count(2) == 1


def test_a_score_that_fell_leaves_the_gate_open_until_it_is_waived(empty: Repo):
    policy = "gate: {suites: [release], golden: [S1], margin: 1, metrics: {when: any}}"
    config = SCORED["evalrepo.yaml"].replace("gate: {suites: [release], golden: [S1]}", policy)
    empty.commit(SCORED | {"evalrepo.yaml": config}, "the world")
    empty.run("run")
    typed(empty, "score", "S1", text="3\nline 4\n3\nline 3\n")
    empty.git("tag", "v1")
    empty.commit({"subjects/style/GUIDE.md": GUIDE + "Be brief.\n"}, "another wording")
    empty.run("run")
    typed(empty, "score", "S1", text="1\nline 4\n3\nline 3\n")
    shown = empty.run("diff", "v1")
    rows = [line.split() for line in shown.splitlines() if line.startswith("M1 ")]
    assert [rows[0][:5], rows[1][4:]] == [["M1", "1", "3.00", "1.00", "-2.00"], ["3", "1", "-2", "Test", "Person"]]
    said = empty.run("gate", exit=3)
    assert "OPEN  metric M1 fell from 3.00 to 1.00 over 1 cell" in said
    assert "M4" not in [line.split()[2] for line in said.splitlines() if line.startswith("OPEN  metric")]


def test_a_score_that_the_base_has_and_nobody_gave_yet_leaves_the_gate_open(empty: Repo):
    policy = "gate: {suites: [release], golden: [S1], margin: 1, metrics: {when: any}}"
    config = SCORED["evalrepo.yaml"].replace("gate: {suites: [release], golden: [S1]}", policy)
    empty.commit(SCORED | {"evalrepo.yaml": config}, "the world")
    empty.run("run")
    typed(empty, "score", "S1", "--by", "Ann", text="2\nline 4\n3\nline 3\n")
    empty.git("tag", "v1")
    empty.commit({"subjects/style/GUIDE.md": GUIDE + "Be brief.\n"}, "another wording")
    empty.run("run")
    typed(empty, "score", "S1", text="2\nline 4\n-\n")
    assert "M4 is unset in 1 rep at WORKTREE: S1-typo · scripted/default" in empty.run("diff", "v1")
    (lacking,) = [r for r in empty.json("gate", exit=3)["reasons"] if r["kind"] == "inconclusive"]
    assert lacking["text"] == "metric M4 may have fallen: 1 rep of cells that the base scores lack it"
    typed(empty, *lacking["command"].split()[1:], text="\n3\nline 4\n")
    gate = empty.json("gate")
    assert (gate["unset"], [m["fell"] for m in gate["metrics"]]) == ([], [[], [], []])
    assert gate["cells"][0]["before"]["raters"] == {"M1": ["Ann"], "M4": ["Ann"]}


HAND = """\
# Scenario 1

```text
Scenario: S1
Status: COMPLETE
M1 success: {M1} evidence: README.md
M4 verification: {M4} evidence: nobody looked
Notes / weaknesses observed: none
```
"""


def test_results_in_files_of_their_own_count_for_the_subject_of_the_commit_that_added_them(empty: Repo):
    folder = "AgentsReport/evaluation"
    config = SCORED["evalrepo.yaml"]
    empty.commit(SCORED | {f"{folder}/2026-01-05_scenario-S1.md": HAND.format(M1=3, M4=1)}, "the world")
    empty.run("run")
    empty.git("tag", "v1")
    empty.commit({"subjects/style/GUIDE.md": GUIDE + "Be brief.\n"}, "another wording")
    empty.run("run")
    before = empty.json("diff", "v1")["background"]["by_hand"]
    assert [(s["metric"], s["before"], s["after"]) for s in before] == [("M1", 3, None), ("M4", 1, None)]
    empty.commit({f"{folder}/2026-02-05_scenario-S1.md": HAND.format(M1=1, M4=2)}, "scored by hand")
    shown = empty.run("diff", "v1")
    rows = [line.split() for line in shown.splitlines() if line.startswith("S1-typo  M")]
    assert rows == [["S1-typo", "M1", "3", "1", "-2"], ["S1-typo", "M4", "1", "2", "+1"]]
    assert "S1-typo M1, scored by hand, fell from 3 to 1" in shown
    assert "by-hand" in [r["code"] for r in empty.json("gate", exit=None)["reasons"] if r["kind"] == "note"]
    policy = "gate: {suites: [release], golden: [S1], margin: 1, by_hand: investigate}"
    empty.commit({"evalrepo.yaml": config.replace("gate: {suites: [release], golden: [S1]}", policy)}, "policy")
    empty.git("tag", "-f", "v1", "v1")
    kinds = [r["kind"] for r in empty.json("gate", exit=None)["reasons"] if r["code"] == "by-hand"]
    assert kinds == ["note"]
