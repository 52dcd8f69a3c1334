"""One valid and one invalid example of every check kind, script step, file kind and ledger event."""

from __future__ import annotations

from typing import get_args

import pytest

from evalrepo.codes import CODES
from evalrepo.errors import DataError, Finding
from evalrepo.formats import lockfile, result, yaml
from evalrepo.records.checks import KINDS, Condition
from evalrepo.records.event import EventKind
from evalrepo.records.scenario import Scenario, ScenarioSet
from evalrepo.records.steps import STEPS, Step

CHECKS = {
    "calls": ("{tool: read, path: {pattern: ^docs/}, max: 3}", "{tool: read}", "SCN005", "needs min, max or exactly"),
    "any_call": ("{tool: [edit, write], ok: true}", "{tol: read}", "SCN001", 'unknown key "tol"'),
    "every_call": ("{tool: task, args: {required: [model]}}", "{tool: task, args: {type: strin}}", "SCN004", "Schema"),
    "total": ("{tool: task, of: length(tasks), min: 9}", "{tool: task, of: 'length(', min: 9}", "SCN004", "JMESPath"),
    "order": ("{last: {tool: edit}, then: {tool: shell}}", "{first: {tool: read}}", "SCN005", "`then` and `before`"),
    "no_repeat": ("{tool: shell, times: 4}", "{times: 1}", "SCN004", "at least 2, got 1"),
    "bytes_before": ("{of: [read], first: {tool: spawn}, max: 9}", "{of: [read], max: 9}", "SCN002", '"first"'),
    "not_named_again": ("{min_bytes: 5000, in: spawn}", "{min_bytes: 5 KB}", "SCN003", 'whole number, got "5 KB"'),
    "spawns": ("{agent: 'tester|reviewer', min: 1}", "{agent: '(tester', min: 1}", "SCN004", "regular expression"),
    "spawn_model": ("{every: {resolved: haiku}}", "{where: {ok: true}}", "SCN005", "exactly one of `every`"),
    "text": ("{where: visible, matches: '\\bdone\\b'}", "{where: all, matches: a}", "SCN004", "one of final, visible"),
    "status": ("[PARTIAL, BLOCKED]", "DONE", "SCN004", "one of COMPLETE, PARTIAL, BLOCKED"),
    "file": ("{path: src/a.py, matches: def}", "{path: ../a.py}", "SCN004", "inside the tree"),
    "changes": ("{only: ['src/**']}", "{none: yes}", "SCN003", 'must be true or false, got "yes"'),
    "command": ("{run: make test, exit: 0}", "{run: [make, test]}", "SCN003", "must be text, got a list"),
    "fault": ("{command: pytest}", "{command: pytest, min: 3, max: 2}", "SCN005", "min that is greater"),
    "usage": ("{tool_calls: {max: 40}}", "{tool_calls: 40}", "SCN003", "must be a mapping, got 40"),
    "judge": ("{rubric: r, question: q}", "{rubric: r, question: q, votes: 2}", "SCN005", "odd number"),
    "python": ("{call: 'checks/e3.py:dual_read'}", "{call: checks.e3.dual_read}", "SCN005", "PATH.py:FUNCTION"),
    "any_of": ("[{status: COMPLETE}, {file: {path: a}}]", "[]", "SCN004", "at least 1 entry"),
    "all_of": ("[{status: COMPLETE}]", "[{status: COMPLETE, file: {path: a}}]", "SCN005", "status and file"),
    "not": ("{any_call: {tool: edit}}", "{}", "SCN005", "exactly one check kind, got none"),
}

STEP_EXAMPLES = {
    "say": ("say: 3.10", "say: [a]", "SCN003", "must be text, got a list"),
    "read": ("read: src/a.py", "read: {path: a}", "SCN003", "must be text, got a mapping"),
    "search": ("search: {pattern: x, path: src}", "search: {path: src}", "SCN002", '"pattern"'),
    "edit": ("edit: {path: a, old: b, new: c}", "edit: {path: a, old: b}", "SCN002", '"new"'),
    "write": ("write: {path: a, content: b}", "write: {path: /a, content: b}", "SCN004", "inside the tree"),
    "run": ("run: ls", "run: {comand: ls}", "SCN001", 'unknown key "comand"'),
    "spawn": ("spawn: {task: t, steps: [{say: x}]}", "spawn: {task: t, steps: [{}]}", "SCN005", "exactly one step"),
    "skill": ("skill: review", "skill: {name: review}", "SCN003", "must be text"),
    "call": ("call: {tool: task, args: {n: 3}}", "call: {args: {n: 3}}", "SCN002", '"tool"'),
    "sleep": ("sleep: 0.5", "sleep: 2s", "SCN003", 'a number of seconds, got "2s"'),
    "fail": ("fail: {error: boom, exit: 3}", "fail: {exit: 256}", "SCN004", "at most 255"),
    "when": (
        "when: {subject: a.md, contains: x}, then: []",
        "when: {subject: a.md, contains: x}",
        "SCN005",
        "together",
    ),
}

