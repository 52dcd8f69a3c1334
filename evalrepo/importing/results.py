"""Results that were kept by hand: rows of a TSV, and filled report templates. Each becomes a result written by hand.

Such a result says what was measured and when, and is never pooled: nobody knows the content that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalrepo.errors import UsageError
from evalrepo.formats.scorecard import parse, spans
from evalrepo.importing import writing
from evalrepo.importing.found import Asked, Imported, Left, NewFile

TSV = "results-tsv"
REPORT = "report"
COLUMNS = ("scenario", "model", "rep", "verdict", "axes", "info")
VERDICTS = ("PASS", "FAIL", "ERROR")

_FOLDER = "AgentsReport/evaluation"


@dataclass(frozen=True)
class _Row:
    line: int
    cells: dict[str, str]
    raw: str


def fits_tsv(text: str) -> bool:
    """Whether the document is a TSV with the columns `scenario` and `verdict`, or of rows that look like it."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    cells = first.split("\t")
    return bool(_head(first)) or (len(cells) == len(COLUMNS) and cells[3].strip() in VERDICTS)


def _head(line: str) -> list[str]:
    """Names of the columns when the line is a head, else none."""
    names = [cell.strip().lower() for cell in line.split("\t")]
    return names if {"scenario", "verdict"} <= set(names) else []


def read_tsv(text: str, asked: Asked) -> Imported:
    """A result for each scenario, its rows as they are."""
    rows, left, head = _rows(text)
    if not rows:
        raise UsageError(f"{asked.source} holds no row with a scenario and a verdict", hint="\t".join(COLUMNS))
    by_scenario: dict[str, list[_Row]] = {}
    for row in rows:
        by_scenario.setdefault(row.cells["scenario"], []).append(row)
    files = [_tsv_file(name, found, head, asked) for name, found in by_scenario.items()]
    return Imported(TSV, tuple(files), tuple(left), results=len(rows))


def _rows(text: str) -> tuple[list[_Row], list[Left], str]:
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    names: Sequence[str] = COLUMNS
    head = "\t".join(COLUMNS)
    if lines and (named := _head(lines[0][1])):
        head, names = lines.pop(0)[1], named
    rows, left = [], []
    seen: set[tuple[str, ...]] = set()
    for number, line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        row = _Row(number, dict(zip(names, cells, strict=False)), line)
        if why := _unfit(row, len(cells), len(names)):
            left.append(Left(number, line, why))
            continue
        rows.append(row)
        key = tuple(row.cells.get(column, "") for column in ("scenario", "model", "rep"))
        if key in seen:
            left.append(Left(number, line, "a second row of this repetition: both stand in the result"))
        seen.add(key)
    return rows, left, head


def _unfit(row: _Row, cells: int, columns: int) -> str:
    """Why the row is no result, "" when it is."""
    if cells != columns:
        return f"has {cells} cells where the head has {columns}"
    if row.cells["verdict"] not in VERDICTS:
        return "its verdict is none of PASS, FAIL and ERROR"
    return "" if writing.name(row.cells["scenario"]) else "has no scenario"


def _tsv_file(name: str, rows: Sequence[_Row], head: str, asked: Asked) -> NewFile:
    text = f"# {_plain(name)} · {len(rows)} reps, by hand\n\nFrom {_plain(asked.source)}, as it stands there.\n\n"
    for model in dict.fromkeys(row.cells.get("model", "") for row in rows):
        verdicts = [row.cells["verdict"] for row in rows if row.cells.get("model", "") == model]
        errors = verdicts.count("ERROR")
        said = f"{verdicts.count('PASS')} of {len(verdicts) - errors} passed, {errors} ERROR"
        text += f"- {_plain(model) or 'model not said'}: {said}\n"
    return NewFile(_path(name, asked), text + "\n" + _fenced("tsv", [head, *(row.raw for row in rows)]))


def fits_report(text: str) -> bool:
    """Whether the document holds a filled report."""
    return any(True for _ in _reports(text))


@dataclass(frozen=True)
class _Report:
    """Lines of a filled report, the first at `line`."""

    line: int
    scenario: str
    lines: Sequence[str]


def read_report(text: str, asked: Asked) -> Imported:
    """A result for each report, its lines as they are."""
    reports = list(_reports(text))
    files, left = [], []
    taken: set[str] = set()
    kept = {report.line + n for report in reports for n in range(len(report.lines))}
    for report in reports:
        head = f"# {_plain(report.scenario)}, scored by hand\n\nFrom {_plain(asked.source)}, line {report.line}.\n\n"
        path = _path(report.scenario, asked)
        if path in taken:
            left.append(Left(report.line, f"Scenario: {report.scenario}", "a second report of this scenario and day"))
            continue
        taken.add(path)
        files.append(NewFile(path, head + _fenced("text", report.lines)))
    others = [(n, line) for n, line in enumerate(text.splitlines(), 1) if n not in kept and line.strip(" `~")]
    left += [Left(n, line.strip(), "stands outside of every report") for n, line in others]
    return Imported(REPORT, tuple(files), tuple(sorted(left)), results=len(files))


def _reports(text: str) -> Iterator[_Report]:
    """Every score card that says how it ended, and a score."""
    lines = text.splitlines()
    cards, _ = parse(text, "")
    for card, (start, end) in zip(cards, spans(lines), strict=True):
        if card.status and card.filled:
            yield _Report(start + 1, card.scenario, "\n".join(lines[start:end]).rstrip().split("\n"))


def _path(scenario: str, asked: Asked) -> str:
    if not asked.date:
        raise UsageError(
            f"nobody says when the results of {asked.source} were measured", hint="--date YYYY-MM-DD, by UTC"
        )
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", scenario).strip("-.")
    return f"{_FOLDER}/{asked.date}_scenario-{plain}.md"


def _fenced(info: str, lines: Sequence[str]) -> str:
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{info}\n" + "\n".join(lines) + f"\n{mark}\n"


def _plain(text: str) -> str:
    """The text in a heading or a sentence: no sign in it means anything."""
    return re.sub(r"[^\w .:/+-]", "", text)
