"""Questions about the sandbox, about usage, judges and functions of the repository."""

from __future__ import annotations

import pytest
from tape import Tape, ask, outcome, view

from evalrepo.checks.view import JudgeAnswer, Ran, View
from evalrepo.records.outcome import FileState
from evalrepo.records.transcript import Usage

BEFORE = {"log.md": "one\n", "src/a.py": "compute()\n", "keep.txt": "k"}
AFTER = {"log.md": "one\ntwo\n", "src/a.py": "calculate()\n", "keep.txt": "k", "out/r1.md": "Result\n"}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("file: {path: out/r1.md}", "pass"),
        ("file: {path: out/r2.md}", "fail"),
        ("file: {path: 'out/*.md', matches: ^Result$}", "pass"),
        ("file: {path: 'out/*.md', matches: ^result$}", "fail"),
        ("file: {path: '**/*.py', must_not: compute}", "pass"),
        ("file: {path: out/r2.md, exists: false}", "pass"),
        ("file: {path: out/r1.md, exists: false}", "fail"),
        ("file: {path: keep.txt, unchanged: true}", "pass"),
        ("file: {path: log.md, unchanged: true}", "fail"),
        ("file: {path: log.md, unchanged: false}", "pass"),
        ("file: {path: out/r1.md, unchanged: true}", "fail"),
        ("file: {path: log.md, appended: true}", "pass"),
        ("file: {path: src/a.py, appended: true}", "fail"),
        ("file: {path: keep.txt, appended: true}", "fail"),
        ("file: {path: src/a.py, appended: false}", "pass"),
        ("file: {path: log.md, min_bytes: 8, max_bytes: 8}", "pass"),
        ("file: {path: log.md, min_bytes: 9}", "fail"),
        ("file: {path: log.md, max_bytes: 7}", "fail"),
        ("changes: {only: ['src/**', 'out/*', log.md]}", "pass"),
        ("changes: {only: ['src/**', log.md]}", "fail"),
        ("changes: {includes: ['src/*', 'out/**']}", "pass"),
        ("changes: {includes: ['lib/**']}", "fail"),
        ("changes: {none: true}", "fail"),
    ],
)
def test_files_and_changes(question, expected):
    assert outcome(question, view(before=BEFORE, after=AFTER)) == expected


def test_no_change_is_no_change_and_passes_what_allows_only_some():
    assert outcome("changes: {none: true}", view(before=BEFORE)) == "pass"
    assert outcome("changes: {only: ['src/**']}", view(before=BEFORE)) == "pass"


def test_a_removed_file_is_a_change():
    assert outcome("changes: {includes: [keep.txt]}", view(before=BEFORE, after={})) == "pass"


def test_the_agents_known_litter_is_no_change():
    seen = view(before={}, after={".agent/state": "x"}, litter=(".agent",))
    assert outcome("changes: {none: true}", seen) == "pass"


def test_the_evidence_names_the_file_and_what_was_found_in_it():
    (evidence,) = ask("file: {path: src/a.py, must_not: calc}", view(before=BEFORE, after=AFTER)).evidence
    assert evidence.file == "src/a.py"
    assert "is found in line 1: calc" in evidence.text


def test_a_file_that_is_too_large_to_be_compared_is_an_error_not_the_same():
    huge = {"big": FileState("100644", 10, "")}
    assert outcome("file: {path: big, unchanged: true}", View(Tape().done(), before=huge, after=huge)) == "error"


def test_without_a_sandbox_content_cannot_be_asked():
    bare = View(Tape().done(), after={"a": FileState("100644", 1, "x")})
    assert outcome("file: {path: a}", bare) == "pass"
    assert outcome("file: {path: a, matches: x}", bare) == "error"
    assert outcome("command: {run: 'true'}", bare) == "error"


@pytest.mark.parametrize(
    ("ran", "question", "expected"),
    [
        (Ran(0, "OK\n3 tests"), "{run: t}", "pass"),
        (Ran(1, "bad"), "{run: t}", "fail"),
        (Ran(1, "bad"), "{run: t, exit: 1}", "pass"),
        (Ran(127, "t: not found"), "{run: t}", "fail"),
        (Ran(0, "OK\n3 tests"), "{run: t, matches: '^3 tests$'}", "pass"),
        (Ran(0, "OK"), "{run: t, matches: ok}", "fail"),
        (Ran(0, "OK warn"), "{run: t, must_not: warn}", "fail"),
        (Ran(None, "…"), "{run: t}", "fail"),
    ],
)
def test_a_command_is_judged_by_its_exit_code_and_output(ran, question, expected):
    assert outcome(f"command: {question}", view(shell=lambda _: ran)) == expected


