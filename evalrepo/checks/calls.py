"""Questions about tool calls: how many, with what arguments, in which order, how often again.

A call's place is where it was made, not where its result came. Calls of one assistant message stand in the order
of the message. What `tool` and the properties of a selector mean: `selectors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evalrepo.checks.selectors import Matcher, arguments, describe, is_of, select
from evalrepo.checks.view import Answer, View, broken, cite, cite_call, decided, failed, passed, vacuous
from evalrepo.records.kinds import BytesBefore, Calls, EveryCall, NoRepeat, Order, Total
from evalrepo.records.record import Evidence
from evalrepo.records.selectors import Bounds, Selector
from evalrepo.records.transcript import Call, Event, Prompt, Result

SHOWN = 3
"""Calls that are cited as evidence where many fit."""


def wanted(bounds: Bounds) -> str:
    """The limits in words."""
    if bounds.exactly is not None:
        return f"exactly {bounds.exactly}"
    parts = [f"at least {bounds.min}"] if bounds.min is not None else []
    return " and ".join([*parts, f"at most {bounds.max}"] if bounds.max is not None else parts)


def shown(found: Sequence[Call]) -> tuple[Evidence, ...]:
    """The first of the calls as evidence."""
    return tuple(cite_call(call) for call in found[:SHOWN])


def calls(args: Calls, view: View) -> Answer:
    """The number of calls that match lies in the bounds. Never vacuous: none is a number."""
    found = select(args, view)
    says = f"{len(found)} calls of {describe(args)}, wanted {wanted(args)}"
    return decided(args.holds(len(found)), cite(says), *shown(found))


def any_call(args: Selector, view: View) -> Answer:
    """At least one call matches. Never vacuous."""
    found = select(args, view)
    if found:
        return passed(*shown(found[:1]))
    matcher = Matcher(args)
    near = [call for call in view.calls if matcher.chooses(call)]
    why = tuple(cite_call(call, matcher.objection(call)) for call in near[:SHOWN])
    return failed(cite(f"no call of {describe(args)}"), *why)


def every_call(args: EveryCall, view: View) -> Answer:
    """`tool`, `ok` and `by` choose calls; each of them has all other properties. Vacuous when none is chosen."""
    matcher = Matcher(args)
    chosen = [call for call in view.calls if matcher.chooses(call)]
    if not chosen:
        return vacuous(f"no call of {' or '.join(args.tool)} to ask about")
    wrong = [(call, why) for call in chosen if (why := matcher.objection(call))]
    if wrong:
        return failed(*(cite_call(call, why) for call, why in wrong[:SHOWN]))
    return passed(cite(f"all {len(chosen)} calls fit"), *shown(chosen))


def total(args: Total, view: View) -> Answer:
    """A JMESPath expression over the arguments of each matching call, summed, lies in the bounds.

    The expression gives a number, or null for "nothing here", which counts 0; anything else is an error of the
    check. Never vacuous: the sum over no call is 0.
    """
    import jmespath

    expression = jmespath.compile(args.of)
    found, summed = select(args, view), 0.0
    for call in found:
        value = expression.search(dict(arguments(args.tool, call)))
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            return broken(f"`of` gave {value!r} for call {call.id} at {call.at.file}:{call.at.line}, wanted a number")
        summed += value
    says = f"the sum over {len(found)} calls is {summed:g}, wanted {wanted(args)}"
    return decided(args.holds(summed), cite(says), *shown(found))


def order(args: Order, view: View) -> Answer:
    """`first|last X before Y`: that X was called before the first Y; `first|last X then Y`: some Y after that X.

    `first` takes the first X, `last` the last one (so `last X before Y` says that no X comes after the first Y).
    One call is never both: the X that is looked at is not counted as a Y. `before` is vacuous without a Y, `then`
    without an X; when only the other half is missing the check fails.
    """
    numbered = list(enumerate(view.calls))
    chosen = args.first or args.last
    second = args.before or args.then
    assert chosen is not None
    assert second is not None
    is_x, is_y = Matcher(chosen), Matcher(second)
    xs = [(n, call) for n, call in numbered if is_x(call)]
    x = (xs[0] if args.first else xs[-1]) if xs else None
    ys = [(n, call) for n, call in numbered if is_y(call) and (x is None or n != x[0])]
    if args.before is not None:
        return _before(x, ys[0] if ys else None, describe(chosen), describe(second))
    return _then(x, ys, describe(chosen), describe(second))


Placed = tuple[int, Call]


def _before(x: Placed | None, y: Placed | None, name_x: str, name_y: str) -> Answer:
    if y is None:
        return vacuous(f"no call of {name_y}, so nothing had to come before it")
    if x is None:
        return failed(cite(f"no call of {name_x}"), cite_call(y[1], "called without it"))
    which = ("comes", "before") if x[0] < y[0] else ("does not come", "before")
    return decided(x[0] < y[0], cite_call(x[1], f"{which[0]} {which[1]} the first {name_y}"), cite_call(y[1]))


def _then(x: Placed | None, ys: Sequence[Placed], name_x: str, name_y: str) -> Answer:
    if x is None:
        return vacuous(f"no call of {name_x}, so nothing had to follow it")
    after = next((call for n, call in ys if n > x[0]), None)
    if after is None:
        return failed(cite_call(x[1], f"no call of {name_y} comes after it"))
    return passed(cite_call(x[1]), cite_call(after, "comes after it"))


def no_repeat(args: NoRepeat, view: View) -> Answer:
    """No agent makes the same call with the same arguments and the same answer `times` times without anything new.

    The calls need not be neighbours. What starts the count anew, because the same call may then tell something else:
    a successful `edit` or `write`, a successful `spawn`, a prompt. Each agent counts by itself. Never vacuous.
    """
    most = 0
    for thread in view.threads:
        for same in _repetitions(thread, args.tool):
            if len(same) >= args.times:
                says = cite_call(same[-1], f"the same call with the same answer, {len(same)} times")
                return failed(says, cite_call(same[0]), cite_call(same[-1]))
            most = max(most, len(same))
    return passed(cite(f"no call {args.times} times with the same answer; most: {most}"))


def _repetitions(thread: Sequence[Event], tools: Sequence[str] | None) -> Iterator[list[Call]]:
    """For each call: it and the same calls before it since there was something new."""
    seen: dict[Any, list[Call]] = {}
    for event in thread:
        if isinstance(event, Prompt) or (isinstance(event, Call) and _brings_news(event)):
            seen.clear()
        elif isinstance(event, Call) and (not tools or is_of(tools, event)):
            same = seen.setdefault(_identity(event), [])
            same.append(event)
            yield same


def _brings_news(call: Call) -> bool:
    return call.ok and call.kind in ("edit", "write", "spawn")


def _identity(call: Call) -> tuple[str, str, Any]:
    import json

    answer = None if call.result is None else (call.result.ok, call.result.text)
    return (call.tool, json.dumps(call.args, sort_keys=True, default=str), answer)


def bytes_before(args: BytesBefore, view: View) -> Answer:
    """Bytes of results of the tools `of` that stand before the first call that matches `first`, at most `max`.

    Main thread only, whatever the scope: what the agent itself had read. A result counts where it came, with the
    size that the agent saw. KB = 1000. Vacuous when no call matches `first`.
    """
    main = view.narrowed("main", view.turn)
    matcher = Matcher(args.first)
    made: dict[str, Call] = {}
    counted: list[Result] = []
    for event in main.events:
        if isinstance(event, Call):
            if matcher(event):
                return _volume(counted, made, args.max, event)
            made[event.id] = event
        elif isinstance(event, Result) and event.call in made and is_of(args.of, made[event.call]):
            counted.append(event)
    return vacuous(f"no call of {describe(args.first)}, so there is no before")


def _volume(results: Sequence[Result], made: dict[str, Call], limit: int, stop: Call) -> Answer:
    volume = sum(result.size for result in results)
    largest = sorted(results, key=lambda result: -result.size)[:SHOWN]
    says = cite_call(stop, f"{volume:,} bytes of {len(results)} results before it, at most {limit:,} wanted")
    return decided(volume <= limit, says, *(cite_call(made[r.call], f"{r.size:,} bytes") for r in largest))
