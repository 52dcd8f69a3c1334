"""`evalrepo rescore --judge`: a judge about stored reps; what it said before stands where exactly the same is asked."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

from evalrepo.records.record import Record
from tests.commands.conftest import Repo, empty
from tests.commands.test_commands_judge import JUDGE, RUBRIC, SCENARIO, made, records

__all__ = ["empty"]

COUNTED = JUDGE.replace(
    "text = sys.stdin.read()\n",
    "text = sys.stdin.read()\nopen(sys.argv[0] + '.log', 'a').write(text.split('Question: ')[1].splitlines()[0] + '\\n')\n",
)
"""The judge of the other tests, which notes every question that it is asked."""
OTHER = RUBRIC.replace("Is it told?", "Is it told to a reader?")


def measured(repo: Repo, body: str = COUNTED, *, exit: int = 0) -> Repo:  # noqa: A002
    """One rep with three votes on `told` and one on `depth`."""
    made(repo, body=body)
    repo.run("run", "S1", "--tier", "told", exit=exit)
    return repo


def asked(repo: Repo) -> list[str]:
    """Every question that was put, once a vote."""
    log = repo.path.parent / "judge.py.log"
    return log.read_text().splitlines() if log.exists() else []


def newest(repo: Repo) -> Record:
    """The record that nothing supersedes."""
    found = records(repo)
    (last,) = [one for one in found if one.run not in {other.supersedes for other in found}]
    return last


def test_a_word_stands_where_only_a_check_changed_and_is_told_as_asked_before(empty):
    repo = measured(empty)
    repo.commit({"scenarios/S1.yaml": SCENARIO.replace("matches: done", "matches: It is done")}, "another check")
    repo.run("rescore")
    record = newest(repo)
    check, metric = record.reps[0].judged
    assert (record.rescored_from != "", record.reps[0].verdict, len(asked(repo))) == (True, "PASS", 4)
    assert (check.answer, check.cached, check.spent.calls, metric.cached) == ("yes", True, 0, True)
    assert record.reps[0].metrics["M4"].score == 2


def test_without_judge_a_changed_question_is_listed_and_with_it_asked_into_a_new_record(empty):
    repo = measured(empty)
    before = asked(repo)
    repo.commit({"rubrics/words.md": OTHER}, "another question")
    said = " ".join(repo.run("rescore", exit=2).split())
    assert "said nothing by today's rubric → evalrepo rescore S1 --judge" in said
    assert asked(repo) == before
    said = repo.run("rescore", "S1", "--judge")
    assert "the judge was asked 2 questions, 4 votes: $1.0000" in said
    record = newest(repo)
    check = record.reps[0].judged[0]
    folder = Path(record.reps[0].transcript.path).parent
    text = repo.git("show", f"refs/evalrepo/runs/{record.run}:{folder}/judge/{check.votes[0].prompt[:16]}.txt")
    assert "Is it told to a reader?" in text
    assert (check.cached, check.spent.cost_usd, record.reps[0].usage.cost_usd) == (False, 0.75, 0.0)
    assert (len(records(repo)), repo.git("status", "--porcelain")) == (2, "")
    repo.run("verify", "--records")
    repo.run("rescore", "S1", "--judge")
    assert (len(records(repo)), len(asked(repo))) == (2, 8)


def test_a_dry_run_counts_the_questions_of_which_judge_and_asks_none(empty):
    repo = measured(empty)
    repo.commit({"rubrics/words.md": OTHER}, "another question")
    data = repo.json("rescore", "--judge", "--dry-run")
    told = [(one["question"], one["times"], one["votes"]) for one in data["judge"]["questions"]]
    assert told == [("words/depth", 1, 1), ("words/told", 1, 3)]
    assert "judge.py" in data["judge"]["questions"][0]["judge"]
    assert (data["judge"]["asked"], len(asked(repo)), len(records(repo))) == (False, 4, 1)
    assert "asked at most 2 questions about 1 rep, 4 votes" in " ".join(
        repo.run("rescore", "--judge", "--dry-run").split()
    )


def test_a_judge_that_was_broken_is_asked_again_and_one_that_breaks_is_an_error_on_its_axis_only(empty):
    repo = measured(empty, body="print('yes')\n", exit=4)
    (repo.path.parent / "judge.py").write_text(COUNTED)
    said = repo.run("rescore")
    assert "1 rep of them without a judge's word → evalrepo rescore --judge" in said
    repo.run("rescore", "--judge")
    old, new = sorted(records(repo), key=lambda one: one.sequence)
    assert (old.reps[0].error, new.reps[0].verdict, new.supersedes) == ("judge", "PASS", old.run)
    assert new.digests.instrument == old.digests.instrument
    (repo.path.parent / "judge.py").write_text("print('yes')\n")
    stricter = OTHER.replace("How deep?", "How very deep?")
    repo.commit({"rubrics/words.md": stricter}, "other questions")
    repo.run("rescore", "--judge")
    rep = newest(repo).reps[0]
    assert (rep.error, {c.id: str(c.outcome) for c in rep.checks}) == ("judge", {"says-it": "pass", "judged": "error"})
    repo.commit({"scenarios/S1.yaml": SCENARIO.replace("matches: done", "matches: never").replace("say: It is done", "say: It is never")}, "fails")  # fmt: skip
    repo.run("rescore", "--judge")
    rep = newest(repo).reps[0]
    assert (rep.verdict, rep.axes_failed) == ("FAIL", ("A",))


def test_what_the_environment_names_is_another_instrument_and_is_recorded(empty):
    repo = measured(empty)
    other = repo.path.parent / "other.py"
    other.write_text(JUDGE.replace('"yes"', '"no"').replace("stub-1", "stub-2"))
    repo.env["EVALREPO_JUDGE_CMD"] = f"{sys.executable} -I {other}"
    repo.run("rescore", "--judge")
    rep = newest(repo).reps[0]
    assert (rep.verdict, rep.judged[0].override, rep.judged[0].model) == ("FAIL", "EVALREPO_JUDGE_CMD", "stub-2")


def test_a_spent_limit_keeps_the_judge_from_being_asked_and_what_it_answered_is_not_paid_twice(empty):
    repo = measured(empty)
    repo.commit({"rubrics/words.md": OTHER}, "another question")
    said = " ".join(repo.run("rescore", "--judge", "--max-cost", "0.5", exit=3).split())
    assert "metric M4: the judge was not asked: --max-cost is spent → evalrepo rescore S1 --judge" in said
    assert len(asked(repo)) == 7
    assert "asked 1 question, 1 vote: $0.2500" in repo.run("rescore", "--judge")
    assert [one.spent.cost_usd for one in newest(repo).reps[0].judged] == [0.75, 0.25]


def test_an_interrupted_call_records_what_was_judged_and_the_next_goes_on(empty):
    repo = made(empty, body=COUNTED)
    repo.run("run", "S1", "--tier", "told", "--reps", "3")
    slow = COUNTED.replace("import json, sys\n", "import json, sys, time\ntime.sleep(0.5)\n")
    (repo.path.parent / "judge.py").write_text(slow)
    repo.commit({"rubrics/words.md": OTHER}, "another question")
    with repo.start("rescore", "--judge", "--jobs", "1") as process:
        while len(asked(repo)) < 17:  # 12 of the run, 4 of the first rep, one of the second
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, "interrupted; one rep is judged again and recorded" in errors) == (130, True)
    assert [len(one.reps) for one in records(repo) if one.rescored_from] == [1]
    repo.run("rescore", "--judge")
    assert sorted(len(one.reps) for one in records(repo) if one.rescored_from) == [1, 2]
    assert len(asked(repo)) == 24


def test_one_rescore_makes_one_commit_however_many_runs_measured_a_cell(empty):
    repo = measured(empty)
    repo.run("run", "S1", "--tier", "told", "--reps", "2")
    repo.run("run", "S1", "--tier", "told", "--reps", "3")
    repo.commit({"scenarios/S1.yaml": SCENARIO.replace("matches: done", "matches: It is done")}, "another check")
    before = repo.git("rev-list", "--count", "HEAD")
    repo.run("rescore")
    assert int(repo.git("rev-list", "--count", "HEAD")) == int(before) + 1
    again = [one for one in records(repo) if one.rescored_from]
    assert (len(again), len({one.run for one in again})) == (3, 3)
    assert sorted(one.run for one in again) == sorted(
        line.split()[1] for line in repo.git("log", "-1", "--format=%B").splitlines() if "Evalrepo-Run" in line
    )
    repo.run("verify", "--records")


def test_what_cannot_be_asked_is_refused(empty):
    repo = measured(empty)
    assert "--max-cost is for what the judge costs" in repo.run("rescore", "--max-cost", "1", exit=2)
    config = repo.path / "evalrepo.yaml"
    kept = config.read_text()
    repo.commit(
        {"evalrepo.yaml": "\n".join(line for line in kept.splitlines() if not line.startswith("judge"))}, "none"
    )
    assert "no judge is configured, so none can be asked" in repo.run("rescore", "--judge", exit=2)
    assert "no judge is configured → `judge:`" in " ".join(repo.run("rescore", exit=2).split())
    paid = kept.replace("judge: {", 'judge: {"paid": true, ')
    repo.commit({"evalrepo.yaml": paid, "rubrics/words.md": OTHER}, "paid")
    assert "costs money" in repo.run("rescore", "--judge", exit=2)
    assert json.loads(repo.run("rescore", "--judge", "--live", "--format", "json"))["judge"]["cost_usd"] == 1.0


def test_a_call_that_was_killed_keeps_what_it_judged_and_makes_no_rep_an_error(empty):
    repo = made(empty, body=COUNTED)
    for reps in ("1", "2"):
        repo.run("run", "S1", "--tier", "told", "--reps", reps)
    slow = COUNTED.replace("import json, sys\n", "import json, sys, time\ntime.sleep(0.5)\n")
    (repo.path.parent / "judge.py").write_text(slow)
    repo.commit({"rubrics/words.md": OTHER}, "another question")
    with repo.start("rescore", "--judge", "--jobs", "1") as process:
        while len(asked(repo)) < 13:  # 8 of the runs, 4 of the first rep, one of the second
            time.sleep(0.05)
        process.kill()
        process.communicate(timeout=60)
    said = repo.run("rescore", "--judge")
    assert "had died: its one rep is recorded, 0 ERROR(interrupted)" in said
    again = [one for one in records(repo) if one.rescored_from]
    assert [(len(one.reps), one.reps[0].verdict) for one in again] == [(1, "PASS")] * 2
    assert repo.git("status", "--porcelain") == ""
    repo.run("verify", "--records")


def test_a_reserves_reps_are_judged_again_without_a_look_and_no_check_of_it_is_named(empty):
    repo = made(empty, body=COUNTED)
    twin = SCENARIO.replace("Say what you did.", "Report your deeds in one line.").replace("judged", "hushed")
    config = (repo.path / "evalrepo.yaml").read_text().replace(", hidden: {script: hidden}", "")
    head = "twin: {}\ntripwire: 4dd0a9e6-52bb-4c0e-9bd2-0123456789ab\n"
    repo.commit({
        "evalrepo.yaml": config, "scenarios/S1.yaml": f"twin: S2\n{SCENARIO}",
        "scenarios-reserve/S2.yaml": head.format("S1") + twin,
    })  # fmt: skip
    repo.run("freeze")
    repo.commit({}, "frozen")
    repo.run("run", "--reserve", "team", "--why", "does the third wording hold", "--allow-unmasked")
    repo.run("thaw", "rubrics/words.md", "--kind", "repair", "--why", "nobody in particular was named")
    repo.commit({"rubrics/words.md": OTHER}, "the question repaired")
    repo.run("freeze")
    repo.commit({}, "frozen again")
    said = " ".join(repo.run("rescore", "S2", exit=2).split())
    assert "a check: a judge decides it, and said nothing by today's rubric → evalrepo rescore S2 --judge" in said
    assert "hushed" not in said
    repo.run("rescore", "S2", "--judge")
    (new,) = [one for one in records(repo) if one.rescored_from]
    assert (new.set, new.reps[0].verdict, new.reps[0].checks[1].evidence) == ("reserve", "PASS", ())
    assert [vote.reason for vote in new.reps[0].judged[0].votes] == ["", "", ""]
    assert "1 of 3 looks spent" in repo.run("status")
    repo.run("verify", "--records")
