"""codex's errors as ours, with what to do about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalrepo.agents.faults import (
    BUSY,
    CUT,
    DOWN,
    NO_LOGIN,
    REFUSED,
    TOO_LONG,
    UNKNOWN_MODEL,
    UNPAID,
    Dialect,
    plain,
    told,
)
from evalrepo.agents.jsonl import text_of

DIALECT = Dialect(
    key="CODEX_API_KEY",
    names={
        "unauthorized": REFUSED,
        "usage_not_included": UNPAID,
        "usage_limit_exceeded": BUSY,
        "usage_limit_reached": BUSY,
        "quota_exceeded": BUSY,
        "rate_limit_exceeded": BUSY,
        "server_overloaded": BUSY,
        "policy_capacity_unavailable": BUSY,
        "internal_server_error": DOWN,
        "http_connection_failed": DOWN,
        "connection_failed": DOWN,
        "response_stream_connection_failed": DOWN,
        "response_too_many_failed_attempts": DOWN,
        "response_stream_disconnected": CUT,
        "response_stream_failed": CUT,
        "context_window_exceeded": TOO_LONG,
        "model_not_found": UNKNOWN_MODEL,
    },
    words=(
        (r"missing environment variable", NO_LOGIN),
        (r"log in again|refresh token", REFUSED),
        (r"discovery failed", DOWN),
    ),
)


def fault(error: Mapping[str, Any]) -> tuple[str, str]:
    """Kind and message of `{message, codex_error_info}`; a name that comes with an HTTP status says nothing more."""
    name, status = _info(error.get("codex_error_info"))
    return told(plain(text_of(error.get("message"))), DIALECT, status=status, name="" if status else name)


def _info(info: Any) -> tuple[str, int]:
    if isinstance(info, Mapping) and info:
        name, details = next(iter(info.items()))
        status = details.get("http_status_code") if isinstance(details, Mapping) else None
        return str(name), status if type(status) is int else 0
    return text_of(info), 0
