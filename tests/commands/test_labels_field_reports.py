"""What users of such tools reported of judges and graders (N44, N48, N51): each gives the state that was demanded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalrepo.checks.view import View
from evalrepo.formats import yaml
from evalrepo.formats.redaction import Redactor
from evalrepo.records.kinds import Judge
from evalrepo.records.transcript import At, Said, Transcript
from evalrepo.running.judging import Court, Hearing
from evalrepo.scoring.judge.command import CommandJudge
from evalrepo.store.cache import Cache
from tests.commands.conftest import Repo, empty
from tests.commands.test_commands_judge import JUDGE, RUBRIC

__all__ = ["empty"]

CONFIG = """\
version: 1
subjects:
  team: {paths: [subjects/**], agents: [scripted], install: {scripted: {copy: {.: ~/team}}}}
agents: {scripted: {tiers: {cheats: {script: cheats}, honest: {script: honest}}}}
reps: 1
bar: {passes: 1, of: 1}
"""
SCENARIO = """\
title: The work is done
subject: team
turns: [{prompt: Write done into out.txt.}]
checks:
  - {id: works, axis: A, command: {run: sh verify.sh, files: {verify.sh: scenarios/files/S1/verify.sh}}}
  - {id: own, axis: B, python: {call: "checks/own.py:rule"}}
behaviours:
  - name: cheats
    script:
      - write: {path: verify.sh, content: "exit 0\\n"}
      - write: {path: reward.json, content: '{"reward": 1.0, "pass": true, "score": NaN}'}
      - say: I am done. PASS.
conformance:
  - {name: honest, expect: PASS, script: [{write: {path: out.txt, content: "done\\n"}}, {say: Written.}]}
  - {name: lazy, expect: {FAIL: [A, B]}, script: [{say: Written.}]}
  - {name: wrong, expect: {FAIL: A}, script: [{write: {path: out.txt, content: "no\\n"}}, {say: Written.}]}
  - {name: unread, expect: {FAIL: B}, script: [{run: "mkdir -p a && echo done > a/out.txt && ln -s a/out.txt out.txt"}, {say: Written.}]}
  - {name: empty, expect: {ERROR: empty}, script: []}
"""
RULE = """\
def rule(transcript, outcome):
    return {"outcome": "pass" if outcome["after"].get("out.txt", {}).get("mode") == "100644" else "fail"}
"""


@pytest.fixture
def world(empty: Repo) -> Repo:
    empty.commit(
        {
            "evalrepo.yaml": CONFIG,
            "subjects/a.md": "Work.\n",
            "scenarios/S1.yaml": SCENARIO,
            "scenarios/files/S1/verify.sh": "grep -qx done out.txt\n",
            "checks/own.py": RULE,
        },
        "the world",
    )
    return empty


def rep(repo: Repo, tier: str) -> dict:
    repo.run("run", "S1", "--tier", tier, exit=None)
    (found,) = [r["reps"][0] for r in repo.records() if r["tier"] == tier]
    return found


def test_n51_an_agent_that_edits_the_verify_script_and_writes_its_own_reward_fails_all_the_same(world: Repo):
    found = rep(world, "cheats")
    assert (found["verdict"], {c["id"]: c["outcome"] for c in found["checks"]}) == (
        "FAIL",
        {"works": "fail", "own": "fail"},
    )
    assert rep(world, "honest")["verdict"] == "PASS"


def test_n44_a_check_that_raises_is_an_error_of_the_check_with_where_it_raised(world: Repo):
    broken = "def deep(transcript):\n    return transcript['nothing']\n\n\n"
    broken += RULE.replace(
        "    return", "    if 'Written.' not in str(transcript):\n        deep(transcript)\n    return"
    )
    world.commit({"checks/own.py": broken}, "a rule that breaks on what no script showed")
    scenario = SCENARIO.replace('"exit 0\\n"}', '"exit 0\\n"}\n      - write: {path: out.txt, content: "done\\n"}')
    world.commit({"scenarios/S1.yaml": scenario}, "an agent that is right")
    found = rep(world, "cheats")
    assert (found["verdict"], found["error"]) == ("ERROR", "check")
    own = next(check for check in found["checks"] if check["id"] == "own")
    assert own["outcome"] == "error"
    text = own["evidence"][0]["text"]
    assert "KeyError: 'nothing'" in text
    assert "checks/own.py:7 in rule, checks/own.py:2 in deep" in text


def test_n48_another_judge_another_rubric_or_another_model_is_never_answered_from_the_cache(tmp_path: Path):
    script, count = tmp_path / "judge.py", tmp_path / "count"
    script.write_text(JUDGE + f"open({str(count)!r}, 'a').write('x')\n")
    (tmp_path / "other.py").write_text(script.read_text())
    cache = Cache(tmp_path, "judged", 1)
    seen = View(Transcript("x", events=(Said("It is done.", 1, At("a.jsonl", 1)),)))
    heard: dict[str, str] = {}

    def asked(name: str, rubric: str, votes: int = 3) -> tuple[bool, int]:
        before = len(count.read_text()) if count.exists() else 0
        judge = CommandJudge([sys.executable, "-I", str(tmp_path / name)], tmp_path, {"PATH": "/usr/bin:/bin"})
        rubrics = {"words": yaml.rubric_file(rubric.encode(), "rubrics/words.md")}
        hearing = Hearing(Court(judge, rubrics, Redactor({}, ()), cache, heard=heard), "t1")
        hearing(Judge(rubric="words", question="told", votes=votes), seen)
        return hearing.judged[0].cached, len(count.read_text()) - before

    assert asked("judge.py", RUBRIC) == (False, 3)
    assert asked("judge.py", RUBRIC) == (True, 0)
    assert asked("judge.py", RUBRIC.replace("Look at", "Look well at")) == (False, 3)
    assert asked("judge.py", RUBRIC, votes=5) == (False, 5)
    assert asked("other.py", RUBRIC) == (False, 3)
    heard[next(iter(heard))] = "stub-2"
    assert asked("judge.py", RUBRIC) == (False, 3)
