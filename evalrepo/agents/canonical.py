"""Paths, tools and errors in one form for every agent."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from evalrepo.agents.jsonl import amount_of, count_of
from evalrepo.records.record import ErrorKind
from evalrepo.records.transcript import CANONICAL_ARGUMENTS, CANONICAL_TOOLS

_SIMPLE = re.compile(r"(?![/~]|\.)[^/]+(/(?!\.)[^/]+)*").fullmatch


def relative_path(path: str, work: str, *, cwd: str = "", home: str = "") -> str:
    """A path as checks see it: relative to `work` with `/`, absolute when it is outside.

    `path` as the agent wrote it: relative ones are taken from `cwd` (default: `work`), `~/` is `home`.
    """
    if _SIMPLE(path) and cwd in ("", work):
        return path
    if path.startswith("~/") and home:
        path = home + path[1:]
    full = posixpath.normpath(posixpath.join(cwd or work, path))
    if full == work:
        return "."
    return full[len(work) + 1 :] if full.startswith(work + "/") else full


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
            found[name] = relative_path(value, work) if name == "path" and isinstance(value, str) else value
    return found


def own_arguments(args: Mapping[str, Any], work: str, cwd: str, home: str) -> dict[str, Any]:
    """Canonical arguments of a call that already uses the canonical names."""
    found = {name: value for name, value in args.items() if name in _NAMES and value is not None}
    path = found.get("path")
    if isinstance(path, str):
        found["path"] = relative_path(path, work, cwd=cwd, home=home)
    return found


_KINDS = {kind.value for kind in ErrorKind}

_SIGNATURES: tuple[tuple[ErrorKind, str], ...] = (
    (
        ErrorKind.AUTH,
        r"\b40[13]\b|not logged in|unauthori[sz]ed|authentication|forbidden|(invalid|missing|no) api[ _-]?key",
    ),
    (
        ErrorKind.RATE_LIMIT,
        r"\b(429|529)\b|rate[ _-]?limit|hit your (usage )?limit|usage limit|overloaded|quota|too many requests",
    ),
    (
        ErrorKind.NETWORK,
        r"\b50[0234]\b|connection (refused|reset|error|closed)|ECONN\w+|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|name resolution",
    ),
    (ErrorKind.PERMISSION, r"permission (requested|denied)|auto-rejecting|not permitted"),
    (ErrorKind.NOT_LOADED, r"unknown (slash )?command|unknown skill"),
)
_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _SIGNATURES)


def error_kind(kind: str, message: str) -> str:
    """The ErrorKind that an agent's own words for an error speak of; "" when they are not known.

    `kind` is the agent's own name of it (`rate_limit` is `rate-limit`), looked at before the message.
    """
    named = kind.strip().lower().replace("_", "-")
    if named in _KINDS:
        return named
    for text in (kind, message[:2000]):
        for found, pattern in _COMPILED:
            if text and pattern.search(text):
                return found.value
    return ""


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
