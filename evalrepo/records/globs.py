"""Glob patterns over relative paths with `/`. Pure: a pattern never touches a disk.

`**` as a whole component stands for any number of directories, none included; a last `**` for everything below.
`*` and `?` stay inside one component, `[abc]` and `[!abc]` are sets. Names that begin with a dot are like others.
"""

from __future__ import annotations

import re
from functools import lru_cache


def matches(glob: str, path: str) -> bool:
    """Whether the whole path fits the pattern."""
    return compiled(glob).fullmatch(path) is not None


def is_glob(text: str) -> bool:
    """Whether the text has any character that is special in a pattern."""
    return any(c in text for c in "*?[")


@lru_cache(maxsize=2048)
def compiled(glob: str) -> re.Pattern[str]:
    """The pattern as a regular expression over whole paths."""
    parts = [p for i, p in enumerate(glob.split("/")) if not (p == "**" and glob.split("/")[i - 1 : i] == ["**"])]
    text = ""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            text += ".+" if last else "(?:[^/]+/)*"
        else:
            text += _component(part) + ("" if last else "/")
    return re.compile(text, re.DOTALL)


def _component(part: str) -> str:
    out, i = "", 0
    while i < len(part):
        char = part[i]
        if char == "*":
            while part[i + 1 : i + 2] == "*":
                i += 1
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[" and (end := part.find("]", i + 2)) > 0:
            inside = part[i + 1 : end]
            negated = inside.startswith(("!", "^"))
            body = re.sub(r"([\\\[\]&~|])", r"\\\1", inside[1:] if negated else inside)
            out += f"[^/{body}]" if negated else f"[{body}]"
            i = end
        else:
            out += re.escape(char)
        i += 1
    return out
