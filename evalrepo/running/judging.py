"""The judge of a run: whom the config or the environment names, and one rep's questions to it with all that is kept.

What was answered before to the very same question about the same transcript is not asked again: the key is the SHA-256
of the exact prompts, the rubric, the model that answered and the transcript. A judge that does not say which model
answered is always asked, and so is every judge until it has said so once in this run.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evalrepo.checks.view import JudgeAnswer, View
from evalrepo.errors import UsageError
from evalrepo.records.calibration import Rule
from evalrepo.records.config import PROVIDERS, CalibrationRule, JudgeConfig
from evalrepo.records.judgement import Judgement, Spent, Vote
from evalrepo.records.record import Evidence
from evalrepo.scoring.judge import standing
from evalrepo.scoring.judge.api import ApiJudge, require
from evalrepo.scoring.judge.command import CommandJudge
from evalrepo.scoring.judge.prompt import Asking, prompt
from evalrepo.scoring.judge.shown import shown
from evalrepo.scoring.judge.voting import Judge, Tally, take

if TYPE_CHECKING:
    from evalrepo.formats.redaction import Redactor
    from evalrepo.records.kinds import Asked
    from evalrepo.records.rubric import Rubric
    from evalrepo.running.bench import Bench
    from evalrepo.store.cache import Cache

OVERRIDE = "EVALREPO_JUDGE_CMD"
"""A command that stands in for the configured judge; what it says is recorded as its."""
VERSION = 2
"""Of what is remembered: another version asks again."""


def overridden(config: JudgeConfig, environ: Mapping[str, str]) -> JudgeConfig:
    """The judge of the config, or the command that the environment names in its stead. UsageError for a broken one."""
    said = environ.get(OVERRIDE, "").strip()
    if not said:
        return config
    try:
        argv = tuple(shlex.split(said))
    except ValueError as error:
        raise UsageError(f"{OVERRIDE} is no command line: {error}", hint=f"{OVERRIDE}='python judge.py'") from None
    return JudgeConfig(command=argv, env=config.env, timeout_s=config.timeout_s, calibration=config.calibration)


def how_asked(config: JudgeConfig) -> JudgeConfig:
    """The part of it that decides what is answered: not who pays, how long it is waited for, or what makes it count."""
    return config.model_copy(update={"paid": None, "timeout_s": 120.0, "calibration": CalibrationRule()})


def passed(config: JudgeConfig) -> tuple[str, ...]:
    """Variables that the judge is given and whose values are never stored."""
    provider = (config.model or "").partition(":")[0]
    own = (PROVIDERS[provider],) if provider in PROVIDERS and not config.command else ()
    return (*config.env, *own)


def ready(config: JudgeConfig, environ: Mapping[str, str]) -> None:
    """HarnessError when the judge's package or key is missing, or its model is none that can be asked by API."""
    if config.model and not config.command:
        require(config.model, environ)


def judge_of(bench: Bench, top: Path) -> Judge | None:
    """The judge that the config names, None when it names none; a command runs in the directory `top`.

    UsageError for an agent or a tier that is not there.
    """
    own, environ = bench.config.judge, bench.world.environ
    if own.command:
        env = {name: environ[name] for name in ("PATH", "HOME", *own.env) if name in environ}
        return CommandJudge(own.command, top, env, own.timeout_s, own.model)
    if own.agent:
        from evalrepo.running.judge_agent import agent_judge

        return agent_judge(bench)
    if own.model:
        env = {name: environ[name] for name in passed(own) if name in environ}
        return ApiJudge(own.model, env, own.base_url, own.timeout_s, own.settings)
    return None


@dataclass(frozen=True)
class Court:
    """Common to all reps of a run. `override`: the variable that named the judge; `heard`: requested → answering model.

    `setting`: digest of how it is asked beyond its name; `standings` are by who answered, `asked` by whom was asked.
    `clean` takes secrets out of what is shown. Used by many threads.
    """

    judge: Judge
    rubrics: Mapping[str, Rubric]
    redactor: Redactor
    cache: Cache | None = None
    override: str = ""
    standings: standing.Standing = field(default_factory=dict)
    rule: Rule = field(default_factory=Rule)
    setting: str = ""
    asked: standing.Standing = field(default_factory=dict)
    heard: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def clean(self, text: str) -> str:
        """The text without secrets."""
        return self.redactor.redact(text.encode("utf-8", "replace"))[0].decode("utf-8", "replace")


