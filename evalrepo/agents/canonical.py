"""Paths, tools and usage in one form for every agent."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalrepo.agents.jsonl import amount_of, count_of
from evalrepo.records.transcript import CANONICAL_ARGUMENTS, CANONICAL_TOOLS

_SIMPLE = re.compile(r"(?![/~]|\.)[^/]+(/(?!\.)[^/]+)*").fullmatch


def relative_path(path: str, work: str, *, cwd: str = "", home: str = "") -> str:
    """A path as checks see it: relative to `work` with `/`, absolute when it is outside.

    `path` as the agent wrote it: relative ones are taken from `cwd` (default: `work`), `~/` is `home`.
    """
    inner = path[len(work) + 1 :] if path.startswith(work + "/") else path if cwd in ("", work) else ""
    if _SIMPLE(inner):
        return inner
    if path.startswith("~/") and home:
        path = home + path[1:]
    full = posixpath.normpath(posixpath.join(cwd or work, path))
    if full == work:
        return "."
    return full[len(work) + 1 :] if full.startswith(work + "/") else full


def located(found: dict[str, Any], work: str, *, cwd: str = "", home: str = "") -> dict[str, Any]:
    """Canonical arguments with their `path`, where they have one, as `relative_path`."""
    path = found.get("path")
    return found | {"path": relative_path(path, work, cwd=cwd, home=home)} if isinstance(path, str) else found


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of one CLI: its canonical kind, and canonical argument → the tool's own name of it."""

    kind: str
    names: Mapping[str, str]

    def known(self, args: Any) -> dict[str, Any]:
        """The canonical arguments that a call of it gives, as they stand there."""
        given = args if isinstance(args, dict) else {}
        return {name: given[own] for name, own in self.names.items() if given.get(own) is not None}


def joined(edits: Any, names: Mapping[str, str]) -> dict[str, str]:
    """The texts of several replacements in one file, one below the other; `names` as those of a `Tool`."""
    blocks = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    texts = {name: [e[own] for e in blocks if isinstance(e.get(own), str)] for name, own in names.items()}
    return {name: "\n".join(found) for name, found in texts.items() if found}


TOOL_NAMES: dict[str, str] = {
    **{kind: kind for kind in CANONICAL_TOOLS},
    **dict.fromkeys(("read_file", "view", "view_file", "open_file", "cat"), "read"),
    **dict.fromkeys(("write_file", "create_file", "create"), "write"),
    **dict.fromkeys(("edit_file", "multiedit", "str_replace", "replace", "apply_patch"), "edit"),
    **dict.fromkeys(
        ("bash", "bash_command", "execute_bash", "run_shell_command", "run_command", "exec_command"), "shell"
    ),
    **dict.fromkeys(("grep", "glob", "find", "grep_search", "search_files", "list_files", "ls"), "search"),
    **dict.fromkeys(("task", "agent", "subagent", "spawn_agent", "invoke_agent", "delegate"), "spawn"),
}
"""Tool names in lower case that agents commonly use → canonical kind."""

_ALIASES: dict[str, tuple[str, ...]] = {
    "path": ("path", "file_path", "filePath", "filepath", "filename", "file"),
    "command": ("command", "cmd"),
    "agent": ("agent", "subagent_type", "agent_name", "agent_type"),
    "task": ("task", "prompt", "message", "instructions"),
    "model": ("model",),
    "pattern": ("pattern", "query", "regex"),
    "content": ("content", "contents", "text"),
    "old": ("old", "old_string", "oldString", "old_str"),
    "new": ("new", "new_string", "newString", "new_str"),
    "skill": ("skill", "skill_name", "name"),
}

_NAMES = frozenset(CANONICAL_ARGUMENTS)

_BY_KIND: dict[str, tuple[str, ...]] = {
    "spawn": ("agent", "task", "model"),
    "read": ("path",),
    "edit": ("path", "old", "new"),
    "write": ("path", "content"),
    "shell": ("command",),
    "search": ("pattern", "path"),
    "skill": ("skill",),
}


def common_arguments(kind: str, args: Mapping[str, Any], work: str) -> dict[str, Any]:
    """Canonical arguments of a call whose names are only commonly used, not agreed; paths as `relative_path`."""
    found: dict[str, Any] = {}
    for name in _BY_KIND.get(kind, ()):
        value = next((args[alias] for alias in _ALIASES[name] if alias in args), None)
        if value is not None:
            found[name] = value
    return located(found, work)


def own_arguments(args: Mapping[str, Any], work: str, cwd: str, home: str) -> dict[str, Any]:
    """Canonical arguments of a call that already uses the canonical names."""
    found = {name: value for name, value in args.items() if name in _NAMES and value is not None}
    return located(found, work, cwd=cwd, home=home)


_COUNTS = frozenset(("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"))


def add_usage(totals: dict[str, float], given: Any) -> None:
    """Adds the numbers of a usage object under our own names; what is not a sound number is not known."""
    if not isinstance(given, dict):
        return
    for name, value in given.items():
        if name in _COUNTS:
            number: float | None = count_of(value)
        else:
            number = amount_of(value) if name == "cost_usd" else None
        if number is not None:
            totals[name] = totals.get(name, 0) + number
