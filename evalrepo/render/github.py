"""The verdict object as annotations of a GitHub Actions run: workflow commands, one a line. Decides nothing."""

from __future__ import annotations

from evalrepo.records.verdict import Reason, Verdict
from evalrepo.render.safe import safe
from evalrepo.render.text import answer_text, side_name

LEVELS = {"block": "error", "finding": "error", "invalid": "error", "unknown": "error", "inconclusive": "warning"}
"""Kind of a reason → level; a note is a notice."""

MOST = 10
"""Annotations of a level that GitHub shows for a step."""


def verdict_github(verdict: Verdict) -> str:
    """The answer first, an error exactly when the exit code is not 0; then the reasons, the gravest first."""
    sides = f"{side_name(verdict.before)} → {side_name(verdict.after)}"
    answer = f"{answer_text(verdict)} (exit {verdict.exit}), {sides}"
    lines = [_command("error" if verdict.exit else "notice", f"evalrepo {verdict.question}", answer)]
    shown: dict[str, int] = {lines[0].split(" ")[0][2:]: 1}
    for reason in verdict.reasons:
        level = LEVELS.get(reason.kind, "notice")
        shown[level] = shown.get(level, 0) + 1
        if shown[level] <= MOST:
            lines.append(_reason(level, verdict.question, reason))
    left = sum(max(0, n - MOST) for n in shown.values())
    return "\n".join([*lines, *([f"and {left} more reasons: see --format text"] if left else [])]) + "\n"


def _reason(level: str, question: str, reason: Reason) -> str:
    more = f"\nto settle it: {reason.command}" if reason.command else ""
    return _command(level, f"evalrepo {question}: {reason.code}", safe(reason.text) + more)


def _command(level: str, title: str, text: str) -> str:
    """Escaped as the runner's toolkit does, so that no text ends the line or the property it stands in."""
    data = "\n".join(map(safe, text.split("\n"))).replace("%", "%25").replace("\n", "%0A")
    name = safe(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{data}"
