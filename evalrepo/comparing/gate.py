"""The rules of the gate: pass, block, inconclusive, invalid. Pure; every reason names its numbers and the next command.

Validity comes first: frozen files, cells without a comparable score, ERRORs over the bound. Then what blocks: a golden
scenario with any FAIL, a cell below its bar. Then what leaves the answer open: too few reps, a suspect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalrepo.comparing.advice import look_at, measure, measure_base, names, plural
from evalrepo.comparing.diff import bar_text, suspect_text, unmeasured
from evalrepo.comparing.statistics import p_all_pass_bar
from evalrepo.comparing.verdict import verdict
from evalrepo.records.verdict import Answer, CellResult, Errors, Label, Policy, Reason, Side, Verdict

ASSUMED_RATE = 0.9
"""Pass rate at which the false-block probability of the bars is printed."""


def gate(before: Side, after: Side, cells: Iterable[CellResult], policy: Policy, frozen: Sequence[str]) -> Verdict:
    """The verdict of a gate. `frozen`: findings about frozen files, one sentence each."""
    return verdict("gate", (before, after), cells, policy, rules=rules, frozen=frozen)


def rules(bare: Verdict) -> tuple[Sequence[Reason], Answer]:
    """All reasons, and the answer that the gravest of them gives."""
    reasons = [
        *_frozen(bare),
        *_grid(bare),
        *_errors(bare),
        *_golden(bare),
        *_bars(bare),
        *_few(bare),
        *_suspects(bare),
        *_notes(bare),
    ]
    kinds = {r.kind for r in reasons}
    answers: tuple[Answer, ...] = ("invalid", "block", "inconclusive")
    return reasons, next((a for a in answers if a in kinds), "pass")


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
        f"{errors.errors} of {errors.reps} reps at {side.name} ended as ERROR ({kinds}): "
        f"{errors.rate:.0%} is over the bound of {policy.max_error_rate:.0%}"
    )


def _golden(bare: Verdict) -> list[Reason]:
    return [
        Reason(
            "block",
            "golden",
            f"golden {c.name}: {c.after.valid - c.after.passes} of {c.after.valid} failed",
            look_at(c),
        )
        for c in bare.cells
        if c.golden and c.after is not None and c.after.passes < c.after.valid
    ]


def _bars(bare: Verdict) -> list[Reason]:
    return [
        Reason("block", "below-bar", bar_text(c) + _before_too(c), look_at(c))
        for c in bare.cells
        if c.below_bar and not c.golden
    ]


def _before_too(cell: CellResult) -> str:
    if not cell.comparable or cell.before is None:
        return ""
    return "" if cell.fell_below_bar else f" (the base has {cell.before.passes} of {cell.before.valid})"


def _few(bare: Verdict) -> list[Reason]:
    out = []
    for side in ("after", "before"):
        short = [
            c for c in bare.cells if (c.comparable or (c.label is Label.NEW and side == "after")) and _short(c, side)
        ]
        if short:
            wanted = max(c.reps for c in short)
            where = bare.after.name if side == "after" else bare.before.name
            few = f"{plural(len(short), 'cell')} with too few valid reps at {where}"
            text = f"{few} ({_have(short[0], side)}): {names(short)}"
            asked = measure(short, reps=wanted)
            command = asked if side == "after" else measure_base(short, bare.before, bare.after, reps=wanted)
            out.append(Reason("inconclusive", "few-reps", text, command))
    return out


def _short(cell: CellResult, side: str) -> bool:
    score = cell.after if side == "after" else cell.before
    return score is not None and score.valid < cell.reps


def _have(cell: CellResult, side: str) -> str:
    score = cell.after if side == "after" else cell.before
    return f"{score.valid if score else 0} of {cell.reps}"


def _suspects(bare: Verdict) -> list[Reason]:
    return [
        Reason("inconclusive", "suspect", f"{suspect_text(c)}; unresolved", look_at(c))
        for c in bare.cells
        if c.label is Label.SUSPECT
    ]


def _notes(bare: Verdict) -> list[Reason]:
    out = []
    new = [c for c in bare.cells if c.label is Label.NEW]
    if new and not bare.policy.own:
        out.append(
            Reason(
                "note", "new", f"{plural(len(new), 'cell')} new since the baseline, held to the bar only: {names(new)}"
            )
        )
    if bare.policy.own:
        out.append(Reason("note", "own-policy", "there is no baseline, so this release is held to its own policy"))
    if bare.policy.changed:
        text = f"the gate's policy changed since {bare.policy.read_at}; the change counts from the next release"
        out.append(Reason("note", "policy-changed", text))
    return [*out, *_bar_note(bare)]


def _bar_note(bare: Verdict) -> list[Reason]:
    """What the bars alone would block without any change (statistics: 2.8)."""
    held = [c for c in bare.cells if c.needed is not None and c.after is not None]
    if not held:
        return []
    fine = 1.0
    for cell in held:
        assert cell.after is not None
        assert cell.needed is not None
        fine *= p_all_pass_bar(ASSUMED_RATE, cell.needed, cell.after.valid, 1)
    bars = plural(len(held), "bar")
    text = f"if every cell passed {ASSUMED_RATE:.0%} of the time, {bars} would block {1 - fine:.0%} of such releases"
    return [Reason("note", "false-block", text)]
