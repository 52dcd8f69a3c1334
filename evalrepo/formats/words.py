"""A check in the words of its file: its kind with its arguments, as YAML on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evalrepo.records.checks import Check, Condition
from evalrepo.records.transcript import CANONICAL_ARGUMENTS

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./*+-]*(?: [A-Za-z0-9_./*+(-][A-Za-z0-9_./*+()-]*)*")
_OTHER = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_QUOTED = re.compile(r"[ -~\u00a0-\u00ac\u00ae-\u02ff–—…→]*")
"""What stands in single quotes as it is."""
_ARGUMENTS = frozenset((*CANONICAL_ARGUMENTS, "requested", "resolved", "served"))
"""Where a literal was read as a JSON Schema."""
_AS_THEY_ARE = frozenset(("args", "files"))


def check_words(check: Condition) -> str:
    """`order: {first: {tool: read}, before: {tool: edit}}`, with what the check says of scope, turn and `needs`."""
    data = check.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    kind = check.kind.rstrip("_")
    said = {kind: _as_written(data[kind])}
    if isinstance(check, Check):
        said |= {name: data[name] for name in ("scope", "turn", "needs") if name in data}
    return ", ".join(f"{name}: {flow(value)}" for name, value in said.items())


def _as_written(value: Any) -> Any:
    """Literals and single items as a person writes them."""
    if isinstance(value, Mapping):
        return {key: inner if key in _AS_THEY_ARE else _argument(key, inner) for key, inner in value.items()}
    if isinstance(value, list):
        items = [_as_written(item) for item in value]
        return items[0] if len(items) == 1 and isinstance(items[0], str) else items
    return value


def _argument(key: str, value: Any) -> Any:
    if key in _ARGUMENTS and isinstance(value, Mapping):
        literal = next(iter(value.values())) if len(value) == 1 and next(iter(value)) in ("const", "enum") else None
        return value if literal is None else literal
    return _as_written(value)


def flow(value: Any) -> str:
    """A JSON value as YAML on one line, plain where every YAML reader takes it for the same."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(str(key))}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER:
        return text
    if _QUOTED.fullmatch(text):
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text)
