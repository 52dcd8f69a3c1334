"""Lock and ledger: they can be read, and the lock covers what the reserve names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalrepo.discipline.closure import closure, unlocked
from evalrepo.discipline.places import LEDGER, LOCK, covered
from evalrepo.errors import DataError, Finding, Place
from evalrepo.linting.ground import Ground
from evalrepo.store.loading import lock, read_events

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def events(ground: Ground) -> Iterator[Finding]:
    """Every file of the ledger is an event, named by a ULID."""
    yield from read_events(ground.tree)[1]
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
    reserve = {id_: one.scenario for id_, one in ground.loaded.of_set("reserve").items()}
    also = ground.config.frozen.also
    if not reserve and not also:
        return
    wanted = closure(reserve, also, ground.tree.match)
    there = tuple(root for root in wanted if ground.tree.under(root))
    for root in unlocked(found.roots if found else (), there):
        hint = "evalrepo freeze, then git commit"
        by = "`frozen.also`" if _asked(root, also) else "the reserve"
        message = f"{root} belongs to what {by} freezes, and is not frozen"
        yield Finding(Place(LOCK), "LCK101", message, hint, warning=found is None)


def _asked(root: str, also: tuple[str, ...]) -> bool:
    return any(covered((glob.removesuffix("/**"),), root) for glob in also)


RULES = (events, locked)
