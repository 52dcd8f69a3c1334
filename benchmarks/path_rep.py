"""A rep whose agent does nothing, in a fixture of 20 files: sandbox, journal, transcript, score and record.

What is measured is the slope, (1 + n reps - 1 rep) / n: what a run costs once is not a rep's.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path

from ground import Ground, ground
from measure import EVALREPO, Figure, Options, Took, command, took

REPS, FILES = 200, 20
PROGRAM = "/usr/bin/printf"
"""The agent: one small process that prints its transcript."""
ROWS = (
    r'{"type": "session", "format": 1, "session": "{session}", "agent": "noop", "cwd": "/"}\n'
    r'{"type": "prompt", "text": "do nothing"}\n{"type": "assistant", "text": "Done."}\n'
    r'{"type": "end", "reason": "done"}\n'
)
CONFIG = f"""\
version: 1
subjects:
  style: {{paths: [subjects/style/**], agents: [noop]}}
agents:
  noop: {{kind: command, argv: [{PROGRAM}, {json.dumps(ROWS)}], tiers: {{default: {{}}}}}}
  scripted: {{tiers: {{default: {{script: good}}}}}}
"""
SCENARIO = """\
title: Nothing is done
subject: style
fixture: app
turns: [{prompt: "do nothing"}]
checks: [{id: quiet, axis: A, calls: {tool: read, max: 0}}]
conformance:
  - {name: good, expect: PASS, script: [{say: "Done."}]}
  - {name: busy, expect: {FAIL: A}, script: [{read: f00.txt}, {say: "Done."}]}
  - {name: nothing, expect: {ERROR: empty}, script: []}
"""
LOOP = """\
i=0
while [ $i -lt $3 ]; do
  cp -a fixtures/app "$1/box" && (cd "$1/box" && {PROGRAM} "$2" > "$1/out") && rm -rf "$1/box"
  i=$((i+1))
done
""".replace("{PROGRAM}", PROGRAM)


def fill(at: Ground) -> None:
    """The repository that the reps are run in."""
    files: dict[str, str | bytes] = {"evalrepo.yaml": CONFIG, "subjects/style/GUIDE.md": "Always.\n"}
    files["scenarios/S1-nothing.yaml"] = SCENARIO
    for number in range(FILES):
        files[f"fixtures/app/d{number % 4}/f{number:02}.txt"] = f"file {number}\n" * 50
    files["fixtures/app/f00.txt"] = "first\n"
    at.commit(files)


def run(at: Ground, reps: int, env: Mapping[str, str], *more: str) -> list[str]:
    """The command that runs so many fresh reps."""
    del at, env
    return [*EVALREPO, "run", "--fresh", str(reps), "--format", "json", *more]


def figures(options: Options) -> list[Figure]:
    """Without isolation against a shell loop, one rep at a time and as many as there are cores; then what it adds."""
    if not (sys.platform == "linux" and Path(PROGRAM).exists()):
        return []
    with ground() as at:
        fill(at)
        plain = at.without("bwrap")
        rounds = options.rounds or 5
        found = [_against_loop(at, plain, jobs, goal, rounds) for jobs, goal in ((1, 1.5), (2, 1.5))]
        return [*found, *_isolation(at, plain, rounds)]


def _slope(at: Ground, env: Mapping[str, str], jobs: int) -> Took:
    """Of one rep, in seconds."""
    few, many = (
        took(command(*run(at, reps, env, "--jobs", str(jobs)), cwd=at.repo, env=env)) for reps in (1, 1 + REPS)
    )
    return Took((many.wall - few.wall) / REPS, (many.cpu - few.cpu) / REPS)


def _against_loop(at: Ground, env: Mapping[str, str], jobs: int, goal: float, rounds: int) -> Figure:
    loop = command("sh", "-c", LOOP, "sh", str(at.tmp), ROWS, str(REPS), cwd=at.repo, env=env)
    loop()
    pairs = []
    for _ in range(rounds):
        floor = took(loop)
        pairs.append((_slope(at, env, jobs), Took(floor.wall / REPS, floor.cpu / REPS)))
    each = [candidate.wall / floor.wall for candidate, floor in pairs]
    return Figure(
        "rep",
        f"a no-op rep, --jobs {jobs} / sh: cp -a; printf; rm -rf",
        statistics.median(each),
        min(each),
        max(each),
        goal,
        candidate=1000 * statistics.median(c.wall for c, _ in pairs),
        floor=1000 * statistics.median(f.wall for _, f in pairs),
        cpu=sum(c.cpu for c, _ in pairs) / sum(f.cpu for _, f in pairs),
    )


def _isolation(at: Ground, plain: Mapping[str, str], rounds: int) -> list[Figure]:
    """Nothing where bubblewrap does not work."""
    said = at.said(*run(at, 1, at.env))
    if '"bwrap"' not in said and "bwrap" not in at.git("log", "-1", "-p"):
        return []
    added = [1000 * (_slope(at, at.env, 1).wall - _slope(at, plain, 1).wall) for _ in range(rounds)]
    what = "isolation adds to a rep"
    return [Figure("rep", what, statistics.median(added), min(added), max(added), 20.0, unit="ms")]
