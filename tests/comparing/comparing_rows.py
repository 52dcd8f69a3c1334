"""Rows and cells by hand: a test shows its whole world in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalrepo.comparing.pool import Identity
from evalrepo.records.row import RepRow, Row

OLD = Identity("subject-old", "stimulus", "instrument")
NEW = Identity("subject-new", "stimulus", "instrument")


def make_row(run: str, verdicts: str, identity: Identity = NEW, **changes: Any) -> Row:
    """A record with one attempt a rep: `verdicts` in P, F, E; each rep starts a minute after the one before."""
    start = changes.pop("start", "2026-11-01T10:00:00Z")
    model = changes.pop("rep_model", "model-1")
    failed = tuple(changes.pop("failed", ("check-a",)))
    apparatus_parts: Mapping[str, str] = changes.pop("apparatus_parts", {"cli": "1.0", "settings": "s"})
    reps = tuple(
        RepRow(
            rep=i + 1,
            attempt=1,
            start=f"{start[:14]}{int(start[14:16]) + i:02d}{start[16:]}",
            verdict={"P": "PASS", "F": "FAIL", "E": "ERROR"}[letter],
            error="idle" if letter == "E" else "",
            model="" if letter == "E" else model,
            failed=failed if letter == "F" else (),
            axes=("A",) if letter == "F" else (),
            metrics={"M1": 3 if letter == "P" else 1},
            usage=(100 + i, None, 2, 1.5),
        )
        for i, letter in enumerate(verdicts)
    )
    row = Row(
        run=run,
        start=start,
        scenario="S1",
        set="run-set",
        agent="claude",
        tier="haiku",
        subjects=("team",),
        subject=identity.subject,
        stimulus=identity.stimulus,
        instrument=identity.instrument,
        apparatus="apparatus-" + apparatus_parts.get("cli", ""),
        apparatus_parts=apparatus_parts,
        requested="haiku",
        purpose="measure",
        model_free=False,
        network="open",
        isolation="bwrap",
        bar=(2, 3),
        commit="c" * 40,
        dirty=False,
        supersedes="",
        rescored_from="",
        reps=reps,
        path=f"AgentsReport/evaluation/2026-11/2026-11-01_scenario-S1_claude-haiku_{run}.md",
        oid=f"oid-{run}",
    )
    return row._replace(**changes)
