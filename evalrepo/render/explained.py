"""One rep of a record explained: check by check what each rests on, axis by axis, and how the verdict follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalrepo.records.unset import UNSET
from evalrepo.render.findings import counted
from evalrepo.render.json import plain, to_json
from evalrepo.render.record import RUNS, git_show
from evalrepo.render.resting import CheckSheet, RestsOn, asks_lines, check_lines, evidence_lines
from evalrepo.render.safe import wrapped
from evalrepo.render.text import Style

_ROLES = {"PASS": "pass", "FAIL": "block"}


@dataclass(frozen=True, slots=True)
class VoteSheet:
    """One vote: its answer ("": none, and `broken` says why), the reason, what of the rep it names; where the exact
    prompt and reply are kept beside the transcript."""

    answer: str
    reason: str
    broken: str
    tries: int
    places: tuple[str, ...]
    prompt: str
    reply: str


@dataclass(frozen=True, slots=True)
class JudgeSheet:
    """A question that was put to a judge about this rep. `asks`: its words, "" where the rubric is not at hand."""

    rubric: str
    question: str
    asks: str
    by: str
    answer: str
    broken: str
    split: bool
    told: str
    votes: tuple[VoteSheet, ...]


@dataclass(frozen=True, slots=True)
class AxisSheet:
    """An axis: its outcome, whether it decides, which checks make it so; its checks, with the ids of the questions that
    were put to a judge for each."""

    name: str
    outcome: str
    gating: bool
    by: tuple[str, ...]
    checks: tuple[CheckSheet, ...]


@dataclass(frozen=True, slots=True)
class RungSheet:
    """A rung of a metric's ladder: the checks that it wants, with their outcomes."""

    score: int
    wants: tuple[tuple[str, str], ...]
    reached: bool


@dataclass(frozen=True, slots=True)
class RatingSheet:
    """What a person gave."""

    by: str
    score: int
    evidence: str


@dataclass(frozen=True, slots=True)
class MetricSheet:
    """A metric's score, None while it is unset, and where it is from."""

    name: str
    score: int | None
    source: str
    evidence: str
    asks: str = ""
    rungs: tuple[RungSheet, ...] = ()
    ratings: tuple[RatingSheet, ...] = ()
    rests: tuple[RestsOn, ...] = ()


