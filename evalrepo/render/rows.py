"""Recorded reps as rows for other tools: TSV as the first suites kept it, CSV, and JSON a line. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from evalrepo.records.record import Record, Rep
from evalrepo.records.unset import score_word

TSV = ("scenario", "model", "rep", "verdict", "axes", "info")
"""`rep` is RUN:NUMBER, which no other row of the scenario and model has; `axes` the outcome of each axis' checks, the
worst first (`A=fail B=pass`); `info` the rest (`agent=claude/haiku tools=4 tokens=812 M1=3 M4=–`): what is unknown is
left out, a metric that is unset is a dash."""

COLUMNS = (
    "run", "scenario", "set", "agent", "tier", "model_requested", "models", "cli_version", "model_free", "purpose",
    "rep", "attempt", "last", "verdict", "error", "axes_failed", "checks", "metrics", "status", "spawns", "tool_calls",
    "agents", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd", "seconds",
    "start", "commit", "dirty", "subject", "stimulus", "instrument", "apparatus", "isolation", "network", "look",
    "rescored_from", "supersedes", "superseded_by",
)  # fmt: skip
"""Of CSV and JSON lines, one row an attempt. Unknown is empty in CSV and null in JSON. `last`: the rep's verdict is
this attempt's; `superseded_by`: the run whose record counts instead."""

_WORST = ("fail", "error", "ambiguous", "vacuous", "skipped", "pass")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows_of(record: Record, later: str = "") -> Iterator[dict[str, Any]]:
    """Every attempt of a record as the columns; `later`: the run whose record supersedes it."""
    last = {(rep.rep, rep.attempt) for rep in record.last_attempts()}
    for rep in record.reps:
        yield _row(record, rep, later, last=(rep.rep, rep.attempt) in last)


def _row(record: Record, rep: Rep, later: str, *, last: bool) -> dict[str, Any]:
    usage, digests = rep.usage, record.digests
    values = (
        record.run, record.scenario, record.set, record.agent, record.tier, record.model, list(rep.models),
        record.cli_version, record.model_free, str(record.purpose), rep.rep, rep.attempt, last, str(rep.verdict),
        rep.error, list(rep.axes_failed), {c.id: str(c.outcome) for c in rep.checks},
        {name: m.score for name, m in rep.metrics.items()}, rep.status, [s.agent for s in rep.spawns],
        usage.tool_calls, usage.agents, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens,
        usage.cache_write_tokens, usage.cost_usd, rep.timing.seconds, rep.timing.start, record.commit, record.dirty,
        digests.subject, digests.stimulus, digests.instrument, digests.apparatus, rep.isolation, record.network,
        record.look or None, record.rescored_from, record.supersedes, later,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def jsonl(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A JSON object a line."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def csv_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """RFC 4180 with a head. Text that a spreadsheet would take for a formula begins with `'`."""
    yield _csv(COLUMNS)
    for row in rows:
        yield _csv([_cell(row[name]) for name in COLUMNS])


def _csv(values: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(values)
    return out.getvalue()


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value}"
        case list():
            return _safe(" ".join(map(str, value)))
        case dict():
            return _safe(" ".join(f"{k}={'' if v is None else v}" for k, v in value.items()))
    return _safe(str(value))


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def tsv(records: Iterable[Record]) -> Iterator[str]:
    """A head, and the last attempt of each rep. No cell holds a tab or a line end."""
    yield "\t".join(TSV) + "\n"
    for record in records:
        for rep in record.last_attempts():
            cells = (record.scenario, _model(record, rep), f"{record.run}:{rep.rep}", str(rep.verdict), _axes(rep))
            yield "\t".join(map(_plain, (*cells, _info(record, rep)))) + "\n"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _model(record: Record, rep: Rep) -> str:
    return ",".join(rep.models) or record.model or f"{record.agent}/{record.tier}"


def _axes(rep: Rep) -> str:
    outcomes: dict[str, set[str]] = {}
    for check in rep.checks:
        if check.gating:
            outcomes.setdefault(check.axis, set()).add(str(check.outcome))
    worst = {axis: next(o for o in _WORST if o in found) for axis, found in outcomes.items()}
    return " ".join(f"{axis}={outcome}" for axis, outcome in worst.items())


def _info(record: Record, rep: Rep) -> str:
    known = [n for n in (rep.usage.input_tokens, rep.usage.output_tokens) if n is not None]
    facts: dict[str, Any] = {
        "agent": f"{record.agent}/{record.tier}",
        "error": rep.error or None,
        "tries": rep.attempt if rep.attempt > 1 else None,
        "status": rep.status,
        "tools": rep.usage.tool_calls,
        "tokens": sum(known) if known else None,
        "cost": rep.usage.cost_usd,
        "seconds": round(rep.timing.seconds, 1),
    }
    scores = {name: score_word(found.score) for name, found in rep.metrics.items()}
    return " ".join(f"{name}={value}" for name, value in {**facts, **scores}.items() if value is not None)
