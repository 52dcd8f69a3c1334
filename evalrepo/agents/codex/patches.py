"""The patches of codex's `apply_patch`: made from a change, and taken apart into one change a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalrepo.agents.jsonl import text_of

_HEAD = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_BODY = re.compile(r"\*\*\* Begin Patch\n(.*?)(?:\n\*\*\* End Patch|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Change:
    """What a patch does to one file. `old` and `new` are whole lines without their context, None where not known."""

    path: str
    kind: str
    old: str | None = None
    new: str | None = None

    def canonical(self, path: str) -> dict[str, Any]:
        """Canonical arguments, with the path as checks see it."""
        if self.kind == "write":
            return {"path": path, "content": self.new or ""}
        known = {"old": self.old, "new": self.new}
        return {"path": path, **{name: text for name, text in known.items() if text is not None}}


def changes_of_patch(text: str) -> list[Change]:
    """A patch's changes in its order; a file that is deleted is an edit to nothing."""
    body = _BODY.search(text)
    found: list[tuple[str, str, list[str]]] = []
    for line in body[1].split("\n") if body else ():
        head = _HEAD.fullmatch(line.rstrip())
        if head is not None:
            found.append((head[1], head[2].strip(), []))
        elif found:
            found[-1][2].append(line)
    return [_change(operation, path, lines) for operation, path, lines in found]


def _change(operation: str, path: str, lines: Sequence[str]) -> Change:
    added = "".join(line[1:] + "\n" for line in lines if line.startswith("+"))
    if operation == "Add":
        return Change(path, "write", new=added)
    if operation == "Delete":
        return Change(path, "edit", new="")
    removed = "".join(line[1:] + "\n" for line in lines if line.startswith("-"))
    return Change(path, "edit", removed, added)


def changes_of_item(given: Any) -> list[Change]:
    """The changes of a `FileChange` item: path → {type, content or unified_diff}."""
    found = given if isinstance(given, Mapping) else {}
    return [_recorded(text_of(path), change) for path, change in found.items() if isinstance(change, Mapping)]


def _recorded(path: str, change: Mapping[str, Any]) -> Change:
    content = text_of(change.get("content"))
    if change.get("type") == "add":
        return Change(path, "write", new=content)
    if change.get("type") == "delete":
        return Change(path, "edit", content, "")
    return _change("Update", path, text_of(change.get("unified_diff")).split("\n"))


def adding(path: str, content: str) -> str:
    """A patch that writes a whole file. The tool ends every file with a newline."""
    lines = "".join(f"+{line}\n" for line in content.removesuffix("\n").split("\n")) if content else ""
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"


def replacing(path: str, old: str, new: str, seen: Sequence[str]) -> str:
    """A patch that replaces `old`, which may be a part of lines: `seen` are texts that may hold the file, newest last.

    Where none of them does, `old` is taken for whole lines.
    """
    before, after = _lines_around(old, new, seen)
    hunk = "".join([*(f"-{line}\n" for line in before), *(f"+{line}\n" for line in after)])
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{hunk}*** End Patch\n"


def _lines_around(old: str, new: str, seen: Sequence[str]) -> tuple[list[str], list[str]]:
    """The whole lines that hold `old`, before and after."""
    text = next((text for text in reversed(seen) if old and old in text), old)
    first = text.find(old)
    start, last = text.rfind("\n", 0, first) + 1, first + len(old)
    if old.endswith("\n") and (new.endswith("\n") or not (new or text[start:first]) or last == len(text)):
        changed = text[start:first] + new
        return text[start : last - 1].split("\n"), changed.removesuffix("\n").split("\n") if changed else []
    end = text.find("\n", last)
    end = len(text) if end < 0 else end
    return text[start:end].split("\n"), (text[start:first] + new + text[last:end]).split("\n")
