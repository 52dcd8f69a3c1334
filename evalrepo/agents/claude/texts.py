"""Texts in Claude Code's log: what of them is whose, and what their tags and first words mean."""

from __future__ import annotations

import re
from typing import Any

from evalrepo.agents.jsonl import Row, text_of

_EXIT = re.compile(r"Exit code (\d+)\b")
_TAGGED = re.compile(r"<(system-reminder|local-command-caveat)>.*</\1>\s*", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
_OUTPUT = re.compile(r"<local-command-std(?:out|err)>(.*)</local-command-std", re.DOTALL)
_UNKNOWN = re.compile(r"Unknown (?:slash )?(?:command|skill): /?(\S+)")
_ABOUT = re.compile(r"<tool-use-id>([^<]+)</tool-use-id>")
_COMPLETED = "<status>completed</status>"
_LISTED = re.compile(r"^- ([^\s:]+(?::[^\s:]+)*):", re.MULTILINE)
NOTIFICATION = "<task-notification>"
INTERRUPTED = "[Request interrupted by user"


def is_reminder(text: str) -> bool:
    """Whether all of it is the CLI's own remark."""
    return _TAGGED.fullmatch(text) is not None


def printed(text: str) -> str | None:
    """What a command printed that the CLI did without the model; None for any other text."""
    found = _OUTPUT.match(text)
    return found[1] if found else None


def unknown_command(text: str) -> str:
    """The name of a command or skill that a printed text says is not known, "" when it does not."""
    found = _UNKNOWN.match(text)
    return found[1] if found else ""


def notified(text: str) -> tuple[str, bool]:
    """Whose end a notification tells, by the id of the call ("" for none), and whether that was a good one."""
    about = _ABOUT.search(text)
    return (about[1] if about else ""), _COMPLETED in text.partition("<summary>")[0]


def listed(text: str) -> list[str]:
    """The names in a list of `- name: description` lines."""
    return _LISTED.findall(text)


def typed(text: str) -> str:
    """What a person typed: a command is logged in tags."""
    name = _COMMAND.search(text) if text.startswith(("<command-name>", "<command-message>")) else None
    if name is None:
        return text
    args = _ARGUMENTS.search(text)
    return f"{name[1]} {args[1]}".rstrip() if args else name[1]


def content(message: Row) -> str:
    """The text of content that is a string (as it is) or a list of blocks, as far as it is text."""
    given = message.get("content")
    if isinstance(given, str):
        return given
    return "\n".join(map(block_text, given)) if isinstance(given, list) else ""


def block_text(block: Any) -> str:
    """The text of one block of content; the kind of one that is no text, in brackets."""
    if not isinstance(block, dict):
        return ""
    return text_of(block.get("text")) if block.get("type") == "text" else f"[{text_of(str(block.get('type'))[:60])}]"


def exit_code(facts: Any, text: str, *, failed: bool) -> int | None:
    """A failing command's code begins its text. A code of 1 that only says "no match" is told apart elsewhere."""
    if failed:
        found = _EXIT.match(text)
        return int(found[1]) if found else None
    if not isinstance(facts, dict) or "backgroundTaskId" in facts or facts.get("interrupted") is True:
        return None
    return 1 if "returnCodeInterpretation" in facts else 0