SAYS = {
    "freeze": (f"paths: [rubrics]\ngeneration: 2\ninstruments: [R1 {'a' * 64}]\n", "generation: 2\n", "`paths`"),
    "thaw": ("paths: [rubrics/r.md]\nkind: tighten\n", "kind: tighten\n", "`paths`"),
    "acknowledge": (f"commits: ['{'0' * 40}']\ncodes: [FRZ001]\n", "codes: [FRZ001]\n", "`paths`, or `commits`"),
    "waive": ('metric: M2\nuntil: "2026-12-31"\n', "metric: M2\n", "`until`"),
    "tune": ("name: loop\nstate: start\nsubject: team\n", "name: loop\nsubject: team\n", "`state`"),
    "look": (
        f"subject: team\ndigest: {'a' * 64}\nreserve: {'b' * 64}\ncells: [claude/haiku]\n",
        f"subject: team\nreserve: {'b' * 64}\ncells: [claude/haiku]\n",
        "`digest`",
    ),
    "budget": ("subject: team\namount: 2\n", "subject: team\namount: 0\n", "`amount`"),
    "unseal": ("scenarios: [R1]\n", "subject: team\n", "`scenarios`, or `run`"),
    "retire": ("scenarios: [R1, R2]\n", "scenarios: []\n", "`scenarios`"),
}
"""Kind → what it says beside time, author and reason; what is too little; what is then missing."""

EVENTS = {
    kind: (
        f'event: {kind}\nat: "2026-07-06T12:00:00Z"\nby: A <a@b.c>\nwhy: it is time\n{SAYS[kind][0]}',
        f"event: {kind}\nat: 2026-07-06\nby: A <a@b.c>\nwhy: it is time\n{SAYS[kind][0]}",
    )
    for kind in get_args(EventKind)
}

SCENARIO = "title: t\nsubject: s\nturns: [{{prompt: p}}]\nchecks:\n  - {{id: x, axis: A, {kind}: {arguments}}}\n"
SCRIPT = (
    "title: t\nsubject: s\nturns: [{{prompt: p}}]\n"
    "conformance:\n  - name: n\n    expect: PASS\n    script:\n      - {{{step}}}\n"
)

FILES = {
    "config": (
        yaml.config_file,
        "version: 1\nsubjects: {s: {paths: ['subjects/s/**']}}\nreps: 3\n",
        "version: 1\nsubjects: {s: {paths: ['subjects/s/**']}}\nreps: three\n",
        (3, "CFG003", 'must be a whole number, got "three"'),
    ),
    "scenario": (
        yaml.scenario_file,
        "title: 2026-07-06\nsubject: s\nturns: [{prompt: no}]\n",
        "title: 2026-07-06\nsubject: s\nturns:\n  - {promt: no}\n",
        (4, "SCN001", 'unknown key "promt" in turns[0]'),
    ),
    "scenario set": (
        yaml.scenario_file,
        "title: t\nsubject: s\ncases:\n  - {id: 1.10, turns: [{prompt: p}]}\n",
        "title: t\nsubject: s\ncases:\n  - {id: a, turns: [{prompt: p}]}\n  - {id: a, turns: [{prompt: p}]}\n",
        (1, "SCN005", 'the case id "a" twice'),
    ),
    "rubric": (
        yaml.rubric_file,
        "---\ntitle: t\nquestions: {q: {ask: Is it good?, scale: {0: no, 3: yes}}}\n---\n# Read this first\n",
        "---\ntitle: t\nquestions:\n  q: {ask: Is it good?, answers: [yes]}\n---\n# Read this first\n",
        (4, "RUB004", "at least 2 entries"),
    ),
    "event": (yaml.event_file, EVENTS["freeze"][0], EVENTS["freeze"][1], (2, "LED004", "a time like")),
}


LOCK = f"evalrepo-lock 1 sha1\nroot r\n100644 {'0' * 40} {'0' * 64} r/R1.yaml\n"
FILES["lock"] = (lockfile.load, LOCK, LOCK.replace("100644", "040000"), (3, "LCK003", "MODE OID SHA256 PATH"))

