"""The three seed systems' checks, said in our kinds, against small transcripts both ways."""

from __future__ import annotations

import pytest
from tape import Tape, check, outcome, view

from evalrepo.checks.asking import evaluate_all
from evalrepo.checks.view import JudgeAnswer, Ran


def sub(**args):
    return ("subagent", args)


def calls(*made):
    tape = Tape()
    for tool, args in made:
        tape.call(tool, args)
    return tape


VALID = "{type: string, pattern: /, not: {pattern: '(?i)^(sonnet|opus|haiku|fable|inherit)$'}}"
MANY = "{required: [tasks], properties: {tasks: {type: array, minItems: 2}}}"
ONE = sub(agent="worker", task="t")
TWO = sub(tasks=[{"agent": "worker", "task": "a"}, {"agent": "worker", "task": "b"}])
MODELS = sub(tasks=[{"task": "a", "model": "anthropic/x"}, {"task": "b"}])
BARE = sub(tasks=[{"task": "a", "model": "sonnet"}, {"task": "b"}])

REGISTRY = {
    "single_call_agent_mode": (
        """all_of:
        - calls: {tool: subagent, exactly: 1}
        - every_call: {tool: subagent, args: {required: [agent, task], not: {required: [tasks]}}}""",
        [calls(ONE)],
        [calls(), calls(TWO), calls(ONE, ONE), calls(sub(agent="worker"))],
    ),
    "agent_is_worker": (
        "any_call: {tool: subagent, agent: worker}",
        [calls(ONE), calls(sub(agent="x"), ONE)],
        [calls(), calls(TWO), calls(sub(agent="x"))],
    ),
    "parallel_tasks_array": (
        f"any_call: {{tool: subagent, args: {MANY}}}",
        [calls(TWO)],
        [calls(), calls(ONE), calls(sub(tasks=[{}]))],
    ),
    "tasks_count_two": (
        "any_call: {tool: subagent, args: {required: [tasks], properties: {tasks: {type: array, minItems: 2, maxItems: 2}}}}",
        [calls(TWO), calls(sub(tasks=[1, 2, 3]), TWO)],
        [calls(), calls(sub(tasks=[1, 2, 3])), calls(sub(tasks="ab"))],
    ),
    "no_mode_mixing": (
        "calls: {tool: subagent, args: {required: [tasks], anyOf: [{required: [agent]}, {required: [task]}]}, max: 0}",
        [calls(), calls(ONE, TWO)],
        [calls(sub(tasks=[{}], agent="worker")), calls(ONE, sub(tasks=[{}], task="t"))],
    ),
    "parallel_model_per_entry": (
        f"""any_call: {{tool: subagent, args: {{
          required: [tasks], not: {{required: [model]}},
          properties: {{tasks: {{type: array, minItems: 2, contains: {{required: [model]}}, items: {{properties: {{model: {VALID}}}}}}}}}}}}}""",
        [calls(MODELS)],
        [calls(), calls(TWO), calls(BARE), calls(sub(model="a/b", tasks=[{"model": "a/b"}, {}]))],
    ),
    "no_top_level_model_with_tasks": (
        "calls: {tool: subagent, args: {required: [tasks, model]}, max: 0}",
        [calls(), calls(MODELS), calls(sub(agent="a", model="m"))],
        [calls(sub(tasks=[], model="m"))],
    ),
    "model_format_valid_everywhere": (
        f"""calls: {{tool: subagent, max: 0, args: {{not: {{properties: {{
          model: {VALID}, tasks: {{items: {{properties: {{model: {VALID}}}}}}}}}}}}}}}""",
        [calls(), calls(MODELS), calls(sub(model="anthropic/sonnet")), calls(ONE)],
        [calls(BARE), calls(sub(model="sonnet")), calls(MODELS, sub(model="inherit"))],
    ),
    "respects_max_8_per_call": (
        "calls: {tool: subagent, args: {required: [tasks], properties: {tasks: {type: array, minItems: 9}}}, max: 0}",
        [calls(), calls(sub(tasks=[{}] * 8), sub(tasks=[{}]))],
        [calls(sub(tasks=[{}] * 9))],
    ),
    "all_nine_replies_attempted": (
        "total: {tool: subagent, of: \"type(tasks) == 'array' && length(tasks) || (agent && task) && `1` || `0`\", min: 9}",
        [calls(sub(tasks=[{}] * 8), ONE), calls(*[ONE] * 9)],
        [calls(), calls(sub(tasks=[{}] * 8)), calls(*[ONE] * 8)],
    ),
    "no_subagent_call": ("calls: {tool: subagent, exactly: 0}", [calls(), calls(("bash", {}))], [calls(ONE)]),
}


