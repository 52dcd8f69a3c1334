"""Whether a twin measures what its sibling measures: the same shape, in other words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from evalrepo.discipline.shingles import share
from evalrepo.records.checks import Condition
from evalrepo.records.scenario import Metric, Scenario

THREE, NEAR = 3, 0.5
"""Words of the runs by which a copy is told, and the share of them from which a prompt is one."""

Shape = Mapping[str, Counter[str]]
"""What is compared, each as how often it is there; by what a sentence calls it."""


def shape(one: Scenario) -> Shape:
    """What a pair of twins has in common: what is asked, of what kind of task, at which tiers. No words of it."""
    return {
        "checks (kind and axis)": Counter(_checks(one)),
        "metrics": Counter(f"{name} {_metric(spec)}" for name, spec in one.metrics.items()),
        "polarity": Counter([one.polarity, *([] if one.should_trigger is None else [f"trigger {one.should_trigger}"])]),
        "subject": Counter(one.subject),
        "fixture": Counter(["a work tree" if one.fixture else "an empty directory", *(["setup"] if one.setup else [])]),
        "faults": Counter("missing" if f.missing else "failing" for f in one.faults),
        "turns": Counter(_turns(one)),
        "scripts to play as tiers": Counter(script.name for script in one.behaviours),
    }


def _checks(one: Scenario) -> Iterator[str]:
    for check in one.checks:
        yield f"{_kind(check)} on {check.axis}{'' if check.gating else ', not gating'}"
    yield from (f"{_kind(check)} for validity" for check in one.validity)
    yield from (f"{_kind(check)} as a precondition" for check in one.preconditions)
    if one.trigger is not None:
        yield "trigger"


def _kind(condition: Condition) -> str:
    """`text`, or for a combined question `any_of(file, text)`."""
    inside = sorted(map(_kind, condition.nested()))
    name = condition.kind.rstrip("_")
    return f"{name}({', '.join(inside)})" if inside else name


def _metric(spec: object) -> str:
    if not isinstance(spec, Metric):
        return "human"
    return "by a ladder" if spec.ladder is not None else "judged"


def _turns(one: Scenario) -> Iterator[str]:
    for number, turn in enumerate(one.turns, 1):
        cut = "" if turn.stop_after is None else " cut by a file" if turn.stop_after.file else " cut by tool calls"
        yield f"turn {number}{'' if number == 1 else f' ({turn.session})'}{cut}"


def differences(twin: Scenario, sibling: Scenario) -> list[str]:
    """Each thing that only one of the two has: `checks (kind and axis): text on B here, file on B there`."""
    found = []
    ours, theirs = shape(twin), shape(sibling)
    for what, mine in ours.items():
        here, there = mine - theirs[what], theirs[what] - mine
        if here or there:
            found.append(f"{what}: {_said(here)} here, {_said(there)} there")
    return found


def _said(counts: Counter[str]) -> str:
    return " and ".join(name if n == 1 else f"{n} × {name}" for name, n in sorted(counts.items())) or "nothing"


def overlap(twin: Scenario, sibling: Scenario) -> float:
    """The share of the twin's eight-word runs, over all its prompts, that its sibling's prompts have too."""
    return share(_prompts(twin), _prompts(sibling))


def likeness(one: Scenario, other: Scenario) -> float:
    """How much of one's prompts stands in the other's, whichever is more: the share of three-word runs.

    Of a text of n words in which one was changed at least n - 5 of n - 2 such runs stay, so an edited copy of the
    shortest prompt is told from a new one, which has few in common.
    """
    a, b = _prompts(one), _prompts(other)
    return max(share(a, b, THREE), share(b, a, THREE))


def _prompts(one: Scenario) -> bytes:
    return "\n".join(turn.prompt for turn in one.turns).encode("utf-8", "replace")
