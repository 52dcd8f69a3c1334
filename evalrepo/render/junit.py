"""The verdict object as JUnit XML: a failed test case for every reason that decides. Decides nothing."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from evalrepo.records.verdict import CellResult, Reason, Verdict
from evalrepo.render.safe import safe
from evalrepo.render.text import answer_text, label_text, score_text

KINDS = {"block": "failure", "finding": "failure", "invalid": "error", "unknown": "error", "inconclusive": "error"}
"""Kind of a reason → element; a note is none."""


def verdict_junit(verdict: Verdict) -> str:
    """Two suites: the decision, which fails exactly when the exit code is not 0, and the cells, which never fail."""
    deciding = [r for r in verdict.reasons if r.kind in KINDS] if verdict.exit else []
    root = ET.Element("testsuites", name=f"evalrepo {verdict.question}")
    suite = _suite(root, "decision", deciding)
    for reason in deciding:
        _reason(suite, reason)
    if not deciding:
        ET.SubElement(suite, "testcase", name=safe(answer_text(verdict)), classname=f"evalrepo.{verdict.question}")
    _say(suite, f"{verdict.question}: {answer_text(verdict)} (exit {verdict.exit})", *_notes(verdict))
    cells = _suite(root, "cells", [], tests=len(verdict.cells), skipped=sum(not c.comparable for c in verdict.cells))
    for cell in verdict.cells:
        _cell(cells, cell)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, name: str, reasons: list[Reason], tests: int = 0, skipped: int = 0) -> ET.Element:
    kinds = [KINDS[r.kind] for r in reasons]
    counts = {"tests": tests or max(1, len(kinds)), "failures": kinds.count("failure"), "errors": kinds.count("error")}
    numbers = {k: str(v) for k, v in counts.items()}
    if name == "cells":
        numbers |= {"tests": str(tests), "skipped": str(skipped)}
    return ET.SubElement(root, "testsuite", {"name": name, **numbers})


def _reason(suite: ET.Element, reason: Reason) -> None:
    case = ET.SubElement(
        suite, "testcase", name=safe(f"{reason.code}: {reason.text}"), classname=f"evalrepo.{reason.kind}"
    )
    found = ET.SubElement(case, KINDS[reason.kind], message=safe(reason.text), type=reason.code)
    found.text = safe(reason.command)


def _cell(suite: ET.Element, cell: CellResult) -> None:
    case = ET.SubElement(suite, "testcase", name=safe(cell.scenario), classname=safe(f"{cell.agent}/{cell.tier}"))
    if not cell.comparable:
        ET.SubElement(case, "skipped", message=safe(f"{cell.label}: {cell.why}" if cell.why else str(cell.label)))
    _say(case, f"{score_text(cell.before)} -> {score_text(cell.after)}  {label_text(cell)}")


def _notes(verdict: Verdict) -> list[str]:
    return [r.text for r in verdict.reasons if r.kind == "note" or not verdict.exit]


def _say(parent: ET.Element, *lines: str) -> None:
    ET.SubElement(parent, "system-out").text = "\n".join(map(safe, lines))
