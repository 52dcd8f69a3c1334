"""What breaks between an agent's CLI and its vendor: the ErrorKind that it is, and what a person should do about it.

The same for every agent. A package adds a `Dialect`: what its CLI's own names and words for errors mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalrepo.agents.jsonl import text_of
from evalrepo.records.record import ErrorKind


@dataclass(frozen=True, slots=True)
class Cause:
    """`advice` is the next step, "" where there is none; `{key}` and `{models}` in it are the dialect's."""

    kind: ErrorKind
    advice: str = ""


NO_LOGIN = Cause(
    ErrorKind.AUTH,
    "name its key in the agent's `env`, such as `env: [{key}]`, or give it the login with `home: inherit`",
)
REFUSED = Cause(ErrorKind.AUTH, "put a valid key into the variable that the agent's `env` names, or log in again")
UNPAID = Cause(ErrorKind.AUTH, "the account cannot pay: see its billing")
BUSY = Cause(ErrorKind.RATE_LIMIT, "the vendor refuses more requests: run with fewer `--jobs`, later, or on more quota")
DOWN = Cause(ErrorKind.NETWORK, "the vendor cannot be reached or is down: try again later")
CUT = Cause(ErrorKind.TRUNCATED, "the vendor's answer broke off: try again later")
TOO_LONG = Cause(
    ErrorKind.LIMIT,
    "the conversation does not fit into the model's context: the scenario needs less input, or a model with more",
)
UNKNOWN_MODEL = Cause(ErrorKind.AGENT, "correct the tier's `model`: {models}")
DENIED = Cause(ErrorKind.PERMISSION, "a rule of the subject or of the tier asks, and nobody is there to answer")
NOT_LOADED = Cause(ErrorKind.NOT_LOADED, "is it part of the subject, and does `install` put it where the CLI looks?")
OTHER = Cause(ErrorKind.AGENT)

Words = Sequence[tuple[str, Cause]]
"""Regular expressions, whatever the case of letters → what they speak of; the first that is found decides."""

_BY_STATUS = {
    401: REFUSED,
    402: UNPAID,
    403: REFUSED,
    404: UNKNOWN_MODEL,
    413: TOO_LONG,
    429: BUSY,
    529: BUSY,
}

_SURE: Words = (
    (r"not logged in|please run /login|(no|missing) api[ _-]?key|api[ _-]?key is missing|no credentials", NO_LOGIN),
    (r"credit balance", UNPAID),
    (r"(prompt|input|conversation|session) (is )?too (long|large)|exceeds the maximum number of tokens", TOO_LONG),
    (r"context[ _-]?(window|length|overflow)|maximum context", TOO_LONG),
)
"""What vendors say with any status, 400 most of all."""

_LIKELY: Words = (
    (r"unauthori[sz]ed|authentication|forbidden|(invalid|incorrect) api[ _-]?key", REFUSED),
    (r"rate[ _-]?limit|hit your (usage )?limit|usage limit|quota|too many (requests|tokens)", BUSY),
    (r"overloaded|at capacity", BUSY),
    (r"stream (ended|disconnected|closed)|premature close|other side closed|socket hang up", CUT),
    (r"connection\b.{0,40}\b(reset|closed|lost)|ECONNRESET", CUT),
    (r"connection ?(refused|error|failed)|fetch failed|error sending request|timed? ?out|high demand", DOWN),
    (r"ECONN\w+|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|name resolution", DOWN),
    (r"permission (requested|denied)|auto-rejecting|not permitted", DENIED),
    (r"unknown (slash )?command|unknown (skill|agent)", NOT_LOADED),
)
"""What words alone speak of, where neither the status nor the CLI's own name of the error says more."""

_NUMBERS: Words = ((r"\b40[13]\b", REFUSED), (r"\b(429|529)\b", BUSY), (r"\b50[0234]\b", DOWN))
"""A status that stands in the words and nowhere else."""

_SHOWN = 2000
"""Characters of a message that are looked at."""

_KINDS = {kind.value for kind in ErrorKind}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is a CLI's own: `key`, a variable that logs it in; `models`, how to find one that it knows; its `names` of
    errors; `words` that decide before anything else does."""

    key: str
    models: str = "it must be one that the account may use"
    names: Mapping[str, Cause] = field(default_factory=dict)
    words: Words = ()


_NOBODYS = Dialect("")


def cause(said: str, dialect: Dialect = _NOBODYS, *, status: int = 0, name: str = "") -> Cause:
    """What an error speaks of: `said` by the CLI or the vendor, with its HTTP `status` (0: none) and the CLI's `name`
    of it. OTHER when nothing is known."""
    return (
        _first(dialect.words, said)
        or _first(_SURE, said)
        or of_status(status)
        or dialect.names.get(name)
        or _first(_LIKELY, name)
        or _first(_LIKELY, said)
        or (None if status else _first(_NUMBERS, f"{name} {said}"))
        or OTHER
    )


def of_status(status: int) -> Cause | None:
    """What an HTTP status means; None where it says nothing."""
    return _BY_STATUS.get(status) or (DOWN if 500 <= status < 600 else None)


def _first(words: Words, text: str) -> Cause | None:
    found = (known for pattern, known in words if re.search(pattern, text[:_SHOWN], re.IGNORECASE))
    return next(found, None) if text else None


def told(said: str, dialect: Dialect, *, status: int = 0, name: str = "") -> tuple[str, str]:
    """Kind and message of an error: what happened in the vendor's own words, then what to do. As `cause`."""
    found = cause(said, dialect, status=status, name=name)
    advice = found.advice.format(key=dialect.key, models=dialect.models)
    return found.kind.value, advised(said or "the CLI says nothing about the error", advice)


def advised(what: str, advice: str) -> str:
    """The form of every message: what happened, and in parentheses what to do about it."""
    return f"{what} ({advice})" if advice else what


def error_kind(kind: str, message: str) -> str:
    """The ErrorKind that an agent's own words for an error speak of; "" when they are not known.

    `kind` is the agent's own name of it (`rate_limit` is `rate-limit`), looked at before the message.
    """
    named = kind.strip().lower().replace("_", "-")
    if named in _KINDS:
        return named
    found = cause(message, name=kind)
    return "" if found is OTHER else found.kind.value


def plain(said: str) -> str:
    """The vendor's own sentence where what was said is its answer as JSON."""
    try:
        error = json.loads(said)
    except (ValueError, RecursionError):
        return said.strip()
    while isinstance(error, dict):
        if text := text_of(error.get("message")):
            return text
        error = error.get("error")
    return text_of(error) or said.strip()
