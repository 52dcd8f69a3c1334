"""Situations that a diff or a gate must be right about, each in a line or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from comparing_rows import NEW, OLD, make_row

from evalrepo.comparing.cells import Planned, compare_cell
from evalrepo.comparing.diff import diff
from evalrepo.comparing.gate import gate
from evalrepo.comparing.pool import Identity
from evalrepo.records.inference import Background, Fresh, Looked, Waiver
from evalrepo.records.verdict import CellResult, Policy, Side, Verdict

BEFORE = Side("v1.2", "3f2a91c" + "0" * 33, {"orchestration": "69d6a1b8"})
AFTER = Side("HEAD", "c67d6e7" + "0" * 33, {"orchestration": "e113d928"})
HERE = Side("WORKTREE", "", {"orchestration": "e113d928"})
EARLY, LATE = "2026-10-01T10:00:00Z", "2026-11-01T10:00:00Z"


def cell(
    name: str, was: str | None, now: str | None, tier: str = "haiku", *, scored: bool = False, **planned: Any
) -> CellResult:
    """One cell: verdict letters of both sides, None for a side that was not measured; `scored`: with metric M1."""
    rows = []
    if was is not None:
        rows.append(make_row("aaaaaaa1", was, OLD, scenario=name, tier=tier, start=EARLY))
    if now is not None:
        rows.append(make_row("bbbbbbb2", now, NEW, scenario=name, tier=tier, start=LATE))
    if not scored:
        rows = [r._replace(reps=tuple(rep._replace(metrics={}) for rep in r.reps)) for r in rows]
    made = {"before": OLD, "after": NEW} | planned
    return compare_cell(Planned(name, "claude", tier, **made), rows)


def a_diff(*cells: CellResult, after: Side = HERE, **known: Any) -> Verdict:
    return diff(BEFORE, after, cells, Policy("WORKTREE"), background=Background(**known))


def a_gate(
    *cells: CellResult,
    frozen: Sequence[str] = (),
    fresh: Sequence[Fresh] = (),
    known: Background | None = None,
    **policy: Any,
) -> Verdict:
    made = {"suites": ("release",), "golden": ("E1-*",)} | policy
    return gate(BEFORE, AFTER, cells, Policy("v1.2", **made), frozen, confirmed=fresh, background=known)


def good() -> list[CellResult]:
    return [cell(f"E{n}-mechanical-edits", "PPP", "PPP", golden=n == 1) for n in (1, 2, 3)]


def wide(*others: CellResult, cells: int = 12) -> list[CellResult]:
    """A release large enough to exclude a drop of ten points; `others` in the place of as many of its cells."""
    names = ["E1-edits", *(f"S{n:02}-task" for n in range(2, cells + 1))]
    return [*(cell(n, "PPP", "PPP", golden=n.startswith("E1")) for n in names[: cells - len(others)]), *others]


def scored(worse: int) -> list[CellResult]:
    """Cells that keep their verdicts, and a metric that falls in some of them."""
    cells = wide()
    made = []
    for n, one in enumerate(cells):
        assert one.before is not None
        assert one.after is not None
        now = (1, 2, 2) if n < worse else (3, 3, 2)
        made.append(
            one._replace(
                before=one.before._replace(scores={"M2": (3, 3, 2)}, metrics={"M2": 8 / 3}),
                after=one.after._replace(scores={"M2": now}, metrics={"M2": sum(now) / 3}),
            )
        )
    return made


def flagged() -> CellResult:
    return cell("E4-retry-policy", "PPP", "PFF")


FLAGGED = "E4-retry-policy · claude/haiku"
GOLDEN_CELL = "E1-edits · claude/haiku"
KNOWN_BUG = Waiver("M2", "A <a@b.c>", "the rubric is stricter now", "2026-12-31")


def same_revision() -> Verdict:
    cells = [cell(c, None, v, before=NEW) for c, v in (("E1-edits", "PPP"), ("E2-retry", "PFP"), ("E3-docs", "FFF"))]
    return diff(AFTER, AFTER, cells, Policy("HEAD"))


def other_instrument() -> CellResult:
    old = Identity(OLD.subject, OLD.stimulus, "instrument-before")
    rows = [
        make_row("aaaaaaa1", "PPP", old, scenario="E2-retry", start=EARLY),
        make_row("bbbbbbb2", "PPP", NEW, scenario="E2-retry", start=LATE),
    ]
    parts = {"oid-aaaaaaa1": {"instrument": {"checks": "a" * 64, "rubrics": "none"}}}
    planned = Planned("E2-retry", "claude", "haiku", OLD, NEW)
    return compare_cell(planned, rows, {"instrument": {"checks": "b" * 64, "rubrics": "none"}}, parts)


def hostile() -> CellResult:
    return cell("E2-\x1b]52;c;aGk=\x07|`<b>\u202e[x](javascript:alert(1))\n# forged", "PPP", "FFF", title="# x")


SITUATIONS: dict[str, Callable[[], Verdict]] = {
    "diff-same-revision": same_revision,
    "diff-nothing-changed": lambda: a_diff(*good()),
    "diff-one-regression": lambda: a_diff(*good(), flagged()),
    "diff-noise": lambda: a_diff(*good(), cell("E4-retry-policy", "PPP", "PPF"), cell("E5-docs", "PPF", "PPP")),
    "diff-small-everywhere": lambda: a_diff(*(cell(f"S{n}", "PPP", "PPF") for n in range(1, 7))),
    "diff-fell-below-bar": lambda: a_diff(*good(), cell("E4-retry-policy", "PPF", "PFF")),
    "diff-errors": lambda: a_diff(*good(), cell("E4-retry-policy", "PEPP", "PEEPF"), cell("E5-docs", "PPP", "EEE")),
    "diff-unmeasured": lambda: a_diff(
        *good(), cell("E4-stale", "PPP", None), cell("E5-only-here", None, "PPP"), cell("E6-never", None, None),
        cell("E7-new", None, "PPP", new=True), cell("E8-gone", "PPP", None, after=None),
    ),
    "diff-not-comparable": lambda: a_diff(*good(), other_instrument()),
    "diff-nothing-comparable": lambda: a_diff(cell("E4-stale", "PPP", None)),
    "diff-no-cells": a_diff,
    "diff-two-tiers": lambda: a_diff(*good(), *(cell(f"E{n}", "PPP", "PPF", tier="sonnet") for n in (1, 2, 3))),
    "diff-many-scenarios": lambda: a_diff(
        *(cell(f"S{n:02}", "PPP", "PPF" if n % 4 == 0 else "PPP") for n in range(1, 23)),
        cell("S23", "PFF", "PPP"), looks=(Looked("orchestration", 1, 3),),
    ),
    "diff-five-reps": lambda: a_diff(cell("S1", "PPPPP", "PFFFF", reps=5), cell("S2", "PPPPP", "PPPPF", reps=5)),
    "diff-single-reps": lambda: a_diff(cell("S1", "P", "F", reps=1), cell("S2", "P", "P", reps=1)),
    "diff-metrics": lambda: a_diff(*(cell(f"S{n}", "PPP", "PFP", scored=True) for n in (1, 2))),
    "diff-long-names": lambda: a_diff(
        cell("invoking-subagents/a-very-long-case-name-that-nobody-would-like-to-type-twice", "PPPPP", "FFFFF", reps=5),
        cell("日本語のシナリオ名はとても長いので切り詰められるはずです", "PPP", "PFF"),
    ),
    "diff-hostile-names": lambda: a_diff(hostile()),
    "gate-pass": lambda: a_gate(*wide(), known=Background(looks=(Looked("orchestration", 1, 3),), versions=1)),
    "gate-pass-with-noise": lambda: a_gate(
        *wide(cell("S13-a", "PPF", "PPP"), cell("S14-b", "PPP", "PPF"), cells=20), known=Background(versions=4)
    ),
    "gate-nothing-measured-anew": lambda: gate(
        BEFORE, AFTER, [cell(f"S{n}", None, "PPP", before=NEW) for n in (1, 2)], Policy("v1.2"), ()
    ),
    "gate-margin-out-of-reach": lambda: a_gate(*good()),
    "gate-margin-not-shown": lambda: a_gate(
        *wide(cell("S13-a", "PPP", "PPF"), cell("S14-b", "PPP", "PPF")), cell("S15-c", "PPP", "PPF")
    ),
    "gate-golden-failed-once": lambda: a_gate(cell("E1-edits", "PPP", "PPF", golden=True), *wide()[1:]),
    "gate-golden-cleared": lambda: a_gate(
        cell("E1-edits", "PPP", "PPF", golden=True), *wide()[1:], *wide(cells=20)[13:],
        fresh=[Fresh(GOLDEN_CELL, (5, 5), (5, 5), 5)],
    ),
    "gate-golden-failed-again": lambda: a_gate(
        cell("E1-edits", "PPP", "PPF", golden=True), *wide()[1:], fresh=[Fresh(GOLDEN_CELL, (5, 5), (4, 5), 5)]
    ),
    "gate-drop-everywhere": lambda: a_gate(*wide(*(cell(f"S1{n}-task", "PPP", "PPF") for n in range(7)))),
    "gate-drop-in-one-tier": lambda: a_gate(
        *wide(), *(cell(f"S{n:02}-task", "PPP", "PFP" if n < 10 else "PPP", tier="sonnet") for n in range(2, 14))
    ),
    "gate-below-bar": lambda: a_gate(*wide(cell("E4-retry-policy", "PPF", "PFF"))),
    "gate-below-bar-already": lambda: a_gate(*wide(cell("E4-retry-policy", "PFF", "PFF"), cells=20)),
    "gate-bar-for-every-cell": lambda: a_gate(*wide(cell("E4-retry-policy", "PFF", "PFF")), bar="every-cell"),
    "gate-suspect": lambda: a_gate(*wide(flagged())),
    "gate-suspect-confirmed": lambda: a_gate(*wide(flagged()), fresh=[Fresh(FLAGGED, (8, 8), (2, 8), 8)]),
    "gate-suspect-cleared": lambda: a_gate(*wide(flagged(), cells=30), fresh=[Fresh(FLAGGED, (8, 8), (7, 8), 8)]),
    "gate-suspect-half-confirmed": lambda: a_gate(*wide(flagged()), fresh=[Fresh(FLAGGED, (4, 4), (1, 4), 8)]),
    "gate-few-reps": lambda: a_gate(*wide(cell("E4-retry-policy", "PPP", "PP"))),
    "gate-missing": lambda: a_gate(*wide(cell("E4-retry-policy", "PPP", None), cell("E5-docs", None, "PPP"))),
    "gate-scenario-dropped": lambda: a_gate(*wide(cell("E4-retry-policy", "PPP", None, after=None))),
    "gate-scenario-edited": lambda: a_gate(*wide(other_instrument())),
    "gate-scenario-added": lambda: a_gate(*wide(), cell("E4-retry-policy", None, "PPP", new=True)),
    "gate-new-below-bar": lambda: a_gate(*wide(), cell("E4-retry-policy", None, "PFF", new=True)),
    "gate-errors": lambda: a_gate(*wide(cell("E4-retry-policy", "PPP", "EEPEPP"))),
    "gate-pass-hangs-on-errors": lambda: a_gate(
        *wide(cell("E4-retry-policy", "PPP", "EEPPP")), max_error_rate=0.2
    ),
    "gate-degenerate": lambda: a_gate(
        *(cell(f"P{n}", "PPP", "FFF") for n in (1, 2)), *(cell(f"C{n}", "PPP", "PPP", control=True) for n in (1, 2))
    ),
    "gate-metric-fell": lambda: a_gate(*scored(5)),
    "gate-metric-blocks": lambda: a_gate(*scored(6), metric_drop="block"),
    "gate-metric-waived": lambda: a_gate(*scored(5), known=Background(waivers=(KNOWN_BUG,))),
    "gate-metric-waived-in-the-range": lambda: a_gate(
        *scored(5),
        known=Background(
            waivers=(KNOWN_BUG._replace(problem="it was made since the baseline, and counts from the next release"),)
        ),
    ),
    "gate-frozen": lambda: a_gate(*wide(), frozen=["scenarios-reserve/R1.yaml: FRZ001 was edited"]),
    "gate-first-release": lambda: gate(
        Side("no baseline", "", {}), AFTER, [cell("E1-edits", None, "PPP", before=None)], Policy("HEAD", own=True), ()
    ),
    "gate-policy-changed": lambda: a_gate(*wide(), changed=True),
    "gate-no-cells": a_gate,
    "gate-everything-at-once": lambda: a_gate(
        cell("E1-edits", "PPP", "FFF", golden=True), cell("E4-retry", "PPP", "EEE"), cell("E5-docs", "PPP", "PFF"),
        frozen=["evalrepo.lock: FRZ006 was removed"],
    ),
}  # fmt: skip
