"""Small words for findings: paths as people read them, numbers with units as they should have been written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evalrepo.records.base import Plain, describe

_UNIT = {"ms": 0.001, "s": 1, "sec": 1, "secs": 1, "m": 60, "min": 60, "mins": 60, "h": 3600, "hr": 3600, "d": 86400}
_FACTOR = {"k": 1000, "kb": 1000, "m": 1_000_000, "mb": 1_000_000}
_PART = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]+)\s*")


def shown_path(path: Sequence[str | int]) -> str:
    """`checks[0].calls.min`; "the file" for the whole."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "the file"


def shown(value: Any) -> str:
    """What was found: text in quotes, a number or a boolean as it is written."""
    return str.__str__(value)[:60] if isinstance(value, Plain) else describe(value)


def number_hint(key: str, value: Any, *, whole: bool) -> str:
    """What to write instead, with `key` ("wall_s: ") in front; "" when nothing can be guessed."""
    if not isinstance(value, str):
        return f"{key}3" if whole else f"{key}600"
    number = _guess(value.strip().lower(), seconds=key.endswith("_s: ") or key == "sleep: ")
    if number is None or (whole and number != int(number)):
        return ""
    return f"{key}{number:g}" if number < 1e6 and number != int(number) else f"{key}{int(number)}"


def _guess(text: str, *, seconds: bool) -> float | None:
    bare = text.replace(",", "").replace("_", "").replace(" ", "").removeprefix("$").removesuffix("%")
    if re.fullmatch(r"[-+]?\d{1,15}(\.\d{1,15})?", bare):
        return float(bare) / (100 if text.endswith("%") else 1)
    if len(text) > 40 or not re.fullmatch(rf"(?:{_PART.pattern})+", text):
        return None
    units = _UNIT if seconds else _FACTOR
    parts = _PART.findall(text)
    if any(unit not in units or len(number) > 15 for number, unit in parts):
        return None
    return float(sum(float(number) * units[unit] for number, unit in parts))


def said(kind: str, error: Mapping[str, Any], path: Sequence[str | int]) -> tuple[str, str]:
    """The sentence after the subject for a refused value, and its number: "004" a value, "005" a rule of a model."""
    context, got = error.get("ctx") or {}, shown(error.get("input"))
    limits = {
        "greater_than": ("more than", "gt"),
        "greater_than_equal": ("at least", "ge"),
        "less_than": ("less than", "lt"),
        "less_than_equal": ("at most", "le"),
    }
    if kind in limits:
        word, key = limits[kind]
        return f"must be {word} {_short(context[key])}, got {got}", "004"
    if kind == "string_too_short":
        return "must not be empty", "004"
    if kind == "too_short":
        least = context.get("min_length", 1)
        return f"must have at least {least} {'entry' if least == 1 else 'entries'}", "004"
    if kind == "string_pattern_mismatch":
        wanted = "a time like 2026-07-06T12:00:00Z" if path and path[-1] == "at" else f"like {context.get('pattern')}"
        return f"must be {wanted}, got {got}", "004"
    return str(error["msg"])[:1].lower() + str(error["msg"])[1:], "005"


def _short(number: Any) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)
