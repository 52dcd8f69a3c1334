"""Lock and ledger: they can be read, and the lock covers what the reserve names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalrepo.discipline.places import LEDGER
from evalrepo.errors import DataError, Finding, Place
from evalrepo.linting.ground import Ground
from evalrepo.records.reason import hollow
from evalrepo.store.closing import findings
from evalrepo.store.loading import lock, read_events

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def events(ground: Ground) -> Iterator[Finding]:
    """Every file of the ledger is an event, named by a ULID, with a reason that says something."""
    found, unread = read_events(ground.tree)
    yield from unread
    for path, event in found.items():
        if wrong := hollow(event.why, event.event):
            hint = "say more in a new event: evalrepo ledger shows this one"
            yield Finding(Place(path), "LED103", f"gives no reason: {wrong}", hint, True)
    for path in ground.tree.under(LEDGER):
        name = path.removeprefix(LEDGER + "/")
        if not name.endswith(".yaml"):
            if name not in ("README.md", ".gitkeep"):
                hint = "the ledger holds events only, written by evalrepo; move the file elsewhere"
                yield Finding(Place(path), "LED102", "is no event", hint, True)
        elif not _ULID.fullmatch(name.removesuffix(".yaml")):
            hint = "events are written by evalrepo freeze and thaw, never by hand; take it out of the commit"
            yield Finding(Place(path), "LED101", "is not named by a ULID, so its place in time is not known", hint)


def locked(ground: Ground) -> Iterator[Finding]:
    """The lock can be read, and covers the reserve and all that it names."""
    try:
        found = lock(ground.tree)
    except DataError as error:
        yield from error.findings
        return
    yield from findings(ground.tree, ground.loaded, found)


RULES = (events, locked)
