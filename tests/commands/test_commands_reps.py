"""What a rep comes to, for every way it can go, with real processes in the real sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from tests.commands.conftest import SCENARIO, WORLD, Repo

AGENT = """\
  mine:
    kind: command
    argv: [{argv}, "{{prompt}}", "{{turn}}"]
    tiers: {{default: {{}}}}
"""
MINE = """\
title: {name}
subject: style
fixture: app
turns: [{{prompt: "Do the thing"}}]
{more}
checks: [{{id: speaks, axis: A, text: {{matches: done}}}}]
conformance:
  - {{name: speaks, expect: PASS, script: [{{say: done}}]}}
  - {{name: mute, expect: {{FAIL: A}}, script: [{{say: nothing}}]}}
  - {{name: nothing, expect: {{ERROR: empty}}, script: []}}
"""
GOOD = """\
import json, sys
def row(**r): print(json.dumps(r), flush=True)
row(type="session", format=1, session="s", version="1", model="m", turn=1)
row(type="prompt", text=sys.argv[1], turn=1)
row(type="assistant", text="all done", model="m", usage={"input_tokens": 7, "output_tokens": 2, "cost_usd": 0.5})
row(type="end", reason="done")
"""


def with_agent(repo: Repo, source: str, more: str = "") -> dict:
    """The first rep's record of a command agent that is this Python program, and the run's whole record."""
    script = repo.home.parent / "bin" / "agent.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!{sys.executable}\n" + source)
    script.chmod(0o755)
    config = WORLD["evalrepo.yaml"].replace("suites:\n", AGENT.format(argv=script) + "suites:\n")
    config = config.replace("{.: ~/style}", "{.: .}")
    repo.commit({"evalrepo.yaml": config, "scenarios/M1.yaml": MINE.format(name="mine", more=more)})
    said = repo.run("run", "M1", "--agent", "mine", "--reps", "1", exit=None)
    assert repo.records(), said
    return repo.records()[-1]


def scripted(repo: Repo, scenario: str, tier: str = "follows", exit: int | None = None) -> list[dict]:  # noqa: A002
    """The reps of a scenario that the scripted agent plays."""
    repo.commit({"scenarios/S2.yaml": textwrap.dedent(scenario)})
    repo.run("run", "S2", "--tier", tier, "--reps", "1", exit=exit)
    return repo.records()[-1]["reps"]


def test_a_command_agent_that_writes_our_log_on_stdout_is_scored_with_its_usage(repo):
    record = with_agent(repo, GOOD)
    rep = record["reps"][0]
    assert (rep["verdict"], rep["usage"]["input_tokens"], rep["usage"]["cost_usd"]) == ("PASS", 7, 0.5)
    assert (record["models"], record["model_free"]) == (["m"], False)


@pytest.mark.parametrize(
    ("source", "more", "kind", "words"),
    [
        ("import time; time.sleep(60)", "limits: {startup_s: 0.5}", "startup", "start-up"),
        (GOOD.replace('row(type="assistant"', 'import time; time.sleep(60)\nrow(type="assistant"'),
         "limits: {idle_s: 0.5}", "idle", "idle"),
        ("import sys; sys.exit('no key')", "", "launch", "no key"),
        ("print('hello')", "", "empty", ""),
        (GOOD.replace("text=sys.argv[1]", "text='other'"), "", "prompt-lost", "turn 1"),
        (GOOD.replace("all done", ""), "", "empty", ""),
        (GOOD.replace('row(type="end", reason="done")', 'row(type="error", kind="auth", message="401")'), "", "auth", "401"),
        (GOOD.replace('row(type="end", reason="done")', 'print(\'{"type": "assist\', end="")'), "", "truncated", ""),
        (GOOD.replace('row(type="end"', 'print("{broken")\nrow(type="end"'), "", "transcript", ""),
        (GOOD.replace('row(type="end"', '[row(type="tool_call", id=str(n), tool="x", args={}) for n in range(9)]; '
                      'import time; time.sleep(9)\nrow(type="end"'), "limits: {tool_calls: 5}", "limit", "5 tool calls"),
        (GOOD, "preconditions: [{id: there, file: {path: GUIDE.md}}]", "setup", "there"),
        (GOOD, "validity: [{id: stub, error: stub, text: {must_not: all}}]", "stub", "stub"),
    ],
    ids=["never starts", "idle", "launch", "no log", "prompt lost", "empty", "auth", "torn", "broken middle",
         "too many calls", "precondition", "validity"],
)  # fmt: skip
def test_trouble_of_the_harness_is_an_error_of_its_kind(repo, source, more, kind, words):
    rep = with_agent(repo, source, more)["reps"][-1]
    assert (rep["verdict"], rep["error"]) == ("ERROR", kind), rep
    assert words in rep["message"]


def test_a_setup_that_fails_is_told_by_the_self_test_before_the_first_rep(repo):
    repo.commit({"scenarios/M1.yaml": MINE.format(name="m", more="setup: [{run: exit 3}]")})
    assert "exit code 3" in repo.run("run", "M1", "--tier", "speaks", exit=4)
    assert repo.records() == []


def test_errors_that_may_pass_are_tried_again_within_a_bound_and_every_attempt_is_recorded(repo):
    record = with_agent(repo, GOOD.replace('row(type="end", reason="done")', 'row(type="error", kind="rate-limit")'))
    assert [(r["rep"], r["attempt"], r["error"]) for r in record["reps"]] == [(1, n, "rate-limit") for n in (1, 2, 3)]


def test_a_wall_timeout_with_activity_is_a_fail_on_the_axis_timeout(repo):
    slow = GOOD.replace('row(type="end"', 'import time; time.sleep(60)\nrow(type="end"')
    rep = with_agent(repo, slow, "limits: {wall_s: 1.5}")["reps"][0]
    assert (rep["verdict"], rep["timing"]["timed_out"]) == ("FAIL", True)
    assert "timeout" in [c["axis"] for c in rep["checks"] if c["outcome"] == "fail"]


def test_grandchildren_that_ignore_sigterm_are_gone_when_the_rep_is_over(repo):
    stubborn = "import subprocess; subprocess.Popen(['sh', '-c', 'trap \"\" TERM; setsid sleep 77777'])\n"
    rep = with_agent(repo, stubborn + GOOD)["reps"][0]
    assert rep["verdict"] == "PASS"
    assert "sleep 77777" not in subprocess.run(["ps", "axo", "args"], capture_output=True, text=True, check=True).stdout


TURNS = """
title: Two sessions
subject: style
fixture: app
turns:
  - prompt: Begin the work
    stop_after: {stop}
  - prompt: Go on
    session: {session}
