"""What people read of a result: heading, facts, table of reps, metrics, evidence. Rendered from the record alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalrepo.formats.inert import code, markdown
from evalrepo.formats.result_judged import judgements
from evalrepo.records.record import CheckResult, Evidence, Outcome, Record, Rep, Verdict
from evalrepo.records.unset import UNSET

EVIDENCE_SHOWN = 3
"""Pieces of evidence shown for one check of one rep; the record holds all."""

_WORST = (Outcome.FAIL, Outcome.ERROR, Outcome.AMBIGUOUS, Outcome.PASS, Outcome.VACUOUS, Outcome.SKIPPED)


def body(record: Record) -> str:
    """Markdown, ends with a newline. All text of the record is inert in it."""
    sections = (_heading, _facts, _reps, _metrics, _evidence, judgements, _notes)
    parts = [section(record) for section in sections]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(record: Record) -> str:
    mark = ""
    if record.model_free:
        mark = "REHEARSAL · " if record.network == "rehearsal" else "SCRIPTED · "
    cell = f"{markdown(record.scenario)} · {markdown(record.agent)}/{markdown(record.tier)}"
    return f"# {mark}{cell} · {_rate(record)}"


def _rate(record: Record) -> str:
    last = record.last_attempts()
    valid = [rep for rep in last if rep.valid]
    passed = sum(rep.verdict is Verdict.PASS for rep in valid)
    needed = -(-record.bar.passes * len(valid) // max(record.bar.of, 1))
    bar = "meets its bar" if passed >= needed else "below its bar"
    return f"{passed} of {len(valid)} passed, {len(last) - len(valid)} ERROR · {bar if valid else 'no valid rep'}"


def _facts(record: Record) -> str:
    subjects = ", ".join(code(name) for name in record.subjects)
    at = f"{code(record.commit[:12])}{' with changes in the work tree' if record.dirty else ''}"
    facts = [
        record.start[:10] and markdown(record.start[:10]),
        f"run {code(record.run)}",
        record.cli_version and _cli(record),
        record.model and f"model {markdown(record.model)}",
        _answered(record),
        f"isolation {markdown(record.isolation)}",
        record.network != "none" and f"network {record.network}",
        f"bar {record.bar.passes} of {record.bar.of}",
        f"subject {subjects} at {at}",
        record.purpose != "measure" and not record.look and f"purpose {record.purpose}",
        record.looked,
        bool(record.rescored_from) and f"judged again from run {code(record.rescored_from)}",
        bool(record.supersedes) and f"supersedes {code(record.supersedes)}",
        bool(record.reason) and f"because {markdown(record.reason)}",
    ]
    sealed = "\n\nReserve: verdicts and axes only." if record.set == "reserve" else ""
    return f"{markdown(record.title)}\n\n{', '.join(str(f) for f in facts if f)}.{sealed}"


def _cli(record: Record) -> str:
    """What answered to `--version`: a bare number is the agent's."""
    name = f"{record.agent} " if record.cli_version[0].isdigit() else ""
    return markdown(name + record.cli_version)


def _answered(record: Record) -> str:
    if record.model_free:
        return "a script answered, no model"
    return f"answered by {', '.join(map(markdown, record.models))}" if record.models else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _axes(record: Record) -> dict[str, list[str]]:
    """Axis → ids of its checks, both in order of first appearance."""
    axes: dict[str, list[str]] = {}
    for rep in record.reps:
        for check in rep.checks:
            ids = axes.setdefault(check.axis, [])
            if check.id not in ids:
                ids.append(check.id)
    return axes


