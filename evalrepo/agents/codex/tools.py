"""codex's tools as canonical ones.

What a command does is what codex itself says of it (`parsed_cmd` of its item), and only where that is all that the
command does: `cat a | wc -l` and `cat a && rm b` are shell commands, `cat a` is a read. A skill is used by reading its
file.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrepo.agents.canonical import relative_path
from evalrepo.agents.codex.patches import changes_of_item, changes_of_patch
from evalrepo.agents.jsonl import Row, cleaned, text_of

SHELLS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec")
PATCH = "apply_patch"
SPAWN = "spawn_agent"
WRAPPER = "exec"
"""The one tool of models in code mode: JavaScript that calls the others."""

OWN_NAMESPACES = ("", "functions", "multi_agent_v1", "collaboration", "clock")
"""Namespaces of codex's own tools, which are known by their names alone."""

_SKILL = re.compile(r"/skills/([^/\s\"']+)/SKILL\.md")
SECRET = re.compile(r"gAAAAA[\w-]{50,}=*")
"""How a text looks that the vendor encrypted."""

_READERS = ("cat", "head", "tail", "sed", "nl", "less", "bat")


@dataclass(frozen=True, slots=True)
class Named:
    """A call in our words: the agent's own tool and arguments, canonical kind and arguments."""

    tool: str
    kind: str
    args: Any
    canonical: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Places:
    """The work directory and the agent's current one."""

    work: str
    cwd: str

    def relative(self, path: str, cwd: str = "") -> str:
        """A path as checks see it."""
        return relative_path(path.removeprefix("file://"), self.work, cwd=cwd or self.cwd)


def named(tool: str, given: Any, item: Row, places: Places) -> list[Named]:
    """A call as the model made it, with the item that codex logged for it ({}: none); a patch is one for each file."""
    args = cleaned(given)
    if item.get("type") == "FileChange" or tool == PATCH:
        return _patch(tool, args, item, places)
    mapping = args if type(args) is dict else {}
    if item.get("type") == "CommandExecution" or tool in SHELLS:
        return [_command(tool, mapping, item, places)]
    if tool == SPAWN:
        return [Named(tool, "spawn", mapping, _spawn(mapping, item))]
    if tool == "view_image":
        return [Named(tool, "read", args, {"path": places.relative(text_of(mapping.get("path")))})]
    return [Named(tool, "", args)]


def from_item(item: Row, places: Places) -> list[Named]:
    """A call that stands in the log as an item alone: made by JavaScript in code mode."""
    asked = _ASKED.get(text_of(item.get("type")), _any_call)
    tool, args = asked(item)
    return named(tool, args, item, places)


def _ran(item: Row) -> tuple[str, Any]:
    return "exec_command", {"cmd": _shell_command(item)}


def _changed(item: Row) -> tuple[str, Any]:
    return PATCH, {"changes": item.get("changes")}


def _talked(item: Row) -> tuple[str, Any]:
    tool = text_of(item.get("tool"))
    if tool == SPAWN:
        return tool, {"message": text_of(item.get("prompt"))}
    return "wait_agent" if tool == "wait" else tool, {"targets": item.get("receiver_thread_ids") or []}


def _started(item: Row) -> tuple[str, Any]:
    return SPAWN, {"task_name": text_of(item.get("agent_path")).rpartition("/")[2]}


def _mcp(item: Row) -> tuple[str, Any]:
    return f"mcp__{text_of(item.get('server'))}__{text_of(item.get('tool'))}", item.get("arguments") or {}


def _viewed(item: Row) -> tuple[str, Any]:
    return "view_image", {"path": text_of(item.get("path")).removeprefix("file://")}


def _looked_up(item: Row) -> tuple[str, Any]:
    return "web_search", {"query": text_of(item.get("query"))}


def _any_call(item: Row) -> tuple[str, Any]:
    return text_of(item.get("tool")) or text_of(item.get("type")), item.get("arguments") or {}


