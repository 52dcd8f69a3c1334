"""Text from files, transcripts and git, made safe for a terminal or a markdown page.

Nothing that a scenario, an agent or a file name says may move the cursor, set a title, write the clipboard, reverse
the direction of a line, or forge a heading, a link, a row or a mention. What is neutralised is shown, not dropped.
"""

from __future__ import annotations

import re
from unicodedata import category, combining, east_asian_width

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: escape sequences, OSC
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # bidi, zero width, line and paragraph separators
    "\ud800-\udfff"  # bytes of a file name that are no UTF-8
    "\U000e0000-\U000e007f]"  # tags
)
_MARKDOWN = re.compile(r"([\\`*_\[\]|~])|^(?=[#+>=-])")
_NUMBER = re.compile(r"^(\d+)(?=[.)])")
_SINGLE = re.compile("[ -~\u00a0-\u00ac\u00ae-\u02ff–—…→★▁-█]*")
"""Text of which every character is one column wide."""

_BACKTICKS = re.compile(r"`+")


def safe(text: str) -> str:
    """One line: every control, bidi and invisible character as its escape (`\\x1b`, `\\u202e`, `\\n`)."""
    return _UNSAFE.sub(_shown, text)


def safe_lines(text: str) -> str:
    """As `safe`, but line feeds stay and tabs become four spaces."""
    return "\n".join(safe(line.replace("\t", "    ")) for line in text.split("\n"))


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    number = ord(char)
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def md(text: str) -> str:
    """Text inside a markdown line or table cell: every sign that markdown or HTML reads is escaped."""
    escaped = _NUMBER.sub(r"\1\\", _MARKDOWN.sub(r"\\\1", safe(text).lstrip()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;")


def fenced(text: str, kind: str = "") -> str:
    """Text as a fenced block whose fence is longer than any run of backticks in it."""
    shown = safe_lines(text)
    fence = "`" * max(3, longest_run(shown) + 1)
    return f"{fence}{kind}\n{shown}\n{fence}"


def longest_run(text: str) -> int:
    """Length of the longest run of backticks."""
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def width(text: str) -> int:
    """Columns that the text takes on a terminal."""
    if _SINGLE.fullmatch(text):
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if combining(char) or category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1


def shortened(text: str, columns: int) -> str:
    """The text in at most `columns` columns, its middle replaced by `…` when it is longer."""
    if width(text) <= columns:
        return text
    tail = _cut(text[::-1], (columns - 1) // 2)[::-1]
    return _cut(text, columns - 1 - width(tail)) + "…" + tail


def _cut(text: str, columns: int) -> str:
    used, out = 0, []
    for char in text:
        used += _columns(char)
        if used > columns:
            break
        out.append(char)
    return "".join(out)


def wrapped(text: str, *, first: str = "", then: str = "", columns: int = 80, cut: bool = True) -> list[str]:
    """The text in lines of at most `columns` columns, broken at spaces; a word longer than a line is cut, or with
    `cut=False` (paths, commands: things to copy) left whole on a line of its own."""
    lines, line = [], first
    empty = True
    for word in safe(text).split(" "):
        rest = word
        if not empty and width(line) + 1 + width(rest) > columns:
            lines.append(line)
            line, empty = then, True
        while cut and width(line) + width(rest) > columns:
            part = _cut(rest, max(1, columns - width(line))) or rest[:1]
            lines.append(line + part)
            line, empty, rest = then, True, rest[len(part) :]
        line += rest if empty else f" {rest}"
        empty = False
    return [*lines, line]
