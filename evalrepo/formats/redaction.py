"""Secrets out of transcripts, before the first byte is stored: exact values, then patterns, then refusal.

All rules look at the original bytes; what they find is merged, and each piece is replaced by `[REDACTED:kind]`. A line
that was JSON stays JSON: a piece takes whole escapes with it, and where that is not enough the line's texts are
redacted one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalrepo.formats import secret_forms

_TOKEN = rb"[A-Za-z0-9_-]"
_START = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
"""No letter or digit before it, but for one that ends a JSON escape."""
_CREDENTIAL = rb"(?P<secret>(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{20,})"
_PEM = rb"PRIVATE KEY(?: BLOCK)?-----"
PATTERNS: tuple[tuple[str, tuple[bytes, ...], bytes], ...] = (
    ("anthropic-key", (b"sk-ant-",), _START + rb"sk-ant-" + _TOKEN + rb"{16,}"),
    ("openai-key", (b"sk-",), _START + rb"sk-(?:(?:proj|svcacct|admin|or)-" + _TOKEN + rb"{20,}|[A-Za-z0-9]{32,})"),
    ("stripe-key", (b"k_live_", b"k_test_"), rb"k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("github-token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), _START + rb"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("github-token", (b"github_pat_",), _START + rb"github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab-token", (b"glpat-",), _START + rb"glpat-" + _TOKEN + rb"{20,}"),
    ("aws-key-id", (b"AKIA", b"ASIA"), _START + rb"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("google-key", (b"AIza",), _START + rb"AIza" + _TOKEN + rb"{35}"),
    ("google-token", (b"ya29.", b"GOCSPX-"), _START + rb"(?:ya29\.|GOCSPX-)" + _TOKEN + rb"{20,}"),
    ("slack-token", (b"xox",), _START + rb"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("slack-token", (b"xapp-",), _START + rb"xapp-[A-Za-z0-9-]{10,}"),
    ("npm-token", (b"npm_",), _START + rb"npm_[A-Za-z0-9]{36}"),
    ("huggingface-token", (b"hf_",), _START + rb"hf_[A-Za-z0-9]{30,}"),
    ("pypi-token", (b"pypi-AgE",), _START + rb"pypi-AgE" + _TOKEN + rb"{40,}"),
    ("jwt", (b"eyJ",), rb"(?<![_-])" + _START + rb"eyJ" + _TOKEN + rb"{8,}\.eyJ" + _TOKEN + rb"{8,}\.[A-Za-z0-9_-]*"),
    (
        "private-key",
        (b"-----BEGIN ",),
        rb"-----BEGIN [A-Z ]{0,30}" + _PEM + rb"(?:[A-Za-z0-9+/=\s:,.]|-(?!----)|\\+[nrt/])*"
        rb"(?:-----END [A-Z ]{0,30}" + _PEM + rb")?",
    ),
    ("url-password", (b"://",), rb"""://[^\s/:@"'<>\\]{0,200}:(?P<secret>[^\s/@"'<>\\]{1,200})@"""),
    ("bearer-token", (b"earer ", b"EARER "), rb"[eE](?:arer|ARER) +" + _CREDENTIAL),
    ("basic-auth", (b"Basic ", b"basic "), rb"[Bb]asic +" + _CREDENTIAL),
    (
        "api-key-header",
        (b"-api-key", b"-Api-Key", b"-API-KEY"),
        rb"-\w\w\w-\w\w\w\\*[\"']?\s*:\s*\\*[\"']?" + _CREDENTIAL,
    ),
)
"""Kind, literals that a match begins with, the expression; the group `secret` is what is taken out, else all."""

_SIGNATURE = re.compile(
    rb'"(?:signature|thoughtSignature|thought_signature)\\*"\s*:\s*\\*"(?P<value>[A-Za-z0-9+/=_-]{20,})\\*"'
)
_WRITTEN = re.compile(rb"\[REDACTED:([A-Za-z0-9_.-]+)\]")
_USER_SECONDS = 20.0


class _Piece(NamedTuple):
    start: int
    end: int
    kind: str


class _Rule(NamedTuple):
    kind: str
    find: Callable[[bytes], Iterator[tuple[int, int]]]
    exact: bool


