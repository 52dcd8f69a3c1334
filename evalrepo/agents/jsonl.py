"""JSON lines as agents leave them: read tolerantly at the end, strictly before it; counted while they grow."""

from __future__ import annotations

import gc
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from json.scanner import make_scanner
from pathlib import Path
from typing import Any

from evalrepo.agents.base import Growing, ReadError

Row = dict[str, Any]

_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER: Any = json.JSONDecoder(parse_constant=lambda name: None)  # noqa: ARG005 - NaN and Infinity are no data
_SCAN = make_scanner(_DECODER)


def rows(name: str, data: bytes, *, noisy: bool = False) -> tuple[list[tuple[int, Row]], bool]:
    """The objects of a file with their 1-based lines, and whether its last line is broken.

    A broken line that is not the last is a ReadError with its number; so is one that is not an object. In a
    `noisy` file (an output that other things are printed to as well) a line that does not begin with `{` is a row of
    type "text". NaN and infinities become None.
    """
    stream = io.BytesIO(data.removeprefix(b"\xef\xbb\xbf"))
    found: list[tuple[int, Row]] = []
    for number, line in enumerate(stream, 1):
        if not line.startswith(b"{") and (noisy or line.isspace()):
            if not line.isspace():
                found.append((number, {"type": "text"}))
            continue
        try:
            row = _row(line)
        except (ValueError, StopIteration, RecursionError) as error:
            if not stream.read().strip():
                return found, True
            raise ReadError(name, number, _why(error)) from None
        found.append((number, row))
    return found, False


def _row(line: bytes) -> Row:
    text = line.decode()
    value, end = _SCAN(text, 0)
    if len(text) - end > 1 and not text[end:].isspace():
        raise ValueError("more than one value")
    if type(value) is not dict:
        raise ValueError("not a JSON object")
    return value


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    if isinstance(error, RecursionError):
        return "not JSON: nested too deep"
    return f"not JSON: {error.msg if isinstance(error, json.JSONDecodeError) else str(error) or 'no value'}"


@contextmanager
def collector_paused() -> Iterator[None]:
    """No collection of cycles while many objects without any are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def cleaned(value: Any) -> Any:
    """The value with lone surrogates, which no UTF-8 file can hold, replaced by U+FFFD."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _sound(value)
    if kind is dict:
        return {cleaned(k): cleaned(v) for k, v in value.items()}
    return [cleaned(v) for v in value] if kind is list else value


def _sound(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def text_of(value: Any) -> str:
    """Text without lone surrogates, or "" for anything else."""
    if type(value) is not str:
        return ""
    return value if value.isascii() else _sound(value)


def count_of(value: Any) -> int | None:
    """A whole number of at least 0, or None."""
    return value if type(value) is int and value >= 0 else None


def amount_of(value: Any) -> float | None:
    """A finite number of at least 0, or None."""
    if type(value) is float or type(value) is int:
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) and number >= 0 else None
    return None


def sized(value: Any) -> tuple[str, int]:
    """`text_of` the value, and its bytes of UTF-8."""
    if type(value) is not str:
        return "", 0
    if value.isascii():
        return value, len(value)
    try:
        return value, len(value.encode())
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", value)
        return text, len(text.encode())


class Counter:
    """How many rows of growing JSON lines are tool calls; reads only what is new.

    `marker` are bytes that every such line holds; `counts` decides about a row that has them.
    """

    def __init__(self, watch: Growing, marker: bytes, counts: Callable[[Row], int]) -> None:
        self._watch, self._marker, self._counts = watch, marker, counts
        self._read: dict[Path, int] = {}
        self._total = 0

    def __call__(self) -> int:
        """Tool calls so far, in complete lines."""
        for path in self._watch():
            self._total += self._grown(path)
        return self._total

    def _grown(self, path: Path) -> int:
        done = self._read.get(path, 0)
        try:
            if path.stat().st_size <= done:
                return 0
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                file.seek(done)
                new = file.read()
        except OSError:  # gone or not ours to read: nothing to count
            return 0
        end = new.rfind(b"\n") + 1
        self._read[path] = done + end
        return sum(self._line(line) for line in new[:end].split(b"\n") if self._marker in line)

    def _line(self, line: bytes) -> int:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return 0
        return self._counts(row) if isinstance(row, dict) else 0
