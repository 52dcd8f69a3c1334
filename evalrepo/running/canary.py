"""The instrument before the measurement: one counted rep a cell, which a person looks at before there are more.

What was looked at is a *mark*: stimulus, instrument, agent with its CLI version, and whether a script stood in for the
model. The subject is none of it, so that a look holds for every wording; nor is the tier. An `acknowledge` event of
the ledger that holds the mark among its hashes says that somebody looked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalrepo.records.config import Config
    from evalrepo.records.event import Event
    from evalrepo.records.record import CellHeader
    from evalrepo.repository.tree import Tree

REQUIRED = "required"


def mark(stimulus: str, instrument: str, agent: str, cli: str, *, model_free: bool) -> str:
    """SHA-256 (hex) of what a look at a canary holds for. `cli`: the agent's version, as the apparatus has it."""
    about = ["canary", stimulus, instrument, agent, cli, model_free]
    return sha256(json.dumps(about).encode()).hexdigest()


def mark_of(header: CellHeader) -> str:
    """The mark of a cell."""
    found = header.digests
    cli = found.parts["apparatus"]["cli"]
    return mark(found.stimulus, found.instrument, header.agent, cli, model_free=header.model_free)


def accepted(tree: Tree) -> dict[str, Event]:
    """Hash → the first `acknowledge` event of the tree's ledger that has it. Events that cannot be read say nothing;
    `verify` names them."""
    from evalrepo.store.loading import read_events

    events: Mapping[str, Event] = read_events(tree)[0]
    found: dict[str, Event] = {}
    for event in events.values():
        for known in event.hashes if event.event == "acknowledge" else ():
            found.setdefault(known, event)
    return found


def waiting(tree: Tree, config: Config) -> Callable[[CellHeader], bool]:
    """Whether a cell must have a canary that was looked at, by `discipline.canary`, and has none.

    Never one that no model answers, and none of the reserve, which nobody may look at.
    """

    @cache
    def seen() -> dict[str, Event]:
        return accepted(tree)

    def waits(header: CellHeader) -> bool:
        if config.discipline.canary != REQUIRED or header.model_free or header.set == "reserve":
            return False
        return mark_of(header) not in seen()

    return waits