@dataclass(frozen=True, slots=True)
class BeforeSheet:
    """A precondition or a validity check, its words, and whether it holds; None where nobody came to it."""

    id: str
    kind: str
    asks: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One that was tried again."""

    attempt: int
    verdict: str
    message: str


@dataclass(frozen=True, slots=True)
class Explained:
    """One rep.

    `chosen`: why this rep, when nobody named one; `later`: the run whose record supersedes this one; `origin`: of which
    record it was made, and why. `why`: how the verdict follows; not `sound`: it does not. `words`: where the words of
    the checks are from, or why there are none. `judged`: pairs of `check ID`, `metric NAME` or "" (not known) and a
    question put to a judge for it. `place`: the transcript, as git names it; `files`: what is kept beside it, and
    `asked_later` in the reference of this very run, where another one executed the rep; `lacking` and `bring`: why rows
    are not shown, and the command that changes that.
    """

    scenario: str
    agent: str
    tier: str
    run: str
    path: str
    title: str
    rep: int
    reps: int
    chosen: str
    verdict: str
    message: str
    later: str
    origin: str
    why: str
    sound: bool
    sealed: bool
    words: str
    before: tuple[BeforeSheet, ...] = ()
    axes: tuple[AxisSheet, ...] = ()
    metrics: tuple[MetricSheet, ...] = ()
    judged: tuple[tuple[str, JudgeSheet], ...] = ()
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    place: str = ""
    redactions: int = 0
    files: tuple[str, ...] = ()
    asked_later: tuple[str, ...] = ()
    lacking: str = ""
    bring: str = ""

    def questions(self, of: str) -> list[JudgeSheet]:
        """Those put to a judge for this check or metric."""
        return [sheet for name, sheet in self.judged if name == of]


def explained_json(found: Explained) -> str:
    """`{"schema": 1, "explained": …}` with the fields above; `judged` is a list of `{"of": …, …}`."""
    data = plain(found)
    data["judged"] = [{"of": of, **plain(sheet)} for of, sheet in found.judged]
    return to_json({"schema": 1, "explained": data})


def explained_text(found: Explained, style: Style) -> str:
    """All of it, for a terminal of 80 columns."""
    blocks = [
        list(_head(found, style)),
        list(_before(found, style)),
        *(list(_axis(found, axis, style)) for axis in found.axes),
        list(_metrics(found, style)),
        list(_others(found, style)),
        list(_verdict(found, style)),
        list(_where(found)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _head(found: Explained, style: Style) -> Iterator[str]:
    name = f"{found.scenario} · {found.agent}/{found.tier} · run {found.run} · rep {found.rep} of {found.reps}"
    for line in wrapped(f"{name}: {found.verdict}", then="  "):
        yield style(line, "heading")
    yield from wrapped(found.title, then="  ")
    yield from wrapped(found.path, first="file  ", cut=False)
    for text in (found.chosen, found.origin, found.words):
        if text:
            yield from wrapped(text, then="  ")
    if found.later:
        yield from wrapped(f"superseded by run {found.later}, which counts instead", then="  ")
    yield from _lacking(found)
    for one in found.attempts:
        said = f": {one.message}" if one.message else ""
        yield from wrapped(f"attempt {one.attempt}: {one.verdict}, tried again{said}", then="  ")


def _lacking(found: Explained) -> Iterator[str]:
    """Why no rows are shown, and what would bring them."""
    if found.lacking:
        shows = "no evidence is shown" if found.sealed else "what follows is what the record itself holds"
        yield from wrapped(f"{found.lacking}: {shows}", then="  ")
    if found.bring:
        yield from wrapped(found.bring, first="  → ", then="    ", cut=False)


def _before(found: Explained, style: Style) -> Iterator[str]:
    if found.before:
        yield style("before the checks", "heading")
    for one in found.before:
        holds = UNSET if one.holds is None else "holds" if one.holds else "does not hold"
        yield from wrapped(f"{one.kind} {one.id}: {holds}", first="  ", then="    ")
        yield from asks_lines(one.asks)


def _axis(found: Explained, axis: AxisSheet, style: Style) -> Iterator[str]:
    decides = "" if axis.gating else ", decides nothing: none of its checks is gating"
    yield style("\n".join(wrapped(f"axis {axis.name}: {axis.outcome}{decides}", then="  ")), "heading")
    for check in axis.checks:
        yield from check_lines(check, axis=False)
        for sheet in found.questions(f"check {check.id}"):
            yield from _judge(sheet)


def _metrics(found: Explained, style: Style) -> Iterator[str]:
    if not found.metrics:
        return
    yield style("metrics", "heading")
    for metric in found.metrics:
        score = UNSET if metric.score is None else f"{metric.score} of 3"
        yield from wrapped(f"{metric.name}: {score} ({metric.source})", first="  ", then="    ")
        if metric.asks:
            yield from asks_lines(metric.asks)
        for rung in metric.rungs:
            yield from _rung(rung)
        for rating in metric.ratings:
            yield from wrapped(f"{rating.by} {rating.score}: {rating.evidence}", first="    ", then="      ")
        if metric.evidence and not metric.ratings:
            yield from wrapped(metric.evidence, first="    ", then="      ")
        yield from evidence_lines(metric.rests)
        for sheet in found.questions(f"metric {metric.name}"):
            yield from _judge(sheet)


def _rung(rung: RungSheet) -> Iterator[str]:
    wants = ", ".join(f"{name} ({outcome})" for name, outcome in rung.wants)
    text = f"{rung.score} if {wants}" if wants else f"{rung.score} otherwise"
    yield from wrapped(f"{text}{' ← this one' if rung.reached else ''}", first="    ", then="      ")


def _judge(sheet: JudgeSheet) -> Iterator[str]:
    asks = f" “{sheet.asks}”" if sheet.asks else ""
    answer = sheet.answer or f"no answer, {sheet.broken}"
    head = f"judge {sheet.rubric}/{sheet.question}{asks}: {answer} · {sheet.by}; {sheet.told}"
    yield from wrapped(head, first="    ", then="      ")
    if sheet.split:
        yield "      split votes: the judge does not agree with itself"
    for number, vote in enumerate(sheet.votes, 1):
        yield from wrapped(f"vote {number}: {_vote(vote)}", first="      ", then="        ")


def _vote(vote: VoteSheet) -> str:
    tried = f" (try {vote.tries})" if vote.tries > 1 else ""
    places = f" [{', '.join(vote.places)}]" if vote.places else ""
    why = f". {vote.reason}" if vote.reason else ""
    said = f"{vote.answer}{tried}{why}" if vote.answer else f"none{tried}: {vote.broken}"
    kept = f" · {', '.join(filter(None, (vote.prompt, vote.reply)))}" if vote.prompt else ""
    return f"{said}{places}{kept}"


def _others(found: Explained, style: Style) -> Iterator[str]:
    sheets = found.questions("")
    if sheets:
        yield style("put to a judge", "heading")
    for sheet in sheets:
        yield from _judge(sheet)


def _verdict(found: Explained, style: Style) -> Iterator[str]:
    role = _ROLES.get(found.verdict, "inconclusive")
    yield style(f"verdict: {found.verdict}", role)
    yield from wrapped(found.why, first="  ", then="  ")
    if not found.sound:
        yield from wrapped("such a record was not made by a run: evalrepo verify --records", first="  ", then="  ")
    told = [f"axis {axis.name} {axis.outcome}" for axis in found.axes if axis.gating]
    if told:
        yield from wrapped(", ".join(told), first="  ", then="  ")
    for note in found.notes:
        yield from wrapped(note, first="  ", then="    ")


def _where(found: Explained) -> Iterator[str]:
    if found.redactions and not found.lacking:
        yield from wrapped(f"{counted(found.redactions, 'secret')} of it redacted before it was kept", then="  ")
    if found.files:
        yield from wrapped(f"kept beside the transcript: {_some(found.files)}", then="  ")
    if found.asked_later:
        yield from wrapped(f"kept in {RUNS}{found.run}: {_some(found.asked_later)}", then="  ")
    if found.place:
        yield from git_show(found.place)


def _some(files: Sequence[str], most: int = 8) -> str:
    more = f" and {len(files) - most} more" if len(files) > most else ""
    return ", ".join(files[:most]) + more