def _reps(record: Record) -> str:
    axes = _axes(record)
    several = len({rep.rep for rep in record.reps}) != len(record.reps)
    names = [markdown(axis if len(ids) != 1 or ids[0] == axis else f"{axis} {ids[0]}") for axis, ids in axes.items()]
    status = any(rep.status for rep in record.reps)
    head = ["rep", "verdict", *names, *(["status"] if status else []), "tools", "tokens", "cost", "s"]
    last = {(rep.rep, rep.attempt) for rep in record.last_attempts()}
    rows = [
        [
            f"{rep.rep} (try {rep.attempt})" if several else str(rep.rep),
            _verdict(rep, last=(rep.rep, rep.attempt) in last),
            *(_outcome([c for c in rep.checks if c.axis == axis]) for axis in axes),
            *([rep.status or UNSET] if status else []),
            *_usage(rep),
        ]
        for rep in record.reps
    ]
    return _table(head, rows)


def _verdict(rep: Rep, *, last: bool) -> str:
    if rep.verdict is not Verdict.ERROR:
        return str(rep.verdict)
    return f"ERROR({markdown(rep.error)})" + ("" if last else ", tried again")


def _outcome(checks: Sequence[CheckResult]) -> str:
    """The worst gating outcome of an axis; in parentheses when none of its checks is gating."""
    gating = [c.outcome for c in checks if c.gating]
    shown = gating or [c.outcome for c in checks]
    worst = next((o for o in _WORST if o in shown), None)
    if worst is None:
        return UNSET
    word = f"**{worst}**" if worst is Outcome.FAIL and gating else str(worst)
    return word if gating else f"({word})"


def _usage(rep: Rep) -> list[str]:
    known = [n for n in (rep.usage.input_tokens, rep.usage.output_tokens) if n is not None]
    cost = rep.usage.cost_usd
    return [
        f"{rep.usage.tool_calls:,}",
        f"{sum(known):,}" if known else UNSET,
        UNSET if cost is None else f"${cost:,.3f}",
        f"{rep.timing.seconds:,.0f}" if rep.timing.seconds >= 10 else f"{rep.timing.seconds:.1f}",
    ]


def _metrics(record: Record) -> str:
    names = list(dict.fromkeys(name for rep in record.reps for name in rep.metrics))
    if not names:
        return ""
    rows = [[str(rep.rep), *(_score(rep, name) for name in names)] for rep in record.last_attempts() if rep.metrics]
    return _table(["rep", *map(markdown, names)], rows)


def _score(rep: Rep, name: str) -> str:
    metric = rep.metrics.get(name)
    if metric is None or metric.score is None:
        return UNSET
    return str(metric.score) if metric.source == "mechanical" else f"{metric.score} ({metric.source})"


def _evidence(record: Record) -> str:
    lines = [line for rep in record.reps for line in _of_rep(rep, sealed=record.set == "reserve")]
    return "**Evidence.**\n\n" + "\n".join(lines) if lines else ""


def _of_rep(rep: Rep, *, sealed: bool) -> Iterable[str]:
    name = f"rep {rep.rep}" + (f" (try {rep.attempt})" if rep.attempt > 1 else "")
    if rep.error and not sealed:
        message = f": {markdown(rep.message)}" if rep.message else ""
        yield f"- {name}: ERROR({markdown(rep.error)}){message}"
    if sealed:
        return
    for check in rep.checks:
        if check.outcome not in (Outcome.PASS, Outcome.SKIPPED):
            shown = "; ".join(map(_piece, check.evidence[:EVIDENCE_SHOWN]))
            more = len(check.evidence) - EVIDENCE_SHOWN
            rest = f"; {more} more in the record" if more > 0 else ""
            label = markdown(f"{check.axis} {check.id}")
            yield f"- {name}, {label}: {check.outcome}{': ' if shown else ''}{shown}{rest}"
    yield from (f"- {name}: {markdown(remark)}" for remark in rep.remarks)
    for metric, score in rep.metrics.items():
        if score.evidence:
            yield f"- {name}, {markdown(metric)}: {markdown(score.evidence)}"


def _piece(evidence: Evidence) -> str:
    place = evidence.file + (f" line {evidence.line}" if evidence.line else "")
    return markdown(evidence.text) + (f" ({markdown(place.strip())})" if place else "")


def _notes(record: Record) -> str:
    lines = "\n".join(f"- {markdown(note)}" for note in record.notes)
    return f"**Notes.**\n\n{lines}" if lines else ""
