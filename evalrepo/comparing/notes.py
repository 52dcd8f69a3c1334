"""What a gate says beside its decision. Pure."""

from __future__ import annotations

from evalrepo.comparing.advice import names, plural
from evalrepo.comparing.blocking import ASSUMED_RATE, confirmed_text, metric_dropped, metric_text, new_bar, scored
from evalrepo.comparing.by_hand import by_hand
from evalrepo.comparing.confirming import GOLDEN_REPS
from evalrepo.comparing.independence import copies
from evalrepo.comparing.judges import uncalibrated
from evalrepo.comparing.statistics import p_at_least
from evalrepo.records.verdict import Label, Reason, Verdict


def notes(bare: Verdict) -> list[Reason]:
    """New cells, the policy's origin, what was cleared or waived, versions measured, and what the bars do by chance."""
    return [
        *_policy(bare),
        *_cleared(bare),
        *_waived(bare),
        *_by_hand(bare),
        *_versions(bare),
        *_bars(bare),
        *copies(bare),
        *uncalibrated(bare),
    ]


def _note(code: str, text: str) -> Reason:
    return Reason("note", code, text)


def _policy(bare: Verdict) -> list[Reason]:
    out = []
    new = [c for c in bare.cells if c.label is Label.NEW]
    if new and not bare.policy.own:
        text = f"{plural(len(new), 'cell')} new since the baseline, held to the bar only: {names(new)}"
        out.append(_note("new", text).on(new))
    if bare.policy.own:
        out.append(_note("own-policy", "there is no baseline, so this release is held to its own policy"))
    if bare.policy.changed:
        text = f"the gate's policy changed since {bare.policy.read_at}; the change counts from the next release"
        out.append(_note("policy-changed", text))
    return out


def _cleared(bare: Verdict) -> list[Reason]:
    out = []
    for found in bare.confirmations:
        if found.outcome == "cleared":
            golden = f"golden {found.cell}: all {found.after[1]} fresh reps passed ({GOLDEN_REPS} clear a FAIL)"
            text = golden if found.of == "golden" else confirmed_text(found)
            out.append(_note("cleared", text).on(c for c in bare.cells if c.name == found.cell))
    return out


def _waived(bare: Verdict) -> list[Reason]:
    out = [
        _note("waived", f"{metric_text(m)}; waived: {m.waiver}").on(scored(bare, m))
        for m in bare.metrics
        if m.waiver and metric_dropped(m, bare.policy)
    ]
    return out + [
        _note("waiver", f"a waiver of metric {w.metric} by {w.by} does not count: {w.problem}")
        for w in bare.background.waivers
        if w.problem
    ]


def _by_hand(bare: Verdict) -> list[Reason]:
    return by_hand(bare, "note") if bare.policy.by_hand != "investigate" else []


def _versions(bare: Verdict) -> list[Reason]:
    versions = bare.background.versions
    if versions is None or bare.policy.own:
        return []
    text = f"{plural(versions, 'subject version')} measured since the baseline"
    if versions > 1:
        text += "; the more were tried, the likelier the best of them was lucky"
    return [_note("versions", text)]


def _bars(bare: Verdict) -> list[Reason]:
    """Cells below their bar that do not block; with a bar for every cell, how often it blocks by chance (2.8)."""
    if bare.policy.bar == "every-cell":
        return _false_block(bare)
    new = not new_bar(bare)
    below = [c for c in bare.cells if c.below_bar and (c.comparable or (new and c.label is Label.NEW))]
    bar = bare.bar
    blocked = bar is not None and bar.holm is not None and bar.holm <= bare.policy.alpha
    if not below or blocked:
        return []
    text = f"{plural(len(below), 'cell')} below the bar, too few to block: {names(below)}"
    return [_note("below-bar", text).on(below)]


def _false_block(bare: Verdict) -> list[Reason]:
    held = [c for c in bare.cells if c.needed is not None and c.after is not None]
    if not held:
        return []
    fine = 1.0
    for cell in held:
        fine *= p_at_least(cell.needed or 0, cell.after.valid if cell.after is not None else 0, ASSUMED_RATE)
    bars = plural(len(held), "bar")
    text = f"if every cell passed {ASSUMED_RATE:.0%} of the time, {bars} would block {1 - fine:.0%} of such releases"
    return [_note("false-block", text)]
