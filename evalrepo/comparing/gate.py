"""The rules of the gate: pass, block, inconclusive, invalid. Pure; every reason names its numbers and the next command.

Validity comes first: frozen files, cells without a comparable score, ERRORs over the bound, a degenerate suite. Then
what blocks: a golden FAIL, too many cells below their bar, a drop overall or in a tier, a confirmed suspect, a
blocking metric. Then what leaves the answer open: too few reps, an unresolved suspect, a metric to be investigated, a
margin that is not shown. A pass must survive every ERROR attempt counted as FAIL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalrepo.comparing.advice import look_at
from evalrepo.comparing.blocking import blocking
from evalrepo.comparing.cells import recounted
from evalrepo.comparing.invalid import invalid
from evalrepo.comparing.notes import notes
from evalrepo.comparing.open_points import unresolved
from evalrepo.comparing.verdict import verdict
from evalrepo.records.inference import Background, Fresh
from evalrepo.records.verdict import Answer, CellResult, Policy, Reason, Side, Verdict


def gate(
    before: Side,
    after: Side,
    cells: Iterable[CellResult],
    policy: Policy,
    frozen: Sequence[str],
    *,
    confirmed: Sequence[Fresh] = (),
    background: Background | None = None,
    evidence: Sequence[Reason] = (),
) -> Verdict:
    """The verdict of a gate. `frozen`: findings about frozen files, one sentence each; `evidence`: reasons about the
    results themselves, which count as all others do.

    `confirmed`: fresh reps of flagged cells on both commits, which decide about those cells alone; reps of other cells
    change nothing.
    """
    held = list(cells)

    def judged(bare: Verdict) -> tuple[Sequence[Reason], Answer]:
        reasons = [*evidence, *decided(bare)[0]]
        return reasons, answer_of(reasons)

    def rules(bare: Verdict) -> tuple[Sequence[Reason], Answer]:
        reasons, answer = judged(bare)
        if answer == "pass" and any(c.after is not None and c.after.attempts_lost for c in held):
            worst = verdict(
                "gate", (before, after), map(recounted, held), policy,
                rules=judged, frozen=frozen, confirmed=confirmed, background=background,
            )  # fmt: skip
            lost = [c for c in bare.cells if c.after is not None and c.after.attempts_lost]
            reasons = [*reasons, *_flips(worst, lost)]
        return [*reasons, *notes(bare)], answer_of(reasons)

    return verdict(
        "gate", (before, after), held, policy,
        rules=rules, frozen=frozen, confirmed=confirmed, background=background,
    )  # fmt: skip


def decided(bare: Verdict) -> tuple[Sequence[Reason], Answer]:
    """All reasons that decide, and the answer that the gravest of them gives."""
    reasons = [*invalid(bare), *blocking(bare), *unresolved(bare)]
    if any(r.code == "drop" for r in reasons):  # what has dropped need not be shown to be no worse
        reasons = [r for r in reasons if r.code != "margin"]
    return reasons, answer_of(reasons)


def answer_of(reasons: Iterable[Reason]) -> Answer:
    """Invalid before block before inconclusive before pass."""
    kinds = {r.kind for r in reasons}
    answers: tuple[Answer, ...] = ("invalid", "block", "inconclusive")
    return next((a for a in answers if a in kinds), "pass")


def _flips(worst: Verdict, lost: Sequence[CellResult]) -> list[Reason]:
    """The pass hangs on ERROR attempts: with all of them as FAIL it would be none."""
    if worst.answer == "pass":
        return []
    first = next(r for r in worst.reasons if r.kind == worst.answer)
    text = f"the pass hangs on ERRORs: were they FAILs, the answer would be {worst.answer} ({first.text})"
    return [Reason("inconclusive", "errors-flip", text, look_at(lost[0]), first.scenarios)]
