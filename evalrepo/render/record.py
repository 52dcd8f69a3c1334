"""One record in words: what was measured, what each check saw, where the transcript is."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from evalrepo.records.judgement import Judgement
from evalrepo.records.record import CheckResult, Evidence, MetricScore, Record, Rep
from evalrepo.records.unset import UNSET
from evalrepo.render.findings import counted
from evalrepo.render.safe import safe, width, wrapped
from evalrepo.render.text import COLUMNS, Style

RUNS = "refs/evalrepo/runs/"


def record_text(record: Record, path: str, style: Style, later: str = "", *, sealed: bool = False) -> str:
    """The whole record, for a terminal of 80 columns.

    `later`: the run whose record supersedes it, if any; `sealed`: its transcripts are not to be read.
    """
    lines = [style(line, "heading") for line in wrapped(_head(record), then="  ")]
    for text in (record.title, _score(record), *_identity(record), *record.notes):
        lines += wrapped(text, then="           ")
    if later:
        lines += wrapped(f"superseded by run {later}, which counts instead", then="           ")
    lines += wrapped(path, first="file       ", cut=False)
    for rep in record.reps:
        lines += ["", *_rep(record, rep, style, sealed=sealed)]
    if sealed:
        lines += ["", "sealed: prompts, evidence and transcripts"]
        lines += [f"  → evalrepo show {record.run} --unseal --why REASON"]
    return "\n".join(lines) + "\n"


def _head(record: Record) -> str:
    purpose = "" if record.purpose == "measure" else f" · {record.purpose}, {_counts(record)}"
    when = record.start[:16].replace("T", " ")
    return f"{record.scenario} · {record.agent}/{record.tier} · run {record.run} · {when} UTC{purpose}"


def _counts(record: Record) -> str:
    return "never pooled" if record.purpose in ("fresh", "confirm") else "pooled"


def _score(record: Record) -> str:
    last = record.last_attempts()
    passed, errors = sum(r.verdict == "PASS" for r in last), sum(not r.valid for r in last)
    valid = len(last) - errors
    needed = -(-record.bar.passes * valid // record.bar.of)
    bar = "at its bar" if passed >= needed and valid else "below its bar" if valid else "no valid rep"
    return f"{passed} of {valid} passed, {errors} ERROR · {bar} ({record.bar.passes} of {record.bar.of})"


def _identity(record: Record) -> Iterator[str]:
    digests = record.digests
    dirty = ", with changes that were not committed" if record.dirty else ""
    yield f"subject    {', '.join(record.subjects)} {digests.subject[:8]}, at commit {record.commit[:7]}{dirty}"
    yield f"stimulus   {digests.stimulus[:8]}   instrument {digests.instrument[:8]}   apparatus {digests.apparatus[:8]}"
    yield f"agent      {record.agent} {record.cli_version}; {_answered(record)}"
    yield f"isolation  {record.isolation}; network {record.network}; {record.set}; evalrepo {record.evalrepo}"
    if record.looked:
        yield f"reserve    {record.looked}"
    if record.rescored_from:
        yield f"judged again from run {record.rescored_from}"
    if record.supersedes:
        yield f"supersedes run {record.supersedes}"
    if record.reason:
        yield f"because    {record.reason}"


def _answered(record: Record) -> str:
    if record.model_free:
        return "a script answered, no model"
    return f"model {record.model or 'unnamed'} → {', '.join(record.models) or 'none that it named'}"


def _rep(record: Record, rep: Rep, style: Style, *, sealed: bool) -> Iterator[str]:
    verdict = f"ERROR({rep.error})" if rep.error else str(rep.verdict)
    attempt = f", attempt {rep.attempt}" if rep.attempt > 1 or _tried_again(record, rep) else ""
    role = {"PASS": "pass", "FAIL": "block"}.get(rep.verdict, "inconclusive")
    head, *rest = wrapped(f"{verdict} · {_usage(rep)}", first=f"rep {rep.rep}{attempt}  ", then="  ")
    yield head.replace(verdict, style(verdict, role), 1)
    yield from rest
    if rep.message:
        yield from wrapped(rep.message, first="  ", then="    ")
    for check in rep.checks:
        yield from _check(check)
    for name, metric in rep.metrics.items():
        score = UNSET if metric.score is None else f"{metric.score} of 3"
        yield from wrapped(f"{name} {score} ({source_of(metric)}) {metric.evidence}".rstrip(), first="  ", then="    ")
    for judgement in rep.judged:
        yield from wrapped(judged(judgement), first="  ", then="    ")
    for note in rep.remarks:
        yield from wrapped(note, first="  ", then="    ")
    if rep.transcript is not None and not sealed:
        yield from git_show(f"{RUNS}{record.executed}:{rep.transcript.path}")


def judged(judgement: Judgement) -> str:
    """Who answered a judge's question how, by which votes, and at what cost; split votes are called so."""
    votes = ", ".join(vote.answer or "none" for vote in judgement.votes)
    split = "split votes: " if judgement.split else ""
    answer = judgement.answer or f"no answer, {judgement.broken}"
    by = judge_name(judgement)
    return f"judge {judgement.question}: {answer} ({split}{votes}) · {by}; {judge_told(judgement)}"