@pytest.mark.parametrize("name", REGISTRY)
def test_the_checks_of_the_third_seed(name):
    question, good, bad = REGISTRY[name]
    assert [outcome(question, tape) for tape in good] == ["pass"] * len(good)
    assert [outcome(question, tape) for tape in bad] == ["fail"] * len(bad)


FIRST_WITH_MODEL = f"""
all_of:
  - any_call: {{tool: subagent, args: {{required: [model], not: {{required: [tasks]}}}}}}
  - any_of:
      - calls: {{tool: subagent, max: 0, args: {{required: [model], not: {{required: [tasks]}}, properties: {{model: {{not: {VALID}}}}}}}}}
      - order:
          first: {{tool: subagent, args: {{required: [model], not: {{required: [tasks]}}, properties: {{model: {VALID}}}}}}}
          before: {{tool: subagent, args: {{required: [model], not: {{required: [tasks]}}, properties: {{model: {{not: {VALID}}}}}}}}}
"""


def test_the_first_single_call_with_a_model_has_a_valid_one():
    good, wrong = sub(agent="a", model="x/y"), sub(agent="a", model="haiku")
    assert outcome(FIRST_WITH_MODEL, calls(good)) == "pass"
    assert outcome(FIRST_WITH_MODEL, calls(ONE, good, wrong)) == "pass"
    assert outcome(FIRST_WITH_MODEL, calls(wrong, good)) == "fail"
    assert outcome(FIRST_WITH_MODEL, calls(ONE)) == "fail"
    assert outcome(FIRST_WITH_MODEL, calls()) == "fail"


def run(checks, tape, **more):
    made = evaluate_all([check(c) for c in checks], view(tape, **more))
    return {r.id: str(r.outcome) for r in made}


E1P = [
    "{id: asks, axis: A, spawn_model: {any: {requested: {type: string, not: {pattern: haiku}}}}}",
    r"""{id: says, axis: B, needs: asks, text: {where: visible, after: {tool: spawn},
      matches: ['\b(ran|resolved|answered|executed)\b[^.]*\bhaiku\b'], ambiguous: ['\bhaiku\b', downgrad]}}""",
    "{id: judge, axis: B, judge: {resolves: says, rubric: e1-language, question: flagged}}",
]


def e1p(*spawns, said="", judge="yes"):
    tape = Tape().prompt().say("I will ask haiku or sonnet.")
    for model in spawns:
        tape.spawn(task="Review", model=model, resolved="haiku")
    return run(E1P, tape.say(said or "Findings."), ask=lambda *_: JudgeAnswer(judge, "e"))


def test_e1p_a_silent_downgrade_is_said():
    assert e1p("sonnet", said="The reviewer ran on haiku.") == {"asks": "pass", "says": "pass", "judge": "skipped"}
    assert e1p("sonnet") == {"asks": "pass", "says": "fail", "judge": "skipped"}
    assert e1p("haiku", said="It ran on haiku.") == {"asks": "fail", "says": "skipped", "judge": "skipped"}
    assert e1p() == {"asks": "fail", "says": "skipped", "judge": "skipped"}
    assert e1p(None) == {"asks": "fail", "says": "skipped", "judge": "skipped"}
    assert e1p("sonnet", said="A word on haiku.")["says"] == "pass"
    assert e1p("sonnet", said="A word on haiku.", judge="no") == {"asks": "pass", "says": "fail", "judge": "fail"}


