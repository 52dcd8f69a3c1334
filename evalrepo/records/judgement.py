"""What is recorded of a judge: each question that was put to one, each vote, what was sent, and what it cost."""

from __future__ import annotations

from typing import ClassVar, Literal

from evalrepo.records.strict import Sparing, Strict


class Vote(Sparing):
    """One vote, the retries that it took included.

    `answer` "" : none of its `tries` gave a usable answer; `broken` says why the last one did not. `places`: what of
    the rep it names, each checked to be there. `prompt` and `reply`: SHA-256 of the exact texts, which the run's ref
    keeps as `judge/PROMPT.txt` and `judge/REPLY.txt` in the rep's folder (first 16 characters; redacted alike).
    """

    rare: ClassVar[tuple[str, ...]] = ("broken", "places")

    answer: str = ""
    reason: str = ""
    places: tuple[str, ...] = ()
    broken: str = ""
    tries: int = 1
    prompt: str
    reply: str = ""


class Spent(Strict):
    """What a judge used for all votes and tries; None is unknown. Never part of the rep's own usage."""

    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0


class Judgement(Sparing):
    """One question of a rubric about one rep.

    `scope` and `turn`: the part of the rep. `kind`: what was asked; `judge`: its name (argv, requested model, agent and
    tier); `model`: the model that answered, "" when it did not say; `override`: the environment variable that named the
    judge, "" when the config did. `answer` "" : there is none, and `broken` says why. `cached`: read from what was
    answered before to the very same question about the same transcript. `uncalibrated`: why people's labels do not
    bear the judge out, where its word counts all the same because the rubric lets it; `advisory`: why, where its word
    is only shown.
    """

    rare: ClassVar[tuple[str, ...]] = ("override", "broken", "cached", "turn", "uncalibrated", "advisory")

    rubric: str
    rubric_sha256: str
    question: str
    scope: Literal["main", "all"] = "main"
    turn: int | None = None
    kind: Literal["command", "api", "agent"]
    judge: str
    model: str = ""
    override: str = ""
    answer: str = ""
    broken: str = ""
    votes: tuple[Vote, ...] = ()
    spent: Spent = Spent()
    cached: bool = False
    uncalibrated: str = ""
    advisory: str = ""

    def bare(self) -> Judgement:
        """Without a word about the rep: what a reserve's record shows."""
        votes = tuple(
            v.model_copy(update={"reason": "", "places": (), "broken": "" if v.answer else "no answer"})
            for v in self.votes
        )
        return self.model_copy(update={"votes": votes, "broken": "no answer" if self.broken else ""})

    @property
    def split(self) -> bool:
        """Whether the votes were not all alike."""
        return len({vote.answer for vote in self.votes}) > 1