RECORD = """# Title

```json evalrepo-record
{"schema": 1, "run": "k7m2q9ab", "start": "2026-07-06T12:00:00Z", "end": "2026-07-06T12:01:00Z", "evalrepo": "0.1.0",
"scenario": "S1", "title": "t", "agent": "scripted", "tier": "compliant", "subjects": ["s"],
"commit": "c", "dirty": false, "digests": {"subject": "1", "stimulus": "2", "instrument": "3", "apparatus": "4"},
"isolation": "bwrap",
"bar": {"passes": 2, "of": 3}, "clone": "0123456789abcdef", "sequence": 1,
"reps": [{"rep": 1, "attempt": 1, "verdict": "PASS", "timing": {"start": "2026-07-06T12:00:00Z", "seconds": 1.5}}]}
```
"""
FILES["record"] = (result.load, RECORD, RECORD.replace('"PASS"', '"ERROR"'), (3, "RES004", "an error has a kind"))


def found(read, text: str) -> tuple[Finding, ...]:
    with pytest.raises(DataError) as caught:
        read(text.encode(), "f.yaml")
    return caught.value.findings


def assert_finding(read, text: str, line: int, code: str, words: str) -> None:
    findings = found(read, text)
    assert [(f.place.line, f.code) for f in findings if words in f.message] == [(line, code)], findings
    assert all(f.code in CODES for f in findings)
    assert all(0 < f.place.column <= len(text.split("\n")[f.place.line - 1]) for f in findings)


def test_every_check_kind_has_an_example():
    assert set(CHECKS) == {Condition.model_fields[kind].alias or kind for kind in KINDS}


def test_every_step_has_an_example():
    assert set(STEP_EXAMPLES) == {Step.model_fields[step].alias or step for step in STEPS}


@pytest.mark.parametrize("kind", CHECKS)
def test_the_valid_check_loads(kind):
    file = yaml.scenario_file(SCENARIO.format(kind=kind, arguments=CHECKS[kind][0]).encode(), "f.yaml")
    assert file.checks[0].kind.rstrip("_") == kind
    assert file.checks[0].arguments


@pytest.mark.parametrize("kind", CHECKS)
def test_the_invalid_check_is_found_in_its_line(kind):
    _, arguments, code, words = CHECKS[kind]
    assert_finding(yaml.scenario_file, SCENARIO.format(kind=kind, arguments=arguments), 5, code, words)


@pytest.mark.parametrize("step", STEP_EXAMPLES)
def test_the_valid_step_loads(step):
    file = yaml.scenario_file(SCRIPT.format(step=STEP_EXAMPLES[step][0]).encode(), "f.yaml")
    assert file.conformance[0].by_turn()[0][0].kind == step


@pytest.mark.parametrize("step", STEP_EXAMPLES)
def test_the_invalid_step_is_found_in_its_line(step):
    _, text, code, words = STEP_EXAMPLES[step]
    assert_finding(yaml.scenario_file, SCRIPT.format(step=text), 8, code, words)


@pytest.mark.parametrize("kind", FILES)
def test_the_valid_file_loads(kind):
    read, valid, _, _ = FILES[kind]
    assert read(valid.encode(), "f.yaml")


@pytest.mark.parametrize("kind", FILES)
def test_the_invalid_file_is_found_in_its_line(kind):
    read, _, invalid, expected = FILES[kind]
    assert_finding(read, invalid, *expected)


@pytest.mark.parametrize("kind", EVENTS)
def test_the_valid_event_loads_and_is_written_as_it_was(kind):
    event = yaml.event_file(EVENTS[kind][0].encode(), "f.yaml")
    assert event.event == kind
    assert yaml.event_file(yaml.dump_event(event), "f.yaml") == event


@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_that_does_not_say_what_its_kind_must_is_found(kind):
    text = EVENTS[kind][0].removesuffix(SAYS[kind][0]) + SAYS[kind][1]
    assert_finding(yaml.event_file, text, 1, "LED005", SAYS[kind][2])


@pytest.mark.parametrize("kind", EVENTS)
def test_the_invalid_event_is_found_in_its_line(kind):
    assert_finding(yaml.event_file, EVENTS[kind][1], 2, "LED004", 'got "2026-07-06"')


def test_a_file_with_cases_is_a_set_and_one_without_is_a_scenario():
    assert isinstance(yaml.scenario_file(FILES["scenario"][1].encode(), "f"), Scenario)
    assert isinstance(yaml.scenario_file(FILES["scenario set"][1].encode(), "f"), ScenarioSet)


def test_text_stays_text_whatever_it_looks_like():
    file = yaml.scenario_file(FILES["scenario"][1].encode(), "f.yaml")
    assert (file.title, file.turns[0].prompt) == ("2026-07-06", "no")
    assert yaml.scenario_file(FILES["scenario set"][1].encode(), "f").cases[0].id == "1.10"
