"""YAML 1.2 as people write it, read strictly; the only module that knows ruamel.

Text becomes plain Python data: `dict` with text keys in file order, `list`, `str`, None for null, and `Plain` for an
unquoted scalar that YAML calls a boolean, an integer or a float, so that a model decides late what it is. There are
no timestamps; a number that no float can hold is text. Every place is 1-based line and column, in characters.

Refused in every file: tags, anchors and aliases (the cap is 0: a file says what it says where it says it), merge
keys, directives, a second document, and what is over the caps below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from evalrepo.errors import DataError, Finding, Place
from evalrepo.formats import emit, explain, traps
from evalrepo.records.base import Plain
from evalrepo.records.config import Config
from evalrepo.records.event import Event
from evalrepo.records.rubric import Rubric, RubricHead
from evalrepo.records.scenario import Scenario, ScenarioFile, ScenarioSet

MAX_DEPTH = 64
MAX_VALUES = 100_000
MAX_DIGITS = 300

M = TypeVar("M", bound=BaseModel)
Key = str | int
_Marks = dict[int, dict[Key | None, tuple[int, int]]]

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    "": None,
    **dict.fromkeys(("~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Document:
    """A file's data, and the place of a path of keys and indices: of the key, of the list item, or of the nearest
    thing around it that is there."""

    data: Any
    where: Callable[[Sequence[Key]], Place]


def read(text: bytes, file: str) -> Document:
    """The one document in `text` (UTF-8); raises DataError with YML0xx findings. Places name `file`."""
    source = traps.decode(text, file)
    build = _built(source, file, _parser(source))
    if build.findings:
        raise DataError(build.findings)
    if not build.started:
        raise DataError([Finding(Place(file, 1, 1), "YML005", "the file is empty", "write its keys, or remove it")])
    return Document(build.root, lambda path: _where(build, path))


def load(model: type[M], text: bytes, file: str, code: str) -> M:
    """`text` as a `model`; raises DataError: YML0xx from `read`, or findings of the family `code` ("CFG", "SCN"…)."""
    return _validate(model, read(text, file), file, code)


def scenario_file(text: bytes, file: str) -> ScenarioFile:
    """A scenario, or a set of cases when the file has `cases`."""
    document = read(text, file)
    is_set = isinstance(document.data, dict) and "cases" in document.data
    if is_set:
        return _validate(ScenarioSet, document, file, "SCN")
    return _validate(Scenario, document, file, "SCN")


def config_file(text: bytes, file: str) -> Config:
    """`evalrepo.yaml`."""
    return load(Config, text, file, "CFG")


def event_file(text: bytes, file: str) -> Event:
    """A ledger event."""
    return load(Event, text, file, "LED")


def rubric_file(text: bytes, file: str) -> Rubric:
    """Markdown below a YAML head between two lines `---`; the body's line ends are `\\n`."""
    source = traps.decode(text, file)
    head = re.match(r"(---[ \t]*\r?\n.*?)^---[ \t]*(?:\r?\n|\Z)", source, re.DOTALL | re.MULTILINE)
    if head is None:
        raise DataError(
            [
                Finding(
                    Place(file, 1, 1),
                    "RUB006",
                    "a rubric begins with a YAML head between two lines `---`",
                    "begin the file with `---`, `title: …`, `questions: …` or `metrics: …`, `---`",
                )
            ]
        )
    return Rubric(
        head=load(RubricHead, head[1].encode(), file, "RUB"),
        body=source[head.end() :].replace("\r\n", "\n"),
    )


def dump_event(event: Event) -> bytes:
    """The event as YAML that YAML 1.1 and 1.2 read alike; DataError LED006 for text that is not Unicode."""
    return emit.mapping(event.model_dump(mode="json", by_alias=True, exclude_defaults=True)).encode()


def _validate(model: type[M], document: Document, file: str, code: str) -> M:
    try:
        return model.model_validate(document.data, by_alias=True, by_name=False)
    except ValidationError as error:
        found = explain.findings(error, model, document.data, document.where, code)
        raise DataError(found) from None
    except RecursionError:
        message = "an expression in the file is nested too deeply"
        raise DataError([Finding(Place(file, 1, 1), f"{code}004", message, "make it simpler")]) from None


def _built(source: str, file: str, parser: Any) -> _Build:
    build = _Build(file, source)
    try:
        while (event := parser.get_event()) is not None:
            build.take(event)
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a YAML parser raises is a fault of the text
        if not isinstance(parser, _Pure) and traps.of_flow(error):
            return _built(source, file, _Pure(source))
        raise DataError([*build.findings, traps.syntax(error, source, file)]) from None
    return build


def _parser(source: str) -> Any:
    return _c_parser(source) or _Pure(source)


def _c_parser(source: str) -> Any:
    """libyaml's parser; None when it is not installed, or when surrogate escapes, which it refuses, must be joined.

    It is five times as fast as ruamel's own, but stops at a `?` or `:` inside unquoted text in brackets."""
    if _SURROGATE_ESCAPE.search(source):
        return None
    try:
        from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        return None
    return CParser(source)


class _Pure:
    """ruamel's own parser with the interface of the C one: `get_event`, None at the end."""

    def __init__(self, source: str) -> None:
        from ruamel.yaml import YAML

        self._events = iter(YAML(typ="safe", pure=True).parse(source))

    def get_event(self) -> Any:
        """The next event."""
        return next(self._events, None)


