"""codex's errors as ours, with what to do about them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from evalrepo.agents.jsonl import text_of
from evalrepo.records.record import ErrorKind

_KINDS: dict[str, ErrorKind] = {
    "unauthorized": ErrorKind.AUTH,
    "usage_not_included": ErrorKind.AUTH,
    "usage_limit_exceeded": ErrorKind.RATE_LIMIT,
    "usage_limit_reached": ErrorKind.RATE_LIMIT,
    "quota_exceeded": ErrorKind.RATE_LIMIT,
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,
    "server_overloaded": ErrorKind.RATE_LIMIT,
    "policy_capacity_unavailable": ErrorKind.RATE_LIMIT,
    "internal_server_error": ErrorKind.NETWORK,
    "http_connection_failed": ErrorKind.NETWORK,
    "connection_failed": ErrorKind.NETWORK,
    "response_stream_connection_failed": ErrorKind.NETWORK,
    "response_too_many_failed_attempts": ErrorKind.NETWORK,
    "response_stream_disconnected": ErrorKind.TRUNCATED,
    "response_stream_failed": ErrorKind.TRUNCATED,
    "context_window_exceeded": ErrorKind.AGENT,
}
"""codex's name of an error → ours; where it comes with an HTTP status, that decides."""

_STATUS = {
    401: ErrorKind.AUTH,
    403: ErrorKind.AUTH,
    404: ErrorKind.AGENT,
    429: ErrorKind.RATE_LIMIT,
    529: ErrorKind.RATE_LIMIT,
}

_WORDS: tuple[tuple[str, ErrorKind], ...] = (
    (r"missing environment variable|not logged in|api key|log in again|refresh token", ErrorKind.AUTH),
    (r"stream disconnected|stream closed", ErrorKind.TRUNCATED),
    (r"rate limit|quota|usage limit|at capacity", ErrorKind.RATE_LIMIT),
    (r"connection failed|error sending request|discovery failed|timed? ?out|high demand", ErrorKind.NETWORK),
)

_ADVICE: dict[ErrorKind, str] = {
    ErrorKind.AUTH: "not logged in: name its key in `env: [CODEX_API_KEY]`, or use `home: inherit` after `codex login`",
    ErrorKind.RATE_LIMIT: "the account's limit is reached, or the vendor overloaded: wait, or run with fewer `--jobs`",
    ErrorKind.NETWORK: "the vendor could not be reached or failed: run again",
    ErrorKind.TRUNCATED: "the answer was cut off: run again",
}


def fault(error: Mapping[str, Any]) -> tuple[str, str]:
    """Our ErrorKind, and a message that says what to do, for `{message, codex_error_info}`."""
    name, status = _info(error.get("codex_error_info"))
    message = _plain(text_of(error.get("message")))
    kind = _kind(name, status, message)
    advice = _ADVICE.get(kind, "")
    if status == 404 or name == "model_not_found":
        advice = "the vendor does not know the model, or not for this account: check the tier's `model`"
    if name == "context_window_exceeded":
        advice = "the prompt and what was read no longer fit into the model's context window"
    return kind.value, f"{message} ({advice})" if advice else message


def _info(info: Any) -> tuple[str, int | None]:
    if isinstance(info, Mapping) and info:
        name, details = next(iter(info.items()))
        status = details.get("http_status_code") if isinstance(details, Mapping) else None
        return str(name), status if type(status) is int else None
    return text_of(info), None


def _kind(name: str, status: int | None, message: str) -> ErrorKind:
    if status is not None:
        return _STATUS.get(status, ErrorKind.NETWORK if status >= 500 else ErrorKind.AGENT)
    if name in _KINDS:
        return _KINDS[name]
    said = (kind for words, kind in _WORDS if re.search(words, message, re.IGNORECASE))
    return next(said, ErrorKind.AGENT)


def _plain(message: str) -> str:
    """The vendor's own words where the message is its answer as JSON."""
    try:
        found = json.loads(message)["error"]["message"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return message
    return text_of(found) or message
