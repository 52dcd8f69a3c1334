"""Scores that a person has given, kept in git's directory after every answer until they are recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from evalrepo.repository.durable import put
from evalrepo.repository.repo import Repository

Marks = dict[str, tuple[int | None, str]]
"""Metric → score (None: left unset on purpose) and evidence."""


class Draft:
    """One person's unfinished scores of what one run measured in one cell, whichever record of it stands meanwhile.
    `reps`: number of the rep → what was given."""

    def __init__(self, repo: Repository, cell: str, by: str) -> None:
        """`cell`: words that only this run's cell has."""
        name = re.sub(r"[^A-Za-z0-9]+", "-", by)[:30]
        self.path = repo.home / "scores" / f"{sha256(f'{cell} {by}'.encode()).hexdigest()[:16]}-{name}.json"
        self.reps = _read(self.path)

    def put(self, rep: int, metric: str, score: int | None, evidence: str) -> None:
        """Keep an answer; it is on the medium when this returns."""
        self.reps.setdefault(rep, {})[metric] = (score, evidence)
        put(self.path, json.dumps(self.reps).encode(), 0o600)

    def drop(self) -> None:
        """Forget it: it is recorded."""
        self.path.unlink(missing_ok=True)


def _read(path: Path) -> dict[int, Marks]:
    try:
        data = json.loads(path.read_text("utf-8"))
        return {int(rep): _marks(marks) for rep, marks in data.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _marks(data: Mapping[str, tuple[int | None, str]]) -> Marks:
    return {str(name): (None if score is None else int(score), str(text)) for name, (score, text) in data.items()}
