"""opencode's errors: which kind of ours they are, and what a person should do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalrepo.agents.faults import DENIED, NO_LOGIN, NOT_LOADED, TOO_LONG, UNKNOWN_MODEL, Cause, Dialect, advised, told
from evalrepo.agents.jsonl import count_of, text_of

REJECTED = "The user rejected permission to use this specific tool call"
"""What a tool's error begins with when the CLI asked for a permission and nobody gave it."""

ABORTED = "MessageAbortedError"
"""The error of a message that was ended from outside."""
LOST_AGENT = "AgentNotFound"
"""Our name of what the CLI only warns of: the primary agent is not there, or is none."""

DIALECT = Dialect(
    key="ANTHROPIC_API_KEY",
    models="`opencode models` lists what there is",
    names={
        "ProviderAuthError": NO_LOGIN,
        "ContextOverflowError": TOO_LONG,
        LOST_AGENT: Cause(
            NOT_LOADED.kind, "install it where opencode looks, as .opencode/agent/NAME.md with `mode: primary`"
        ),
    },
    words=((r"ModelNotFound|ProviderNotFound", UNKNOWN_MODEL),),
)


def fault(error: Any, cause: str = "") -> tuple[str, str]:
    """Kind and message of an error object of a message or an event (`{name, data}`); `cause` is what the log says
    of it."""
    given = error if isinstance(error, Mapping) else {}
    data = given.get("data")
    data = data if isinstance(data, Mapping) else {}
    name, said = text_of(given.get("name")) or "Error", text_of(data.get("message")) or "no message"
    status = count_of(data.get("statusCode")) or 0
    head = f"HTTP {status}" if status else name
    return told(cause or f"{head}: {said}", DIALECT, status=status, name=name)


def refusal(tool: str) -> tuple[str, str]:
    """The end of a session in which a permission was missing for a tool."""
    return DENIED.kind, advised(f"opencode stopped: nobody gave it the permission for {tool}", DENIED.advice)
