"""A markdown page as blocks with their lines, and which of them have been used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from evalrepo.importing.found import Left

_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_FIELD = re.compile(r"\*\*([A-Z][\w -]*?)(?:\s*\(([^)]*)\))?:\*\*\s*(.*)")
_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s+(.*)")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*(\S*)")
_RULED = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_CELL = re.compile(r"(?<!\\)\|")

PROSE = "prose, for which no file has a place"
_WHYS = (
    (r"\btsv\b", "evalrepo import reads a TSV's rows as results"),
    (r"harness error", "write it as `validity` checks: a failing one is ERROR, never FAIL"),
    (r"held.?out|reserve|twin", "twins are written by hand: evalrepo new ID-reserve --reserve-of ID, and frozen"),
    (r"judge|rubric", "a judge's question stands in a rubric, rubrics/NAME.md, and a `judge` check asks it"),
    (r"fixture|planted", "a work tree is made by hand: put it below fixtures/NAME and name it, `fixture: NAME`"),
    (r"sandbox|headless|install|refresh|injects?\b|extension",
     "how the subject is installed and its agent started stands in evalrepo.yaml, `subjects` and `agents`"),
    (r"transcript", "the agent's own log is read by evalrepo; a question about it is a check"),
    (r"pass bar|reps?\b|trials?\b", "reps and bars stand in evalrepo.yaml, `suites`, `reps` and `bar`"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """A `heading`, `field` (`**Label (note):** text`), `item`, `row` of a table, `fence` or `text`.

    `line` is its first one, from 1; `lines` how many. `level` of a heading, `label` and `note` of a field, `cells` of a
    row; `section`: the heading above.
    """

    kind: str
    line: int
    text: str
    lines: int = 1
    level: int = 0
    label: str = ""
    note: str = ""
    cells: tuple[str, ...] = ()
    section: str = ""


@dataclass
class Page:
    """A document's blocks; `take` says that one has found its place."""

    blocks: Sequence[Block]
    _used: set[int] = field(default_factory=set)

    def take(self, *blocks: Block) -> None:
        """These are not left."""
        self._used |= {block.line for block in blocks}

    def tables(self) -> Iterator[tuple[Block, list[Block]]]:
        """Each table: its head and its rows, in order."""
        rows: list[Block] = []
        for block in (*self.blocks, Block("end", 0, "")):
            if block.kind == "row" and (not rows or block.line == rows[-1].line + rows[-1].lines):
                rows.append(block)
                continue
            if len(rows) > 1:
                yield rows[0], rows[1:]
            rows = [block] if block.kind == "row" else []

    def left(self) -> Iterator[Left]:
        """What was not used; a heading only when nothing stands below it."""
        for block, after in zip(self.blocks, (*self.blocks[1:], Block("heading", 0, "")), strict=True):
            bare = after.kind == "heading" and after.level <= block.level
            if block.line not in self._used and (block.kind != "heading" or bare):
                yield Left(block.line, block.text, _why(block), block.section)


def _why(block: Block) -> str:
    if block.kind == "fence":
        return "commands and samples: evalrepo run, selftest and show do what scripts did"
    words = f"{block.section} {block.text}".lower()
    return next((why for pattern, why in _WHYS if re.search(pattern, words)), PROSE)


def page(text: str) -> Page:
    """The document as blocks; together they hold every line that is not blank."""
    section, blocks = "", []
    for block in _blocks(text.splitlines()):
        blocks.append(block if block.kind == "heading" else replace(block, section=section))
        section = block.text if block.kind == "heading" else section
    return Page(blocks)


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        block = _at(lines, at)
        yield block
        at += block.lines


def _at(lines: Sequence[str], at: int) -> Block:
    """The block that begins in a line that is not blank."""
    line, number = lines[at], at + 1
    if fence := _FENCE.match(line):
        return _fenced(lines, at, fence[1])
    if heading := _HEADING.fullmatch(line):
        return Block("heading", number, heading[2], level=len(heading[1]))
    if line.lstrip().startswith("|"):
        return _row(lines, at)
    if named := _FIELD.match(line):
        text, count = _joined(lines, at, named[3])
        return Block("field", number, text, count, label=named[1].strip(), note=named[2] or "")
    item = _ITEM.fullmatch(line)
    text, count = _joined(lines, at, item[1] if item else line.strip())
    return Block("item" if item else "text", number, text, count)


def _fenced(lines: Sequence[str], at: int, mark: str) -> Block:
    end = next((n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(mark)), len(lines) - 1)
    closed = lines[end].strip().startswith(mark) and end > at
    inside = lines[at + 1 : end if closed else end + 1]
    return Block("fence", at + 1, "\n".join(inside), end - at + 1)


def _row(lines: Sequence[str], at: int) -> Block:
    """A row; the line of dashes below a table's head belongs to the head."""
    ruled = at + 1 < len(lines) and "-" in lines[at + 1] and _RULED.fullmatch(lines[at + 1]) is not None
    text = lines[at].strip()
    cells = tuple(cell.strip().replace("\\|", "|") for cell in _CELL.split(text.removeprefix("|").removesuffix("|")))
    return Block("row", at + 1, text, 2 if ruled else 1, cells=cells)


def _joined(lines: Sequence[str], at: int, first: str) -> tuple[str, int]:
    """The text with the lines that go on with it, and how many lines that are."""
    parts, count = [first], 1
    for line in lines[at + 1 :]:
        begins = _FENCE.match(line) or _HEADING.fullmatch(line) or _FIELD.match(line) or _ITEM.fullmatch(line)
        if not line.strip() or begins or line.lstrip().startswith("|"):
            break
        parts.append(line.strip())
        count += 1
    return " ".join(part for part in parts if part), count
