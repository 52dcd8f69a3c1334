"""bisect, plan and log as text: whole files that a person can read; `GOLDEN=write` writes them anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from evalrepo.comparing.planning import Known, Question, outlook
from evalrepo.comparing.trend import Release, SuitePoint, SuiteTrend, slide
from evalrepo.records.bisection import Bisection, Candidate
from evalrepo.render.bisection import bisection_text
from evalrepo.render.history import suite_text
from evalrepo.render.planning import outlook_text
from evalrepo.render.text import plain

GOLDEN = Path(__file__).parent.parent / "golden"
WORDINGS = (
    ("e51bd07", 0.004, (4, 6), "Say less in the summary"),
    ("b0a4c2f", 0.961, (8, 12), "Shorten the reviewer's checklist \x1b[31m"),
    ("77aa0d1", 0.029, (1, 12), "Mention the changelog"),
    ("5d1c9be", 0.006, (0, 3), "Order the steps"),
    ("19f3e60", 0.0, (0, 0), "Half a merge"),
    ("02c8a4d", 0.0, (1, 9), "v1.4: the guide as released"),
)
FOUND = Bisection(
    scenario="E3-retry-policy",
    agent="claude",
    tier="opus",
    axis="A",
    good="v1.4",
    bad="HEAD",
    commits=31,
    stop=0.95,
    budget=100,
    answer="found",
    why="",
    candidates=tuple(
        Candidate(c * 6, "2026-11-20T10:00:00Z", line, 5 - n // 2, f"subject{n}", p, *seen, recorded=3 if n == 5 else 0,
                  errors=int(n == 2), skipped="skipped" if n == 4 else "")
        for n, (c, p, seen, line) in enumerate(WORDINGS)
    ),
    best=1,
    beside=(),
    next="",
    before=0.09,
    since=0.66,
    bits=0.3,
    ran=39,
    diff="--- a/team/GUIDE.md\n+++ b/team/GUIDE.md\n@@ -4 +4 @@\n-3. Read the diff before you answer.\n+3. Answer.\n",
    diff_command="git diff 77aa0d177 b0a4c2fb0 -- team",
)  # fmt: skip


def believed(*posterior: float) -> tuple[Candidate, ...]:
    return tuple(replace(c, posterior=p) for c, p in zip(FOUND.candidates, posterior, strict=True))


SPENT = replace(
    FOUND, answer="inconclusive", why="39 of a budget of 39 reps spent, and no commit has 95%", budget=39, diff="",
    diff_command="", next="77aa0d1" * 6, bits=1.9, candidates=believed(0.08, 0.61, 0.29, 0.02, 0.0, 0.0004),
)  # fmt: skip
NOTHING = replace(
    FOUND, answer="nothing-changed", best=5, diff="", diff_command="", before=0.4, since=0.4,
    candidates=tuple(
        replace(c, fails=2 * n, reps=5 * n) for n, c in enumerate(believed(0.01, 0.01, 0.01, 0.01, 0.0, 0.96), 2)
    ),
)  # fmt: skip
UNTOUCHED = replace(SPENT, answer="open", why="", ran=0, budget=100, candidates=tuple(
    replace(c, posterior=1 / 6, fails=0, reps=0, errors=0, recorded=0, skipped="") for c in FOUND.candidates))  # fmt: skip


def known(n: int, here: tuple[int, int], before: tuple[int, int], usd: float | None) -> Known:
    prices = () if usd is None else (usd, usd * 1.5, usd)
    tier = "opus" if n % 2 else "haiku"
    return Known(f"E{n}-a-scenario-of-a-team", "claude", tier, 3, (2, 3), here, before, prices, (140.0, 160.0 + n))


MIXED = [
    *(known(n, (3, 3), (3, 3), 0.31) for n in range(8)),
    known(8, (2, 2), (3, 3), None),
    known(9, (1, 3), (1, 3), 0.2),
    known(10, (0, 3), (0, 3), 0.2),
    replace(known(11, (0, 0), (0, 0), None), agent="pi", tier="default", seconds=()),
]
ASKED = Question((3, 5, 8), 0.05, 0.10, 4, "release")
POINTS = [("WORKTREE", 10), ("c3", 11), ("c2", 12), ("c1", 14)]


def counts(total: int) -> dict[tuple[str, str, str], tuple[int, int]]:
    return {(f"S{i}", "claude", "opus"): (min(3, max(0, total - 3 * i)), 3) for i in range(5)}


def suite() -> SuiteTrend:
    points = [
        SuitePoint(c * 20 if c != "WORKTREE" else c, "2026-11-20", f"change {n}", counts(n), 5) for c, n in POINTS
    ]
    lacking = replace(points[1], counts=dict(list(points[1].counts.items())[:3]))
    falling = slide([Release(name, n / 15, counts(n)) for name, n in (("v1", 14), ("v2", 12), ("here", 10))])
    return SuiteTrend("suite release", (points[0], lacking, *points[2:]), falling)


TEXTS = {
    "bisect/found.txt": lambda: bisection_text(FOUND),
    "bisect/beside.txt": lambda: bisection_text(replace(FOUND, beside=(2,), since=0.05)),
    "bisect/spent.txt": lambda: bisection_text(SPENT),
    "bisect/nothing-changed.txt": lambda: bisection_text(NOTHING),
    "bisect/nothing-recorded.txt": lambda: bisection_text(UNTOUCHED),
    "plan/mixed.txt": lambda: outlook_text(
        outlook([replace(c, base=c.before[1]) for c in MIXED], replace(ASKED, base="v1.2"))
    ),
    "plan/saturated.txt": lambda: outlook_text(outlook(MIXED[:8], ASKED)),
    "plan/nothing-recorded.txt": lambda: outlook_text(outlook([known(1, (0, 0), (0, 0), None)], ASKED)),
    "log/suite.txt": lambda: suite_text(suite(), plain),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_as_it_was_approved_and_no_wider_than_eighty_columns(name: str):
    text, place = TEXTS[name]() + "\n", GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        place.write_text(text)
    assert text == place.read_text()
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if len(line) > 80] == []
