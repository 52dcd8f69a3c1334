"""`run --since REV --dry-run` among 10,000 scenarios, everything that can be cached in its cache."""

from __future__ import annotations

from ground import Ground, ground
from measure import EVALREPO, NOTHING, Case, Figure, Options, command, ratios, together

SCENARIOS, FIXTURES = 10_000, 50
CONFIG = """\
version: 1
subjects:
  style: {paths: [subjects/style/**], agents: [scripted]}
agents:
  scripted: {tiers: {default: {script: good}}}
"""
SCENARIO = """\
title: Number %(number)d
subject: style
fixture: f%(fixture)02d
turns: [{prompt: "do nothing"}]
checks: [{id: quiet, axis: A, calls: {tool: read, max: 0}}]
behaviours: [{name: good, script: [{say: "Done."}]}]
"""


def _fill(at: Ground) -> None:
    files: dict[str, str | bytes] = {"evalrepo.yaml": CONFIG, "subjects/style/GUIDE.md": "one\n", "README.md": "1\n"}
    for number in range(SCENARIOS):
        files[f"scenarios/S{number:05}.yaml"] = SCENARIO % {"number": number, "fixture": number % FIXTURES}
    for number in range(FIXTURES):
        files[f"fixtures/f{number:02}/a.txt"] = f"{number}\n"
    at.commit(files)
    at.pack()
    at.commit({"README.md": "2\n"}, "prose")


def figures(options: Options) -> list[Figure]:
    """A change that touches nothing, and one of a single scenario."""
    with ground() as at:
        _fill(at)
        names = command("git", "diff", "--name-only", "HEAD~1", cwd=at.repo, env=at.env)
        floor = together(names, command(*NOTHING, cwd=at.repo, env=at.env))
        ask = command(*EVALREPO, "run", "--since", "HEAD~1", "--dry-run", cwd=at.repo, env=at.env)
        ask()
        none = Case("since", "10,000 scenarios, nothing touched / git diff + python", ask, floor, 5.5)
        found = ratios(none, options)
        at.commit({"scenarios/S00007.yaml": SCENARIO % {"number": 7, "fixture": 8}}, "one scenario")
        one = Case("since", "10,000 scenarios, one touched and planned / the same", ask, floor, None)
        return [found, ratios(one, options)]
