"""Plain data of what is rendered, for `--format json`. Fields are named as in `records/verdict.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from evalrepo.records.inference import Margin
from evalrepo.records.verdict import SCHEMA, CellResult, Errors, Rate, Score, Verdict

_COMPUTED: dict[type, tuple[str, ...]] = {
    CellResult: ("name", "comparable", "same_reps", "below_bar", "fell_below_bar"),
    Errors: ("rate", "attempt_rate"),
    Margin: ("shown",),
    Rate: ("difference",),
    Score: ("rate",),
    Verdict: ("exit",),
}
"""Properties that a reader gets beside the fields."""


def plain(value: Any) -> Any:
    """JSON-able data of dataclasses, named tuples, mappings and sequences."""
    names = _names(value)
    if names:
        return {name: plain(getattr(value, name)) for name in (*names, *_COMPUTED.get(type(value), ()))}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, str):
        return str.__str__(value)
    return value


def _names(value: Any) -> tuple[str, ...]:
    """The fields of a dataclass or a named tuple."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(f.name for f in fields(value))
    return getattr(value, "_fields", ()) if isinstance(value, tuple) else ()


def to_json(value: Any) -> str:
    """JSON of two-space indents, ASCII only: no control or bidi character reaches a terminal."""
    return json.dumps(plain(value), indent=2, ensure_ascii=True) + "\n"


def verdict_json(verdict: Verdict) -> str:
    """The verdict object with its `schema`."""
    return to_json({"schema": SCHEMA} | plain(verdict))
