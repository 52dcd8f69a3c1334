"""Every check kind and the function that answers it: `(arguments, view) → Answer`. A new kind is a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evalrepo.checks import calls, combined, judged, outcome, patterns, python, spawns, text, usage
from evalrepo.checks.view import Answer, View, broken
from evalrepo.records.checks import Condition

FAMILIES: dict[str, Callable[[Any, View], Answer]] = {
    "calls": calls.calls,
    "any_call": calls.any_call,
    "every_call": calls.every_call,
    "total": calls.total,
    "order": calls.order,
    "no_repeat": calls.no_repeat,
    "bytes_before": calls.bytes_before,
    "not_named_again": spawns.not_named_again,
    "spawns": spawns.spawns,
    "spawn_model": spawns.spawn_model,
    "text": text.text,
    "status": text.status,
    "file": outcome.file,
    "changes": outcome.changes,
    "command": outcome.command,
    "fault": outcome.fault,
    "usage": usage.usage,
    "judge": judged.judge,
    "python": python.python,
    "any_of": lambda parts, view: combined.any_of(evaluate(part, view) for part in parts),
    "all_of": lambda parts, view: combined.all_of(evaluate(part, view) for part in parts),
    "not_": lambda part, view: combined.not_(evaluate(part, view)),
}
"""Kind (a field of `Condition`) → function."""


def evaluate(condition: Condition, view: View) -> Answer:
    """The answer to one question. Whatever breaks inside is the answer error with its cause, never an exception."""
    with patterns.budget():
        try:
            return FAMILIES[condition.kind](condition.arguments, view)
        except Exception as error:  # noqa: BLE001 - the boundary: a broken check is data
            return broken(_cause(condition.kind, error))


def _cause(kind: str, error: Exception) -> str:
    if isinstance(error, patterns.TookTooLong):
        return str(error)
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" ({place.tb_frame.f_code.co_name}:{place.tb_lineno})" if place else ""
    return f"the check `{kind.rstrip('_')}` broke: {type(error).__name__}: {error}{where}"
