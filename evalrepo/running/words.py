"""A judge's words on a stored rep: those that were said stand where exactly the same is asked; for others the judge is
asked, where that is wanted.

The same is asked when the exact prompts are, by the same rubric and the same judge. The word itself is read again out
of the reply that the run kept.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalrepo.checks.view import JudgeAnswer, View, line
from evalrepo.records.judgement import Judgement, Spent, Vote
from evalrepo.records.kinds import Asked, Judge
from evalrepo.running.judging import Court, Hearing, frozen, remembered
from evalrepo.running.kept import JUDGE
from evalrepo.scoring.judge.answer import Unusable, Word, parse
from evalrepo.scoring.judge.prompt import Asking, prompt
from evalrepo.scoring.judge.voting import Tally

if TYPE_CHECKING:
    from evalrepo.records.rubric import Rubric
    from evalrepo.running.kept import Kept
    from evalrepo.store.cache import Cache

UNASKED = "a judge decides it, and said nothing by today's rubric"
INTERRUPTED = "interrupted before the judge was asked"
SPENT = "the judge was not asked: --max-cost is spent"
UNPRICED = "the judge was not asked: it does not say what it costs, so --max-cost cannot be kept"
ASKED_FOR = (UNASKED, INTERRUPTED, SPENT, UNPRICED)
"""Reasons for which the judge was not asked, and would be another time."""
ASK = "--judge"
"""The option of `rescore` that puts questions to the judge."""


@dataclass(frozen=True)
class Words:
    """What judges said of one rep, the newest first. `text`: a file that was kept of the rep's judging, by its path
    below the rep's folder; None when it is not at hand."""

    judged: tuple[Judgement, ...] = ()
    text: Callable[[str], bytes | None] = lambda path: None  # noqa: ARG005

    def said(self, asking: Asking, votes: int, rubric: Rubric, judge: tuple[str, str]) -> Tally | None:
        """The answer to these very prompts by this rubric; None when there is none. `judge`: kind and name."""
        alike = [j for j in self.judged if j.answer and (j.kind, j.judge, j.rubric_sha256) == (*judge, rubric.sha256)]
        if not alike:
            return None
        prompts = _prompts(asking, votes)
        found = (self._read(one, asking) for one in alike if [vote.prompt for vote in one.votes] == prompts)
        return next((tally for tally in found if tally is not None), None)

    def _read(self, one: Judgement, asking: Asking) -> Tally | None:
        """The judgement with its votes read again; None when the vote that decides cannot be."""
        texts: dict[str, str] = {}
        read = [self._vote(vote, asking, texts) for vote in one.votes]
        word = next((word for _, word in read if word is not None and word.answer == one.answer), None)
        if word is None:
            return None
        models = tuple(one.model.split(", ")) if one.model else ()
        votes = tuple(vote for vote, _ in read)
        return Tally(one.answer, "", votes, word.evidence, models=models, texts=texts)

    def _vote(self, vote: Vote, asking: Asking, texts: dict[str, str]) -> tuple[Vote, Word | None]:
        for digest in filter(None, (vote.prompt, vote.reply)):
            data = self.text(f"{JUDGE}{digest[:16]}.txt")
            if data is not None:
                texts[digest] = data.decode("utf-8", "replace")
        try:
            word = parse(texts[vote.reply], asking.question.offered, asking.shown)
        except (KeyError, Unusable):
            return vote, None
        if word.answer != vote.answer:
            return vote, None
        return vote.model_copy(update={"reason": line(word.reason), "places": word.places}), word


@dataclass
class Leave:
    """Whether questions without an answer are put to the judge; how many were, and what that cost.

    `asks` False: none is. `pretends`: none is, but all are counted as if they were. `max_usd`: none is begun when so
    much is spent. `paid`: somebody pays for the judge. `unpriced`: questions whose cost was not said. `stopped`: the
    limit that kept a question from being asked. `answered`: what was answered and is in no record yet, so that nothing
    is paid for twice when a rep's other questions are not asked any more. Used by many threads.
    """

    asks: bool = False
    pretends: bool = False
    max_usd: float | None = None
    paid: bool = False
    cancel: threading.Event = field(default_factory=threading.Event)
    asked: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """(judge, RUBRIC/QUESTION) → votes of each time that it was put."""
    usd: float = 0.0
    unpriced: int = 0
    stopped: str = ""
    answered: Cache | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refusal(self) -> str:
        """Why a question may not be put now, "" when it may."""
        if not self.asks:
            return UNASKED
        if self.cancel.is_set():
            return INTERRUPTED
        limit = SPENT if self.max_usd is not None and self.usd >= self.max_usd else ""
        if self.max_usd is not None and self.unpriced and self.paid:
            limit = UNPRICED
        self.stopped = limit or self.stopped
        return limit

    def put(self, judge: str, question: str, votes: int) -> None:
        """A question is put."""
        with self.lock:
            self.asked.setdefault((judge, question), []).append(votes)

    def spent(self, tally: Tally) -> None:
        """It was answered, at this cost."""
        cost = tally.spent.cost_usd
        with self.lock:
            self.usd += cost or 0.0
            self.unpriced += cost is None


