"""pi's own words for an error: which kind of ours they are, and what a person should do."""

from __future__ import annotations

import re

from evalrepo.agents.faults import CUT, NOT_LOADED, UNKNOWN_MODEL, Cause, Dialect, plain, told

REFUSALS = frozenset(("refusal", "content_filter", "sensitive"))
"""Reasons of the vendor that are a model's own answer, which pi writes down as an error."""

DIALECT = Dialect(
    key="ANTHROPIC_API_KEY",
    models="`pi --list-models` lists what there is",
    words=(
        (r"^error: model .* not found|^error: unknown provider|no models? match", UNKNOWN_MODEL),
        (
            r"failed to load extension|extension error",
            Cause(NOT_LOADED.kind, "see the `extension` of the subject's `install` and of the tier"),
        ),
        (r"^terminated$|network_error", CUT),
    ),
)

_STATUS = re.compile(r"(?:Error: )?(?:HTTP )?([45]\d\d)\b(?: status code)?[: ]*")
_WARNING = "Warning:"


def of_answer(message: str) -> tuple[str, str]:
    """Kind and message of an answer's `errorMessage`: the HTTP status, then what the vendor said, often as JSON."""
    found = _STATUS.match(message)
    if found is None:
        return told(message.strip(), DIALECT)
    return told(f"HTTP {found[1]}: {plain(message[found.end() :])}", DIALECT, status=int(found[1]))


def of_output(said: str) -> tuple[str, str] | None:
    """Kind and message of what pi printed as an error before it wrote any log; None when it only warned."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith(_WARNING)]
    if not lines:
        return None
    return of_answer(lines[0][:1000])
