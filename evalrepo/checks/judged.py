"""Questions that a judge answers. What is not a usable answer is an error, never a no."""

from __future__ import annotations

from dataclasses import replace

from evalrepo.checks.view import Answer, JudgeAnswer, View, broken, cite, decided, line
from evalrepo.records.kinds import Asked, Judge
from evalrepo.records.record import Outcome

MISSING = "no judge is configured"


def judge(args: Judge, view: View) -> Answer:
    """The judge's answer is one of `pass_when`. A judge that is missing or gives no usable answer is an error.

    One that only resolves another check is skipped where no judge is configured: that check stays ambiguous. An answer
    that may not decide is shown, and does not gate.
    """
    if args.resolves and view.ask is None:
        return Answer(Outcome.SKIPPED, (cite(MISSING),))
    said = ask(args, view)
    if said.broken:
        return replace(broken(said.broken), judged=True, advisory=bool(said.advisory))
    evidence = (cite(f"judge, {args.rubric}/{args.question}: {sentence(said)}"), *said.places)
    return replace(decided(said.answer in args.pass_when, *evidence), judged=True, advisory=bool(said.advisory))


def sentence(said: JudgeAnswer) -> str:
    """The answer with its votes, split ones called so, whether it may decide, and the reason."""
    split = "split votes " if len(set(said.votes)) > 1 else ""
    votes = f" ({split}{', '.join(vote or 'none' for vote in said.votes)})" if len(said.votes) > 1 else ""
    advisory = f" [advisory: {said.advisory}]" if said.advisory else ""
    return line(f"{said.answer}{votes}{advisory}. {said.evidence}")


def ask(asked: Asked, view: View) -> JudgeAnswer:
    """The judge's answer about this view; `broken` says why there is none. Never raises."""
    if view.ask is None:
        return JudgeAnswer(broken=MISSING)
    try:
        said = view.ask(asked, view)
    except Exception as error:  # noqa: BLE001 - a judge is an outside thing; that it broke is data
        return JudgeAnswer(broken=f"the judge broke: {type(error).__name__}: {error}")
    if said.broken:
        return replace(said, broken=f"the judge gave no answer: {said.broken}")
    return said