checks:
  - {{id: second, axis: A, turn: 2, calls: {{tool: read, path: notes.md, min: 1}}}}
conformance:
  - name: good
    expect: PASS
    turns:
      - [{{write: {{path: notes.md, content: half}}}}, {{sleep: 30}}, {{say: never}}]
      - [{{read: notes.md}}, {{say: done}}]
  - name: forgets
    expect: {{FAIL: A}}
    turns: [[{{write: {{path: notes.md, content: half}}}}, {{sleep: 30}}], [{{say: done}}]]
  - {{name: uncut, expect: {{ERROR: not-cut}}, turns: [[{{say: hello}}], [{{say: done}}]]}}
  - {{name: nothing, expect: {{ERROR: not-cut}}, script: []}}
"""


@pytest.mark.parametrize("session", ["fresh", "resume"])
@pytest.mark.parametrize("stop", ["{file: '*.md'}", "{tool_calls: 1}"])
def test_a_turn_is_cut_where_the_scenario_says_and_the_next_one_goes_on(repo, session, stop):
    repo.commit({"scenarios/S2.yaml": TURNS.format(session=session, stop=stop)})
    assert "4 scripts played: all as expected" in repo.run("selftest", "S2")
    repo.run("run", "S2", "--tier", "good", "--reps", "1")
    rep = repo.records()[-1]["reps"][0]
    assert (rep["verdict"], rep["timing"]["seconds"] < 20) == ("PASS", True)


def test_faults_are_met_and_hidden_commands_and_python_checks_decide(repo):
    repo.write(
        {
            "scenarios/files/S2/hidden_test.sh": "grep -q fixed out.txt\n",
            "checks/own.py": "def wrote(transcript, outcome, word):\n"
            "    return {'outcome': 'pass' if word in str(transcript['events']) else 'fail', 'evidence': 'looked'}\n",
        }
    )
    scenario = """\
    title: Faults
    subject: style
    fixture: app
    setup: [{run: "echo made > made.txt", creates: [made.txt]}]
    env: {MODE: careful}
    faults: [{command: pytest, missing: true}, {command: make, fail_first: 1, exit: 2, stderr: "make: broken"}]
    turns: [{prompt: Run the tests}]
    preconditions: [{id: made, file: {path: made.txt}}]
    checks:
      - {id: missing, axis: A, fault: {command: pytest}}
      - {id: failed, axis: B, fault: {command: make, exactly: 1}}
      - {id: hidden, axis: C, command: {run: "sh hidden_test.sh", files: {hidden_test.sh: scenarios/files/S2/hidden_test.sh}}}
      - {id: own, axis: D, python: {call: "checks/own.py:wrote", args: {word: careful}}}
      - {id: only, axis: E, changes: {only: [out.txt]}}
    behaviours:
      - name: follows
        script:
          - run: pytest -q
          - run: make test
          - run: make --version
          - run: echo fixed $MODE | tee out.txt
          - say: "Status: COMPLETE"
      - name: lazy
        script: [{run: pytest}, {run: make}, {write: {path: out.txt, content: wrong}}, {write: {path: b, content: x}}, {say: ok}]
    conformance:
      - {name: all, expect: PASS, script: [{run: pytest}, {run: make}, {run: echo fixed $MODE | tee out.txt}, {say: ok}]}
      - {name: a, expect: {FAIL: A}, script: [{run: make}, {run: echo fixed $MODE | tee out.txt}, {say: ok}]}
      - {name: b, expect: {FAIL: B}, script: [{run: pytest}, {run: echo fixed $MODE | tee out.txt}, {say: ok}]}
      - {name: c, expect: {FAIL: C}, script: [{run: pytest}, {run: make}, {run: echo bad $MODE | tee out.txt}, {say: ok}]}
      - {name: d, expect: {FAIL: D}, script: [{run: pytest}, {run: make}, {run: echo fixed > out.txt}, {say: ok}]}
      - name: e
        expect: {FAIL: E}
        script: [{run: pytest}, {run: make}, {run: echo fixed $MODE | tee out.txt b}, {say: ok}]
      - {name: nothing, expect: {ERROR: empty}, script: []}
    """
    reps = scripted(repo, scenario, exit=0)
    assert {c["id"]: c["outcome"] for c in reps[0]["checks"]} == dict.fromkeys(
        ("missing", "failed", "hidden", "own", "only"), "pass"
    )
    assert reps[0]["status"] == "COMPLETE"
    lazy = scripted(repo, scenario, tier="lazy", exit=1)[0]
    assert {c["id"]: c["outcome"] for c in lazy["checks"]} == {
        "missing": "pass", "failed": "pass", "hidden": "fail", "own": "fail", "only": "fail",
    }  # fmt: skip


def test_a_setup_that_is_not_deterministic_stops_the_run_and_names_the_path(repo):
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("turns:", 'setup: [{run: "date +%N > now.txt"}]\nturns:')})
    said = repo.run("run", exit=None)
    assert "not deterministic" in said
    assert "now.txt" in said


def test_a_run_whose_self_test_fails_measures_nothing(repo):
    repo.commit({"scenarios/S1-typo.yaml": SCENARIO.replace("new: helo", "new: hallo")})
    said = repo.run("run", exit=4)
    assert "script lazy: expected FAIL B, got PASS" in said
    assert repo.records() == []
    assert "expected FAIL B, got PASS" in repo.run("selftest", exit=1)


def test_a_judge_that_is_a_command_decides_an_ambiguous_text(repo):
    judge = repo.home.parent / "judge.py"
    judge.write_text(
        "import json, sys\n"
        'place = [l.split("]")[0][1:] for l in sys.stdin if l.startswith("[p") and "the agent says" in l][-1]\n'
        'evidence = [{"place": place, "quote": "perhaps"}]\n'
        'print(json.dumps({"reason": "it says so", "evidence": evidence, "answer": "yes"}))\n'
    )
    rubric = (
        "---\ntitle: R\nquestions:\n  said: {ask: 'Did it say so?'}\njudge: {uncalibrated: true}\n---\nBe strict.\n"
    )
    scenario = """\
    title: Judged
    subject: style
    turns: [{prompt: Say it}]
    checks:
      - {id: says, axis: A, text: {matches: clearly, ambiguous: perhaps}}
      - {id: judge, axis: A, judge: {resolves: says, rubric: r, question: said, votes: 1}}
    behaviours: [{name: follows, script: [{say: perhaps}]}]
    conformance:
      - {name: plain, expect: PASS, script: [{say: clearly}]}
      - {name: mute, expect: {FAIL: A}, script: [{say: no}]}
      - {name: nothing, expect: {ERROR: empty}, script: []}
    """
    config = WORLD["evalrepo.yaml"] + f"judge: {{command: [{sys.executable}, {judge}]}}\n"
    repo.write({"rubrics/r.md": rubric, "evalrepo.yaml": config})
    rep = scripted(repo, scenario, exit=0)[0]
    assert {(c["id"], c["outcome"], c["by"]) for c in rep["checks"]} >= {("says", "pass", "judge")}
    assert json.dumps(rep["checks"]).count("it says so") >= 1


def test_an_agent_that_costs_money_is_not_started_without_consent(repo):
    config = WORLD["evalrepo.yaml"].replace(
        "suites:\n", "  mine: {kind: command, argv: [sh, -c, exit 1], paid: true, tiers: {default: {}}}\nsuites:\n"
    )
    repo.commit({"evalrepo.yaml": config})
    assert "--live" in repo.run("run", "--agent", "mine", exit=2)
    assert repo.records() == []
    assert "mine" in repo.run("run", "--agent", "mine", "--dry-run")
    repo.env["EVALREPO_LIVE"] = "1"
    repo.run("run", "--agent", "mine", "--reps", "1", exit=4)


def test_a_frozen_file_that_was_edited_in_the_work_tree_stops_a_run(repo):
    repo.commit({"scenarios-reserve/R1.yaml": SCENARIO})
    repo.run("freeze", "--why", "first lock", exit=0)
    repo.commit({}, "freeze")
    repo.write({"scenarios-reserve/R1.yaml": SCENARIO.replace("typo is", "typo was")})
    assert "scenarios-reserve/R1.yaml: FRZ001" in repo.run("run", exit=2)


def test_a_file_that_was_only_appended_to_is_told_from_one_that_was_rewritten(repo):
    scenario = """\
    title: A log grows
    subject: style
    fixture: app
    turns: [{prompt: Note it}]
    checks: [{id: grew, axis: A, file: {path: README.md, appended: true, matches: more}}]
    conformance:
      - {name: grows, expect: PASS, script: [{run: echo more >> README.md}, {say: done}]}
      - {name: rewrites, expect: {FAIL: A}, script: [{run: echo more > README.md}, {say: done}]}
      - {name: nothing, expect: {ERROR: empty}, script: []}
    """
    assert scripted(repo, scenario, tier="grows", exit=0)[0]["verdict"] == "PASS"
    assert "all as expected" in repo.run("selftest", "S2")
