"""A page about an eval with a table of its scenarios: an id, what it is like, and when it fails, axis by axis.

The page holds no prompts: they stand in the runner's own files. Full ids, bars, repetitions and models are found where
the page's commands name them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalrepo.importing import writing
from evalrepo.importing.found import Asked, Imported, Left, NewFile
from evalrepo.importing.markdown import Block, Page, page

FORMAT = "scenario-table"

_ID = re.compile(r"`?([A-Z]{1,3}\d{1,4}[A-Z]?)`?")
_AXIS = re.compile(r"(?:^|(?<=[.;] ))(?=[A-Z]: )")
_ENV = re.compile(r"`([A-Z][A-Z0-9_]{2,79})=([^`\s]+)`")
_DEFERRED = re.compile(r"\b([A-Z]{1,3}\d{1,4}[A-Z]?)\s*\(([^)]+)\)[^.]*\bdeferred\b")


@dataclass(frozen=True)
class _Columns:
    """Where a table's cells belong; -1: there is no such column."""

    id: int
    title: int
    fails: int
    cluster: int

    @property
    def kept(self) -> set[int]:
        """Columns that have a place."""
        return {self.id, self.title, self.fails, self.cluster}


@dataclass(frozen=True)
class _Row:
    """A scenario as the table has it."""

    id: str
    alias: str
    block: Block
    title: str
    cluster: str
    fails: Sequence[str]
    env: dict[str, str]
    negative: bool


def fits(text: str) -> bool:
    """Whether the document is one."""
    return any(_tables(page(text)))


def read(text: str, asked: Asked) -> Imported:
    """Scenario files without prompts, and suites, bar and gaps as lines for evalrepo.yaml."""
    found = page(text)
    rows, left = _rows(found, text)
    subject = asked.subject or _subject(found)
    files = tuple(_file(row, subject, asked) for row in rows)
    missing = "no prompt is in the document: write `turns` from the runner's own file"
    for row in rows:
        left.append(Left(row.block.line, row.alias, missing, row.block.section))
        words = " / ".join(row.fails)
        left += [Left(row.block.line, f"{row.alias}: {words}", "a rule in words: write it as checks")] if words else []
    return Imported(FORMAT, files, tuple(sorted([*found.left(), *left])), _filled(rows), config=_config(text, rows))


def _tables(found: Page) -> Iterator[tuple[_Columns, Block, list[Block]]]:
    for head, rows in found.tables():
        columns = _columns(head)
        if columns is not None and any(_ID.fullmatch(row.cells[columns.id]) for row in rows if row.cells):
            yield columns, head, rows


def _columns(head: Block) -> _Columns | None:
    names = [cell.lower() for cell in head.cells]

    def at(*words: str) -> int:
        return next((n for n, name in enumerate(names) if any(word in name for word in words)), -1)

    columns = _Columns(
        names.index("id") if "id" in names else -1, at("shape", "title", "task"), at("fail"), at("cluster")
    )
    return columns if columns.id == 0 and columns.title > 0 else None


def _rows(found: Page, text: str) -> tuple[list[_Row], list[Left]]:
    rows: dict[str, _Row] = {}
    left: list[Left] = []
    for columns, head, blocks in _tables(found):
        known = {match[1] for block in blocks if (match := _ID.fullmatch(block.cells[0]))}
        found.take(head)
        for block in blocks:
            row = _row(block, columns, text, known)
            if row is None or row.alias in rows:
                continue
            rows[row.alias] = row
            found.take(block)
            left += [
                Left(block.line, f"{row.alias}: {cell}", f'the column "{name}" has no place', block.section)
                for n, (name, cell) in enumerate(zip(head.cells, block.cells, strict=False))
                if n not in columns.kept and cell
            ]
            left += [
                Left(block.line, f"{row.alias}: {cell}", "more cells than the table has columns", block.section)
                for cell in block.cells[len(head.cells) :]
            ]
    return list(rows.values()), left


def _row(block: Block, columns: _Columns, text: str, known: set[str]) -> _Row | None:
    match = _ID.fullmatch(block.cells[0])
    cells = (*block.cells, *[""] * 10)
    if match is None or not cells[columns.title]:
        return None
    full = re.search(rf"(?<![\w-]){match[1]}-[a-z0-9]+(?:-[a-z0-9]+)*", text)
    fails = cells[columns.fails] if columns.fails > 0 else ""
    return _Row(
        id=full[0] if full and writing.is_name(full[0]) else match[1],
        alias=match[1],
        block=block,
        title=cells[columns.title],
        cluster=cells[columns.cluster] if columns.cluster > 0 else "",
        fails=[part.strip() for part in _AXIS.split(fails) if part.strip()],
        env=dict(_ENV.findall(cells[columns.title])),
        negative=match[1].endswith("N") and f"{match[1][:-1]}P" in known,
    )


def _subject(found: Page) -> str:
    title = next((b.text for b in found.blocks if b.kind == "heading"), "")
    quoted = re.search(r"`([\w.-]+)`", title)
    first = quoted[1] if quoted else title.partition(" ")[0]
    return writing.name(first) or "subject"


def _file(row: _Row, subject: str, asked: Asked) -> NewFile:
    text = writing.comment(f"{row.alias} of {asked.source}, line {row.block.line}.")
    text += writing.entry("title", row.title)
    text += writing.entry("cluster", row.cluster) if row.cluster else ""
    text += "polarity: negative\n" if row.negative else ""
    text += writing.entry("subject", subject) + writing.entries("env", row.env)
    text += writing.comment("fixture: NAME")
    text += writing.comment("turns: the document has no prompt; lint says so until it is written")
    text += writing.items("watch_for", row.fails)
    text += writing.comment("checks: one for each axis above; conformance: scripts that prove them")
    return NewFile(f"scenarios/{row.id}.yaml", text, (row.id,))


def _config(text: str, rows: Sequence[_Row]) -> str:
    """What the page says about the suite, its bar and what it leaves out."""
    flat = " ".join(text.split())
    tiers = re.search(r"\bx \{([\w.-]+(?:,[\w.-]+)*)\}", flat)
    reps = re.search(r"\bx (\d{1,3}) reps\b", flat)
    bar = re.search(r"(?:≥|>=)\s*(\d{1,3})\s*/\s*(\d{1,3})\b", flat)
    parts = [f"scenarios: [{', '.join(row.alias for row in rows)}]"]
    parts += [f"tiers: [{tiers[1].replace(',', ', ')}]"] if tiers else []
    parts += [f"reps: {int(reps[1])}"] if reps else []
    parts += [f"bar: {{passes: {int(bar[1])}, of: {int(bar[2])}}}"] if bar else []
    known = {row.alias for row in rows}
    gaps = {m[1]: m[2] for m in _DEFERRED.finditer(flat) if m[1] not in known}
    lines = [f"  - id: {name}\n    {writing.entry('why', f'deferred: {why}')}" for name, why in gaps.items()]
    return f"suites:\n  imported: {{{', '.join(parts)}}}\n" + ("uncovered:\n" + "".join(lines) if lines else "")


def _filled(rows: Sequence[_Row]) -> dict[str, int]:
    return {
        "title": len(rows),
        "cluster": sum(bool(row.cluster) for row in rows),
        "polarity": sum(row.negative or row.alias.endswith("P") for row in rows),
        "env": sum(bool(row.env) for row in rows),
        "watch_for": sum(bool(row.fails) for row in rows),
    }
