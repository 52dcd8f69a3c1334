"""bisect on real histories with real runs of the scripted agent, and of an agent that is not the same every time."""

from __future__ import annotations

import sys

from .conftest import CONFIG, GUIDE, Repo

GUIDE_FILE = "subjects/style/GUIDE.md"


def wordings(repo: Repo, texts: list[str]) -> list[str]:
    """One commit a wording, with a commit beside it that leaves the subject as it is; the ids of the wordings."""
    commits = []
    for n, text in enumerate(texts):
        commits.append(repo.commit({GUIDE_FILE: text}, f"wording {n}"))
        repo.commit({"notes.txt": f"{n}\n"}, f"beside {n}")
    return commits


def test_the_commit_that_changed_a_behaviour_is_named_with_its_diff(repo: Repo):
    good = repo.git("rev-parse", "HEAD").strip()
    made = wordings(repo, [GUIDE + "a\n", GUIDE + "b\n", "Edit at once.\n", "Edit at once!\n", "Edit soon.\n"])
    text = repo.run("bisect", "S1", "--good", good, "--axis", "A")
    assert f"It began with {made[2][:9]} (wording 2):" in text
    assert "-Always read the README before editing." in text
    assert f"{good[:9]} (good) … HEAD (bad): 11 commits of the first-parent history, 6" in text
    assert repo.git("status", "--porcelain") == ""
    told = text[text.index("bisect  S1-typo") : text.index("bisect: found")]
    assert all(len(line) <= 80 for line in told.splitlines())
    again = repo.json("bisect", "S1", "--good", good, "--axis", "A")["bisect"]
    assert (again["answer"], again["ran"]) == ("found", 0)
    assert again["candidates"][again["best"]]["commit"] == made[2]


def test_a_spent_budget_is_inconclusive_and_the_same_command_goes_on(repo: Repo):
    made = wordings(repo, [GUIDE + "a\n", "Edit at once.\n", "Edit soon.\n"])
    line = ("bisect", "S1", "--good", "HEAD~6")
    first = repo.json(*line, "--budget", "4", exit=3)["bisect"]
    assert (first["ran"], first["answer"]) == (4, "inconclusive")
    dry = repo.json(*line, "--dry-run")["bisect"]
    assert (dry["ran"], dry["answer"], sum(c["recorded"] for c in dry["candidates"])) == (0, "open", 4)
    last = repo.json(*line)["bisect"]
    assert last["candidates"][last["best"]]["commit"] == made[1]
    assert sum(c["recorded"] for c in last["candidates"]) == 4


def test_what_was_measured_before_needs_no_rep(repo: Repo):
    repo.run("run", "--reps", "5")
    made = wordings(repo, ["Edit at once.\n"])
    repo.run("run", "--reps", "5", exit=1)
    found = repo.json("bisect", "S1", "--good", "HEAD~3", "--bad", "HEAD")["bisect"]
    assert found["answer"] == "found"
    assert found["ran"] == 0
    assert found["candidates"][0]["commit"] == made[0]


def test_a_commit_that_is_skipped_is_not_measured_and_stays_under_suspicion(repo: Repo):
    made = wordings(repo, [GUIDE + "a\n", "Edit at once.\n", "Edit soon.\n"])
    found = repo.json("bisect", "S1", "--good", "HEAD~6", "--skip", made[1])["bisect"]
    best = found["candidates"][found["best"]]
    assert best["commit"] == made[2]
    assert [found["candidates"][i]["commit"] for i in found["beside"]] == [made[1]]
    assert next(c for c in found["candidates"] if c["commit"] == made[1])["reps"] == 0


def test_questions_that_cannot_be_asked_are_exit_2(repo: Repo):
    wordings(repo, ["Edit at once.\n"])
    for args, said in (
        (("S1", "--good", "HEAD"), "are the same commit"),
        (("S1", "--good", "HEAD~1"), "have the same style"),
        (("S9", "--good", "HEAD~1"), "S9"),
        (("S1", "--good", "HEAD~2", "--axis", "Q"), "axes: A, B"),
        (("S1", "--good", "HEAD~2", "--skip", "HEAD"), "an end of the range"),
        (("S1", "--good", "nonsense"), "unknown revision"),
        (("S1", "--good", "HEAD~2", "--tier", "nonsense"), "nobody runs"),
    ):
        assert said in repo.run("bisect", *args, exit=2)


DICE = """
import json, os, random
worse = "at once" in open(os.path.expanduser("~/style/GUIDE.md")).read()
fails = random.Random(os.urandom(8)).random() < (0.97 if worse else 0.03)
open("README.md", "w").write("helo\\n" if fails else "hallo\\n")
for row in (
    {"type": "session", "session": "1", "agent": "dice", "version": "1", "model": "m"},
    {"type": "prompt", "text": "Mend it"},
    {"type": "tool_call", "id": "1", "tool": "write", "args": {"path": "README.md", "content": "x"}},
    {"type": "tool_result", "id": "1", "ok": True, "text": "written"},
    {"type": "assistant", "text": "done"},
    {"type": "end", "reason": "done"},
):
    print(json.dumps(row))
"""
MENDS = """
title: It is mended
subject: style
fixture: app
turns: [{prompt: Mend it}]
checks: [{id: fixed, axis: B, file: {path: README.md, matches: hallo}}]
conformance:
  - {name: good, expect: PASS, script: [{edit: {path: README.md, old: hello, new: hallo}}, {say: done}]}
  - {name: bad, expect: {FAIL: B}, script: [{say: done}]}
  - {name: nothing, expect: {ERROR: empty}, script: []}
"""


def test_a_behaviour_that_is_only_more_frequent_is_found_too(repo: Repo):
    """A command agent that fails in 3 % of the reps, and in 97 % since the planted commit."""
    script = repo.home.parent / "bin" / "dice.py"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\n{DICE}")
    script.chmod(0o755)
    config = CONFIG.replace("scripted: {copy", "dice: {copy: {.: ~/style}}\n      scripted: {copy")
    config = config.replace(
        "agents:\n", f"agents:\n  dice: {{kind: command, tiers: {{default: {{}}}}, argv: [{script}]}}\n"
    )
    repo.commit({"evalrepo.yaml": config, "scenarios/M1.yaml": MENDS}, "dice")
    made = wordings(repo, [GUIDE + "a\n", "Edit at once.\n", "Edit at once!\n"])
    line = ("bisect", "M1", "--good", "HEAD~6", "--agent", "dice", "--reps-per-step", "5")
    found = repo.json(*line, exit=None)["bisect"]
    if found["answer"] == "found":
        assert found["before"] < found["since"]
    assert found["candidates"][found["best"]]["commit"] == made[1]
