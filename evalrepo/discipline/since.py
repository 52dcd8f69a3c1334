"""What is told of a range of commits: each finding with its commit, whether it still stands, and who looked at it."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import NamedTuple

from evalrepo.discipline.nodes import Traced
from evalrepo.discipline.told import Acknowledging, Told, acknowledged
from evalrepo.errors import Finding, Place

GOAL = "goal"


class Stated(NamedTuple):
    """A finding of a range as it is shown. `stands`: whether it is still so at the end; then it cannot be acknowledged,
    only put right, or thawed and frozen. A moved goal never stands."""

    told: Told
    stands: bool = True

    @property
    def finding(self) -> Finding:
        """With its commit in the message; a warning where it is acknowledged."""
        return self.told.finding


def stated(traced: Traced, events: Mapping[str, Acknowledging], *, stands: bool) -> Stated:
    """The finding with its commit, what became of it, and what to do."""
    finding, commit = traced.finding, traced.commit
    if not commit:
        return Stated(Told(finding))
    event = "" if stands else _event(traced, events)
    text = f"commit {commit[:12]}: {finding.message}"
    if event:
        done = finding._replace(message=f"{text}; acknowledged in {event}", hint="", warning=True)
        return Stated(Told(done, commit, event), stands)
    if stands:
        return Stated(Told(finding._replace(message=text), commit))
    hint = f"evalrepo acknowledge {quote(f'{commit[:12]}:{traced.key[1]}')} --why REASON"
    if traced.key[0] == GOAL:
        return Stated(Told(finding._replace(message=text, hint=f"{finding.hint}; or {hint}"), commit), stands)
    return Stated(Told(finding._replace(message=f"{text}; put right since", hint=hint), commit), stands)


def _event(traced: Traced, events: Mapping[str, Acknowledging]) -> str:
    """The event that names the commit, and either what the finding is about or where it is."""
    about = traced.finding._replace(place=Place(traced.key[1]))
    found = acknowledged([Told(about, traced.commit), Told(traced.finding, traced.commit)], events)
    return next((told.event for told in found if told.event), "")
