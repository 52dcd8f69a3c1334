"""What people read of a result's judgements: who answered what, by which votes, why, and where that stands."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.formats.inert import markdown
from evalrepo.records.judgement import Judgement
from evalrepo.records.record import Evidence, Record, Rep

REASON_SHOWN = 200
"""Characters of a reason that are shown; the record holds all of it."""
PLACES_SHOWN = 3


def judgements(record: Record) -> str:
    """The section, "" for a record without one and for a reserve's, which shows verdicts and axes only."""
    lines = [] if record.set == "reserve" else [line for rep in record.reps for line in _of_rep(rep)]
    return "**Judgements.**\n\n" + "\n".join(lines) if lines else ""


def _of_rep(rep: Rep) -> Iterator[str]:
    name = f"rep {rep.rep}" + (f" (try {rep.attempt})" if rep.attempt > 1 else "")
    for one in rep.judged:
        asked = markdown(f"{one.rubric}/{one.question}")
        said = f"**{markdown(one.answer)}**" if one.answer else f"no answer: {markdown(one.broken)}"
        yield f"- {name}, {asked}: {said} ({_votes(one)}), by {_by(one)}{_mark(one)}{_why(one)}{_where(rep, one)}"


def _votes(one: Judgement) -> str:
    answers = [markdown(vote.answer) if vote.answer else "none" for vote in one.votes]
    if one.split:
        return f"split votes: {', '.join(answers)}"
    return f"{len(answers)} {'vote' if len(answers) == 1 else 'votes'}"


def _by(one: Judgement) -> str:
    return markdown(f"{one.kind} {one.model or one.judge}", 100) + (
        f" of {markdown(one.override)}" if one.override else ""
    )


def _mark(one: Judgement) -> str:
    """Whether its word counts where people's labels do not bear it out."""
    if not one.answer:
        return ""
    advisory = f"; advisory, in no verdict ({markdown(one.advisory)})" if one.advisory else ""
    return f"; decides uncalibrated ({markdown(one.uncalibrated)})" if one.uncalibrated else advisory


def _why(one: Judgement) -> str:
    """The reason of the first vote for the answer."""
    reason = next((vote.reason for vote in one.votes if one.answer and vote.answer == one.answer), "")
    return f". {markdown(reason, REASON_SHOWN)}" if reason else ""


def _where(rep: Rep, one: Judgement) -> str:
    """Where the evidence stands: in files of the rep, or else the pieces as the judge was shown them."""
    places = [_place(evidence) for evidence in _evidence(rep, one)]
    places = places or [place for vote in one.votes if vote.answer == one.answer for place in vote.places]
    found = [place for place in dict.fromkeys(places) if place]
    if not found:
        return ""
    more = f" and {len(found) - PLACES_SHOWN} more" if len(found) > PLACES_SHOWN else ""
    return f" ({markdown(', '.join(found[:PLACES_SHOWN]) + more)})"


def _place(evidence: Evidence) -> str:
    return f"{evidence.file} line {evidence.line}" if evidence.line else evidence.file


def _evidence(rep: Rep, one: Judgement) -> tuple[Evidence, ...]:
    """Of the check that says that this question decided it, or of the metric that has this answer for this reason."""
    said = f"judge, {one.rubric}/{one.question}: {one.answer}"
    by_judge = [check.evidence for check in rep.checks if check.by == "judge" and check.evidence]
    found = [evidence for evidence in by_judge if evidence[0].text.startswith((f"{said} ", f"{said}."))]
    if found:
        return min(found, key=len)[1:]  # a check that was resolved has its own evidence behind the judge's
    reasons = {" ".join(vote.reason.split()) for vote in one.votes if vote.answer == one.answer and vote.reason}
    for metric in rep.metrics.values():
        if str(metric.score) == one.answer and any(reason in metric.evidence for reason in reasons):
            return metric.places
    return ()
