"""Ledger events: `evalrepo.ledger/ULID.yaml`, one immutable file each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalrepo.records.base import Count, Model, Text

EventKind = Literal["freeze", "thaw", "acknowledge", "waive", "tune", "look", "budget", "unseal", "retire"]


class Event(Model):
    """What somebody decided, when and why. `at` is UTC, RFC 3339 with seconds; `paths` are repository paths.

    A `waive` names the `metric` whose drop it excuses, and the last day (`until`, YYYY-MM-DD) on which it does.
    """

    event: EventKind
    at: Annotated[Text, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    by: Annotated[Text, Field(min_length=1)]
    why: Annotated[Text, Field(min_length=1)]
    paths: tuple[Text, ...] = ()
    subject: Text | None = None
    digest: Text | None = None
    run: Text | None = None
    amount: Count | None = None
    until: Text | None = None
    metric: Text | None = None
