"""Questions that a judge answers. What is not a usable answer is an error, never a no."""

from __future__ import annotations

from dataclasses import replace

from evalrepo.checks.view import Answer, JudgeAnswer, View, broken, cite, decided
from evalrepo.records.kinds import Judge
from evalrepo.records.record import Outcome

MISSING = "no judge is configured"


def judge(args: Judge, view: View) -> Answer:
    """The judge's answer is one of `pass_when`. A judge that is missing or gives no usable answer is an error.

    One that only resolves another check is skipped where no judge is configured: that check stays ambiguous.
    """
    if args.resolves and view.ask is None:
        return Answer(Outcome.SKIPPED, (cite(MISSING),))
    said = ask(args.rubric, args.question, args.votes, view)
    if said.broken:
        return replace(broken(said.broken), judged=True)
    votes = f" ({', '.join(said.votes)})" if len(said.votes) > 1 else ""
    evidence = cite(f"judge, {args.rubric}/{args.question}: {said.answer}{votes}. {said.evidence}")
    return replace(decided(said.answer in args.pass_when, evidence), judged=True)


def ask(rubric: str, question: str, votes: int, view: View) -> JudgeAnswer:
    """The judge's answer about this view; `broken` says why there is none. Never raises."""
    if view.ask is None:
        return JudgeAnswer(broken=MISSING)
    try:
        said = view.ask(rubric, question, votes, view)
    except Exception as error:  # noqa: BLE001 - a judge is an outside thing; that it broke is data
        return JudgeAnswer(broken=f"the judge broke: {type(error).__name__}: {error}")
    if said.broken:
        return replace(said, broken=f"the judge gave no answer: {said.broken}")
    return said
