"""The main job from end to end, on a small repository of its own: `make demo`.

Needs no model, key or network. Every command is started as a person starts it and printed with its real output; what
the demo claims at the end is checked, and a wrong claim ends it with exit code 1.
"""
# ruff: noqa: T201, TID251 - it prints, and starts git and evalrepo

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "demo"
GUIDE = "subjects/team/GUIDE.md"
RULE = "2. After your last change, run the tests and say what they printed.\n"
SHORTER = "2. Keep your answers short; the reviewer runs the tests.\n"
PLANTED = "D2-tax"
SET_UP = (
    "git init -q -b main",
    "git config user.name Demo",
    "git config user.email demo@localhost",
    "git config commit.gpgsign false",
    "git config tag.gpgsign false",
    "git add -A",
)


class Failed(Exception):  # noqa: N818 - said to a person in these words
    """What the demo shows is not what it promises."""


class Stage:
    """A folder of its own with a repository and a HOME, and commands that are run in it."""

    def __init__(self) -> None:
        self.folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="evalrepo-demo-")))
        self.repo, self.home = self.folder / "repo", self.folder / "home"
        self.home.mkdir()
        shutil.copytree(FILES, self.repo)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "XDG_", "EVALREPO_"))}
        self.env = {**kept, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1", "COLUMNS": "80"}

    def start(self, words: list[str], *, echo: bool) -> tuple[int, str]:
        """Exit code and output of a command, printed line by line as it comes."""
        argv = [sys.executable, "-m", *words] if words[0] == "evalrepo" else words
        pipe, out = subprocess.PIPE, []
        both = subprocess.STDOUT if echo else subprocess.DEVNULL
        with subprocess.Popen(argv, cwd=self.repo, env=self.env, stdout=pipe, stderr=both, text=True, errors="replace",
                              stdin=subprocess.DEVNULL) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                out.append(line)
                if echo:
                    print(line, end="", flush=True)
        return process.returncode, "".join(out)

    def run(self, command: str, exit_code: int = 0) -> str:
        """Print a command and what it says. Failed when it ends with another exit code."""
        print(f"\n$ {command}", flush=True)
        code, said = self.start(shlex.split(command), echo=True)
        if code:
            print(f"[exit {code}]")
        if code != exit_code:
            raise Failed(f"`{command}` ended with exit code {code}, {exit_code} was expected")
        return said

    def quiet(self, *words: str) -> str:
        """Output of a command that is not shown."""
        code, said = self.start(list(words), echo=False)
        if code and words[0] == "git":
            raise Failed(f"`{' '.join(words)}` ended with exit code {code}")
        return said


def main() -> int:
    """Play the demo; 0 when all that it claims is so."""
    began = time.monotonic()
    stage = Stage()
    print("evalrepo demo: real git, real processes, real files. The agent is the embedded")
    print("one, which plays scripts: no model, no key, no network.")
    print(f"\nEverything happens in {stage.folder}, which is kept.")
    try:
        isolation = _baseline(stage)
        _worse(stage)
        facts = _decide(stage)
    except Failed as failed:
        print(f"\nThe demo failed: {failed}.\nThe repository is in {stage.repo}")
        return 1
    _end(stage, isolation, facts, time.monotonic() - began)
    return 0


def _baseline(stage: Stage) -> str:
    """The repository, measured and tagged; says which isolation the reps had."""
    _head("1", "A repository with a guide for agents, a fixture and five scenarios")
    for command in SET_UP:
        stage.quiet(*shlex.split(command))
    stage.run('git commit -q -m "The team guide and its scenarios"')
    stage.run(f"cat {GUIDE}")
    stage.run("evalrepo list --format ids")
    print("\nAre the files sound? Does each check pass and fail where it should?")
    stage.run("evalrepo lint")
    stage.run("evalrepo selftest")
    _head("2", "Three reps of each scenario; the results are committed; this is v1.0")
    said = stage.run("evalrepo run")
    stage.run("git tag v1.0")
    unfolded = said.replace("\n  ", " ")  # `run` folds its lines at 80 columns
    level = [line.removeprefix("isolation: ") for line in unfolded.splitlines() if line.startswith("isolation: ")]
    return level[0] if level else "not said"


def _worse(stage: Stage) -> None:
    """The planted change, measured."""
    _head("3", "Somebody shortens the guide. Was that harmless?")
    guide = stage.repo / GUIDE
    text = guide.read_text("utf-8")
    if RULE not in text:
        raise Failed(f"{GUIDE} does not hold the rule that the demo replaces")
    guide.write_text(text.replace(RULE, SHORTER), "utf-8")
    stage.run('git commit -q -a -m "Shorten the guide"')
    stage.run(f"git diff -U0 --no-color HEAD~1 -- {GUIDE}")
    print("\nOnly what the change touches is measured again:")
    stage.run("evalrepo run --since HEAD~1", exit_code=1)


def _decide(stage: Stage) -> list[str]:
    """The diff and the gate, and the facts that they must show."""
    _head("4", "What became worse since v1.0?")
    stage.run("evalrepo diff v1.0", exit_code=1)
    diff = json.loads(stage.quiet("evalrepo", "diff", "v1.0", "--format", "json"))
    _head("5", "May this be released?")
    stage.run("evalrepo gate", exit_code=1)
    gate = json.loads(stage.quiet("evalrepo", "gate", "--format", "json"))
    return [*_of_diff(diff), *_of_gate(gate), *_of_git(stage)]


def _of_diff(diff: dict[str, Any]) -> list[str]:
    changed = {cell["scenario"]: cell["label"] for cell in diff["cells"] if cell["label"] != "same"}
    if set(changed) != {PLANTED}:
        raise Failed(f"the diff shows {changed or 'no change'}, planted was {PLANTED} alone")
    (cell,) = [cell for cell in diff["cells"] if cell["scenario"] == PLANTED]
    counts = [(cell[side]["passes"], cell[side]["valid"]) for side in ("before", "after")]
    if counts != [(3, 3), (0, 3)]:
        raise Failed(f"{PLANTED} went from {counts[0]} to {counts[1]}, planted was 3 of 3 to 0 of 3")
    return [f"the diff shows exactly what was planted: {PLANTED} fell from 3/3 to 0/3"]


def _of_gate(gate: dict[str, Any]) -> list[str]:
    if gate["answer"] != "block" or gate["exit"] != 1:
        raise Failed(f"the gate answers {gate['answer']} with exit code {gate['exit']}, not block with 1")
    return [f"the gate blocks with exit code 1: {PLANTED} is golden, so any FAIL blocks"]


def _of_git(stage: Stage) -> list[str]:
    if stage.quiet("git", "status", "--porcelain"):
        raise Failed("git status is not clean")
    found = stage.quiet("git", "ls-files", "AgentsReport").split()
    if len(found) != 10:
        raise Failed(f"{len(found)} result files are committed, 10 were expected")
    return ["10 result files are committed, and git status is clean"]


def _end(stage: Stage, isolation: str, facts: list[str], seconds: float) -> None:
    _head("6", "Checked")
    for fact in facts:
        print(f"  ok  {fact}")
    print()
    print("\n".join(textwrap.wrap(f"Isolation of the reps: {isolation}", 80, subsequent_indent="  ")))
    print(f"Time: {seconds:.0f} s\n\nTo go on from here:\n")
    print(f"  cd {stage.repo}")
    print(f'  PATH="{Path(sys.executable).parent}:$PATH"')
    print("\nand the next three commands to try:\n")
    print(f"  evalrepo show {PLANTED}              # what each check saw in the failed reps")
    print("  git revert --no-edit HEAD~1       # take the change back")
    print("  evalrepo gate                     # passes: scores belong to content, not commits")


def _head(number: str, text: str) -> None:
    title = f"{number}. {text}"
    print(f"\n\n{title}\n{'=' * len(title)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
