"""What a gate asks of canaries: where the policy requires them, somebody looked before the grid was measured."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join
from typing import TYPE_CHECKING

from evalrepo.comparing.advice import names, plural
from evalrepo.records.verdict import Reason

if TYPE_CHECKING:
    from evalrepo.commands.sides import Place
    from evalrepo.comparing.cells import Planned
    from evalrepo.records.verdict import CellResult


def unseen(judge: Place, candidate: Place, asked: Sequence[Planned], cells: Sequence[CellResult]) -> list[Reason]:
    """A reason when cells that a model answered were measured without a canary that the candidate's ledger accepts.

    `judge`: the side whose policy decides; `cells` are the scores of `asked`, in its order. None of the reserve.
    """
    from evalrepo.running.canary import REQUIRED, accepted

    if judge.config.discipline.canary != REQUIRED:
        return []
    seen = accepted(candidate.tree)
    blind = [c for p, c in zip(asked, cells, strict=True) if (found := _mark(p, c)) and found not in seen]
    if not blind:
        return []
    text = (
        f"{plural(len(blind), 'cell')} measured without a canary that somebody looked at, which discipline.canary "
        f"requires: {names(blind)}"
    )
    scenarios = list(dict.fromkeys(c.scenario for c in blind))
    return [Reason("inconclusive", "canary", text, join(["evalrepo", "run", *scenarios, "--canary"]))]


def _mark(planned: Planned, cell: CellResult) -> str:
    """What somebody must have looked at, "" for a cell that needs no look."""
    from evalrepo.running.canary import mark

    if planned.after is None or cell.after is None or planned.model_free or planned.set == "reserve":
        return ""
    cli = cell.after.cli
    return mark(planned.after.stimulus, planned.after.instrument, planned.agent, cli, model_free=False)