@dataclass
class Hearing:
    """One rep before the judge. `transcript`: SHA-256 of its log; `judged` and `files`: what was asked and said."""

    court: Court
    transcript: str
    judged: list[Judgement] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def __call__(self, asked: Asked, view: View) -> JudgeAnswer:
        """`View.ask`."""
        rubric = self.court.rubrics.get(asked.rubric)
        question = rubric.head.asked.get(asked.question) if rubric is not None else None
        if rubric is None or question is None:
            return JudgeAnswer(broken=f"there is no question {asked.question} in the rubric {asked.rubric}")
        if question.reference and not (asked.reference or "").strip():
            return JudgeAnswer(broken=f"the question {asked.question} needs a reference, and there is none")
        reference = asked.reference or "" if question.reference else ""
        asking = Asking(rubric.body, question, shown(view, question.show, self.court.clean), reference)
        votes, model = rubric.head.votes(asked.votes), rubric.head.judge.model
        tally, cached = self._tally(asking, votes, rubric, model)
        why = self._lacking(asked, rubric, tally)
        lenient = standing.lenient(asked, rubric)
        one = self._judgement(asked, view, rubric, tally)
        self._keep(tally, one.model_copy(update={"cached": cached, "uncalibrated" if lenient else "advisory": why}))
        return self._answer(tally, "" if lenient else why)

    def _tally(self, asking: Asking, votes: int, rubric: Rubric, model: str | None) -> tuple[Tally, bool]:
        known = self.known(asking, votes, rubric)
        if known is not None:
            return known, True
        tally = self.fresh(asking, votes, model)
        court, name = self.court, self.court.judge.name(model)
        if len(tally.models) == 1:
            with court.lock:
                court.heard[name] = tally.models[0]
            if tally.answer and court.cache is not None:
                court.cache.put({self._key(asking, votes, rubric, name, tally.models[0]): frozen(tally)})
        return tally, False

    def known(self, asking: Asking, votes: int, rubric: Rubric) -> Tally | None:
        """What was answered before, None when it has to be asked."""
        name = self.court.judge.name(rubric.head.judge.model)
        heard = self.court.heard.get(name, "")
        found = remembered(self.court.cache, self._key(asking, votes, rubric, name, heard))
        return replace(found, spent=Spent()) if found is not None else None

    def fresh(self, asking: Asking, votes: int, model: str | None) -> Tally:
        """The judge's own word."""
        return take(self.court.judge, asking, votes, model)

    def _key(self, asking: Asking, votes: int, rubric: Rubric, name: str, model: str) -> str:
        """ "" where no model is known to answer."""
        if not model:
            return ""
        prompts = [hashlib.sha256(prompt(asking, n).encode()).hexdigest() for n in range(1, votes + 1)]
        parts = (*prompts, rubric.sha256, self.court.judge.kind, name, self.court.setting, model, self.transcript)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _lacking(self, asked: Asked, rubric: Rubric, tally: Tally) -> str:
        """Why people's labels do not bear out who answered."""
        court = self.court
        name = court.clean(court.judge.name(rubric.head.judge.model))
        if not tally.answer and not tally.models:
            return standing.lacking(asked, name, court.asked, court.rule)
        return standing.lacking(asked, identity(name, ", ".join(tally.models)), court.standings, court.rule)

    def _judgement(self, asked: Asked, view: View, rubric: Rubric, tally: Tally) -> Judgement:
        judge = self.court.judge
        return Judgement(
            rubric=asked.rubric,
            rubric_sha256=rubric.sha256,
            question=asked.question,
            scope=view.scope,
            turn=view.turn,
            kind=judge.kind,
            judge=self.court.clean(judge.name(rubric.head.judge.model)),
            model=", ".join(tally.models),
            override=self.court.override,
            answer=tally.answer,
            broken=self.court.clean(tally.broken),
            votes=tuple(map(self._cleaned, tally.votes)),
            spent=tally.spent,
        )

    def _keep(self, tally: Tally, judgement: Judgement) -> None:
        self.judged.append(judgement)
        for digest, text in tally.texts.items():
            self.files[f"judge/{digest[:16]}.txt"] = self.court.clean(text).encode()

    def _cleaned(self, vote: Vote) -> Vote:
        clean = self.court.clean
        return vote.model_copy(update={"reason": clean(vote.reason), "broken": clean(vote.broken)})

    def _answer(self, tally: Tally, advisory: str) -> JudgeAnswer:
        votes = tuple(vote.answer for vote in tally.votes)
        clean = self.court.clean
        return JudgeAnswer(tally.answer, clean(tally.reason), votes, clean(tally.broken), tally.evidence, advisory)


def identity(name: str, model: str) -> str:
    """Who judged, as labels and votes name it: the model that answered, or the judge's name where it does not say."""
    return model or name


def frozen(tally: Tally) -> str:
    """What `remembered` reads."""
    return json.dumps(
        {
            "answer": tally.answer,
            "votes": [vote.model_dump(mode="json") for vote in tally.votes],
            "evidence": [evidence.model_dump(mode="json") for evidence in tally.evidence],
            "models": list(tally.models),
            "texts": tally.texts,
            "spent": tally.spent.model_dump(mode="json"),
        }
    )


def remembered(cache: Cache | None, key: str) -> Tally | None:
    """What was answered before. What cannot be read is asked again."""
    body = cache.get([key]).get(key) if cache is not None and key else None
    if body is None:
        return None
    try:
        data = json.loads(body)
        votes = tuple(Vote.model_validate_json(json.dumps(vote)) for vote in data["votes"])
        evidence = tuple(Evidence.model_validate_json(json.dumps(one)) for one in data["evidence"])
        spent = Spent.model_validate(data["spent"])
        return Tally(data["answer"], "", votes, evidence, spent, tuple(data["models"]), data["texts"])
    except (ValueError, KeyError, TypeError, ValidationError):
        return None
