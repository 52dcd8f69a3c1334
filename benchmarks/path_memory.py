"""The most memory that a run holds: 1,000 reps against 10."""

from __future__ import annotations

from ground import ground
from measure import Figure, Options, peak_megabytes
from path_rep import fill, run

FEW, MANY = 10, 1000
SLACK = 1.1
"""A record of a thousand reps is itself some megabytes: its JSON is held while it is written."""


def figures(options: Options) -> list[Figure]:
    """One run of each."""
    del options
    with ground() as at:
        fill(at)
        env = at.without("bwrap")
        few, many = (peak_megabytes(run(at, reps, env), at.repo, env) for reps in (FEW, MANY))
    what = f"{MANY:,} reps ({many:.0f} MB) / {FEW} reps ({few:.0f} MB)"
    return [Figure("memory", what, many / few, many / few, many / few, SLACK)]
