"""What goes wrong in YAML text, said in words: bytes, characters, syntax, and the well-known traps."""

from __future__ import annotations

import re

from evalrepo.errors import DataError, Finding, Place

MAX_BYTES = 1_000_000

CUT = re.compile(r"[ \t]+#[^\s#!]")
"""A `#` that is glued to what follows: `fix issue #12 now`, hardly ever a comment."""
CUT_HINT = "put the text in quotes; if it is a comment, put a space after the #"
TAG_HINT = "remove it; quotes make a scalar text"

_LINE_END = re.compile(r"\r\n|\r|\n")
_Said = tuple[str, str, str]
ALIAS: _Said = ("YML011", "anchors (&) and aliases (*) are not read", "write the value out, or use `defaults:`")
MERGE: _Said = ("YML012", "merge keys (<<) are not read", "write the keys out, or use `defaults:`")
KEY: _Said = ("YML013", "a key must be one word or text", "put it in quotes if it is text")
TEMPLATE: _Said = ("YML017", "unquoted {{ }} is read as a mapping in a mapping", 'put it in quotes: "{{ … }}"')
DOCUMENTS: _Said = ("YML006", "a second document begins here", "one file holds one document: remove the `---`")
DIRECTIVE: _Said = ("YML006", "directives (%YAML, %TAG) are not read", "remove it; files are read as YAML 1.2")
SURROGATE: _Said = (
    "YML014",
    "an escape \\ud800 to \\udfff that is half a character",
    "write the character itself, or both halves, or \\U and eight digits",
)

_CONTROL = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def decode(text: bytes, file: str) -> str:
    """`text` from UTF-8 (a byte order mark is taken off), without control characters and not over a megabyte.

    U+0085, U+2028 and U+2029 count as control characters: YAML readers disagree on whether they end a line.
    """
    if len(text) > MAX_BYTES:
        message = f"the file has {len(text):,} bytes; at most {MAX_BYTES:,} are read"
        raise DataError([Finding(Place(file), "YML003", message, "split it, or move data into files beside it")])
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        source = text.decode()
    except UnicodeDecodeError as error:
        before = text[: error.start].decode()
        message = f"byte 0x{text[error.start]:02x} is not UTF-8"
        raise DataError(
            [Finding(_at(file, before, len(before)), "YML001", message, "save the file as UTF-8")]
        ) from None
    bad = _CONTROL.search(source)
    if bad:
        message = f"the control character U+{ord(bad[0]):04X}"
        hint = f'remove it; in double quotes it can be written "\\u{ord(bad[0]):04x}"'
        raise DataError([Finding(_at(file, source, bad.start()), "YML002", message, hint)])
    return source


def _at(file: str, source: str, offset: int) -> Place:
    before = lines(source[:offset])
    return Place(file, len(before), len(before[-1]) + 1)


_PROBLEMS: tuple[tuple[str, str, str], ...] = (
    ("could not find expected ':'", "a line that is neither `key: value` nor part of the text above it", ""),
    ("expected ',' or ']'", "a list in [ ] that is not closed, or lacks a comma", "add the , or the ]"),
    ("expected ',' or '}'", "a mapping in { } that is not closed, or lacks a comma", "add the , or the }"),
    ("did not find expected key", "a line whose indentation fits no line above it", "indent it like its siblings"),
    ("expected <block end>", "a line whose indentation fits no line above it", "indent it like its siblings"),
    ("expected '-' indicator", "a line in a list that does not begin with `- `", "indent it, or begin it with `- `"),
    (
        "unknown escape character",
        "in double quotes a backslash begins an escape, and this one does not exist",
        "put regular expressions in single quotes: '\\bword\\b'",
    ),
    ("mapping values are not allowed", "a `key:` that does not fit the lines above it", "indent it like its siblings"),
    ("did not find expected node content", "a bracket, brace or comma where a value should be", "put text in quotes"),
    ("expected the node content", "a bracket, brace or comma where a value should be", "put text in quotes"),
    ("a tab character", "a tab in the indentation", "indent with spaces"),
)


def of_flow(error: Exception) -> bool:
    """Whether the fault is in brackets or braces, where libyaml refuses text that YAML 1.2 allows."""
    problem = str(getattr(error, "problem", ""))
    return "',' or" in problem or "unexpected ':'" in problem or "node content" in problem


def syntax(error: Exception, source: str, file: str) -> Finding:
    """The finding for whatever exception a YAML parser raised."""
    problem = str(getattr(error, "problem", None) or error).split("\n")[0]
    mark = getattr(error, "problem_mark", None)
    start = getattr(error, "context_mark", None) or mark
    if mark is not None and (mark.index >= len(source.rstrip()) or "expected ':'" in problem):
        mark = start
    place = Place(file, mark.line + 1, mark.column + 1) if mark is not None else Place(file, 1, 1)
    line = [*lines(source), ""][place.line - 1]
    special = _special(problem, line, place.column)
    if special:
        return Finding(place, *special)
    if "end of stream" in problem and start is not None:
        begun = Place(file, start.line + 1, start.column + 1)
        return Finding(begun, "YML007", "a quoted text that begins here and never ends", "close its quote")
    for part, message, hint in _PROBLEMS:
        if part in problem:
            return Finding(place, "YML007", message, hint)
    return Finding(place, "YML007", f"not YAML: {problem}")


_SPECIAL: tuple[tuple[str, _Said], ...] = (
    (r"anchor|alias|alphabetic or numeric", (ALIAS[0], ALIAS[1], "put text that begins with & or * in quotes")),
    (r"Unicode character escape", SURROGATE),
    (r"YAML document|directive", DIRECTIVE),
    (r"\btag\b|'!'", ("YML010", "tags (!) are not read", "put text that begins with ! in quotes")),
)


def _special(problem: str, line: str, column: int) -> _Said | None:
    if re.search(r"(?:^|[:,\[-])\s*\{\{", line):
        return TEMPLATE
    if "mapping values are not allowed" in problem and re.match(r"\s*(?:- )?[^\s#:'\"][^:]*:\s+\S.*:(?:\s|$)", line):
        return "YML018", "a colon and a space in unquoted text begin a mapping", "put the text in quotes"
    if "',' or '}'" in problem and re.match(r":(?:\s|$)", line[column - 1 :]) and "{" in line[:column]:
        return "YML018", "a colon and a space in unquoted text begin a mapping", "put the text in quotes"
    if re.match(r" *\t", line) or ("tab char" in problem and "\t" in line):
        return "YML008", "a tab in the indentation", "indent with spaces"
    if "cannot start any token" in problem or "looking for the next token" in problem:
        return _start(line[column - 1 : column])
    return next((said for pattern, said in _SPECIAL if re.search(pattern, problem)), None)


def _start(character: str) -> _Said:
    if character == "\t":
        return "YML008", "a tab where a value or a key should begin", "use spaces"
    return "YML007", f"unquoted text cannot begin with {character}", "put the text in quotes"


def lines(source: str) -> list[str]:
    """The lines as YAML counts them, without their ends."""
    return _LINE_END.split(source)
