"""A repository whose release is worse, measured, and blocked; the agent does as the subject says, or as LUCK does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import Repo

FAIR, LUCKY, BROKEN = "", "a-lucky-day-for-it", "a-broken-harness-day"
GUIDE_FILE = "subjects/style/GUIDE.md"
GOOD, BAD = "Read first, then fix what is asked.\n", "Read first. Leave S2 as it is.\n"
CONFIG = """\
version: 1
subjects:
  style:
    paths: [subjects/style/**]
    agents: [dev]
    install:
      dev: {copy: {.: ~/style}}
agents:
  dev:
    kind: command
    env: [LUCK]
    argv:
      - sh
      - -c
      - |
        [ "$LUCK" = a-broken-harness-day ] && exit 3
        what=hallo
        case "$1" in *S2*) grep -q "Leave S2" ~/style/GUIDE.md && what=hello;; esac
        [ "$LUCK" = a-lucky-day-for-it ] && what=hallo
        sed -i "s/hello/$what/" README.md
        cat <<ROWS
        {"type": "session", "session": "one", "agent": "dev", "version": "1", "model": "m"}
        {"type": "prompt", "text": "$1"}
        {"type": "tool_call", "id": "1", "tool": "read", "args": {"path": "README.md"}}
        {"type": "tool_result", "id": "1", "ok": true, "text": "hello"}
        {"type": "tool_call", "id": "2", "tool": "edit", "args": {"path": "README.md", "old": "hello", "new": "$what"}}
        {"type": "tool_result", "id": "2", "ok": true, "text": "edited"}
        {"type": "assistant", "text": "Done."}
        {"type": "end", "reason": "done"}
        ROWS
      - dev
      - "{prompt}"
    tiers: {small: {model: m1}, large: {model: m2}}
suites:
  release: {scenarios: ["S*"], agents: [dev], reps: 3}
gate: {suites: [release], golden: [S1, S2], margin: 1, confirm: {reps: 4}}
"""
SCENARIO = """\
title: A typo is mended after a look
subject: style
fixture: app
turns: [{prompt: "Fix the typo in README.md, task S1"}]
checks:
  - {id: looks, axis: A, order: {first: {tool: read, path: README.md}, before: {tool: edit}}}
  - {id: fixed, axis: B, file: {path: README.md, matches: hallo}}
metrics:
  M1: {ladder: [{if: [fixed], score: 3}, {score: 0}]}
conformance:
  - name: good
    expect: PASS
    script: [{read: README.md}, {edit: {path: README.md, old: hello, new: hallo}}, {say: done}]
  - name: blind
    expect: {FAIL: A}
    script: [{edit: {path: README.md, old: hello, new: hallo}}, {read: README.md}, {say: done}]
  - name: lazy
    expect: {FAIL: B}
    script: [{read: README.md}, {edit: {path: README.md, old: hello, new: helo}}, {say: done}]
  - {name: nothing, expect: {ERROR: empty}, script: []}
"""
RUBRIC = """\
---
title: Typos
questions:
  outcome:
    ask: Is it mended?
    scale: {"0": "no", "1": "hardly", "2": "nearly", "3": "yes"}
---
Look at the file.
"""
WORLD = {
    "evalrepo.yaml": CONFIG,
    GUIDE_FILE: GOOD,
    "fixtures/app/README.md": "hello\n",
    "scenarios/S1-typo.yaml": SCENARIO,
    "scenarios/S2-typo.yaml": SCENARIO.replace("S1", "S2"),
    "rubrics/typos.md": RUBRIC,
}


_BUILT: dict[tuple[Path, bool], Repo] = {}


def built(factory: pytest.TempPathFactory, *, lucky_once: bool = False) -> Repo:
    """The good subject measured and tagged v1, then the bad one measured; nobody was lucky, or the first rep was, so
    that no drop is proven. Once a session."""
    key = (factory.getbasetemp(), lucky_once)
    if key not in _BUILT:
        _BUILT[key] = build(factory.mktemp("cheating"), lucky_once=lucky_once)
    return _BUILT[key]


def build(top: Path, *, lucky_once: bool = False) -> Repo:
    """The same, at a place."""
    for name in ("repo", "home", "t"):
        (top / name).mkdir()
    repo = Repo(top / "repo", top / "home", {"LUCK": FAIR})
    repo.git("init", "-q", "-b", "main")
    repo.git("config", "user.name", "Test Person")
    repo.git("config", "user.email", "person@example.org")
    repo.write(WORLD)
    repo.git("add", "-A")
    repo.run("freeze", "rubrics/typos.md")
    repo.git("commit", "-qm", "the world")
    repo.run("run", "--reps", "3")
    repo.git("tag", "v1")
    repo.commit({GUIDE_FILE: BAD}, "worse")
    if lucky_once:
        run(repo, "--reps", "1", luck=LUCKY)
    repo.run("run", exit=1)
    return repo


def copy(made: Repo, top: Path) -> Repo:
    """A repository of one's own."""
    for name in ("home", "t"):
        (top / name).mkdir()
    shutil.copytree(made.path, top / "repo", symlinks=True)
    return Repo(top / "repo", top / "home", dict(made.env))


def edit(repo: Repo, path: str, old: str, new: str, message: str = "edit") -> None:
    """Replace text in a file, and commit it."""
    text = (repo.path / path).read_text()
    assert old in text
    repo.commit({path: text.replace(old, new)}, message)


def run(repo: Repo, *args: str, luck: str = FAIR) -> str:
    """`evalrepo run` on such a day, whatever it answers."""
    repo.env["LUCK"] = luck
    try:
        return repo.run("run", *args, exit=None)
    finally:
        repo.env["LUCK"] = FAIR


def bad_results(repo: Repo) -> list[Path]:
    """Result files of the cells that failed."""
    return [p for p in sorted((repo.path / "AgentsReport").rglob("*.md")) if "0 of 3 passed" in p.read_text()]
