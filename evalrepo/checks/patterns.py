"""Regular expressions and JSON Schemas of check files, which are never trusted to end.

All matching that one check does shares a budget of `BUDGET_S` seconds (the `regex` package stops itself when the time
given to it is over); then `TookTooLong` is raised and the check answers error. `regex` is used everywhere, also for
`pattern` and `patternProperties` in schemas, so an expression means one thing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import regex
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

BUDGET_S = 5.0
"""Seconds that all matching of one check may take together."""


QUOTED = 80
"""Characters of an expression that evidence names: what was found must have room behind it."""


def quoted(pattern: str) -> str:
    """The expression in quotes, its spacing as single blanks, cut."""
    plain = " ".join(pattern.split())
    return repr(plain if len(plain) <= QUOTED else plain[: QUOTED - 1] + "…")


class TookTooLong(Exception):  # noqa: N818 - it is said to a person in these words
    """The budget is used up."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"took too long: the pattern {pattern[:80]!r} used up the check's {BUDGET_S:g} s")


_left: ContextVar[list[float] | None] = ContextVar("left", default=None)


@contextmanager
def budget(seconds: float | None = None) -> Iterator[None]:
    """Limits the matching inside; an inner budget is the outer one's."""
    if _left.get() is not None:
        yield
        return
    token = _left.set([BUDGET_S if seconds is None else seconds])
    try:
        yield
    finally:
        _left.reset(token)


def search(pattern: str, text: str, *, ignore_case: bool = False) -> regex.Match[str] | None:
    """The first match anywhere; `^` and `$` also at line ends, `.` not over lines. `TookTooLong` by the budget."""
    import regex

    flags = regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
    return _timed(_compiled(pattern, int(flags)), text)


@lru_cache(maxsize=512)
def _compiled(pattern: str, flags: int) -> regex.Pattern[str]:
    import regex

    return regex.compile(pattern, flags)


def _timed(compiled: regex.Pattern[str], text: str) -> regex.Match[str] | None:
    left = _left.get()
    if left is None:
        left = [BUDGET_S]
    if left[0] <= 0:
        raise TookTooLong(compiled.pattern)
    start = time.monotonic()
    try:
        return compiled.search(text, timeout=left[0])
    except TimeoutError:
        left[0] = 0
        raise TookTooLong(compiled.pattern) from None
    finally:
        left[0] -= time.monotonic() - start


def schema(value: dict[str, Any] | bool) -> Draft202012Validator:
    """The validator of a JSON Schema, draft 2020-12; compiled once per canonical text, never fetches a `$ref`."""
    return _validator(json.dumps(value, sort_keys=True, ensure_ascii=False))


@lru_cache(maxsize=512)
def _validator(text: str) -> Draft202012Validator:
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    if '"unevaluatedProperties"' in text and '"patternProperties"' in text:
        raise ValueError("a schema cannot have both unevaluatedProperties and patternProperties here")
    found: Draft202012Validator = _dialect()(json.loads(text), registry=REGISTRY)
    return found


@lru_cache(maxsize=1)
def _dialect() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(  # type: ignore[no-untyped-call]
        Draft202012Validator,
        {
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
        },
    )


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and _timed(_compiled(pattern, 0), instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, below in patterns.items():
        for key, value in instance.items():
            if _timed(_compiled(pattern, 0), key) is not None:
                yield from validator.descend(value, below, path=key, schema_path=pattern)


def _additional_properties(validator: Any, below: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in named or any(_timed(_compiled(p, 0), key) is not None for p in patterns):
            continue
        if below is False:
            yield ValidationError(f"{key!r} is not expected")
        else:
            yield from validator.descend(value, below, path=key)