_ASKED: dict[str, Callable[[Row], tuple[str, Any]]] = {
    "CommandExecution": _ran,
    "FileChange": _changed,
    "CollabAgentToolCall": _talked,
    "SubAgentActivity": _started,
    "McpToolCall": _mcp,
    "ImageView": _viewed,
    "WebSearch": _looked_up,
}
"""Type of an item → the tool and arguments that it stands for."""


def _spawn(args: Mapping[str, Any], item: Row) -> dict[str, Any]:
    """`agent`: the role; without one the name that the sub-agent was given. A task that is kept secret is not known."""
    receivers = item.get("receiver_agents")
    first = receivers[0] if isinstance(receivers, list) and receivers and isinstance(receivers[0], dict) else {}
    agent = text_of(args.get("agent_type")) or text_of(first.get("agent_role")) or text_of(args.get("task_name"))
    task = text_of(args.get("message")) or text_of(item.get("prompt"))
    model = text_of(args.get("model"))
    found = {"agent": agent, "task": "" if SECRET.fullmatch(task) else task, "model": model}
    return {name: text for name, text in found.items() if text}


def _patch(tool: str, args: Any, item: Row, places: Places) -> list[Named]:
    """The patch as it was written where it was, otherwise as it was applied."""
    text = args if type(args) is str else ""
    found = changes_of_patch(text) or changes_of_item(item.get("changes"))
    raw = {"input": text} if text else args
    if not found:
        return [Named(tool, "edit", raw)]
    return [Named(tool, change.kind, raw, change.canonical(places.relative(change.path))) for change in found]


def _command(tool: str, args: Mapping[str, Any], item: Row, places: Places) -> Named:
    command = _shell_command(item) or _asked_command(args)
    cwd = text_of(item.get("cwd")).removeprefix("file://") or text_of(args.get("workdir"))
    kind, canonical = _meaning(command, item.get("parsed_cmd"), places, cwd)
    return Named(tool, kind, args, {**canonical, "command": command})


def _asked_command(args: Mapping[str, Any]) -> str:
    command = args.get("cmd", args.get("command"))
    return _unwrapped(command) if isinstance(command, list) else text_of(command)


def _shell_command(item: Row) -> str:
    command = item.get("command")
    return _unwrapped(command) if isinstance(command, list) else ""


def _unwrapped(argv: list[Any]) -> str:
    """The script of `bash -lc SCRIPT`, or the words as one line."""
    words = [text_of(word) for word in argv]
    if len(words) == 3 and words[1] in ("-lc", "-c"):
        return words[2]
    return shlex.join(words)


def _meaning(command: str, parsed: Any, places: Places, cwd: str) -> tuple[str, dict[str, Any]]:
    skills = dict.fromkeys(_SKILL.findall(command))
    if len(skills) == 1 and command.split(maxsplit=1)[0] in _READERS:
        return "skill", {"skill": next(iter(skills))}
    only = parsed[0] if isinstance(parsed, list) and len(parsed) == 1 and isinstance(parsed[0], dict) else {}
    if only.get("type") not in ("read", "search") or not _is_all(command, text_of(only.get("cmd"))):
        return "shell", {}
    path = text_of(only.get("path"))
    if only["type"] == "read":
        return "read", {"path": places.relative(path, cwd)}
    place = places.relative(path or ".", cwd)
    return "search", {"pattern": text_of(only.get("query")), "path": place}


def _is_all(command: str, said: str) -> bool:
    """Whether the command is what was said and nothing more, but for a `cd` before it."""
    try:
        words = shlex.split(command)
        if words[:1] == ["cd"] and words[2:3] == ["&&"]:
            words = words[3:]
        return words == shlex.split(said)
    except ValueError:
        return False


def arguments(text: Any) -> Any:
    """The arguments of a function call: an object, or the text where it is none."""
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
