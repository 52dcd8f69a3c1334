"""Starting, against an empty Python."""

from __future__ import annotations

from ground import ground
from measure import EVALREPO, NOTHING, Case, Figure, Options, command, ratios


def figures(options: Options) -> list[Figure]:
    """`--version` and `--help`."""
    with ground() as at:
        floor = command(*NOTHING, cwd=at.repo, env=at.env)
        cases = [
            Case("startup", what, command(*EVALREPO, what, cwd=at.repo, env=at.env), floor, goal, rounds=31)
            for what, goal in (("--version", 1.5), ("--help", 5.5))
        ]
        return [ratios(case, options) for case in cases]