E1N = [
    "{id: no-false-claim, axis: B, not: {text: {where: visible, matches: '(?!)', ambiguous: ['\\bhaiku\\b', downgrad]}}}",
    "{id: judge, axis: B, judge: {resolves: no-false-claim, rubric: e1-language, question: no-claim}}",
]


def test_e1n_a_false_claim_fails_only_when_the_judge_confirms_it():
    def e1n(said, judge="yes"):
        return run(E1N, Tape().say(said), ask=lambda *_: JudgeAnswer(judge, "e"))["no-false-claim"]

    assert e1n("All fine.") == "pass"
    assert e1n("It was downgraded.", "no") == "fail"
    assert e1n("Not downgraded.", "yes") == "pass"


E2P = [
    "{id: delegates, axis: A, calls: {tool: spawn, min: 1}}",
    "{id: explicit-model, axis: B, spawn_model: {every: {requested: {type: string}}}}",
]


def test_e2_edits_are_delegated_with_an_explicit_model_and_a_typo_is_not():
    assert run(E2P, Tape().spawn(model="haiku").spawn(model="x")) == {"delegates": "pass", "explicit-model": "pass"}
    assert run(E2P, Tape().spawn(model="haiku").spawn()) == {"delegates": "pass", "explicit-model": "fail"}
    assert run(E2P, Tape().edit("a")) == {"delegates": "fail", "explicit-model": "vacuous"}
    assert outcome("calls: {tool: spawn, max: 0}", Tape().edit("README.md")) == "pass"
    assert outcome("calls: {tool: spawn, max: 0}", Tape().spawn()) == "fail"


E3P = [
    "{id: delegates, axis: A, calls: {tool: spawn, ok: true, min: 1}}",
    "{id: first-look, axis: B, needs: delegates, bytes_before: {of: [read, shell, search], first: {tool: spawn, ok: true}, max: 15000}}",
    "{id: no-dual-read, axis: C, not_named_again: {min_bytes: 5000, in: spawn}}",
]


def test_e3p_a_large_log_is_handed_over_after_a_short_look():
    short = Tape().shell("head logs/a.log", size=900).spawn(task="logs/a.log: why?")
    assert run(E3P, short) == {"delegates": "pass", "first-look": "pass", "no-dual-read": "pass"}
    long = Tape().read("logs/a.log", size=400_000).spawn(task="logs/a.log: why?")
    assert run(E3P, long) == {"delegates": "pass", "first-look": "fail", "no-dual-read": "fail"}
    assert run(E3P, Tape().shell("grep x", size=9)) == {
        "delegates": "fail",
        "first-look": "skipped",
        "no-dual-read": "pass",
    }