class _Open:
    """A collection that is being filled; `key` is the mapping key whose value comes next."""

    __slots__ = ("key", "marks", "value")

    def __init__(self, value: dict[str, Any] | list[Any], marks: dict[Key | None, tuple[int, int]]) -> None:
        self.value = value
        self.marks = marks
        self.key: str | None = None


class _Build:
    """Events in, data and places out. Faults that leave the structure readable are collected, others raised."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.lines = traps.lines(source)
        self.root: Any = None
        self.marks: _Marks = {}
        self.start = (1, 1)
        self.started = False
        self.findings: list[Finding] = []
        self.open: list[_Open] = []
        self.values = 0
        self.documents = 0
        self.cuts = traps.CUT.search(source) is not None

    def take(self, event: Any) -> None:
        """One parser event."""
        name = type(event).__name__
        if name == "ScalarEvent":
            self._node(event)
            self._add(event, self._scalar(event))
        elif name in ("MappingStartEvent", "SequenceStartEvent"):
            self._node(event)
            self._begin(event, {} if name == "MappingStartEvent" else [])
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self.open.pop()
        elif name == "AliasEvent":
            self._fault(event, *traps.ALIAS)
            self._add(event, None)
        elif name == "DocumentStartEvent":
            self._document(event)

    def _document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            raise self._fatal(event, *traps.DOCUMENTS)
        if event.tags or (event.version and tuple(event.version) != (1, 2)):
            line = next((n for n, text in enumerate(self.lines, 1) if text.startswith("%")), 1)
            self.findings.append(Finding(Place(self.file, line, 1), *traps.DIRECTIVE))

    def _node(self, event: Any) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            raise self._fatal(event, "YML004", f"the file has more than {MAX_VALUES:,} keys and values", "split it")
        if event.anchor is not None:
            self._fault(event, *traps.ALIAS)
        if getattr(event, "ctag", None) is not None:
            self._fault(event, "YML010", f"the tag {event.ctag} is not read", traps.TAG_HINT)

    def _begin(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise self._fatal(event, "YML004", f"the file is nested more than {MAX_DEPTH} levels deep", "flatten it")
        place = _spot(event)
        if self.open and isinstance(self.open[-1].value, dict) and self.open[-1].key is None:
            templated = "{{" in self.lines[place[0] - 1]
            raise self._fatal(event, *(traps.TEMPLATE if templated else traps.KEY))
        self._add(event, value)
        marks: dict[Key | None, tuple[int, int]] = {None: place}
        self.marks[id(value)] = marks
        self.open.append(_Open(value, marks))

    def _add(self, event: Any, value: Any) -> None:
        if not self.open:
            self.root, self.start, self.started = value, _spot(event), self._written(event)
            return
        top = self.open[-1]
        if isinstance(top.value, list):
            top.marks[len(top.value)] = _spot(event)
            top.value.append(value)
        elif top.key is None:
            top.key = self._key(event, value, top)
        else:
            top.value[top.key] = value
            top.key = None

    @staticmethod
    def _written(event: Any) -> bool:
        return type(event).__name__ != "ScalarEvent" or bool(event.value or event.style)

    def _key(self, event: Any, value: Any, top: _Open) -> str:
        key: str = value if type(value) is str else str.__str__(event.value or "")
        if key == "<<" and not event.style:
            self._fault(event, *traps.MERGE)
        elif value is None:
            self._fault(event, *traps.KEY)
        elif key in top.value:
            first = top.marks[key][0]
            message = f'the key "{key}" is here for the second time; the first is in line {first}'
            self._fault(event, "YML009", message, "keep one of them")
        else:
            top.marks[key] = _spot(event)
        return key

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.style or not event.implicit[0]:
            return self._quoted(event, text)
        if self.cuts:
            self._cut(event, text)
        if len(text) > MAX_DIGITS and _INTEGER.fullmatch(text):
            self._fault(event, "YML015", f"a number of {len(text):,} digits", "put it in quotes if it is text")
            return text
        return _plain(text)

    def _quoted(self, event: Any, text: str) -> str:
        if event.style == '"' and _SURROGATE.search(text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if "\N{REPLACEMENT CHARACTER}" in text and "\N{REPLACEMENT CHARACTER}" not in event.value:
                self._fault(event, *traps.SURROGATE)
        return text

    def _cut(self, event: Any, text: str) -> None:
        rest = self.lines[event.end_mark.line][event.end_mark.column :]
        if " " in text and traps.CUT.match(rest):
            shown = rest.strip()[:40]
            self._fault(event, "YML016", f'the text ends before "{shown}": " #" begins a comment', traps.CUT_HINT)

    def _place(self, event: Any) -> Place:
        return Place(self.file, *_spot(event))

    def _fault(self, event: Any, code: str, message: str, hint: str) -> None:
        self.findings.append(Finding(self._place(event), code, message, hint))

    def _fatal(self, event: Any, code: str, message: str, hint: str) -> DataError:
        return DataError([*self.findings, Finding(self._place(event), code, message, hint)])


def _plain(text: str) -> Any:
    """What YAML 1.2's core schema says of an unquoted scalar; numbers that no float holds stay text."""
    if text in _WORDS:
        word = _WORDS[text]
        return word if word is None else Plain(text, word)
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return Plain(text, int(text, 0) if text[:2] in ("0o", "0x") else int(text))
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return Plain(text, float(text))
    return text


def _spot(event: Any) -> tuple[int, int]:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def _where(build: _Build, path: Sequence[Key]) -> Place:
    node, spot = build.root, build.start
    for step in path:
        marks = build.marks.get(id(node), {})
        if step not in marks:
            break
        spot, node = marks[step], node[step]
    return Place(build.file, *spot)
