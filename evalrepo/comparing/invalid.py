"""What makes a gate's answer invalid: it cannot be said, whatever the scores are. Pure."""

from __future__ import annotations

from evalrepo.comparing.advice import plural
from evalrepo.comparing.degenerate import alarms
from evalrepo.comparing.diff import unmeasured
from evalrepo.records.verdict import Errors, Policy, Reason, Side, Verdict


def invalid(bare: Verdict) -> list[Reason]:
    """Frozen files, cells without a comparable score, ERRORs over the bound, a degenerate suite."""
    return [*_frozen(bare), *_grid(bare), *_looks(bare), *_errors(bare), *alarms(bare, "invalid")]


def _frozen(bare: Verdict) -> list[Reason]:
    if not bare.frozen:
        return []
    text = f"{plural(len(bare.frozen), 'finding')} about frozen files: {bare.frozen[0]}"
    look = "evalrepo verify" if bare.policy.own else f"evalrepo verify --since {bare.before.name}"
    return [Reason("invalid", "frozen", text, look)]


def _grid(bare: Verdict) -> list[Reason]:
    if not bare.cells:
        text = (
            "the gate's suites hold no cell that counts; model-free results (scripted, rehearsal) count only for a "
            "suite that lists that agent or tier"
        )
        return [Reason("invalid", "no-cells", text, "evalrepo list")]
    return unmeasured(bare, "invalid")


def _looks(bare: Verdict) -> list[Reason]:
    """Reserves that were measured without a look, and such as cannot be looked at any more."""
    out = []
    for one in bare.background.looks:
        mine = [cell for cell in bare.cells if cell.set == "reserve" and cell.scenario in one.scenarios]
        if mine and one.masked is not None and not one.spent:
            text = f"the reserve of {one.subject} was measured, and the ledger holds no look at it"
            since = bare.before.commit[:12] or bare.after.commit[:12]
            out.append(Reason("invalid", "no-look", text, f"evalrepo verify --since {since}"))
        if one.exhausted and any(cell.missing_side in ("after", "both") for cell in mine):
            many = f"all {one.allowed} looks" if one.allowed != 1 else "the only look"
            is_ = "are" if one.allowed != 1 else "is"
            text = f"RESERVE EXHAUSTED: {many} at the reserve of {one.subject} {is_} spent"
            out.append(Reason("invalid", "exhausted", text, f"evalrepo run --reserve {one.subject} --why REASON"))
    return out


def _errors(bare: Verdict) -> list[Reason]:
    out = []
    for side, errors in ((bare.before, bare.validity.before), (bare.after, bare.validity.after)):
        if errors.rate > bare.policy.max_error_rate:
            there = [c for c in bare.cells if (c.before if side is bare.before else c.after) is not None]
            text = _error_text(side, errors, bare.policy)
            out.append(Reason("invalid", "errors", text, "evalrepo status").on(there))
    return out


def _error_text(side: Side, errors: Errors, policy: Policy) -> str:
    kinds = ", ".join(f"{n} {kind}" for kind, n in errors.kinds.items())
    return (
        f"{errors.errors} of {plural(errors.reps, 'rep')} at {side.name} ended as ERROR ({kinds}): "
        f"{errors.rate:.0%} is over the bound of {policy.max_error_rate:.0%}"
    )
