"""Questions about what a rep used, its sub-agents included. A quantity that is not known is an error, never zero.

Tool calls and agents are counted in the transcript (sub-agents' logs too); where the agent's own log claims more,
because a sub-agent left no log, that is taken. Tokens, cost and wall seconds of one turn are known only where the
harness measured that turn by itself.
"""

from __future__ import annotations

from evalrepo.checks.view import Answer, View, broken, cite, failed, passed
from evalrepo.records.kinds import Range, UsageCheck
from evalrepo.records.transcript import Usage

UNITS = {"tokens": "tokens", "cost": "USD", "tool_calls": "tool calls", "seconds": "s", "agents": "agents"}


def usage(args: UsageCheck, view: View) -> Answer:
    """Each quantity that is named lies in its range. Never vacuous."""
    ranges: dict[str, Range] = {q: r for q in UNITS if (r := getattr(args, q)) is not None}
    measured = {quantity: measure(quantity, view) for quantity in ranges}
    unknown = [quantity for quantity, value in measured.items() if value is None]
    wrong = {q: v for q, v in measured.items() if v is not None and not _inside(ranges[q], v)}
    if wrong:
        return failed(*(cite(_says(q, v, ranges[q])) for q, v in wrong.items()))
    if unknown:
        return broken(f"not known for this rep: {', '.join(unknown)}")
    return passed(*(cite(_says(q, v, ranges[q])) for q, v in measured.items() if v is not None))


def measure(quantity: str, view: View) -> float | None:
    """One of `UNITS` for the view's turn or the whole rep; None when it is not known."""
    used = _used(view)
    if quantity in ("tool_calls", "agents"):
        everything = view.narrowed("all", view.turn).calls
        counted = len(everything) if quantity == "tool_calls" else sum(c.kind == "spawn" for c in everything)
        return max(counted, getattr(used, quantity) if used else 0)
    if used is None:
        return None
    values = {"tokens": used.tokens, "cost": used.cost_usd, "seconds": used.seconds}
    return values[quantity]


def _used(view: View) -> Usage | None:
    if view.turn is None:
        return view.usage if view.usage is not None else view.transcript.usage
    return view.turn_usage.get(view.turn)


def _inside(limits: Range, value: float) -> bool:
    return (limits.min is None or value >= limits.min) and (limits.max is None or value <= limits.max)


def _says(quantity: str, value: float, limits: Range) -> str:
    low = f"at least {limits.min:g}" if limits.min is not None else ""
    high = f"at most {limits.max:g}" if limits.max is not None else ""
    return f"{value:g} {UNITS[quantity]}, wanted {' and '.join(w for w in (low, high) if w)}"
