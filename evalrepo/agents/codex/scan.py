"""What must be known of a rollout's rows before they are read in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from evalrepo.agents.codex import tools
from evalrepo.agents.codex.outputs import joined
from evalrepo.agents.jsonl import Row, count_of, text_of

Rows = Sequence[tuple[int, Row]]

CALLS = frozenset(
    ("CommandExecution", "FileChange", "CollabAgentToolCall", "SubAgentActivity", "McpToolCall", "ImageView",
     "WebSearch", "DynamicToolCall", "ImageGeneration")
)  # fmt: skip
"""Types of items that are calls."""


def name_of(row: Row) -> str:
    kind, payload = text_of(row.get("type")), payload_of(row)
    return f"{kind} {text_of(payload.get('type'))[:60]}" if kind in ("event_msg", "response_item") else kind[:60]


def payload_of(row: Row) -> Row:
    payload = row.get("payload")
    return payload if isinstance(payload, dict) else {}


def own_rows(rows: Rows) -> Iterator[tuple[int, Row]]:
    """Without the parent's rows that a sub-agent begins with when it inherits what was said."""
    start, seen = 0, False
    for line, row in rows:
        if row.get("type") == "session_meta":
            if not seen:
                start, seen = count_of(payload_of(row).get("subagent_history_start_ordinal")) or 0, True
                yield line, row
            continue
        if (count_of(row.get("ordinal")) or 0) >= start:
            yield line, row


def call_items(rows: Rows) -> dict[str, Row]:
    """Items that are calls, by id."""
    found: dict[str, Row] = {}
    for _, row in rows:
        item = payload_of(row).get("item")
        if isinstance(item, dict) and item.get("type") in CALLS:
            found[text_of(item.get("id"))] = item
    return found


def made_id(row: Row) -> str:
    """The id of a call that the model made."""
    payload = payload_of(row)
    is_call = row.get("type") == "response_item" and text_of(payload.get("type")).endswith("_call")
    return call_id(payload) if is_call else ""


def call_id(payload: Row) -> str:
    return text_of(payload.get("call_id")) or text_of(payload.get("id"))


def hidden_scripts(rows: Rows, made: set[str]) -> set[str]:
    """Scripts that did no more than what their calls tell. What no running script called, one in the background did."""
    running: list[str] = []
    behind: list[str] = []
    calls: Counter[str] = Counter()
    answered: set[str] = set()
    failed: set[str] = set()
    for _, row in rows:
        payload = payload_of(row)
        ident, item = text_of(payload.get("call_id")), payload.get("item")
        if payload.get("type") == "task_started":  # what a turn before it left was cut
            running, behind = [], []
        elif payload.get("type") == "custom_tool_call" and payload.get("name") == tools.WRAPPER:
            running.append(ident)
        elif isinstance(item, dict) and item.get("type") in CALLS and item.get("id") not in made:
            calls[(*running, *behind, "")[0]] += item.get("kind") in (None, "started")
        elif payload.get("type") == "custom_tool_call_output" and ident in running:
            running.remove(ident)
            answered.add(ident)
            said = joined(payload.get("output"))
            behind += [ident] if said.startswith("Script running") else []
            failed |= {ident} if said.startswith("Script failed") else set()
    return {ident for ident, count in calls.items() if count and ident in answered - failed}
