"""YAML as a person would write it, that our reader takes."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from evalrepo.formats.emit import scalar
from evalrepo.records.base import NAME

_WIDTH = 118
_INVISIBLE = frozenset(("Cc", "Cf", "Zl", "Zp"))


def name(text: str, most: int = 60) -> str:
    """A name for files and ids: the words in lower case with `-` between them; "" when there are none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found = ""
    for word in re.findall(r"[a-z0-9]+", plain):
        if len(found) + len(word) >= most:
            break
        found += f"-{word}" if found else word
    return found


def is_name(text: str) -> bool:
    """Whether ids may look like that."""
    return bool(NAME.fullmatch(text)) and not text.endswith((".", ".lock", ".yaml", ".yml")) and ".." not in text


def comment(text: str, indent: str = "") -> str:
    """Comment lines, what is invisible left out."""
    plain = "".join(" " if unicodedata.category(c) in _INVISIBLE else c for c in text)
    rows = textwrap.wrap(plain, _WIDTH - len(indent) - 2, break_on_hyphens=False) or [""]
    return "".join(f"{indent}# {row}".rstrip() + "\n" for row in rows)


def entry(key: str, value: str, indent: str = "") -> str:
    """`key: text`."""
    return f"{indent}{key}: {scalar(value)}\n"


def items(key: str, values: Sequence[str], indent: str = "") -> str:
    """`key:` and a line for each text; nothing when there are none."""
    return "".join([f"{indent}{key}:\n", *(f"{indent}  - {scalar(v)}\n" for v in values)]) if values else ""


def entries(key: str, values: Mapping[str, str], indent: str = "") -> str:
    """`key:` and a line for each key and text; nothing when there are none."""
    lines = (f"{indent}  {scalar(k)}: {scalar(v)}\n" for k, v in values.items())
    return "".join([f"{indent}{key}:\n", *lines]) if values else ""


def prompts(turns: Iterable[tuple[str, str]], indent: str = "") -> str:
    """`turns:` with prompts, each with its `session` ("" for the default)."""
    text = f"{indent}turns:\n"
    for prompt, session in turns:
        text += f"{indent}  - prompt: {scalar(prompt)}\n"
        text += f"{indent}    session: {session}\n" if session else ""
    return text
