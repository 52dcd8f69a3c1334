"""Situations that a diff or a gate must be right about, each in a line or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from comparing_rows import NEW, OLD, make_row

from evalrepo.comparing.cells import Planned, compare_cell
from evalrepo.comparing.diff import diff
from evalrepo.comparing.gate import gate
from evalrepo.comparing.pool import Identity
from evalrepo.records.verdict import CellResult, Policy, Side, Verdict

BEFORE = Side("v1.2", "3f2a91c" + "0" * 33, {"orchestration": "69d6a1b8"}, ("subjects/orchestration",))
AFTER = Side("HEAD", "c67d6e7" + "0" * 33, {"orchestration": "e113d928"}, ("subjects/orchestration",))
HERE = Side("WORKTREE", "", {"orchestration": "e113d928"}, ("subjects/orchestration",))
EARLY, LATE = "2026-10-01T10:00:00Z", "2026-11-01T10:00:00Z"


def cell(name: str, was: str | None, now: str | None, tier: str = "haiku", **planned: Any) -> CellResult:
    """One cell: verdict letters of both sides, None for a side that was not measured."""
    rows = []
    if was is not None:
        rows.append(make_row("aaaaaaa1", was, OLD, scenario=name, tier=tier, start=EARLY))
    if now is not None:
        rows.append(make_row("bbbbbbb2", now, NEW, scenario=name, tier=tier, start=LATE))
    made = {"before": OLD, "after": NEW} | planned
    return compare_cell(Planned(name, "claude", tier, **made), rows)


def a_diff(*cells: CellResult, after: Side = HERE) -> Verdict:
    return diff(BEFORE, after, cells, Policy("WORKTREE"))


def a_gate(*cells: CellResult, frozen: Sequence[str] = (), **policy: Any) -> Verdict:
    made = {"suites": ("release",), "golden": ("E1-*",)} | policy
    return gate(BEFORE, AFTER, cells, Policy("v1.2", **made), frozen)


def good() -> list[CellResult]:
    return [cell(f"E{n}-mechanical-edits", "PPP", "PPP", golden=n == 1) for n in (1, 2, 3)]


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
    "diff-one-regression": lambda: a_diff(*good(), cell("E4-retry-policy", "PPP", "PFF")),
    "diff-noise": lambda: a_diff(*good(), cell("E4-retry-policy", "PPP", "PPF"), cell("E5-docs", "PPF", "PPP")),
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
    "diff-long-names": lambda: a_diff(
        cell("invoking-subagents/a-very-long-case-name-that-nobody-would-like-to-type-twice", "PPPPP", "FFFFF", reps=5),
        cell("日本語のシナリオ名はとても長いので切り詰められるはずです", "PPP", "PFF"),
    ),
    "diff-hostile-names": lambda: a_diff(hostile()),
    "gate-pass": lambda: a_gate(*good()),
    "gate-golden-failed-once": lambda: a_gate(cell("E1-edits", "PPP", "PPF", golden=True), *good()[1:]),
    "gate-below-bar": lambda: a_gate(*good(), cell("E4-retry-policy", "PPF", "PFF")),
    "gate-below-bar-already": lambda: a_gate(*good(), cell("E4-retry-policy", "PFF", "PFF")),
    "gate-suspect": lambda: a_gate(*good(), cell("E4-retry-policy", "PPP", "PFF", bar=(1, 3))),
    "gate-few-reps": lambda: a_gate(*good(), cell("E4-retry-policy", "PPP", "PP")),
    "gate-missing": lambda: a_gate(*good(), cell("E4-retry-policy", "PPP", None), cell("E5-docs", None, "PPP")),
    "gate-scenario-dropped": lambda: a_gate(*good(), cell("E4-retry-policy", "PPP", None, after=None)),
    "gate-scenario-edited": lambda: a_gate(*good(), other_instrument()),
    "gate-scenario-added": lambda: a_gate(*good(), cell("E4-retry-policy", None, "PPP", new=True)),
    "gate-errors": lambda: a_gate(*good(), cell("E4-retry-policy", "PPP", "PEPEP")),
    "gate-frozen": lambda: a_gate(*good(), frozen=["scenarios-reserve/R1.yaml: FRZ001 was edited"]),
    "gate-first-release": lambda: gate(
        Side("no baseline", "", {}), AFTER, [cell("E1-edits", None, "PPP", before=None)], Policy("HEAD", own=True), ()
    ),
    "gate-policy-changed": lambda: a_gate(*good(), changed=True),
    "gate-no-cells": a_gate,
    "gate-everything-at-once": lambda: a_gate(
        cell("E1-edits", "PPP", "FFF", golden=True), cell("E4-retry", "PPP", "EEE"), cell("E5-docs", "PPP", "PFF"),
        frozen=["evalrepo.lock: FRZ006 was removed"],
    ),
}  # fmt: skip