def judge_name(judgement: Judgement) -> str:
    """What was asked, the model that answered where it said so, and the variable that named it where one did."""
    by = f"{judgement.kind} {judgement.model or judgement.judge}"
    return by + (f" by {judgement.override}" if judgement.override else "")


def judge_told(judgement: Judgement) -> str:
    """Calls and dollars, and whether its word counts where people's labels do not bear it out."""
    spent = judgement.spent
    cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    told = "asked before, no cost" if judgement.cached else f"{counted(spent.calls, 'call')}, {cost}"
    if not judgement.answer:
        return told
    advisory = f"; advisory, in no verdict ({judgement.advisory})" if judgement.advisory else ""
    return told + (f"; decides uncalibrated ({judgement.uncalibrated})" if judgement.uncalibrated else advisory)


def git_show(name: str) -> Iterator[str]:
    """The command in lines to copy: a long word goes on in the first column, where a shell joins it."""
    word = quote(name)
    line = f"  → git show {word}"
    while word == name and width(line) > COLUMNS:
        at = max(line.rfind("/", 0, COLUMNS - 1), line.rfind(":", 0, COLUMNS - 1)) + 1
        if at <= 0:
            break
        yield line[:at] + "\\"
        line = line[at:]
    yield safe(line)


def _tried_again(record: Record, rep: Rep) -> bool:
    return sum(r.rep == rep.rep for r in record.reps) > 1


def _usage(rep: Rep) -> str:
    usage = rep.usage
    parts = [f"{rep.timing.seconds:.1f} s", counted(usage.tool_calls, "tool call")]
    known = [n for n in (usage.input_tokens, usage.output_tokens) if n is not None]
    parts.append(f"{sum(known):,} tokens" if known else "tokens unknown")
    parts.append(f"${usage.cost_usd:.4f}" if usage.cost_usd is not None else "cost unknown")
    return ", ".join(parts)


def _check(check: CheckResult) -> Iterator[str]:
    how = "" if check.gating else ", not gating"
    by = "" if check.by == "mechanical" else f", by {check.by}"
    evidence = "; ".join(_evidence(e) for e in check.evidence)
    text = f"{check.axis} {check.id}: {check.outcome}{how}{by}" + (f" · {evidence}" if evidence else "")
    yield from wrapped(text, first="  ", then="    ")


def _evidence(evidence: Evidence) -> str:
    where = f"{evidence.file}:{evidence.line}" if evidence.line else evidence.file
    return f"{evidence.text} ({where})" if where else evidence.text


def source_of(metric: MetricScore) -> str:
    """`mechanical`, or `human: Ann 2026-11-30, Bob 2026-12-01`."""
    people = ", ".join(f"{one.by} {one.on}".strip() for one in metric.ratings)
    return f"{metric.source}: {people}" if people else metric.source
