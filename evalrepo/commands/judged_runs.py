"""How often judges gave each answer to a rubric's questions, over all recorded reps that may be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Room
    from evalrepo.records.rubric import Rubric

Answered = Mapping[tuple[str, str], Counter[str]]
"""(question, judge) → answer → in how many reps."""


def answered(room: Room, name: str, rubric: Rubric) -> Answered:
    """By this very text of the rubric, a rep once however often it was recorded, and without the reserve."""
    from evalrepo.records.asking import puts
    from evalrepo.results import records
    from evalrepo.running.judging import identity

    asking = {i for i, one in room.loaded.scenarios.items() if any(p.asked.rubric == name for p in puts(one.scenario))}
    held = room.rows.select(dict.fromkeys(cell for cell in room.rows.cells() if cell[0] in asking))
    rows = [row for found in held.values() for row in found if row.set != "reserve"]
    said: dict[tuple[str, str, str], str] = {}
    for record in records(room.rows.git, rows):
        for rep in record.last_attempts():
            for one in rep.judged:
                if (one.rubric, one.rubric_sha256) == (name, rubric.sha256) and one.answer and rep.transcript:
                    said[one.question, identity(one.judge, one.model), rep.transcript.sha256] = one.answer
    counts: dict[tuple[str, str], Counter[str]] = {}
    for (question, judge, _), answer in said.items():
        counts.setdefault((question, judge), Counter())[answer] += 1
    return counts
