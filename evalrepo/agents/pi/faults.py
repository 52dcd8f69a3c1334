"""pi's own words for an error: which kind of ours they are, and what a person should do."""

from __future__ import annotations

import json
import re

from evalrepo.agents.canonical import error_kind
from evalrepo.agents.jsonl import text_of
from evalrepo.records.record import ErrorKind

REFUSALS = frozenset(("refusal", "content_filter", "sensitive"))
"""Reasons of the vendor that are a model's own answer, which pi writes down as an error."""

_LOGIN = "name the provider's key in the agent's `env: [ANTHROPIC_API_KEY]`, or give it the login with `home: inherit`"
_REFUSED = "put a valid key into the variable that the agent's `env` names, or log in again"
_PAY = "the account cannot pay: see its billing"
_MODEL = "correct the tier's `model`: `pi --list-models` lists what there is"
_BUSY = "the vendor refuses more requests: run with fewer `--jobs`, or later"
_DOWN = "the vendor cannot be reached or is down: try again later"
_CUT = "the vendor's answer broke off: try again later"
_LONG = "the conversation does not fit into the model's context: the scenario needs less input, or a model with more"
_EXTENSION = "see the `extension` of the subject's `install` and of the tier"

_BY_STATUS = {
    401: (ErrorKind.AUTH, _REFUSED),
    402: (ErrorKind.AUTH, _PAY),
    403: (ErrorKind.AUTH, _REFUSED),
    404: (ErrorKind.AGENT, _MODEL),
    413: (ErrorKind.LIMIT, _LONG),
    429: (ErrorKind.RATE_LIMIT, _BUSY),
    529: (ErrorKind.RATE_LIMIT, _BUSY),
}

_BY_WORDS = (
    (r"no api key found|no credentials", (ErrorKind.AUTH, _LOGIN)),
    (r"credit balance|insufficient[_ ]quota", (ErrorKind.AUTH, _PAY)),
    (r"too long|context[_ ](window|length)|maximum context|too many tokens", (ErrorKind.LIMIT, _LONG)),
    (r"^error: model .* not found|^error: unknown provider|no models? match", (ErrorKind.AGENT, _MODEL)),
    (r"failed to load extension|extension error", (ErrorKind.NOT_LOADED, _EXTENSION)),
    (r"stream ended|terminated|premature close|network_error", (ErrorKind.NETWORK, _CUT)),
    (r"connection error|fetch failed|timed? ?out|ECONN\w+|ENOTFOUND|EAI_AGAIN", (ErrorKind.NETWORK, _DOWN)),
)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), meaning) for pattern, meaning in _BY_WORDS)

_STATUS = re.compile(r"(?:Error: )?(?:HTTP )?([45]\d\d)\b(?: status code)?[: ]*")
_WARNING = "Warning:"


def of_answer(message: str) -> tuple[str, str]:
    """Kind and message of an answer's `errorMessage`: the HTTP status, then what the vendor said, often as JSON."""
    found = _STATUS.match(message)
    status = int(found[1]) if found else 0
    said = _plain(message[found.end() :], status) if found else message.strip()
    meaning = next((meaning for pattern, meaning in _COMPILED if pattern.search(said)), None) or _BY_STATUS.get(status)
    if meaning is None and status >= 500:
        meaning = ErrorKind.NETWORK, _DOWN
    kind, advice = meaning or (error_kind("", message) or ErrorKind.AGENT, "")
    text = said or "pi says nothing about the error"
    return str(kind), f"{text} ({advice})" if advice else text


def of_output(said: str) -> tuple[str, str] | None:
    """Kind and message of what pi printed as an error before it wrote any log; None when it only warned."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith(_WARNING)]
    if not lines:
        return None
    return of_answer(lines[0][:1000])


def _plain(said: str, status: int) -> str:
    """The vendor's own sentence out of its JSON."""
    try:
        error = json.loads(said)
    except ValueError:
        return f"HTTP {status}: {said.strip()}"
    while isinstance(error, dict):
        if text := text_of(error.get("message")):
            return f"HTTP {status}: {text}"
        error = error.get("error")
    return f"HTTP {status}: {text_of(error) or said.strip()}"
