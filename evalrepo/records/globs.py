"""Path patterns: `**` as a whole component crosses directories; `*`, `?` and `[…]` stay inside one. Case counts. Pure.

A pattern without any wildcard names a file, or a directory with all that is below it. Matching takes time
proportional to path × pattern at worst: each piece between two stars is found once, at its leftmost place, in an
atomic group.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WILD = re.compile(r"[*?\[]")


def is_glob(pattern: str) -> bool:
    """Whether the pattern has a wildcard."""
    return _WILD.search(pattern) is not None


def base(pattern: str) -> str:
    """The folder before the first wildcard, without a slash at its end: "a/b" of "a/b/*.md", "" of "*.md".

    For a pattern without wildcards, the folder that holds what it names.
    """
    found = _WILD.search(pattern)
    return pattern[: found.start() if found else len(pattern)].rpartition("/")[0]


def matches(pattern: str, path: str) -> bool:
    """Whether the whole path fits."""
    return compiled(pattern).fullmatch(path) is not None


def relative(pattern: str, path: str) -> str:
    """A path that fits, relative to the folder before the first wildcard (for a plain directory: relative to it)."""
    if not is_glob(pattern):
        return path.rpartition("/")[2] if path == pattern else path[len(pattern) + 1 :]
    start = base(pattern)
    return path[len(start) + 1 :] if start else path


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression, for `fullmatch`."""
    if not is_glob(pattern):
        return re.compile(re.escape(pattern) + "(?:/.*)?", re.DOTALL)
    groups: list[list[str]] = [[]]
    for part in pattern.split("/"):
        if part != "**":
            groups[-1].append(_component(part))
        elif groups[-1] or len(groups) == 1:
            groups.append([])
    return re.compile(_joined(groups), re.DOTALL)


def _joined(groups: list[list[str]]) -> str:
    """Groups of components with `**` between them. For all but the last the leftmost place is enough."""
    first, *rest = groups
    if not rest:
        return "/".join(first)
    out = ["".join(f"{part}/" for part in first)]
    out += ["(?>(?:[^/]*/)*?" + "".join(f"{part}/" for part in group) + ")" for group in rest[:-1]]
    out.append("(?:[^/]*/)*?" + "/".join(rest[-1]) if rest[-1] else ".+")
    return "".join(out)


def _component(part: str) -> str:
    pieces = _pieces(part)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _pieces(part: str) -> list[str]:
    """Regular expressions of what stands between the stars of one component."""
    pieces, at = [""], 0
    while at < len(part):
        char = part[at]
        if char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += "[^/]"
        elif char == "[" and (end := _class_end(part, at)):
            pieces[-1] += _class(part[at + 1 : end])
            at = end
        else:
            pieces[-1] += re.escape(char)
        at += 1
    return pieces


def _class_end(part: str, start: int) -> int:
    """Index of the bracket that closes the class, 0 when none does (then `[` means itself)."""
    at = start + 1 + (part[start + 1 : start + 2] in ("!", "^"))
    return max(part.find("]", at + 1), 0)


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    chars, at = inside[negated:], 0
    out: list[str] = []
    while at < len(chars):
        if chars[at + 1 : at + 2] == "-" and at + 2 < len(chars):
            low, high = chars[at], chars[at + 2]
            out.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
            at += 3
        else:
            out.append(re.escape(chars[at]))
            at += 1
    body = "".join(out)
    if negated:
        return f"[^/{body}]"
    return f"(?!/)[{body}]" if body else "(?!)"
