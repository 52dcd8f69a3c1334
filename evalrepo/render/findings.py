"""Findings as text for a terminal, and as JSON-ready data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalrepo.errors import Finding
from evalrepo.render.safe import safe_lines


def shown(finding: Finding) -> str:
    """One line `file:line:column: CODE message`, a second for the hint; safe for a terminal."""
    return safe_lines(str(finding))


def summary(findings: Sequence[Finding]) -> str:
    """How many there are, and how to learn what one means."""
    if not findings:
        return "no findings"
    errors = sum(not f.warning for f in findings)
    counts = [(errors, "finding"), (len(findings) - errors, "warning")]
    said = " and ".join(counted(n, what) for n, what in counts if n)
    first = min(findings, key=lambda f: f.warning)
    return f"{said}; evalrepo lint --explain {first.code} says what one means"


def counted(number: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def finding_json(finding: Finding) -> dict[str, Any]:
    """File, 1-based line and column (0: unknown), code, severity ("error" or "warning"), message, hint."""
    return {
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "code": finding.code,
        "severity": "warning" if finding.warning else "error",
        "message": finding.message,
        "hint": finding.hint,
    }
