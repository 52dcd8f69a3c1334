"""The record's JSON in a result file, by slicing its fence. Light: ten thousand files are read this way for a diff."""

from __future__ import annotations

import json
from typing import Any

from evalrepo.errors import DataError, Finding, Place

OPEN = b"```json evalrepo-record"
CLOSE = b"\n```"
RESTORE = "results never change: restore the file from the commit that added it"


def load_json(text: bytes, file: str = "") -> dict[str, Any]:
    """The record's JSON from the last fence, not checked any further. DataError RES001 no fence, RES002 no JSON."""
    return json_of(block_of(text, file), text, file)


def block_of(text: bytes, file: str) -> bytes:
    """The bytes between the fences. DataError RES001."""
    start = text.rfind(OPEN)
    end = text.find(CLOSE, start) if start >= 0 else -1
    if end < 0:
        raise fault(text, file, "RES001", "the file has no record, or a torn one", RESTORE)
    return text[start + len(OPEN) : end]


def json_of(block: bytes, text: bytes, file: str, *, strict: bool = False) -> dict[str, Any]:
    """The block as an object. DataError RES002; with `strict` also for a key that is there twice, and for NaN."""
    try:
        data = json.loads(block, object_pairs_hook=_unique, parse_constant=_constant) if strict else json.loads(block)
    except (ValueError, RecursionError) as error:
        raise fault(text, file, "RES002", f"the record is not JSON: {error}", RESTORE) from None
    if not isinstance(data, dict):
        raise fault(text, file, "RES002", "the record is not a JSON object", RESTORE)
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        twice = next(key for n, (key, _) in enumerate(pairs) if key in dict(pairs[:n]))
        raise ValueError(f"it has the key {twice[:60]!r} twice")
    return out


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def fault(text: bytes, file: str, code: str, message: str, hint: str) -> DataError:
    """The error at the fence's line, or at the file's first."""
    start = max(text.rfind(OPEN), 0)
    return DataError([Finding(Place(file, text.count(b"\n", 0, start) + 1, 1), code, message, hint)])
