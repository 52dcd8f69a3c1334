"""What `rescore` says: of each record what came out, what stays and why, what the judge was asked and what it cost."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from evalrepo.render.findings import counted
from evalrepo.render.safe import safe, wrapped

if TYPE_CHECKING:
    from evalrepo.commands.rejudging_parts import Left, Made, Open, Outcome
    from evalrepo.records.row import Row
    from evalrepo.running.keep import Landed
    from evalrepo.running.words import Leave

SILENT_S = 20.0
"""Seconds after which something is said although not all is judged."""


class Progress:
    """Says on standard error how far it is, where that takes long."""

    def __init__(self, reps: int, *, quiet: bool) -> None:
        self._reps, self._quiet, self._done, self._spoke = reps, quiet, 0, time.monotonic()

    def step(self) -> None:
        """One rep more."""
        self._done += 1
        if not self._quiet and time.monotonic() - self._spoke > SILENT_S:
            self._spoke = time.monotonic()
            click.echo(f"{self._done} of {self._reps} reps judged", err=True)


def say(out: Outcome, landed: Sequence[Landed], leave: Leave, *, dry_run: bool, output: str) -> None:
    """All of it."""
    if output == "json":
        from evalrepo.render.json import to_json

        click.echo(to_json(_data(out, landed, leave)), nl=False)
        return
    for line in _lines(out, landed, leave, dry_run=dry_run):
        click.echo("\n".join(wrapped(line, then="  ", cut=False)))


def _data(out: Outcome, landed: Sequence[Landed], leave: Leave) -> dict[str, Any]:
    paths = {(r.scenario, r.agent, r.tier, r.supersedes): (p, r.run) for one in landed for p, r in one.records.items()}
    made = []
    for one in out.made:
        path, run = paths.get((*one.row.cell, one.row.run), ("", ""))
        before = {(r.rep, r.attempt): r for r in one.old.reps}
        reps = [
            {"rep": r.rep, "attempt": r.attempt, "before": _word(before[r.rep, r.attempt]), "after": _word(r)}
            for r in one.reps
        ]
        made.append({**_named(one.row), "path": path, "record": run, "reps": reps})
    left = [{**_named(one.row), "reps": list(one.reps), "why": one.why, "how": one.how} for one in out.left]
    open_ = [{**_named(one.row), "rep": one.rep, "questions": list(one.questions)} for one in out.open]
    said = {"schema": 1, "made": made, "left": left, "open": open_, "there": out.there, "without_word": out.mute}
    return {**said, "judge": _asked(leave)}


def _asked(leave: Leave) -> dict[str, Any]:
    questions = [
        {"judge": judge, "question": question, "times": len(votes), "votes": sum(votes)}
        for (judge, question), votes in sorted(leave.asked.items())
    ]
    cost = None if leave.unpriced else leave.usd
    return {"asked": leave.asks and not leave.pretends, "questions": questions, "cost_usd": cost}


def _named(row: Row) -> dict[str, str]:
    return {"run": row.run, "scenario": row.scenario, "agent": row.agent, "tier": row.tier}


def _word(rep: Any) -> str:
    return f"ERROR({rep.error})" if rep.error else str(rep.verdict)


def _lines(out: Outcome, landed: Sequence[Landed], leave: Leave, *, dry_run: bool) -> Iterator[str]:
    reps = sum(len(one.reps) for one in out.made)
    changed = sum(one.changed for one in out.made)
    for one in out.made:
        yield _cell_line(one)
    if reps:
        would = "would be " if dry_run else ""
        yield f"{counted(reps, 'rep')} {would}judged again, {changed} with another verdict"
    yield from _judge_lines(out.open, leave)
    if out.there:
        yield f"{counted(out.there, 'rep')} judged by today's instrument already"
    if out.mute and not leave.asks:
        yield f"{counted(out.mute, 'rep')} of them without a judge's word → evalrepo rescore --judge"
    yield from left_lines(out.left)
    commits = ", ".join(dict.fromkeys(one.commit[:7] for one in landed if one.commit))
    if landed:
        yield f"committed: {commits}" if commits else "kept in the runs' refs, not committed"
    if not (reps or out.there or out.left or out.open or leave.cancel.is_set()):
        yield "nothing to judge again"


def _judge_lines(open_: Sequence[Open], leave: Leave) -> Iterator[str]:
    """What the judge was asked and at what cost, or what it would be."""
    if not leave.asks:
        return
    times = sum(map(len, leave.asked.values()))
    votes = sum(sum(votes) for votes in leave.asked.values())
    for (judge, question), some in sorted(leave.asked.items()):
        yield f"  {question} ×{len(some)} ({counted(sum(some), 'vote')}): {safe(judge)}"
    if leave.pretends:
        about = f" about {counted(len(open_), 'rep')}" if open_ else ""
        yield f"the judge would be asked at most {counted(times, 'question')}{about}, {counted(votes, 'vote')}"
    elif times:
        unknown = f", {counted(leave.unpriced, 'question')} at an unknown cost" if leave.unpriced else ""
        yield f"the judge was asked {counted(times, 'question')}, {counted(votes, 'vote')}: ${leave.usd:.4f}{unknown}"
    else:
        yield "the judge was not asked: every question has its answer"


def _cell_line(one: Made) -> str:
    row = one.row
    before = {(r.rep, r.attempt): _word(r) for r in one.old.reps}
    moves: dict[str, int] = {}
    for rep in one.reps:
        was, now = before[rep.rep, rep.attempt], _word(rep)
        if was != now:
            moves[f"{was} → {now}"] = moves.get(f"{was} → {now}", 0) + 1
    said = ", ".join(f"{move} ×{count}" for move, count in moves.items()) or "the same verdicts"
    return f"{row.scenario} · {row.agent}/{row.tier} run {row.run}: {counted(len(one.reps), 'rep')}, {said}"


def left_lines(left: Iterable[Left]) -> Iterator[str]:
    """What stays as it is, and the way; the same reason of several records in one line."""
    heaps: dict[tuple[str, str, str], list[Left]] = {}
    for one in left:
        heaps.setdefault((one.row.scenario, one.why, one.how), []).append(one)
    for (scenario, why, how), ones in heaps.items():
        runs = ", ".join(map(_reps, ones[:3]))
        more = f" and {len(ones) - 3} more" if len(ones) > 3 else ""
        yield f"not judged: {scenario}, {runs}{more}: {why}" + (f" → {how}" if how else "")


def _reps(one: Left) -> str:
    return f"{one.row.agent}/{one.row.tier} run {one.row.run} rep {', '.join(map(str, one.reps))}"