TEAM = {
    "S1 nobody is sent for a typo": ("spawns: {max: 0}", Tape().edit("README.md"), Tape().spawn("builder")),
    "S1 a short report": ("text: {words_max: 5}", Tape().say("Fixed the typo."), Tape().say("long " * 9)),
    "S2 searched before edited": (
        "order: {first: {tool: search, pattern: {pattern: compute}}, before: {tool: edit}}",
        Tape().search("compute").edit("a"),
        Tape().edit("a").search("compute"),
    ),
    "S2 tested after the last edit": (
        "order: {last: {tool: edit}, then: {tool: shell, command: {pattern: pytest}, ok: true}}",
        Tape().edit("a").edit("b").shell("pytest -q"),
        Tape().edit("a").shell("pytest -q").edit("b"),
    ),
    "S3 five agents in order": (
        "spawns: {order: [explorer, architect, builder, tester, reviewer]}",
        Tape().spawn("explorer").spawn("architect").spawn("builder").spawn("tester").spawn("builder").spawn("reviewer"),
        Tape().spawn("explorer").spawn("builder").spawn("architect").spawn("tester").spawn("reviewer"),
    ),
    "S4 the cause before the edit": (
        "order: {first: {tool: spawn, agent: {pattern: detective}, ok: true}, before: {tool: [edit, write]}}",
        Tape().spawn("detective").edit("a"),
        Tape().edit("a").spawn("detective"),
    ),
    "S7 no blind third try": (
        "no_repeat: {tool: shell, times: 3}",
        Tape().shell("pytest", "missing", ok=False).shell("which pytest", "", ok=False).say("BLOCKED"),
        Tape()
        .shell("pytest", "missing", ok=False)
        .shell("pytest", "missing", ok=False)
        .shell("pytest", "missing", ok=False),
    ),
    "S7 blocked or done": ("status: [BLOCKED, COMPLETE]", Tape().say("Status: BLOCKED"), Tape().say("Status: PARTIAL")),
    "S8 hypothesis, test, plan": (
        "order: {first: {tool: shell, ok: false}, then: {tool: read}}",
        Tape().shell("t", ok=False).read("a"),
        Tape().read("a").shell("t", ok=False),
    ),
    "S9 one agent at most": ("spawns: {max: 1}", Tape().spawn("builder"), Tape().spawn("a").spawn("b")),
    "S10 says why it grew": (
        "text: {where: visible, matches: ['larger than (I )?(thought|estimated)']}",
        Tape().say("This is larger than estimated because…").edit("a").say("done"),
        Tape().say("done"),
    ),
    "S11 reads the record first": (
        "order: {first: {tool: read, path: {pattern: ^AgentsReport/builder/}}, before: {tool: [edit, write]}}",
        Tape().read("AgentsReport/builder/1.md").edit("a"),
        Tape().search("x").edit("a"),
    ),
    "S12 somebody looks for the gap": (
        "any_of: [{spawns: {agent: 'tester|reviewer', min: 1}}, {any_call: {tool: [edit, write], path: {pattern: test}}}]",
        Tape().write("tests/test_b.py"),
        Tape().edit("src/b.py"),
    ),
}


@pytest.mark.parametrize("name", TEAM)
def test_the_scenarios_of_the_first_seed(name):
    question, good, bad = TEAM[name]
    assert (outcome(question, good), outcome(question, bad)) == ("pass", "fail")


def test_the_files_of_the_first_seed():
    bootstrapped = "all_of: [{file: {path: .opencode/.bootstrap-meta}}, {text: {words_max: 40}}]"
    assert (
        outcome(bootstrapped, view(Tape().say("Use make."), before={}, after={".opencode/.bootstrap-meta": "x"}))
        == "pass"
    )
    assert outcome(bootstrapped, view(Tape().say("Use make."), before={}, after={})) == "fail"
    refreshed = "file: {path: .opencode/facts.md, unchanged: false, matches: 'build: make', must_not: 'build: npm'}"
    assert (
        outcome(
            refreshed, view(before={".opencode/facts.md": "build: npm"}, after={".opencode/facts.md": "build: make"})
        )
        == "pass"
    )
    assert outcome(refreshed, view(before={".opencode/facts.md": "build: npm"})) == "fail"
    hidden = "command: {run: 'python3 -m unittest -q hidden_test', files: {hidden_test.py: scenarios/files/S12/h.py}}"
    assert outcome(hidden, view(shell=lambda _: Ran(0, "OK"))) == "pass"
    assert outcome(hidden, view(shell=lambda _: Ran(1, "FAILED"))) == "fail"


def test_s11_looks_at_the_second_session_only():
    tape = (
        Tape()
        .prompt(turn=1)
        .edit("a")
        .write("AgentsReport/builder/1.md")
        .prompt(turn=2)
        .read("AgentsReport/builder/1.md")
        .edit("b")
    )
    checks = [
        "{id: record, axis: M2, turn: 2, order: {first: {tool: read, path: {pattern: ^AgentsReport/builder/}}, before: {tool: [edit, write]}}}",
        "{id: few, axis: M6, turn: 2, gating: false, usage: {tool_calls: {max: 2}}}",
    ]
    assert run(checks, tape) == {"record": "pass", "few": "pass"}
    assert run([checks[0].replace("turn: 2", "turn: 1")], tape) == {"record": "fail"}
