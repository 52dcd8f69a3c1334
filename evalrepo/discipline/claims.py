"""Claims: what runs said on a remote before their first rep, against what became of them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from evalrepo.discipline.numbering import Fact
from evalrepo.errors import Finding, Place

REF = "refs/evalrepo/claims"
GRACE = timedelta(hours=24)
"""How long a run may be at work before its claim is held against it."""
_VOID = ".void.json"


class Claim(NamedTuple):
    """A run that was about to begin: its id, clone and person, UTC time (RFC 3339), and its cells: scenario, set,
    agent, tier, purpose, reps planned, the four digests. Names and digests only, so that no scenario's text is told."""

    run: str
    clone: str
    by: str
    at: str
    cells: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """Of its file in the tree of the claims."""
        return f"{self.run}.json"

    def encoded(self) -> bytes:
        """Its file."""
        data = {"claim": 1, "run": self.run, "clone": self.clone, "by": self.by, "at": self.at}
        return (json.dumps({**data, "cells": list(self.cells)}, indent=1, ensure_ascii=False) + "\n").encode()


def tombstone(run: str, by: str, at: str, why: str) -> tuple[str, bytes]:
    """Name and content of the file that says why a claimed run has no records."""
    return run + _VOID, (json.dumps({"void": 1, "run": run, "by": by, "at": at, "why": why}, indent=1) + "\n").encode()


class Claimed(NamedTuple):
    """All claims at hand, by run, and the runs that have a tombstone. `broken`: files that are neither."""

    claims: Mapping[str, Claim]
    voided: frozenset[str]
    broken: tuple[str, ...] = ()


def read(files: Mapping[str, bytes]) -> Claimed:
    """Out of the files of the claims' tree."""
    claims: dict[str, Claim] = {}
    broken: list[str] = []
    for name, data in files.items():
        if name.endswith(_VOID):
            continue
        try:
            row = json.loads(data)
            claim = Claim(row["run"], row["clone"], row["by"], row["at"], tuple(row["cells"]))
            datetime.fromisoformat(claim.at)
            claims[claim.run] = claim
        except (ValueError, KeyError, TypeError):
            broken.append(name)
    voided = frozenset(name.removesuffix(_VOID) for name in files if name.endswith(_VOID))
    return Claimed(claims, voided, tuple(broken))


def judged(
    held: Claimed, facts: Iterable[Fact], kept: Iterable[str], at_work: Iterable[str], now: datetime
) -> Iterator[Finding]:
    """RUN009 of claims whose run never came, RUN011 of records of runs that were not claimed.

    `facts`: every record at hand; `kept`: runs whose refs are here; `at_work`: runs whose journals are open here.
    """
    records = list(facts)
    came = {fact.executed for fact in records} | {fact.run for fact in records} | set(kept) | set(at_work)
    for run, claim in sorted(held.claims.items()):
        if run not in came and run not in held.voided:
            yield _never_came(claim, now)
    for name in held.broken:
        yield Finding(Place(f"{REF}/{name}"), "RUN010", "is no claim", f"git show {REF}:{name}")
    begun = min((claim.at for claim in held.claims.values()), default="")
    for fact in records:
        if begun and fact.run == fact.executed and fact.start > begun and fact.run not in held.claims:
            said = f"run {fact.run} was not claimed, and claims have been made since {begun}"
            stays = f"evalrepo acknowledge {fact.path} --code RUN011 --why REASON"
            yield Finding(Place(fact.path), "RUN011", said, f"say how it came to be: {stays}")


def _never_came(claim: Claim, now: datetime) -> Finding:
    place = Place(f"{REF}/{claim.run}")
    cells = f"{len(claim.cells)} cell{'s' * (len(claim.cells) != 1)}"
    said = f"{claim.by} claimed this run of {cells} at {claim.at}, and no record of it is here"
    young = now - datetime.fromisoformat(claim.at) < GRACE
    where = f"it may be at work, or its branch and its ref refs/evalrepo/runs/{claim.run} were not pushed or fetched"
    stays = f"evalrepo acknowledge {REF}/{claim.run} --code RUN009 --why REASON"
    return Finding(place, "RUN009", said, f"{where}; if it was lost: {stays}", warning=young)


def lost(known: Mapping[str, str], there: Mapping[str, str], remote: str) -> Iterator[Finding]:
    """RUN010 of claims (name → blob id) that are known here, and that the remote has no more or has otherwise."""
    for name, oid in sorted(known.items()):
        if there.get(name) != oid:
            what = "was changed" if name in there else "was taken away"
            hint = f"git push {remote} {REF} while nobody claims; the next evalrepo run puts it back, too"
            yield Finding(Place(f"{REF}/{name.split('.')[0]}"), "RUN010", f"this claim {what} at {remote}", hint)