def test_the_evidence_of_a_command_is_its_exit_code_and_the_end_of_its_output():
    texts = [
        e.text for e in ask("command: {run: t}", view(shell=lambda _: Ran(2, "x" * 900 + "AssertionError"))).evidence
    ]
    assert "exits 2, wanted 0" in texts[0]
    assert texts[1].endswith("AssertionError")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("fault: {command: pytest}", "pass"),
        ("fault: {command: pytest, max: 2}", "fail"),
        ("fault: {command: make}", "fail"),
        ("fault: {command: make, exactly: 0}", "pass"),
        ("fault: {command: cargo}", "error"),
    ],
)
def test_a_fault_is_met_or_not_and_one_that_was_never_planted_is_an_error(question, expected):
    assert outcome(question, view(fired={"pytest": 3, "make": 0})) == expected


USED = Usage(input_tokens=900, output_tokens=100, cost_usd=None, seconds=12.5)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("usage: {tokens: {max: 1000}}", "pass"),
        ("usage: {tokens: {max: 999}}", "fail"),
        ("usage: {seconds: {min: 1, max: 13}}", "pass"),
        ("usage: {cost: {max: 1}}", "error"),
        ("usage: {cost: {max: 1}, tokens: {max: 1000}}", "error"),
        ("usage: {cost: {max: 1}, tokens: {max: 1}}", "fail"),
        ("usage: {tool_calls: {max: 3}, agents: {max: 1}}", "pass"),
        ("usage: {tool_calls: {max: 2}}", "fail"),
        ("usage: {agents: {max: 0}}", "fail"),
    ],
)
def test_usage_counts_sub_agents_and_an_unknown_quantity_is_an_error(question, expected):
    tape = Tape().read("a").spawn(child=Tape("c").shell("ls"))
    assert outcome(question, view(tape, usage=USED)) == expected


def test_usage_of_one_turn_counts_that_turn():
    tape = Tape().prompt(turn=1).read("a").prompt(turn=2).read("b").read("c")
    two = view(tape, usage=USED).narrowed("main", 2)
    assert outcome("usage: {tool_calls: {min: 2, max: 2}}", two) == "pass"
    assert outcome("usage: {tokens: {max: 9}}", two) == "error"
    measured = view(tape, turn_usage={2: Usage(input_tokens=5)}).narrowed("main", 2)
    assert outcome("usage: {tokens: {max: 9}}", measured) == "pass"


JUDGE = "judge: {rubric: r, question: q}"


def test_a_judge_answers_with_its_reason_and_a_missing_or_broken_one_is_an_error():
    def said(answer):
        return view(ask=lambda *_: answer)

    yes = ask(JUDGE, said(JudgeAnswer("yes", "line 3 says so", ("yes", "yes", "no"))))
    assert (str(yes.outcome), yes.judged) == ("pass", True)
    assert "line 3 says so" in yes.evidence[0].text
    assert outcome(JUDGE, said(JudgeAnswer("no", "e"))) == "fail"
    assert outcome("judge: {rubric: r, question: q, pass_when: [no]}", said(JudgeAnswer("no", "e"))) == "pass"
    assert outcome(JUDGE, said(JudgeAnswer(broken="prose"))) == "error"
    assert outcome(JUDGE, view()) == "error"

    def raising(*_):
        raise OSError("gone")

    answer = ask(JUDGE, view(ask=raising))
    assert (str(answer.outcome), answer.judged) == ("error", True)
    assert "OSError: gone" in answer.evidence[0].text


PYTHON = "python: {call: 'checks/e3.py:dual_read', args: {n: 1}}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "pass"),
        (False, "fail"),
        ({"outcome": "vacuous"}, "vacuous"),
        ({"outcome": "fail", "evidence": "saw it"}, "fail"),
        ({"outcome": "ambiguous", "evidence": ["a", "b"]}, "ambiguous"),
        ({"outcome": "skipped"}, "error"),
        ({"outcome": "pass", "score": 1}, "error"),
        ({"outcome": "pass", "evidence": 3}, "error"),
        ({"outcome": ["pass"]}, "error"),
        (1, "error"),
        (None, "error"),
    ],
)
def test_a_function_of_the_repository_says_true_false_or_an_outcome(value, expected):
    assert outcome(PYTHON, view(python=lambda *_: value)) == expected


def test_a_function_that_raises_is_a_broken_check_that_says_why():
    def raising(*_):
        raise KeyError("x")

    answer = ask(PYTHON, view(python=raising))
    assert str(answer.outcome) == "error"
    assert "the check `python` broke: KeyError" in answer.evidence[0].text
    assert outcome(PYTHON, view()) == "error"
