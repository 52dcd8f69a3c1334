"""What of Claude Code's own words for an error is which kind of ours, and what a person should do."""

from __future__ import annotations

import re
from typing import Any

from evalrepo.agents.canonical import error_kind
from evalrepo.agents.jsonl import Row, count_of, text_of
from evalrepo.records.record import ErrorKind

_LOGIN = (
    "not logged in: name its key in the agent's `env: [ANTHROPIC_API_KEY]`, or give it the login with `home: inherit`"
)
_REFUSED = (
    "the key or login was refused: put a valid one into the variable that the agent's `env` names, or log in again"
)
_MODEL = "change the tier's `model` to one that the account may use"
_LONG = "the conversation does not fit into the model's context: the scenario needs less input, or a model with more"
_BUSY = "the vendor refuses more requests: run with fewer `--jobs`, or later"
_DOWN = "the vendor cannot be reached or is down: try again later"
_PAY = "the account cannot pay: see its billing"

_BY_STATUS = {
    401: (ErrorKind.AUTH, _REFUSED),
    402: (ErrorKind.AUTH, _PAY),
    403: (ErrorKind.AUTH, _REFUSED),
    404: (ErrorKind.AGENT, _MODEL),
    413: (ErrorKind.LIMIT, _LONG),
    429: (ErrorKind.RATE_LIMIT, _BUSY),
    529: (ErrorKind.RATE_LIMIT, _BUSY),
}

_BY_NAME = {
    "authentication_failed": (ErrorKind.AUTH, _REFUSED),
    "billing_error": (ErrorKind.AUTH, _PAY),
    "model_not_found": (ErrorKind.AGENT, _MODEL),
    "rate_limit": (ErrorKind.RATE_LIMIT, _BUSY),
    "server_error": (ErrorKind.NETWORK, _DOWN),
}

_BY_WORDS = (
    (re.compile(r"not logged in|please run /login", re.IGNORECASE), (ErrorKind.AUTH, _LOGIN)),
    (re.compile(r"prompt is too long|context (window|length)", re.IGNORECASE), (ErrorKind.LIMIT, _LONG)),
    (re.compile(r"credit balance", re.IGNORECASE), (ErrorKind.AUTH, _PAY)),
)


def of_answer(row: Row, text: str) -> tuple[str, str]:
    """Kind and message of the answer that the CLI makes up when a request failed."""
    status, name = count_of(row.get("apiErrorStatus")) or 0, text_of(row.get("error"))
    known = next((found for pattern, found in _BY_WORDS if pattern.search(text)), None) or _BY_STATUS.get(status)
    if known is None and 500 <= status < 600:
        known = ErrorKind.NETWORK, _DOWN
    kind, advice = known or _BY_NAME.get(name) or (error_kind("", text) or ErrorKind.AGENT, "")
    return str(kind), f"{text} ({advice})" if advice else text


def unknown_command(name: str) -> tuple[str, str]:
    """Kind and message of a prompt that is a command which nobody has installed."""
    return (
        ErrorKind.NOT_LOADED,
        f"Claude Code knows no command /{name}: is it part of the subject, and is that installed?",
    )


def of_turns(most: Any) -> tuple[str, str]:
    """Kind and message of a session that took all turns that the tier allows."""
    return ErrorKind.LIMIT, f"the agent was stopped after {most} turns: the tier's `max_turns`"


def of_result(row: Row) -> tuple[str, str] | None:
    """Kind and message of an error that only the CLI's own result names; None when there is none."""
    if row.get("subtype") == "error_max_budget_usd":
        return ErrorKind.LIMIT, "the agent was stopped when its money was spent: the tier's `max_budget_usd`"
    return None
