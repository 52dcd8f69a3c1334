"""What makes a gate's answer invalid: it cannot be said, whatever the scores are. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from evalrepo.comparing.advice import look_at, plural
from evalrepo.comparing.diff import unmeasured
from evalrepo.records.verdict import CellResult, Errors, Policy, Reason, Side, Verdict


def invalid(bare: Verdict) -> list[Reason]:
    """Frozen files, cells without a comparable score, ERRORs over the bound, a degenerate suite."""
    return [*_frozen(bare), *_grid(bare), *_errors(bare), *_degenerate(bare)]


def _frozen(bare: Verdict) -> list[Reason]:
    if not bare.frozen:
        return []
    text = f"{plural(len(bare.frozen), 'finding')} about frozen files: {bare.frozen[0]}"
    return [Reason("invalid", "frozen", text, "evalrepo verify")]


def _grid(bare: Verdict) -> list[Reason]:
    if not bare.cells:
        text = (
            "the gate's suites hold no cell that counts; model-free results (scripted, rehearsal) count only for a "
            "suite that lists that agent or tier"
        )
        return [Reason("invalid", "no-cells", text, "evalrepo list")]
    return unmeasured(bare, "invalid")


def _errors(bare: Verdict) -> list[Reason]:
    out = []
    for side, errors in ((bare.before, bare.validity.before), (bare.after, bare.validity.after)):
        if errors.rate > bare.policy.max_error_rate:
            out.append(Reason("invalid", "errors", _error_text(side, errors, bare.policy), "evalrepo status"))
    return out


def _error_text(side: Side, errors: Errors, policy: Policy) -> str:
    kinds = ", ".join(f"{n} {kind}" for kind, n in errors.kinds.items())
    return (
        f"{errors.errors} of {plural(errors.reps, 'rep')} at {side.name} ended as ERROR ({kinds}): "
        f"{errors.rate:.0%} is over the bound of {policy.max_error_rate:.0%}"
    )


def _degenerate(bare: Verdict) -> list[Reason]:
    """Every control passes while every positive fails, or the reverse: the suite measures something else."""
    measured = [c for c in bare.cells if c.after is not None and c.after.valid]
    controls, positives = [c for c in measured if c.control], [c for c in measured if not c.control]
    for passing, failing, words in (
        (controls, positives, ("control", "positive", "never acted")),
        (positives, controls, ("positive", "control", "always acted")),
    ):
        if _enough(passing) and _enough(failing) and _all(passing, 1.0) and _all(failing, 0.0):
            text = (
                f"degenerate suite: all reps of {plural(len(passing), words[0] + ' cell')} pass and all of "
                f"{plural(len(failing), words[1] + ' cell')} fail, as if the agent {words[2]}"
            )
            return [Reason("invalid", "degenerate", text, look_at(failing[0]))]
    return []


def _enough(cells: Sequence[CellResult]) -> bool:
    """One scenario that fails is a finding about that scenario, not about the suite."""
    return len({c.scenario for c in cells}) > 1


def _all(cells: Sequence[CellResult], rate: float) -> bool:
    return all(c.after is not None and c.after.rate == rate for c in cells)
