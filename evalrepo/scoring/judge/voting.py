"""Votes: each is asked for within a bound, all are kept, and more than half of all that were wanted decide."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from evalrepo.checks.view import line
from evalrepo.records.judgement import Spent, Vote
from evalrepo.records.record import Evidence
from evalrepo.scoring.judge.answer import Unusable, Word, parse
from evalrepo.scoring.judge.prompt import Asking, prompt

TRIES = 2
"""How often one vote is asked for until it is an answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the raw text, the model that answered ("" when it was not said), and what it used."""

    text: str
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class NoReply(Exception):  # noqa: N818 - said to a person in these words
    """There was no reply, with the reason; `reply` is what there was of one."""

    def __init__(self, why: str, reply: Reply | None = None) -> None:
        super().__init__(why)
        self.reply = reply


class Judge(Protocol):
    """Anybody who answers a prompt. `kind` and `name` are recorded; `NoReply` when there is no answer to be had."""

    @property
    def kind(self) -> Literal["command", "api", "agent"]:
        """What is asked."""

    def name(self, model: str | None) -> str:
        """Who is asked: argv, requested model, agent and tier. `model`: the rubric's wish."""

    def __call__(self, prompt: str, model: str | None) -> Reply:
        """One reply."""


@dataclass(frozen=True)
class Tally:
    """All votes on one question. `texts`: the exact prompts and replies by SHA-256; `models`: those that answered."""

    answer: str
    broken: str
    votes: tuple[Vote, ...]
    evidence: tuple[Evidence, ...] = ()
    spent: Spent = field(default_factory=Spent)
    models: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why, in the words of the first vote for the answer."""
        return next((v.reason for v in self.votes if self.answer and v.answer == self.answer), "")


@dataclass
class _Book:
    """What one question came to so far."""

    texts: dict[str, str] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)
    calls: int = 0

    def keep(self, text: str) -> str:
        plain = text.encode("utf-8", "replace").decode()
        digest = hashlib.sha256(plain.encode()).hexdigest()
        self.texts[digest] = plain
        return digest


def take(judge: Judge, asking: Asking, votes: int, model: str | None = None) -> Tally:
    """Ask for so many votes. Never raises for what a judge does."""
    book, began = _Book(), time.monotonic()
    found = [_vote(judge, asking, number, model, book) for number in range(1, votes + 1)]
    tally = counted([vote for vote, _ in found], [word for _, word in found])
    spent = _spent(book, time.monotonic() - began)
    models = tuple(dict.fromkeys(line(r.model) for r in book.replies if r.model))
    return replace(tally, spent=spent, models=models, texts=book.texts)


def counted(votes: Sequence[Vote], words: Sequence[Word | None]) -> Tally:
    """The answer of more than half of all votes, broken ones counted against it; or why there is none."""
    said = Counter(vote.answer for vote in votes if vote.answer)
    answer, count = said.most_common(1)[0] if said else ("", 0)
    if 2 * count > len(votes):
        evidence = next(word.evidence for word in words if word is not None and word.answer == answer)
        return Tally(answer, "", tuple(votes), evidence)
    why = next((vote.broken for vote in votes if vote.broken), "")
    listed = ", ".join(vote.answer or "none" for vote in votes)
    split = f"no majority among the votes {listed}" if len(votes) > 1 and said else ""
    return Tally("", "; ".join(filter(None, (split, why))), tuple(votes))


def _vote(judge: Judge, asking: Asking, number: int, model: str | None, book: _Book) -> tuple[Vote, Word | None]:
    text = prompt(asking, number)
    asked, raw, why = book.keep(text), "", ""
    for attempt in range(1, TRIES + 1):
        raw = ""
        try:
            reply = _reply(judge, text, model, book)
            raw = book.keep(reply.text)
            word = parse(reply.text, asking.question.offered, asking.shown)
        except Unusable as unusable:
            why = line(str(unusable))
            continue
        except NoReply as none:
            why, raw = line(str(none)), book.keep(none.reply.text) if none.reply else ""
            continue
        vote = Vote(
            answer=word.answer, reason=line(word.reason), places=word.places, tries=attempt, prompt=asked, reply=raw
        )
        return vote, word
    return Vote(broken=why, tries=TRIES, prompt=asked, reply=raw), None


def _reply(judge: Judge, text: str, model: str | None, book: _Book) -> Reply:
    """What every call used is counted, also of one whose reply is no answer."""
    book.calls += 1
    try:
        reply = judge(text, model)
    except NoReply as none:
        book.replies += [none.reply] if none.reply else []
        raise
    except Exception as error:
        raise NoReply(f"the judge broke: {type(error).__name__}: {error}") from error
    book.replies.append(reply)
    return reply


def _spent(book: _Book, seconds: float) -> Spent:
    """Sums; one call that did not say what it used makes the sum unknown."""

    def total(of: Callable[[Reply], float | None]) -> float | None:
        values = [of(reply) for reply in book.replies]
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) == book.calls else None

    tokens = [total(lambda r: r.input_tokens), total(lambda r: r.output_tokens)]
    return Spent(
        calls=book.calls,
        input_tokens=None if tokens[0] is None else int(tokens[0]),
        output_tokens=None if tokens[1] is None else int(tokens[1]),
        cost_usd=None if (cost := total(lambda r: r.cost_usd)) is None else float(cost),
        seconds=round(seconds, 3),
    )
