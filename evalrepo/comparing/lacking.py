"""Why a cell has no comparable scores: what was measured instead, and in what it differs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalrepo.comparing.pool import Identity, Pool, score
from evalrepo.records.row import Row
from evalrepo.records.verdict import Label, Score

Explain = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Blob id of a record → its digests' parts (digest name → part → value), where they were read."""


class Known(NamedTuple):
    """A side's pool and the score that is shown of it."""

    pool: Pool | None
    score: Score | None

    @property
    def valid(self) -> bool:
        """Whether there is a valid rep."""
        return self.score is not None and self.score.valid > 0


class Differences(NamedTuple):
    """Names what differs between a record and what the candidate is measured with."""

    expected: Mapping[str, Mapping[str, str]]
    parts: Explain
    thaws: Sequence[tuple[str, str]] = ()
    """Of what the scenario rests on: when it was thawed (RFC 3339), and the sentence about it."""

    def named(self, row: Row, identity: Identity) -> str:
        """`stimulus (fixture), apparatus (cli 1.0 → 1.1)`; and the last thaw since the record."""
        since = [said for at, said in self.thaws if at[:19] > row.start[:19]]
        opened = (row.stimulus, row.instrument) != (identity.stimulus, identity.instrument)
        return self._differing(row, identity) + (f"; {row.scenario} {since[-1]}" if since and opened else "")

    def _differing(self, row: Row, identity: Identity) -> str:
        pairs = (
            ("subject", identity.subject, row.subject),
            ("stimulus", identity.stimulus, row.stimulus),
            ("instrument", identity.instrument, row.instrument),
        )
        names = [self._named(name, row) for name, mine, theirs in pairs if mine != theirs]
        if names:
            return ", ".join(names)
        return f"apparatus ({differing(row.apparatus_parts, identity.apparatus or {})})"

    def _named(self, digest: str, row: Row) -> str:
        theirs, mine = self.parts.get(row.oid, {}).get(digest), self.expected.get(digest)
        if digest == "subject" or theirs is None or mine is None:
            return digest
        found = differing(theirs, mine)
        return f"{digest} ({found})" if found else digest


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """`cli 1.0 → 1.1, settings`: short values are shown, digests only named; an unknown CLI is no difference."""
    out = []
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if was == now or (name == "cli" and None in (was, now)):
            continue
        short = all(v is not None and len(v) < 24 for v in (was, now))
        out.append(f"{name} {was} → {now}" if short else name)
    return ", ".join(out[:4]) + (f" and {len(out) - 4} more" if len(out) > 4 else "")


def best(found: Pool | None, reps: int) -> Score | None:
    """The score of the newest group with a valid rep, or else of any."""
    if found is None or not found.groups:
        return None
    return score(next((g for g in found.groups if g.valid), found.groups[0]), reps)


def split(old: Score, new: Score) -> str:
    """Why two scores at one identity are not compared."""
    if old.model != new.model:
        return f"resolved model {old.model or 'unknown'} → {new.model or 'unknown'}"
    if old.cli != new.cli:
        return f"CLI version {old.cli or 'unknown'} → {new.cli or 'unknown'}"
    return "another apparatus"


def unmeasured(known: Known, identity: Identity, named: Differences) -> tuple[Label, str]:
    """The label of a side without a valid rep, and the newest record of something else."""
    if known.score is not None:
        kinds = ", ".join(f"{n} {kind}" for kind, n in known.score.errors_by_kind.items())
        return Label.MISSING, f"no valid rep: ERROR {kinds}"
    newest = known.pool and (known.pool.other or known.pool.stale)
    if not newest:
        return Label.MISSING, "never measured"
    return _stale(newest, identity, named)


def _stale(row: Row, identity: Identity, named: Differences) -> tuple[Label, str]:
    passes, valid = counts(row)
    return Label.STALE, f"last {passes}/{valid} on {row.start[:10]}, with another {named.named(row, identity)}"


def unmeasured_base(known: Known, identity: Identity, other: Identity, named: Differences) -> tuple[Label, str]:
    """The same for the base, where a record of the very subject by other means is one that cannot be compared."""
    if known.score is None and known.pool is not None:
        if known.pool.other is not None:
            return Label.NOT_COMPARABLE, f"the base was measured with another {named.named(known.pool.other, identity)}"
        stale = known.pool.stale
        if stale is not None and stale.subject != other.subject:
            return _stale(stale, identity, named)
        return Label.MISSING, "never measured at the base"
    return unmeasured(known, identity, named)


def counts(row: Row) -> tuple[int, int]:
    """Passes and valid reps of one record, by last attempts."""
    last = [tries[-1].verdict for tries in row.attempts().values()]
    return last.count("PASS"), len(last) - last.count("ERROR")
