"""The compact row of a record: what comparisons need, as plain tuples. No pydantic: a diff reads ten thousand of them.

A row is made from the record's JSON, checked by hand as far as it is used; the whole strict model is for writing,
`lint`, `show` and `log`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

ROW_SCHEMA = 1
"""The newest record schema that rows are read from; equals `records.record.SCHEMA`."""

NEVER_POOLED = frozenset({"fresh", "confirm"})
"""Purposes that are shown and never pooled; equals `records.record.NEVER_POOLED`."""


class BadRecord(ValueError):  # noqa: N818 - data that is no record, told to the reader that made the call
    """The JSON is not a record; `str` says what is wrong."""


class Head(NamedTuple):
    """Where a record belongs: cell (scenario, agent, tier), key (subject, stimulus, instrument digests), UTC start."""

    cell: tuple[str, str, str]
    key: tuple[str, str, str]
    start: str


class RepRow(NamedTuple):
    """One attempt. `failed`: ids of gating checks that failed; `axes`: their axes.

    `usage` is (tokens, cost in USD, tool calls, seconds), None where unknown; `metrics` maps name to 0-3, unscored
    metrics left out. `start` is UTC, RFC 3339. `conversation`: equal in reps that are copies, or "". `raters` maps a
    metric to the people who scored it.
    `deciding`, `advisory`: ids of checks that a judge's word decided, and may not; `uncalibrated`: one of the former by
    a judge that nobody calibrated; `judges` maps each question of a judge to who answered it.
    """

    rep: int
    attempt: int
    start: str
    verdict: str
    error: str
    model: str
    failed: tuple[str, ...]
    axes: tuple[str, ...]
    metrics: Mapping[str, int]
    usage: tuple[int | None, float | None, int, float]
    conversation: str = ""
    raters: Mapping[str, Sequence[str]] = MappingProxyType({})
    deciding: tuple[str, ...] = ()
    advisory: tuple[str, ...] = ()
    uncalibrated: bool = False
    judges: Mapping[str, str] = MappingProxyType({})


class Row(NamedTuple):
    """One record: one run's measurement of one cell.

    `apparatus_parts` are the named parts of the apparatus digest. `path` is where the file stands (repository path, or
    `REF:PATH` for a run ref), `oid` its blob. `reps` hold every attempt in file order. `against`: subject digest of the
    side whose reps were interleaved with these, or "".
    """

    run: str
    start: str
    scenario: str
    set: str
    agent: str
    tier: str
    subjects: tuple[str, ...]
    subject: str
    stimulus: str
    instrument: str
    apparatus: str
    apparatus_parts: Mapping[str, str]
    requested: str
    purpose: str
    model_free: bool
    network: str
    isolation: str
    bar: tuple[int, int]
    commit: str
    dirty: bool
    supersedes: str
    rescored_from: str
    reps: tuple[RepRow, ...]
    path: str
    oid: str
    against: str = ""

    @property
    def cell(self) -> tuple[str, str, str]:
        """Scenario, agent, tier."""
        return (self.scenario, self.agent, self.tier)

    @property
    def executed(self) -> str:
        """The run whose reps these are: its own, or the one that was judged again."""
        return self.rescored_from or self.run

    def attempts(self) -> dict[int, list[RepRow]]:
        """Rep number → its attempts, first to last."""
        found: dict[int, list[RepRow]] = {}
        for rep in self.reps:
            found.setdefault(rep.rep, []).append(rep)
        for tries in found.values():
            tries.sort(key=lambda r: r.attempt)
        return found


def head(data: Any) -> Head:
    """The head of a record's JSON, whose reps may have been left out. Raises `BadRecord` as `from_record` does."""
    _check_schema(data)
    try:
        digests = data["digests"]
        found = Head(
            (data["scenario"], data["agent"], data["tier"]),
            (digests["subject"], digests["stimulus"], digests["instrument"]),
            data["start"],
        )
        "".join((*found.cell, *found.key, found.start))
    except KeyError as missing:
        raise BadRecord(f"the record lacks {missing.args[0]!r}") from None
    except TypeError as wrong:
        raise BadRecord(f"the record is not in its schema: {wrong}") from None
    return found


def from_record(data: Any, path: str, oid: str = "") -> Row:
    """The row of a record's JSON. Raises `BadRecord` with a sentence when it is not one, or newer than this reader."""
    _check_schema(data)
    try:
        return _row(data, path, oid)
    except KeyError as missing:
        raise BadRecord(f"the record lacks {missing.args[0]!r}") from None
    except (TypeError, AttributeError, IndexError) as wrong:
        raise BadRecord(f"the record is not in its schema: {wrong}") from None


