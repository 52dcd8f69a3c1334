"""Which calls a selector means.

A `tool` that is a canonical kind (`spawn`, `read`, `edit`, `write`, `shell`, `search`, `skill`) is compared with a
call's kind, and the selector's properties and `args` with the canonical arguments. Any other `tool` is compared
with the agent's own tool name, exactly, and properties and `args` with the raw arguments. Several tools: any of them.
A named property that the call does not have does not match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from evalrepo.checks import patterns
from evalrepo.checks.view import View
from evalrepo.records.selectors import Selector
from evalrepo.records.transcript import CANONICAL_ARGUMENTS, CANONICAL_TOOLS, Call

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError


def is_of(tools: Iterable[str], call: Call) -> bool:
    """Whether the call is of one of these tools."""
    return any((call.kind if tool in CANONICAL_TOOLS else call.tool) == tool for tool in tools)


def arguments(tools: Iterable[str], call: Call) -> Mapping[str, Any]:
    """The arguments that a selector with these tools looks at: canonical, or raw for an agent's own tool."""
    by_kind = any(tool in CANONICAL_TOOLS and call.kind == tool for tool in tools)
    return _canonical(call) if by_kind else call.args


def _canonical(call: Call) -> Mapping[str, Any]:
    """Canonical arguments; a spawn's facts stand in for those that its call does not name.

    Of a call that starts several a fact is what all of them have, different ones one a line.
    """
    facts: dict[str, list[str | None]] = {
        "agent": [spawn.agent for spawn in call.spawns],
        "task": [spawn.task for spawn in call.spawns],
        "model": [spawn.requested for spawn in call.spawns],
    }
    known = {k: "\n".join(dict.fromkeys(filter(None, v))) for k, v in facts.items() if v and all(v)}
    return {**known, **call.canonical}


class Matcher:
    """A selector made ready for many calls."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        named = {n: getattr(selector, n) for n in CANONICAL_ARGUMENTS if getattr(selector, n) is not None}
        self.named = {name: patterns.schema(value) for name, value in named.items()}
        self.args = None if selector.args is None else patterns.schema(selector.args)

    def chooses(self, call: Call) -> bool:
        """By `tool`, `ok` and `by` alone."""
        wanted = self.selector
        return (
            is_of(wanted.tool, call)
            and (wanted.ok is None or call.ok == wanted.ok)
            and (wanted.by is None or call.by == wanted.by)
        )

    def objection(self, call: Call) -> str:
        """Why the arguments do not fit, "" when they do."""
        found = dict(arguments(self.selector.tool, call))
        for name, validator in self.named.items():
            if name not in found:
                return f"has no {name}"
            if (error := next(validator.iter_errors(found[name]), None)) is not None:
                return f"{name}: {_says(error)}"
        if self.args is not None and (error := next(self.args.iter_errors(found), None)) is not None:
            return _says(error)
        return ""

    def __call__(self, call: Call) -> bool:
        """Whether the call is meant."""
        return self.chooses(call) and not self.objection(call)


def _says(error: ValidationError) -> str:
    """What is wrong, with the value that is."""
    if error.validator == "const":
        return f"{error.instance!r} is not {error.validator_value!r}"
    return str(error.message)


def select(selector: Selector, view: View) -> list[Call]:
    """The calls of the view that the selector means, in order."""
    matcher = Matcher(selector)
    return [call for call in view.calls if matcher(call)]


def describe(selector: Selector) -> str:
    """The selector in a few words."""
    named = [n for n in (*CANONICAL_ARGUMENTS, "args", "ok", "by") if getattr(selector, n) is not None]
    tools = " or ".join(f"`{t}`" for t in selector.tool)
    return tools + (f" with the {', '.join(named)} asked for" if named else "")
