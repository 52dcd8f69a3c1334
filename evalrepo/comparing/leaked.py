"""Reps whose agent saw what it must not see. They are never tried again, and make a gate invalid. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import NamedTuple

from evalrepo.comparing.advice import plural
from evalrepo.records.row import Row
from evalrepo.records.verdict import Reason

LEAK = "leak"
"""Equals `records.record.ErrorKind.LEAK`."""


class LeakedRep(NamedTuple):
    """A rep that ended as ERROR(leak): its cell as `SCENARIO · AGENT/TIER`, the run that executed it, its number."""

    cell: str
    run: str
    rep: int

    @property
    def hash(self) -> str:
        """What an exception for it names in the ledger: 16 hex digits."""
        return sha256("\0".join((LEAK, "rep", self.run, self.cell, str(self.rep))).encode()).hexdigest()[:16]


def leaked(rows: Iterable[Row], excused: Collection[str] = ()) -> list[LeakedRep]:
    """The leaked reps of these rows, each once, without those whose hash is `excused`."""
    found: dict[LeakedRep, None] = {}
    for row in rows:
        name = f"{row.scenario} · {row.agent}/{row.tier}"
        for number, tries in row.attempts().items():
            if tries[-1].error == LEAK:
                found[LeakedRep(name, row.executed, number)] = None
    return [rep for rep in found if rep.hash not in excused]


def leak_reasons(reps: Iterable[LeakedRep]) -> list[Reason]:
    """Why the gate is invalid, one reason a run and cell."""
    groups: dict[tuple[str, str], list[LeakedRep]] = {}
    for rep in reps:
        groups.setdefault((rep.cell, rep.run), []).append(rep)
    return [_reason(cell, run, found) for (cell, run), found in sorted(groups.items())]


def _reason(cell: str, run: str, reps: list[LeakedRep]) -> Reason:
    numbers = ", ".join(str(rep.rep) for rep in reps)
    hashes = " ".join(rep.hash for rep in reps)
    text = (
        f"{cell}: the agent saw what it must not see in {plural(len(reps), 'rep')} of run {run} (rep {numbers}); "
        f"change what leaked and measure anew, or say why it is no leak: evalrepo acknowledge {hashes} --why REASON"
    )
    return Reason("invalid", LEAK, text, f"evalrepo show {run}", (cell.partition(" · ")[0],))
