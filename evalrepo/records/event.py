"""Ledger events: `evalrepo.ledger/ULID.yaml`, one immutable file each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from evalrepo.records.base import Count, Model, Name, Text
from evalrepo.records.selectors import fail

EventKind = Literal["freeze", "thaw", "acknowledge", "waive", "tune", "look", "budget", "unseal", "retire"]
ThawKind = Literal["loosen", "tighten", "repair"]

NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "freeze": (("paths",),),
    "thaw": (("paths",),),
    "acknowledge": (("paths", "commits", "hashes"),),
    "waive": (("metric",), ("until",)),
    "tune": (("name",), ("state",), ("subject",)),
    "look": (("subject",), ("digest",), ("reserve",), ("cells",)),
    "budget": (("subject",), ("amount",)),
    "unseal": (("scenarios", "run"),),
    "retire": (("scenarios",),),
}
"""Kind → groups of keys; of each group one must be there."""

Digest = Annotated[Text, Field(pattern=r"^[0-9a-f]{8,64}$")]


class Event(Model):
    """What somebody decided, when and why. `at` is UTC, RFC 3339 with seconds; `paths` are repository paths.

    Kinds and what they say beside that:

    - `freeze`, `thaw`: the `paths`, and the digests of their lock lines before (`old`) and after (`new`). A thaw says
      its `kind`; a freeze its `generation`, and the scenarios whose instrument is another than the last freeze said;
    - `acknowledge`: findings that were looked at and may stay: `commits`, `paths`, `codes`, or content-free `hashes`;
    - `waive`: the `metric` whose drop it excuses, and the last day (`until`, YYYY-MM-DD) on which it does;
    - `tune`: the loop's `name`, its `state`, the `subject` that is tuned;
    - `look`: the `subject`, its `digest`, the digest of its `reserve` with the `twins` that make it, the `cells`
      (AGENT/TIER) that are measured;
    - `budget`: `amount` more looks for a `subject`, as long as one of the `twins` that it names is in the reserve;
    - `unseal`: `scenarios` or the `run` whose transcripts may be read;
    - `retire`: `scenarios` that leave the reserve.
    """

    event: EventKind
    at: Annotated[Text, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    by: Annotated[Text, Field(min_length=1)]
    why: Annotated[Text, Field(min_length=1)]
    paths: tuple[Text, ...] = ()
    kind: ThawKind | None = None
    generation: Count | None = None
    old: Digest | None = None
    new: Digest | None = None
    instruments: tuple[Annotated[Text, Field(pattern=r"^\S+ [0-9a-f]{64}$")], ...] = ()
    """`ID DIGEST` of reserve scenarios whose instrument a freeze made another."""
    commits: tuple[Annotated[Text, Field(pattern=r"^[0-9a-f]{7,64}$")], ...] = ()
    codes: tuple[Annotated[Text, Field(pattern=r"^[A-Z]{3}\d{3}$")], ...] = ()
    hashes: tuple[Digest, ...] = ()
    name: Name | None = None
    state: Literal["start", "stop"] | None = None
    subject: Text | None = None
    digest: Text | None = None
    reserve: Digest | None = None
    twins: tuple[Annotated[Text, Field(pattern=r"^\S+ [0-9a-f]{64}$")], ...] = ()
    """`ID DIGEST` of each scenario of the reserve: of what it asks, its instrument left out."""
    cells: tuple[Text, ...] = ()
    run: Text | None = None
    scenarios: tuple[Text, ...] = ()
    amount: Count | None = None
    until: Annotated[Text, Field(pattern=r"^\d{4}-\d\d-\d\d$")] | None = None
    metric: Text | None = None

    @model_validator(mode="after")
    def _says_what_its_kind_must(self) -> Event:
        for group in NEEDS[self.event]:
            if not any(getattr(self, key) for key in group):
                raise fail(self.event, f"must say `{'`, or `'.join(group)}`")
        return self

    @property
    def opens(self) -> tuple[str, ...]:
        """Paths whose lines may leave the lock by this event: those of a thaw, and of a tuning loop that ends."""
        return self.paths if self.event == "thaw" or (self.event, self.state) == ("tune", "stop") else ()

    @property
    def closes(self) -> tuple[str, ...]:
        """Paths whose lines may enter the lock by this event: those of a freeze, and of a tuning loop that begins."""
        return self.paths if self.event == "freeze" or (self.event, self.state) == ("tune", "start") else ()

    def instrument(self, scenario: str) -> str | None:
        """The instrument digest that a freeze gave a scenario, None when it says nothing of it."""
        said = dict(line.split(" ", 1) for line in self.instruments)
        return said.get(scenario)
