"""What codex's tool outputs and context messages say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalrepo.agents.codex import tools
from evalrepo.agents.jsonl import Row, text_of

_HEADER = re.compile(
    r"(?:Chunk ID: \S+\n)?(?:Exit code: (-?\d+)\n)?Wall time:? [^\n]*\n"
    r"(?:Process exited with code (-?\d+)\n|Process running with session ID \d+\n)?"
    r"(?:Original token count: \d+\n)?(?:Output:\n)?"
)
_SCRIPT = re.compile(r"Script (completed|failed|running with cell ID \d+)\nWall time [^\n]*\n(?:Output:\n)?")
_FAILED = re.compile(
    r"unsupported (?:custom tool )?call|failed to parse|command blocked|fatal error|aborted|unknown |invalid |"
    r"unable to |error\b",
    re.IGNORECASE,
)
_ABORTED = "aborted by user"
_KILLED = -1
"""The exit code of a command that codex itself ended."""

_TALK = (tools.SPAWN, "wait_agent", "close_agent", "resume_agent", "send_input", "send_message", "followup_task",
         "interrupt_agent", "list_agents")  # fmt: skip
"""Tools that answer with JSON unless they refuse."""

_SKILL_LINE = re.compile(r"^- ([\w:.@/-]+): .*\(file: ", re.MULTILINE)
_ROLES = re.compile(r"Available roles:\n(.*)", re.DOTALL)
_ROLE = re.compile(r"^([\w.-]+): \{$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Output:
    """What came back for a call."""

    ok: bool
    text: str
    exit_code: int | None = None


def output_of(tool: str, kind: str, given: Any, item: Row) -> Output:
    """A call's output as the model was given it, with what the call's item ({} for none) knows of its end."""
    text = joined(given)
    if item.get("type") == "CommandExecution":
        found = _ended(item, _body(text))
        return Output(False, found.text) if _ABORTED in text[:200] else _searched(found, kind)
    if item.get("type") == "FileChange":
        return Output(item.get("status") == "completed", _body(text))
    return Output(_went_well(tool, given, text), _body(text), _code(text))


def output_of_item(kind: str, item: Row) -> Output:
    """The same for a call that stands in the log as an item alone."""
    if item.get("type") == "CommandExecution":
        return _searched(_ended(item, text_of(item.get("aggregated_output"))), kind)
    ok = item.get("status", "completed") == "completed"
    said = text_of(item.get("stdout")) + text_of(item.get("stderr"))
    return Output(ok, said or joined(_mcp_content(item)))


def _mcp_content(item: Row) -> Any:
    result = item.get("result", item.get("error"))
    return result.get("content", "") if isinstance(result, dict) else result


def _ended(item: Row, text: str) -> Output:
    code = item.get("exit_code")
    killed = code == _KILLED or type(code) is not int
    return Output(item.get("status") == "completed", text, None if killed else code)


def _searched(found: Output, kind: str) -> Output:
    """A search that finds nothing did not fail, though its exit code is 1."""
    nothing = kind == "search" and found.exit_code == 1 and not found.text.strip()
    return Output(True, found.text) if nothing else found


def _body(text: str) -> str:
    """Without the tool's own words before it; a patch that was applied by a command has them twice."""
    while (head := _HEADER.match(text) or _SCRIPT.match(text)) is not None:
        text = text[head.end() :]
    return text


def _code(text: str) -> int | None:
    head = _HEADER.match(text)
    code = head and (head[1] or head[2])
    return int(code) if code else None


def _went_well(tool: str, given: Any, text: str) -> bool:
    if tool in tools.SHELLS or tool in (tools.PATCH, "write_stdin"):
        return _HEADER.match(text) is not None and _ABORTED not in text[:200] and not _code(text)
    if tool in _TALK:
        return text.startswith("{")
    if tool == "view_image":
        return isinstance(given, list) and any(isinstance(p, dict) and p.get("type") == "input_image" for p in given)
    return not text.startswith("Script failed") and _FAILED.match(text) is None


def joined(output: Any) -> str:
    """The text of an output: a string, or its parts that are text."""
    if isinstance(output, list):
        return "".join(text_of(part.get("text")) for part in output if isinstance(part, dict))
    return text_of(output)


def mapping(text: str) -> Row:
    """The object that the text is, {} for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def skill_names(text: str) -> list[str]:
    """Names in the list of skills that codex tells the model."""
    return _SKILL_LINE.findall(text)


def role_names(value: Any) -> Iterator[str]:
    """Names in the list of roles in the description of the tool that starts a sub-agent, wherever it stands."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from role_names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from role_names(inner)
    elif isinstance(value, str) and (found := _ROLES.search(value)) is not None:
        yield from _ROLE.findall(found[1])
