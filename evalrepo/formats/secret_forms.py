"""How a secret can look in a transcript: as it is, escaped for JSON, a URL or HTML, in base64, in hexadecimal."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

SHORTEST = 6
"""Values with fewer characters are left alone: they would blot out ordinary text."""
_BASE64_LEAST = 7

_ESCAPE = rb"\\{1,32}"
"""The backslashes before an escaped character, JSON in JSON in JSON included; bounded, so that no text is slow."""
_PARTS = re.compile(r"\\+|[^\\]")

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~-")
_JSON_LETTER = {"\n": b"n", "\r": b"r", "\t": b"t", "\b": b"b", "\f": b"f"}
_HTML = {
    "&": b"&(?:amp|#38);",
    "<": b"&(?:lt|#60);",
    ">": b"&(?:gt|#62);",
    '"': b"&(?:quot|#34);",
    "'": b"&#(?:39|x27);",
}


def forms(value: str) -> Iterator[bytes]:
    """Regular expressions (bytes) that find `value` in any of its forms, escaped any number of times over."""
    raw = value.encode("utf-8", "surrogateescape")
    yield b"".join(_backslashes(len(part)) if part[0] == "\\" else _character(part) for part in _PARTS.findall(value))
    yield b"(?i:" + raw.hex().encode() + b")"
    for before in range(3):
        yield from _base64(raw, before)


def _character(c: str) -> bytes:
    raw = c.encode("utf-8", "surrogateescape")
    if raw[0] in _UNRESERVED:
        return re.escape(raw)
    units = c.encode("utf-16-be", "surrogatepass")
    pairs = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    options = [
        re.escape(raw),
        b"".join(b"%" + _either_case(f"{byte:02x}") for byte in raw),
        b"".join(_ESCAPE + b"u" + _either_case(pair) for pair in pairs),
    ]
    if c in _JSON_LETTER:
        options.append(_ESCAPE + _JSON_LETTER[c])
    if c in "\"'/":
        options.append(_ESCAPE + re.escape(raw))
    if c == " ":
        options.append(rb"\+")
    if c in _HTML:
        options.append(_HTML[c])
    return b"(?:" + b"|".join(options) + b")"


def _backslashes(count: int) -> bytes:
    """A run of them; one pattern for all, because each level of escaping doubles them."""
    most = 32 * count
    return rb"(?:\\{%d,%d}|(?:%%5[cC]){%d}|(?:\\{1,32}u005[cC]){%d})" % (count, most, count, count)


def _either_case(hexadecimal: str) -> bytes:
    return b"".join(f"[{d}{d.upper()}]".encode() if d.isalpha() else d.encode() for d in hexadecimal)


def _base64(raw: bytes, before: int) -> Iterator[bytes]:
    """`raw` inside base64 of something longer, `before` bytes after a group of three: the digits it decides alone."""
    digits = base64.b64encode(b"\0" * before + raw).rstrip(b"=")
    first = -(-before * 8 // 6)
    whole = (before + len(raw)) * 8 // 6
    core = digits[first:whole]
    if len(core) >= _BASE64_LEAST:
        yield b"".join(map(_digit, core))


def _digit(byte: int) -> bytes:
    if byte == ord("+"):
        return b"(?:[+-]|%2[bB])"
    if byte == ord("/"):
        return rb"(?:\\*/|_|%2[fF])"
    return bytes([byte])
