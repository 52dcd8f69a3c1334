"""A finding with the commit that made it, and whether the ledger says that it may stay. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from evalrepo.discipline.places import covered
from evalrepo.errors import Finding


class Told(NamedTuple):
    """A finding; `commit`: the full id of the commit that made it, "" for what is so now; `event`: the ledger path of
    the event that acknowledges it, "" for none."""

    finding: Finding
    commit: str = ""
    event: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it counts: neither a warning nor acknowledged."""
        return not self.finding.warning and not self.event


class Acknowledging(Protocol):
    """The part of a ledger event that says which findings may stay."""

    @property
    def event(self) -> str: ...
    @property
    def paths(self) -> tuple[str, ...]: ...
    @property
    def commits(self) -> tuple[str, ...]: ...
    @property
    def codes(self) -> tuple[str, ...]: ...


def acknowledged(found: Iterable[Told], events: Mapping[str, Acknowledging]) -> list[Told]:
    """The findings, each with the event that acknowledges it.

    An event names the path of a finding (or a folder above it) and the commit that made it; of a finding that is so
    now, the very path and the code. Where it names codes, the finding's is among them.
    """
    said = {path: event for path, event in events.items() if event.event == "acknowledge"}
    return [one._replace(event=next((p for p, e in said.items() if _means(e, one)), "")) for one in found]


def _means(event: Acknowledging, one: Told) -> bool:
    if event.codes and one.finding.code not in event.codes:
        return False
    path = one.finding.place.file
    if one.commit:
        return covered(event.paths, path) and any(one.commit.startswith(commit) for commit in event.commits)
    return path in event.paths and bool(event.codes)
