"""What of a rep a judge is shown: pieces with places, made harmless and cut to what the question needs. Pure.

What the agent did is data to a judge. Each line of it is indented by `| `, so none can look like a line of ours; what
acts instead of showing (control characters, bidi marks, zero widths) is written out; runs of angle brackets are
replaced. Nothing tells who the agent is, what was measured, or how other reps went.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from evalrepo.checks.view import View
from evalrepo.records.outcome import changed
from evalrepo.records.record import Evidence
from evalrepo.records.rubric import Part
from evalrepo.records.transcript import Call, Event, Prompt, Result, Said

LIMIT = 300_000
"""Most characters of a rep that a judge is shown; pieces in the middle are left out, and said to be."""
PIECE_LIMIT = 4_000
"""Most characters of one call, result or changed file."""

Clean = Callable[[str], str]
"""Takes secrets out of a text."""

_ACTS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_FENCE = re.compile(r"<{3,}|>{3,}")


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing of a rep. `place` names it for the judge (`p7`), `at` for us; `text` is what it is shown as."""

    place: str
    part: Part
    head: str
    text: str
    at: Evidence


@dataclass(frozen=True, slots=True)
class Shown:
    """The pieces that are shown, in order; `left_out` are places of the others."""

    pieces: tuple[Piece, ...]
    left_out: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As it stands between the fences."""
        gap = (
            f"[{len(self.left_out)} pieces left out: {self.left_out[0]} to {self.left_out[-1]}]\n"
            if self.left_out
            else ""
        )
        half = [p for p in self.pieces if not self.left_out or _number(p) < int(self.left_out[0][1:])]
        rest = self.pieces[len(half) :]
        return "\n".join([*map(_told, half), *([gap] if gap else []), *map(_told, rest)])

    def piece(self, place: str) -> Piece | None:
        """The piece of this place."""
        return next((piece for piece in self.pieces if piece.place == place), None)


def shown(view: View, parts: Collection[Part] = (), clean: Clean = lambda text: text) -> Shown:
    """The rep in the view's scope and turn, of `parts` only (none named: all), with secrets taken out."""
    found = [p for p in _pieces(view, clean, files=not parts or "files" in parts) if not parts or p.part in parts]
    return _within(tuple(replace(piece, place=f"p{n}") for n, piece in enumerate(found, 1)))


def harmless(text: str) -> str:
    """The text with nothing in it that acts: line ends and tabs are kept, other such characters written out."""
    plain = "".join(c if c in "\n\t" or unicodedata.category(c) not in _ACTS else _written(c) for c in text)
    return _FENCE.sub(lambda m: ("‹" if m[0][0] == "<" else "›") * len(m[0]), plain)


def _written(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _number(piece: Piece) -> int:
    return int(piece.place[1:])


def _told(piece: Piece) -> str:
    body = "\n".join(f"| {line}" for line in piece.text.split("\n"))
    return f"[{piece.place}] {piece.head}\n{body}\n"


def _within(pieces: tuple[Piece, ...]) -> Shown:
    """Whole pieces from both ends, as many as there is room for."""
    if sum(len(p.text) for p in pieces) <= LIMIT:
        return Shown(pieces)
    first, last = _fitting(pieces, LIMIT // 2), _fitting(pieces[::-1], LIMIT // 2)
    middle = pieces[first : len(pieces) - last]
    return Shown((*pieces[:first], *pieces[len(pieces) - last :]), tuple(p.place for p in middle))


def _fitting(pieces: Sequence[Piece], room: int) -> int:
    for count, piece in enumerate(pieces):
        room -= len(piece.text)
        if room < 0:
            return count
    return len(pieces)


def _pieces(view: View, clean: Clean, *, files: bool) -> Iterator[Piece]:
    def text(words: str, limit: int) -> str:
        plain = words.replace(view.work, "/project") if len(view.work) > 1 else words
        return _cut(harmless(clean(plain)), limit)

    names = {e.id: f"c{n}" for n, e in enumerate((e for e in view.events if isinstance(e, Call)), 1)}
    for event in view.events:
        part, head, words, limit = _of(event, names)
        at = Evidence(text="", file=event.at.file, line=event.at.line, call=event.id if isinstance(event, Call) else "")
        yield Piece("", part, harmless(head), text(words, limit), at)
    for path, how, words in _files(view) if files else ():
        yield Piece(
            "", "files", harmless(f"file {path}, {how}"), text(words, PIECE_LIMIT), Evidence(text="", file=path)
        )


def _of(event: Event, names: dict[str, str]) -> tuple[Part, str, str, int]:
    match event:
        case Prompt():
            return "prompts", f"the agent is asked, turn {event.turn}", event.text, LIMIT
        case Said():
            return "words", "the agent says", event.text, LIMIT
        case Call():
            by = "the agent" if event.by == "main" else f"sub-agent {event.by}"
            args = json.dumps(event.args, ensure_ascii=False, default=str)
            return "calls", f"call {names[event.id]} by {by}: {event.kind or event.tool}", args, PIECE_LIMIT
        case Result():
            how = "" if event.ok else ", an error"
            return "results", f"result of call {names.get(event.call, '?')}{how}", event.text, PIECE_LIMIT


def _files(view: View) -> Iterator[tuple[str, str, str]]:
    """Changed files: path, how, and the difference where it is text."""
    moved = changed(view.before, view.after, view.litter)
    for path in moved.removed:
        yield path, "removed", ""
    for paths, how in ((moved.added, "added"), (moved.modified, "changed")):
        for path in paths:
            yield path, how, _difference(view, path, new=how == "added")


def _difference(view: View, path: str, *, new: bool) -> str:
    now = _lines(view.read, path)
    if now is None:
        return "(its content is not at hand, or is no text)"
    before = [] if new else _lines(view.original, path)
    if before is None:
        return "\n".join(now)
    return "\n".join(list(difflib.unified_diff(before, now, lineterm="", n=2))[2:])


def _lines(read: Callable[[str], bytes], path: str) -> list[str] | None:
    try:
        return read(path).decode("utf-8").splitlines()
    except (OSError, ValueError):
        return None


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n[{len(text) - limit} characters left out]"
