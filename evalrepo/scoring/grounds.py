"""What a piece of evidence rests on: places of a rep that it names, each checked to be there. Pure.

Evidence is a sentence of a person or a judge. It may name a line of the transcript (`line 12`, `session.jsonl:12`), a
file that was there before, was there afterwards, or was used in a call (`src/app.py`), and quote what was asked, done,
printed or said (`"…"`, backticks). One of these must be there, and none that it names may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evalrepo.records.transcript import Call, Event, Prompt, Result, Said, Transcript

SHORTEST = 3
"""Fewest characters of a quotation that says where it is from."""

_LINE = re.compile(r"(?:\blines?\s+|(?P<file>[\w./-]+\.(?:jsonl?|md|txt|log|db)):)(?P<line>\d+)", re.IGNORECASE)
_QUOTE = re.compile(r'"([^"]+)"|“([^”]+)”|`([^`]+)`|«([^»]+)»|„([^“”]+)[“”]')
_PATH = re.compile(r"(?<![\w/.:])(?:[\w.@+-]+/)+[\w.@+-]*\w|(?<![\w/.])[\w@+-]+\.[A-Za-z][A-Za-z0-9]{0,7}\b(?!/)")
_OF_PATH = re.compile(r"(?P<path>[\w./@+-]+)\s+(?:at\s+)?lines?\s+(?P<line>\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Grounds:
    """Places that are there, and places that are named and are not."""

    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether the evidence rests on something, and on nothing that does not exist."""
        return bool(self.found) and not self.missing


@dataclass(frozen=True)
class Material:
    """A rep as evidence may name it. `files`: paths before and after; relative to the work directory."""

    transcript: Transcript
    files: frozenset[str] = frozenset()

    @cached_property
    def length(self) -> int:
        """The last line of a raw file at which something happened, from 1; 0 when nothing did."""
        return max((event.at.line for event in self._events), default=0)

    @cached_property
    def logs(self) -> frozenset[str]:
        """Raw files, whole and by name alone."""
        files = {event.at.file for event in self._events}
        return frozenset(files | {file.rpartition("/")[2] for file in files})

    @cached_property
    def paths(self) -> frozenset[str]:
        """Files that were there, or that a call named; each with its name alone."""
        called = {str(c.canonical["path"]) for c in self._events if isinstance(c, Call) and "path" in c.canonical}
        whole = {path.removeprefix("./").rstrip("/") for path in self.files | called | self.logs}
        folders = {path[:at] for path in whole for at, letter in enumerate(path) if letter == "/"}
        return frozenset(whole | folders | {path.rpartition("/")[2] for path in whole})

    @cached_property
    def text(self) -> str:
        """All that was asked, done, printed and said, white space as one blank."""
        return _plain("\n".join(words for event in self._events for words in _words(event)))

    @cached_property
    def _events(self) -> tuple[Event, ...]:
        return tuple(event for transcript in self.transcript.walk() for event in transcript.events)


def grounds(evidence: str, material: Material) -> Grounds:
    """What of the evidence is there, and what is not."""
    found: list[str] = []
    missing: list[str] = []
    bare = _QUOTE.sub(" ", evidence)
    for what, there in (*_quotes(evidence, material), *_lines(bare, material), *_paths(bare, material)):
        (found if there else missing).append(what)
    return Grounds(tuple(dict.fromkeys(found)), tuple(dict.fromkeys(missing)))


def named_lines(evidence: str) -> list[int]:
    """The lines of the transcript that a person's evidence names, as `line N`."""
    bare = _QUOTE.sub(" ", evidence)
    return [int(match["line"]) for match in _LINE.finditer(bare) if not match["file"]]


def _lines(evidence: str, material: Material) -> Iterator[tuple[str, bool]]:
    """Lines of the transcript; the line of a file of the sandbox is that file's."""
    of_files = {m.start("line") for m in _OF_PATH.finditer(evidence) if _is_file(m["path"], material)}
    for match in _LINE.finditer(evidence):
        if match.start("line") in of_files or (match["file"] and match["file"] not in material.logs):
            continue
        number = int(match["line"])
        yield f"line {number}", 0 < number <= material.length


def _is_file(path: str, material: Material) -> bool:
    plain = path.removeprefix("./")
    return plain in material.paths and plain not in material.logs


def _quotes(evidence: str, material: Material) -> Iterator[tuple[str, bool]]:
    for match in _QUOTE.finditer(evidence):
        words = _plain(next(group for group in match.groups() if group is not None))
        if len(words) >= SHORTEST:
            yield f"“{words[:60]}”", words in material.text or words.removeprefix("./") in material.paths


def _paths(evidence: str, material: Material) -> Iterator[tuple[str, bool]]:
    """Words with a slash or an ending; one that is not there is a claim when it has both (`and/or` is none)."""
    for match in _PATH.finditer(evidence):
        path = match[0].removeprefix("./").rstrip("/")
        there = path in material.paths or path in material.text
        if there or ("/" in path and "." in path.rpartition("/")[2]):
            yield path, there


def _words(event: Event) -> Iterator[str]:
    match event:
        case Prompt() | Said() | Result():
            yield event.text
        case Call():
            yield from _leaves(event.args)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield str(value)


def _plain(text: str) -> str:
    return " ".join(text.split())


def material(transcript: Transcript, *manifests: Collection[str]) -> Material:
    """A rep's material of its transcript and of the files that were there (manifests by path)."""
    return Material(transcript, frozenset(path for manifest in manifests for path in manifest))
