"""opencode's errors: which kind of ours they are, and what a person should do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalrepo.agents.canonical import error_kind
from evalrepo.agents.jsonl import count_of, text_of
from evalrepo.records.record import ErrorKind

REJECTED = "The user rejected permission to use this specific tool call"
"""What a tool's error begins with when the CLI asked for a permission and nobody gave it."""

ABORTED = "MessageAbortedError"
"""The error of a message that was ended from outside."""
LOST_AGENT = "AgentNotFound"
"""Our name of what the CLI only warns of: the primary agent is not there, or is none."""

_LOGIN = "name the provider's key in the agent's `env: [ANTHROPIC_API_KEY]`, or give it the login with `home: inherit`"
_REFUSED = "put a valid key into the variable that the agent's `env` names, or log in again"
_PAY = "the account cannot pay: see its billing"
_MODEL = "correct the tier's `model`: `opencode models` lists what there is"
_BUSY = "the vendor refuses more requests: run with fewer `--jobs`, or later"
_DOWN = "the vendor cannot be reached or is down: try again later"
_LONG = "the conversation does not fit into the model's context: the scenario needs less input, or a model with more"
_AGENT = "install it where opencode looks, as .opencode/agent/NAME.md with `mode: primary`"
_PERMISSION = "a rule of the subject asks, and `--auto` did not answer"

_BY_NAME = {
    "ProviderAuthError": (ErrorKind.AUTH, _LOGIN),
    "ContextOverflowError": (ErrorKind.LIMIT, _LONG),
    LOST_AGENT: (ErrorKind.NOT_LOADED, _AGENT),
}
_BY_STATUS = {
    401: (ErrorKind.AUTH, _REFUSED),
    402: (ErrorKind.AUTH, _PAY),
    403: (ErrorKind.AUTH, _REFUSED),
    404: (ErrorKind.AGENT, _MODEL),
    413: (ErrorKind.LIMIT, _LONG),
    429: (ErrorKind.RATE_LIMIT, _BUSY),
    529: (ErrorKind.RATE_LIMIT, _BUSY),
}
_BY_KIND = {ErrorKind.AUTH: _REFUSED, ErrorKind.RATE_LIMIT: _BUSY, ErrorKind.NETWORK: _DOWN}


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as a transcript tells it: an `ErrorKind`, and a message with the next step."""

    kind: str
    message: str


def fault(error: Any, cause: str = "") -> Fault:
    """An error object of a message or an event (`{name, data}`); `cause` is what the log says of it."""
    given = error if isinstance(error, Mapping) else {}
    data = given.get("data")
    data = data if isinstance(data, Mapping) else {}
    name, said = text_of(given.get("name")) or "Error", text_of(data.get("message")) or "no message"
    status = count_of(data.get("statusCode")) or 0
    kind, advice = _meaning(name, status, cause or said)
    text = cause or f"{name}: {said}" + (f" (HTTP {status})" if status else "")
    return Fault(kind, f"{text} ({advice})" if advice else text)


def refusal(tool: str) -> Fault:
    """The end of a session in which a permission was missing for a tool."""
    return Fault(ErrorKind.PERMISSION, f"opencode stopped: nobody gave it the permission for {tool} ({_PERMISSION})")


def _meaning(name: str, status: int, said: str) -> tuple[ErrorKind, str]:
    if name in _BY_NAME:
        return _BY_NAME[name]
    if "credit balance" in said.lower():
        return ErrorKind.AUTH, _PAY
    if "ModelNotFound" in said or "ProviderNotFound" in said:
        return ErrorKind.AGENT, _MODEL
    if status:
        return _BY_STATUS.get(status) or ((ErrorKind.NETWORK, _DOWN) if status >= 500 else (ErrorKind.AGENT, ""))
    kind = ErrorKind(error_kind(name, said) or ErrorKind.AGENT)
    return kind, _BY_KIND.get(kind, "")