class Refused(Exception):  # noqa: N818 - said to a person in these words
    """The judge is not asked, with the reason."""


@dataclass
class Rehearing(Hearing):
    """A stored rep before the judge. `refused`: why questions were not put, by what was asked; `pretended`: questions
    that would be put."""

    kept: Kept = field(kw_only=True)
    words: Words = field(default_factory=Words)
    leave: Leave = field(default_factory=Leave)
    refused: dict[str, str] = field(default_factory=dict)
    pretended: list[str] = field(default_factory=list)
    _memo: dict[str, JudgeAnswer] = field(default_factory=dict)
    _asked: Asked | None = None
    _noted: int = 0

    def __call__(self, asked: Asked, view: View) -> JudgeAnswer:
        """`View.ask`: the same question about the same part of the rep is put once. Raises Refused."""
        key = asked_key(asked, view.scope, view.turn)
        if key in self.refused:
            self._lack(self.refused[key])
        if key not in self._memo:
            self._asked = asked
            self._noted = len(self.kept.lacking)
            try:
                self._memo[key] = super().__call__(asked, view)
            except Refused as why:
                self.refused[key] = str(why)
                self._lack(str(why))
            del self.kept.lacking[self._noted :]
        return self._memo[key]

    def _lack(self, why: str) -> None:
        self.kept.lacking.append(why)
        raise Refused(why)

    def known(self, asking: Asking, votes: int, rubric: Rubric) -> Tally | None:
        """What was said of this rep, or of the same transcript by the same model."""
        judge = self.court.judge
        name = self.court.clean(judge.name(rubric.head.judge.model))
        return self.words.said(asking, votes, rubric, (judge.kind, name)) or super().known(asking, votes, rubric)

    def fresh(self, asking: Asking, votes: int, model: str | None) -> Tally:
        """The judge's own word. Refused when it is not to be asked, or not all of the rep is there to be shown."""
        why = self.leave.refusal() or "".join(self.kept.lacking[self._noted :][:1])
        if why:
            raise Refused(why)
        asked = self._asked
        assert asked is not None
        question = f"{asked.rubric}/{asked.question}"
        key = self._question(asking, votes, model)
        before = remembered(self.leave.answered, key) if not self.leave.pretends else None
        if before is not None:
            return before
        self.leave.put(self.court.clean(self.court.judge.name(model)), question, votes)
        if self.leave.pretends:
            self.pretended.append(question)
            wanted = asked.pass_when[0] if isinstance(asked, Judge) else asking.question.offered[-1]
            return Tally(wanted, "", (Vote(answer=wanted, reason="as if it were asked", prompt=""),))
        tally = super().fresh(asking, votes, model)
        self.leave.spent(tally)
        if tally.answer and self.leave.answered is not None:
            self.leave.answered.put({key: frozen(tally)})
        return tally

    def _question(self, asking: Asking, votes: int, model: str | None) -> str:
        """SHA-256 of the exact prompts, who is asked how, and the transcript."""
        judge = self.court.judge
        parts = (*_prompts(asking, votes), judge.kind, judge.name(model), self.court.setting, self.transcript)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _prompts(asking: Asking, votes: int) -> list[str]:
    """SHA-256 of what is read for each vote."""
    return [hashlib.sha256(prompt(asking, n).encode()).hexdigest() for n in range(1, votes + 1)]


def asked_key(asked: Asked, scope: str, turn: int | None) -> str:
    """What is asked of which part of a rep, and whether it only resolves another check."""
    resolves = asked.resolves if isinstance(asked, Judge) else None
    return repr((asked.rubric, asked.question, asked.votes, asked.reference, resolves, scope, turn))


Hear = Callable[[str, Words, "Kept"], Rehearing]
"""The hearing of one rep: SHA-256 of its transcript, what was said of it, what was kept of its sandbox."""


def hears(court: Court, leave: Leave) -> Hear:
    """Hearings by one judge."""

    def hear(transcript: str, words: Words, kept: Kept) -> Rehearing:
        return Rehearing(court, transcript, words=words, leave=leave, kept=kept)

    return hear


def stands(judged: Sequence[Judgement], asked: Asked, scope: str, turn: int | None) -> list[Judgement]:
    """The judgements on one question about one part of a rep, as a later record has them: they cost nothing there."""
    wanted = (asked.rubric, asked.question, scope, turn)
    found = [one for one in judged if (one.rubric, one.question, one.scope, one.turn) == wanted]
    return [one.model_copy(update={"spent": Spent(), "cached": True}) for one in found]
