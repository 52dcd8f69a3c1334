"""Text from outside made harmless: in markdown it shows as it is and does nothing, in a terminal as well."""

from __future__ import annotations

import json
import re

UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
"""Characters that act instead of showing: controls, bidi marks, zero widths, tags."""

_SPACE = re.compile(r"\s+")
_MARKDOWN = re.compile(r"[\\`*\[\]|#~!$@{}^]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?i:(?<=\bwww)\.|(?<=mailto):)")
_BLOCK = re.compile(r"^([-+=]|\d+(?=[.)]))")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_CODE = re.compile(r"[A-Za-z0-9._/+-]+")


def visible(text: str) -> str:
    """One line; what would act is written as `\\x1b`, `\\u202e`."""
    return UNSEEN.sub(_written, _SPACE.sub(" ", text)).strip()


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markdown(text: str, limit: int = 300) -> str:
    """`text` for a paragraph or a table cell: one line, at most `limit` characters of it, no markup of any kind.

    Backslashes are escaped with everything else in one pass, so no escape can be undone by what stands before it.
    """
    text = visible(text)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    text = _MARKDOWN.sub(lambda m: "\\" + m[0], text)
    text = re.sub("[&<>]", lambda m: _HTML[m[0]], text)
    return _BLOCK.sub(lambda m: m[0] + "\\" if m[0].isdigit() else "\\" + m[0], text)


def code(text: str) -> str:
    """An id in a code span; as plain text when it has characters that ids do not have."""
    return f"`{text}`" if _CODE.fullmatch(text) else markdown(text)


def escape_json(text: str) -> str:
    """JSON text without `<`, `>`, `&`, backticks and unseen characters (line ends between tokens are kept)."""
    return _IN_JSON.sub(lambda m: json.dumps(m[0])[1:-1] if m[0] not in "<>&`" else f"\\u{ord(m[0]):04x}", text)


_IN_JSON = re.compile("[<>&`]|" + UNSEEN.pattern.replace("\x00-\x1f", ""))
