"""`run` with judges: what is asked, what is recorded, what it costs, and who has to consent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from evalrepo.agents import claude
from evalrepo.checks.view import View
from evalrepo.formats import yaml
from evalrepo.formats.redaction import Redactor
from evalrepo.records.kinds import Judge
from evalrepo.records.record import Record
from evalrepo.records.steps import Step
from evalrepo.records.transcript import At, Said, Transcript
from evalrepo.rehearsal.play import Part
from evalrepo.rehearsal.server import ModelServer
from evalrepo.running.judging import Court, Hearing
from evalrepo.scoring.judge.command import CommandJudge
from evalrepo.store.cache import Cache
from tests.commands.conftest import Repo, empty

__all__ = ["empty"]

CONFIG = """\
version: 1
subjects:
  team: {{paths: [subjects/**], agents: [scripted], install: {{scripted: {{copy: {{.: ~/team}}}}}}}}
agents: {{scripted: {{tiers: {{told: {{script: told}}, hidden: {{script: hidden}}}}}}}}
judge: {judge}
reps: 1
bar: {{passes: 1, of: 1}}
"""
RUBRIC = """\
---
title: Words
questions:
  told: {ask: Is it told?}
metrics:
  depth: {ask: How deep?, scale: {0: not, 1: a bit, 2: well, 3: fully}}
---
Look at the words.
"""
SCENARIO = """\
title: It is told
subject: team
turns: [{prompt: Say what you did.}]
checks:
  - {id: says-it, axis: A, text: {matches: done, ambiguous: perhaps}}
  - {id: judged, axis: B, judge: {rubric: words, question: told}}
metrics: {M4: {judge: {rubric: words, question: depth, votes: 1}}}
conformance:
  - {name: told, expect: PASS, script: [{say: It is done.}]}
  - {name: hidden, expect: {FAIL: A}, script: [{say: Nothing.}]}
  - {name: empty, expect: {ERROR: empty}, script: []}
"""
JUDGE = """\
import json, sys
text = sys.stdin.read()
place = next(l.split("]")[0][1:] for l in text.splitlines() if "the agent says" in l)
answer = "2" if "How deep?" in text else "yes"
print(json.dumps({"reason": "It is.", "evidence": [{"place": place, "quote": "done"}], "answer": answer,
                  "model": "stub-1", "usage": {"input_tokens": 100, "output_tokens": 9, "cost_usd": 0.25}}))
"""


def made(repo: Repo, judge: str = "", body: str = JUDGE) -> Repo:
    script = repo.path.parent / "judge.py"
    script.write_text(body)
    own = judge or json.dumps({"command": [sys.executable, "-I", str(script)], "calibration": {"labels": 0}})
    repo.commit({
        "evalrepo.yaml": CONFIG.format(judge=own), "rubrics/words.md": RUBRIC, "scenarios/S1.yaml": SCENARIO,
        "subjects/TEAM.md": "be brief\n",
    })  # fmt: skip
    return repo


def only(repo: Repo):
    (record,) = records(repo)
    return record, record.reps[0]


def records(repo: Repo) -> list[Record]:
    return [Record.model_validate_json(json.dumps(record)) for record in repo.records()]


def test_what_was_asked_and_said_is_recorded_and_the_exact_texts_are_in_the_runs_ref(empty):
    repo = made(empty)
    repo.run("run", "S1", "--tier", "told")
    record, rep = only(repo)
    assert (rep.verdict, rep.metrics["M4"].score, rep.metrics["M4"].places[0].text) == ("PASS", 2, "done")
    check, metric = rep.judged
    assert (check.question, check.kind, check.model, check.answer) == ("told", "command", "stub-1", "yes")
    assert [vote.answer for vote in check.votes] == ["yes"] * 3
    assert (check.spent.calls, check.spent.cost_usd, metric.spent.calls) == (3, 0.75, 1)
    assert (check.override, check.cached, rep.usage.cost_usd) == ("", False, 0.0)
    folder = str(Path(rep.transcript.path).parent)
    ref = f"refs/evalrepo/runs/{record.run}"
    for vote in check.votes:
        text = repo.git("show", f"{ref}:{folder}/judge/{vote.prompt[:16]}.txt")
        assert "Is it told?" in text
        assert '"answer": "yes"' in repo.git("show", f"{ref}:{folder}/judge/{vote.reply[:16]}.txt")
    said = repo.run("show", record.run)
    assert "judge told: yes (yes, yes, yes)" in " ".join(said.split())


def test_what_the_environment_names_instead_is_recorded_and_is_another_instrument(empty):
    repo = made(empty)
    repo.run("run", "S1", "--tier", "told")
    other = repo.path.parent / "other.py"
    other.write_text(JUDGE.replace('"yes"', '"no"').replace("stub-1", "stub-2"))
    repo.env["EVALREPO_JUDGE_CMD"] = f"{sys.executable} -I {other}"
    repo.run("run", "S1", "--tier", "told", exit=1)
    one, two = sorted(records(repo), key=lambda record: record.start)
    assert [r.reps[0].judged[0].override for r in (one, two)] == ["", "EVALREPO_JUDGE_CMD"]
    assert [r.reps[0].verdict for r in (one, two)] == ["PASS", "FAIL"]
    assert one.digests.instrument != two.digests.instrument
    repo.env["EVALREPO_JUDGE_CMD"] = "'"
    assert "EVALREPO_JUDGE_CMD is no command line" in repo.run("run", "S1", "--tier", "told", exit=2)


def test_a_judge_that_breaks_is_an_error_on_its_axis_and_a_failed_check_stands(empty):
    repo = made(empty, body="print('yes')\n")
    repo.run("run", "S1", "--tier", "told", exit=4)
    _, rep = only(repo)
    assert (rep.verdict, rep.error) == ("ERROR", "judge")
    assert "axis B" in rep.message
    assert {c.id: str(c.outcome) for c in rep.checks} == {"says-it": "pass", "judged": "error"}
    assert rep.metrics["M4"].score is None
    repo.run("run", "S1", "--tier", "hidden", exit=1)
    hidden = next(record.reps[0] for record in records(repo) if record.tier == "hidden")
    assert (hidden.verdict, hidden.axes_failed) == ("FAIL", ("A",))
    assert {c.id: str(c.outcome) for c in hidden.checks} == {"says-it": "fail", "judged": "error"}


def test_the_judges_cost_counts_against_the_limit(empty):
    repo = made(empty)
    said = repo.run("run", "S1", "--tier", "told", "--reps", "3", "--jobs", "1", "--max-cost", "1.50", exit=3)
    assert len(only(repo)[0].reps) == 2
    assert "judge" in said


def test_a_judge_that_is_paid_wants_consent_a_package_and_a_key(empty):
    repo = made(empty, judge="{model: anthropic:claude-judge-1}")
    assert "the judge anthropic:claude-judge-1 costs money" in " ".join(
        repo.run("run", "S1", "--tier", "told", exit=2).split()
    )
    assert "ANTHROPIC_API_KEY is not set" in " ".join(repo.run("run", "S1", "--live", exit=2).split())
    assert repo.records() == []


def test_the_same_question_about_the_same_transcript_is_not_asked_twice_once_the_model_is_known(tmp_path):
    count = tmp_path / "count"
    script = tmp_path / "judge.py"
    script.write_text(JUDGE + f"open({str(count)!r}, 'a').write('x')\n")
    asked = Judge(rubric="words", question="told")
    rubrics = {"words": yaml.rubric_file(RUBRIC.encode(), "rubrics/words.md")}
    seen = View(Transcript("x", events=(Said("It is done.", 1, At("a.jsonl", 1)),)))

    def hearing(transcript: str, rubrics=rubrics) -> Hearing:
        cache = Cache(tmp_path, "judged", 1)
        judge = CommandJudge([sys.executable, "-I", str(script)], tmp_path, {"PATH": "/usr/bin:/bin"})
        return Hearing(Court(judge, rubrics, Redactor({}, ()), cache), transcript)

    first = hearing("t1")
    answers = [first(asked, seen), first(asked, seen)]
    assert answers[0] == answers[1]
    assert [one.cached for one in first.judged] == [False, True]
    assert (count.read_text(), first.judged[1].spent.calls) == ("xxx", 0)
    assert first.judged[1].votes == first.judged[0].votes
    other = hearing("t1")
    other(asked, seen)
    assert (other.judged[0].cached, len(count.read_text())) == (False, 6)
    second = Hearing(first.court, "t2")
    second(asked, seen)
    assert (second.judged[0].cached, len(count.read_text())) == (False, 9)


def test_a_judge_gets_no_secret_to_see_and_stores_none(tmp_path):
    script = tmp_path / "judge.py"
    script.write_text(JUDGE.replace('"It is."', '"It is " + "hunter2hunter2" + "."'))
    rubrics = {"words": yaml.rubric_file(RUBRIC.encode(), "rubrics/words.md")}
    seen = View(Transcript("x", events=(Said("It is done with hunter2hunter2.", 1, At("a.jsonl", 1)),)))
    judge = CommandJudge([sys.executable, "-I", str(script)], tmp_path, {"PATH": "/usr/bin:/bin"})
    heard = Hearing(Court(judge, rubrics, Redactor({"KEY": "hunter2hunter2"}, ())), "t")
    said = heard(Judge(rubric="words", question="told"), seen)
    assert said.answer == "yes"
    kept = b"".join(heard.files.values()).decode() + heard.judged[0].model_dump_json() + str(said)
    assert "hunter2" not in kept
    assert "[REDACTED:" in kept


def test_a_model_behind_an_api_judges_a_run_with_consent_and_what_it_used_is_recorded(empty, tmp_path):
    pytest.importorskip("pydantic_ai", reason="the extra `judge` is not installed")
    says = {"reason": "It is.", "evidence": [{"place": "p2", "quote": "done"}], "answer": "yes"}
    step = Step.model_validate({"say": json.dumps(says)})
    part = Part(claude, (step,), "Answer with one JSON object", "/w", "/h", tools=False)
    with ModelServer(tmp_path) as server:
        server.admit("secret-key-of-the-judge-1", part)
        repo = made(empty, judge=f"{{model: anthropic:claude-judge-1, base_url: '{server.url}'}}")
        repo.env["ANTHROPIC_API_KEY"] = "secret-key-of-the-judge-1"
        repo.run("run", "S1", "--tier", "told", "--live")
        asked = server.asked("secret-key-of-the-judge-1")
    record, rep = only(repo)
    check, metric = rep.judged
    assert (rep.verdict, check.kind, check.judge, check.model) == (
        "PASS",
        "api",
        "anthropic:claude-judge-1",
        "claude-judge-1",
    )
    assert [vote.answer for vote in check.votes] == ["yes"] * 3
    assert check.spent.calls == 3
    assert check.spent.input_tokens > 0
    assert (metric.answer, rep.metrics["M4"].score, metric.spent.calls) == ("", None, 2)
    assert len(asked) == 3 + 2
    assert "secret-key-of-the-judge-1" not in record.model_dump_json()