class Redactor:
    """Rules of one run. `secrets`: name of a variable → its value; `patterns`: more regular expressions (`regex`)."""

    def __init__(self, secrets: Mapping[str, str], patterns: Sequence[str]) -> None:
        values = {value.strip(): name for name, value in secrets.items()}
        self._rules = [rule for value in sorted(values, key=len, reverse=True) for rule in _exact(values[value], value)]
        self._rules += [_Rule(kind, _anchored(literals, expression), False) for kind, literals, expression in PATTERNS]
        self._rules += [_Rule(f"pattern-{n}", _users(pattern), False) for n, pattern in enumerate(patterns, 1)]
        self._kinds = {rule.kind for rule in self._rules}

    def redact(self, data: bytes) -> tuple[bytes, int]:
        """`data` with `[REDACTED:kind]` for every secret, and how many were taken out."""
        pieces = self._pieces(data)
        if not pieces:
            return data, 0
        out, done = [], 0
        for start, end, group in _by_lines(data, pieces):
            out += [data[done:start], self._lines(data, start, end, group)]
            done = end
        return b"".join([*out, data[done:]]), len(pieces)

    def refuse(self, data: bytes) -> str | None:
        """The kind of a rule that still finds something, or could not look to the end: such data must not be stored."""
        spared = self._spared(data)
        for rule in self._rules:
            try:
                if any(rule.exact or not _inside(span, spared) for span in rule.find(data)):
                    return rule.kind
            except TimeoutError:
                return rule.kind
        return None

    def _pieces(self, data: bytes) -> list[_Piece]:
        """What to take out, merged and in order, exact values' kinds before patterns'."""
        spared = self._spared(data)
        found = []
        for rank, rule in enumerate(self._rules):
            try:
                spans = [s for s in rule.find(data) if rule.exact or not _inside(s, spared)]
            except TimeoutError:
                continue
            found += [(*_whole(data, *span), rank) for span in spans]
        merged: list[tuple[int, int, int]] = []
        for span in sorted(found):
            if merged and span[0] < merged[-1][1]:
                before = merged.pop()
                merged.append((before[0], max(span[1], before[1]), min(span[2], before[2])))
            else:
                merged.append(span)
        return [_Piece(start, end, self._rules[rank].kind) for start, end, rank in merged]

    def _spared(self, data: bytes) -> list[tuple[int, int]]:
        """Where patterns do not count: signatures, and what this redactor itself has written."""
        written = [m.span() for m in _WRITTEN.finditer(data) if m[1].decode() in self._kinds]
        return _signatures(data) + written

    def _lines(self, data: bytes, start: int, end: int, pieces: Sequence[_Piece]) -> bytes:
        new = _replaced(data, start, end, pieces)
        old = data[start:end]
        if old.lstrip()[:1] not in (b"{", b"[", b'"') or b"\n" in old:
            return new
        value = _json(old)
        if value is _NOT_JSON or _json(new) is not _NOT_JSON:
            return new
        return json.dumps(self._value(value), ensure_ascii=False).encode("utf-8", "surrogatepass")

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._value(key): self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, str):
            return self._text(value)
        shown = json.dumps(value)
        return value if self._text(shown) == shown else self._text(shown)

    def _text(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        new = _replaced(data, 0, len(data), self._pieces(data))
        return new.decode("utf-8", "replace")


def _exact(name: str, value: str) -> Iterator[_Rule]:
    placeholder = f"[REDACTED:{name}]"
    kind = re.sub(r"[^A-Za-z0-9_.-]", "_", name) if value not in placeholder else "secret"
    if len(value) < secret_forms.SHORTEST or value in "[REDACTED:secret]":
        return
    for expression in secret_forms.forms(value):
        yield _Rule(kind, _plain(re.compile(expression)), True)


def _plain(expression: re.Pattern[bytes]) -> Callable[[bytes], Iterator[tuple[int, int]]]:
    return lambda data: (match.span() for match in expression.finditer(data))


def _anchored(literals: Sequence[bytes], source: bytes) -> Callable[[bytes], Iterator[tuple[int, int]]]:
    """Looks only where a literal stands: `bytes.find` is many times as fast as a search that begins with a class."""
    expression = re.compile(source)
    group = "secret" if "secret" in expression.groupindex else 0

    def find(data: bytes) -> Iterator[tuple[int, int]]:
        for literal in literals:
            at = data.find(literal)
            while at >= 0:
                match = expression.match(data, at)
                if match:
                    yield match.span(group)
                at = data.find(literal, match.end() if match else at + 1)

    return find


def _users(source: str) -> Callable[[bytes], Iterator[tuple[int, int]]]:
    """A match over several lines is taken out line by line, so that lines stay lines."""
    import regex

    expression = regex.compile(source.encode())

    def find(data: bytes) -> Iterator[tuple[int, int]]:
        for match in expression.finditer(data, timeout=_USER_SECONDS):
            at = match.start()
            for part in match[0].split(b"\n"):
                if part:
                    yield at, at + len(part)
                at += len(part) + 1

    return find


def _signatures(data: bytes) -> list[tuple[int, int]]:
    """Values of signature fields: random text that must stay byte for byte, and that patterns hit by chance."""
    if b"ignature" not in data:
        return []
    return [match.span("value") for match in _SIGNATURE.finditer(data)]


def _inside(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in spans)


def _whole(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The span, widened so that it cuts no JSON escape in two."""
    first, last = _escape(data, start), _escape(data, end)
    return (first[0] if first else start), (last[1] if last else end)


def _escape(data: bytes, at: int) -> tuple[int, int] | None:
    """The escape that begins before `at` and ends behind it."""
    for begin in range(at - 1, max(at - 6, -1), -1):
        if data[begin] == 0x5C and _odd(data, begin):
            end = begin + (6 if data[begin + 1 : begin + 2] == b"u" else 2)
            return (begin, min(end, len(data))) if end > at else None
    return None


def _odd(data: bytes, at: int) -> bool:
    run = 0
    while at >= 0 and data[at] == 0x5C:
        run, at = run + 1, at - 1
    return run % 2 == 1


def _by_lines(data: bytes, pieces: Sequence[_Piece]) -> Iterator[tuple[int, int, list[_Piece]]]:
    """Pieces in groups: start and end of the whole lines (without the last line end) that a group touches."""
    group: list[_Piece] = []
    start = end = -1
    for piece in pieces:
        if group and piece.start <= end:
            group.append(piece)
        else:
            if group:
                yield start, end, group
            group, start = [piece], data.rfind(b"\n", 0, piece.start) + 1
        if piece.end > end:
            end = data.find(b"\n", piece.end)
            end = len(data) if end < 0 else end
    yield start, end, group


def _replaced(data: bytes, start: int, end: int, pieces: Sequence[_Piece]) -> bytes:
    out, done = [], start
    for piece in pieces:
        out += [data[done : piece.start], f"[REDACTED:{piece.kind}]".encode()]
        done = piece.end
    return b"".join([*out, data[done:end]])


_NOT_JSON = object()


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return _NOT_JSON
