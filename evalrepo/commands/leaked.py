"""Reps that leaked, among all that was measured of what a gate compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalrepo.comparing.leaked import leak_reasons, leaked

if TYPE_CHECKING:
    from evalrepo.commands.rescoring import Ground
    from evalrepo.records.verdict import Reason


def leak_evidence(ground: Ground) -> list[Reason]:
    """A reason for every run whose agent saw what it must not see, with either side's subject and the same task.

    Checks that were changed since, another tier's settings and reps that are never pooled make no difference to that.
    """
    wanted = {p.cell: [i.subject for i in (p.before, p.after) if i is not None] for p in ground.asked.cells}
    held = ground.rows.select(wanted, others=False)
    rows = []
    for planned in ground.asked.cells:
        keys = {(i.subject, i.stimulus) for i in (planned.before, planned.after) if i is not None}
        rows += [row for row in held[planned.cell] if (row.subject, row.stimulus) in keys]
    found = leaked(rows)
    if not found:
        return []
    from evalrepo.store.leaking import acknowledged

    excused = acknowledged(ground.candidate.tree)
    return leak_reasons(rep for rep in found if rep.hash not in excused)
