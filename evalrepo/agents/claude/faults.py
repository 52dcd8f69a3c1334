"""What of Claude Code's own words for an error is which kind of ours, and what a person should do."""

from __future__ import annotations

from typing import Any

from evalrepo.agents.faults import BUSY, CUT, DOWN, NOT_LOADED, REFUSED, UNKNOWN_MODEL, UNPAID, Dialect, advised, told
from evalrepo.agents.jsonl import Row, count_of, text_of
from evalrepo.records.record import ErrorKind

DIALECT = Dialect(
    key="ANTHROPIC_API_KEY",
    names={
        "authentication_failed": REFUSED,
        "billing_error": UNPAID,
        "model_not_found": UNKNOWN_MODEL,
        "rate_limit": BUSY,
        "server_error": DOWN,
    },
    words=((r"connection to the api was lost", CUT),),
)


def of_answer(row: Row, text: str) -> tuple[str, str]:
    """Kind and message of the answer that the CLI makes up when a request failed."""
    name, status = text_of(row.get("error")), count_of(row.get("apiErrorStatus")) or 0
    return told(text, DIALECT, status=status, name=name)


def unknown_command(name: str) -> tuple[str, str]:
    """Kind and message of a prompt that is a command which nobody has installed."""
    return NOT_LOADED.kind, advised(f"Claude Code knows no command /{name}", NOT_LOADED.advice)


def of_turns(most: Any) -> tuple[str, str]:
    """Kind and message of a session that took all turns that the tier allows."""
    return ErrorKind.LIMIT, advised(f"the agent was stopped after {most} turns", "raise the tier's `max_turns`")


def ended_well(row: Row) -> bool:
    """Whether the CLI's own result says that the model ended its turn, and that nothing went wrong."""
    return row.get("is_error") is False and row.get("stop_reason") == "end_turn"


def of_result(row: Row) -> tuple[str, str] | None:
    """Kind and message of an error that only the CLI's own result names; None when there is none."""
    if row.get("subtype") == "error_max_budget_usd":
        what = "the agent was stopped when its money was spent"
        return ErrorKind.LIMIT, advised(what, "raise the tier's `max_budget_usd`")
    return None
