"""Our own YAML: a flat mapping of text, whole numbers and lists of text, that every YAML reader reads alike."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from evalrepo.errors import DataError, Finding, Place

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+,-]*(?: [A-Za-z0-9_./@+,(-][A-Za-z0-9_./@+,()-]*)*")
_OTHER = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"])
"""Words, in lower case, that some YAML reader takes for something else than text."""
_ESCAPED = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff]")


def mapping(data: Mapping[str, str | int | Sequence[str] | None]) -> str:
    """YAML text, one key a line, a list one item a line. Text that could be read as anything else is in quotes."""
    return "".join(_entry(key, value) for key, value in data.items() if value is not None)


def _entry(key: str, value: str | int | Sequence[str]) -> str:
    if isinstance(value, int):
        return f"{key}: {value}\n"
    if isinstance(value, str):
        return f"{key}: {scalar(value)}\n"
    if not value:
        return f"{key}: []\n"
    return f"{key}:\n" + "".join(f"  - {scalar(item)}\n" for item in value)


def scalar(text: str) -> str:
    """One text: plain where YAML 1.1 and 1.2 agree that it is text, in double quotes otherwise."""
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER and len(text) < 200:
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(
            [
                Finding(
                    Place("evalrepo.ledger"),
                    "LED006",
                    f"{text!a} is not Unicode text, so the ledger cannot hold it",
                    "rename the file, or name its directory instead",
                )
            ]
        ) from None
    return _ESCAPED.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))
