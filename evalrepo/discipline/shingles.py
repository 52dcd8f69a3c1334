"""Texts as words, and which runs of words two texts share. Pure, stdlib only: a hook reads ten thousand files by it.

A word is a run of letters, marks and digits in any script, case folded. Chinese, Japanese, Thai, Lao, Khmer, Burmese
and Tibetan set no space between words: there every character stands by itself, and `WIDTHS` says how many make a word.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

SHORT, LONG = 8, 13
"""Words of a shingle, and words in a row that no chance explains (PaLM's and GPT-3's rules of contamination)."""

_PLAIN = bytes(byte if chr(byte).isalnum() else 32 for byte in range(128)).lower() + b" " * 128
_HAN = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SEA = (
    "\u0e01-\u0e4e\u0e50-\u0e59\u0e81-\u0eff\u0f00-\u0f0a\u0f10-\u0fff\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
    "\u17e0-\u17e9"
)
WIDTHS: Mapping[int, re.Pattern[str]] = {4: re.compile(f"[{_SEA}]"), 2: re.compile(f"[{_HAN}]")}
"""Characters of a word, about → the scripts where a character is a token of its own. Everywhere else it is 1."""
_ALONE = re.compile(f"[{_HAN}{_SEA}]")
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_WORD = re.compile(rf"[\w{_MARKS}{_SEA}]+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_ESCAPED = re.compile(rb"(?:\\u[0-9a-fA-F]{4})+")
_MARKED = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def text(data: bytes) -> str:
    """What a file says: UTF-8, UTF-16 with its mark, else bytes as Latin-1. JSON's `\\uXXXX` are read."""
    for mark, name in _MARKED:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    if b"\\u" in data:
        data = _ESCAPED.sub(_unescaped, data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _unescaped(found: re.Match[bytes]) -> bytes:
    units = found.group().decode("ascii").encode("latin-1").decode("unicode_escape")
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def words(data: bytes) -> list[str]:
    """The words of a file or a text, in order. The `\\n`, `\\t` and `\\r` of JSON and code are spaces."""
    if b"\\" in data:
        for escape in (b"\\n", b"\\t", b"\\r"):
            data = data.replace(escape, b" ")
    if data.isascii() and b"\\u" not in data:
        return data.translate(_PLAIN).decode("ascii").split()
    said = text(data)
    if said.isascii():
        return said.encode("ascii").translate(_PLAIN).decode("ascii").split()
    folded = _UNSEEN.sub("", unicodedata.normalize("NFKC", said)).casefold().replace("_", " ")
    return _WORD.findall(_ALONE.sub(r" \g<0> ", folded))


def ascii_words(data: bytes) -> list[str]:
    """The ASCII words of anything, a picture or a database too."""
    return data.translate(_PLAIN).decode("ascii").split()


def placed(data: bytes) -> tuple[list[str], list[int]]:
    """The words, and for each the 1-based line that it stands in."""
    found: list[str] = []
    lines: list[int] = []
    rows = text(data).encode("utf-8", "replace").split(b"\n") if not data.isascii() else data.split(b"\n")
    for number, row in enumerate(rows, 1):
        here = words(row)
        found += here
        lines += [number] * len(here)
    return found, lines


def width(tokens: Sequence[str]) -> int:
    """How many tokens make a word in this text: 1, or for a script without spaces that half of it is in, 2 or 4."""
    counts = {wide: sum(1 for t in tokens if len(t) == 1 and script.match(t)) for wide, script in WIDTHS.items()}
    most = max(counts, key=lambda wide: counts[wide])
    return most if 2 * sum(counts.values()) >= len(tokens) > 0 else 1


def shingles(tokens: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Every run of `size` tokens, in order; the whole of a shorter text."""
    if len(tokens) <= size:
        return [tuple(tokens)] if tokens else []
    return list(zip(*(tokens[at : len(tokens) - size + at + 1] for at in range(size)), strict=True))


def share(of: bytes, among: bytes, long: int = SHORT) -> float:
    """The share of one text's shingles of `long` words that stand in another (1.0: all); of a shorter text the whole.

    With eight words PaLM calls a text contaminated from .7 on.
    """
    tokens = words(of)
    size = min(long * width(tokens), len(tokens))
    mine = shingles(tokens, size)
    others = set(shingles(words(among), size))
    return sum(one in others for one in mine) / len(mine) if mine else 0.0


class Sieve:
    """Finds a fixed set of shingles in any text. `vocabulary`: its words, each with its number; `numbers`: shingle (as
    numbers of words) → its own number."""

    def __init__(self, vocabulary: Sequence[str], numbers: Mapping[tuple[int, ...], int]) -> None:
        self._ids = {word: number for number, word in enumerate(vocabulary)}
        self._numbers = numbers
        self._sizes = sorted({len(shingle) for shingle in numbers})
        least = self._sizes[0] if self._sizes else 1
        self._run = re.compile(b"\\x01{%d,}" % least)

    def find(self, tokens: Sequence[str]) -> list[int]:
        """Numbers of the shingles that the text holds, sorted, each once."""
        return sorted({number for _, number in self.places(tokens)})

    def places(self, tokens: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Index of the token where a shingle begins, and its number. Only runs of known words are looked at closely."""
        if not self._numbers:
            return
        known = bytes(map(self._ids.__contains__, tokens))
        for run in self._run.finditer(known):
            start = run.start()
            ids = [self._ids[word] for word in tokens[start : run.end()]]
            for size in self._sizes:
                for at in range(len(ids) - size + 1):
                    number = self._numbers.get(tuple(ids[at : at + size]))
                    if number is not None:
                        yield start + at, number


def longest(numbers: Iterable[int], found: frozenset[int] | set[int]) -> int:
    """The most numbers in a row that are found."""
    best = run = 0
    for number in numbers:
        run = run + 1 if number in found else 0
        best = max(best, run)
    return best