def _check_schema(data: Any) -> None:
    if not isinstance(data, dict):
        raise BadRecord("the record is not a JSON object")
    schema = data.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise BadRecord(f"the record's schema is {schema!r}, not a whole number from 1")
    if schema > ROW_SCHEMA:
        raise BadRecord(f"the record has schema {schema}, newer than this evalrepo reads ({ROW_SCHEMA})")


def _row(data: dict[str, Any], path: str, oid: str) -> Row:
    digests = data["digests"]
    bar = data["bar"]
    return Row(
        run=_text(data, "run"),
        start=_text(data, "start"),
        scenario=_text(data, "scenario"),
        set=data.get("set", "run-set"),
        agent=_text(data, "agent"),
        tier=_text(data, "tier"),
        subjects=tuple(data["subjects"]),
        subject=_text(digests, "subject"),
        stimulus=_text(digests, "stimulus"),
        instrument=_text(digests, "instrument"),
        apparatus=_text(digests, "apparatus"),
        apparatus_parts=_parts(digests.get("parts", {}).get("apparatus", {})),
        requested=data.get("model", ""),
        purpose=data.get("purpose", "measure"),
        model_free=bool(data.get("model_free", False)),
        network=data.get("network", "none"),
        isolation=_text(data, "isolation"),
        bar=(_count(bar["passes"]), _count(bar["of"])),
        commit=_text(data, "commit"),
        dirty=bool(data["dirty"]),
        supersedes=data.get("supersedes", ""),
        rescored_from=data.get("rescored_from", ""),
        reps=tuple([_rep(rep) for rep in data["reps"]]),
        path=path,
        oid=oid,
        against=data.get("against", ""),
    )


def _rep(data: dict[str, Any]) -> RepRow:
    verdict = data["verdict"]
    error = data.get("error", "")
    if verdict not in ("PASS", "FAIL", "ERROR") or (verdict == "ERROR") != bool(error):
        raise BadRecord(f"a rep has the verdict {verdict!r} with the error kind {error!r}")
    checks = data.get("checks", ())
    failed = [c for c in checks if c.get("gating", True) and c["outcome"] == "fail"]
    metrics = data.get("metrics", {})
    return RepRow(
        rep=_count(data["rep"]),
        attempt=_count(data["attempt"]),
        start=_text(data["timing"], "start"),
        verdict=verdict,
        error=error,
        model=next(iter(data.get("models", ())), ""),
        failed=tuple([c["id"] for c in failed]),
        axes=tuple(dict.fromkeys([c["axis"] for c in failed])),
        metrics={name: m["score"] for name, m in metrics.items() if m["score"] is not None},
        usage=_usage(data.get("usage", {}), data["timing"]),
        conversation=data.get("conversation", ""),
        raters={name: [r["by"] for r in m["ratings"]] for name, m in metrics.items() if "ratings" in m},
        **(_by_judge(data, checks) if data.get("judged") else {"judges": {}}),
    )


def _by_judge(data: dict[str, Any], checks: Any) -> dict[str, Any]:
    """Checks by a judge, in whether they gate; one that the scenario does not let gate is among `advisory`."""
    mine = [c for c in checks if c.get("by") == "judge"]
    return {
        "deciding": tuple([c["id"] for c in mine if c.get("gating", True)]),
        "advisory": tuple([c["id"] for c in mine if not c.get("gating", True)]),
        "judges": {
            f"{j['rubric']}/{j['question']}": j.get("model") or j["judge"] for j in data["judged"] if j["answer"]
        },
        "uncalibrated": any(j.get("uncalibrated") and j.get("answer") for j in data["judged"]),
    }


def _usage(usage: dict[str, Any], timing: dict[str, Any]) -> tuple[int | None, float | None, int, float]:
    known = [n for n in (usage.get("input_tokens"), usage.get("output_tokens")) if n is not None]
    seconds = float(timing["seconds"])
    return (sum(known) if known else None, usage.get("cost_usd"), usage.get("tool_calls", 0), seconds)


def _text(data: dict[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise BadRecord(f"{key} is not text")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRecord(f"{value!r} is not a count")
    return value


def _parts(parts: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in parts.items()}


def pack(row: Row) -> list[Any]:
    """The row as JSON-able lists; `unpack` is its inverse."""
    return list(row)


def unpack(packed: list[Any]) -> Row:
    """The row of a list that `pack` made, through JSON or not. Raises TypeError or ValueError for anything else."""
    row = Row._make(packed)
    reps = tuple(map(_unpacked, row.reps))
    return row._replace(subjects=tuple(row.subjects), bar=(row.bar[0], row.bar[1]), reps=reps)


def _unpacked(r: Any) -> RepRow:
    failed, axes, usage, deciding, advisory = (tuple(r[place]) for place in (6, 7, 9, 12, 13))
    return RepRow._make([*r[:6], failed, axes, r[8], usage, r[10], r[11], deciding, advisory, *r[14:]])
