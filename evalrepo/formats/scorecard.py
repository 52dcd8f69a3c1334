"""Score cards: the text in which people score a rep, one a rep, written and read.

    Scenario: S1
    Run: 8kq2v7xa
    Cell: opencode/small
    Rep: 1
    By: Ann
    Status: COMPLETE
    M1 success: 2   evidence: the README says so (work/README.md line 12)
    M2 unnecessary work: –   evidence:
    Agents dispatched: none
    Tool calls approx: 4
    Notes / weaknesses observed:
    Free text, to the next card or the end of the block.

A card may stand among other text (markdown, a fence). `Run`, `Cell` and `Rep` are missing where somebody scored by hand
what no record holds. A score that is `–`, `0-3` or nothing is not given: unset, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from evalrepo.errors import Finding, Place
from evalrepo.records.unset import UNSET, score_word

BY_HAND = re.compile(r"\d{4}-\d\d-\d\d_scenario-[^_/]+\.md")
"""Names of results that people write."""

STATUSES = ("COMPLETE", "PARTIAL", "BLOCKED")

_SCENARIO = re.compile(r"Scenario:\s*([A-Za-z0-9][\w./~-]*)\s*$")
_FIELD = re.compile(r"(Run|Cell|Rep|By|Status|Agents dispatched|Tool calls approx)\s*:\s*(.*)$")
_SCORE = re.compile(r"([A-Z]\d{1,2}|[a-z][\w-]*)(?: ([^:]*))?:\s*(.*?)\s*(?:\bevidence:\s*(.*))?$")
_NOTES = re.compile(r"Notes\b[^:]*:\s*(.*)$")
_ASTRAY = re.compile(r"(?i:scenario:\s*\S+\s*$|run:\s*\S+\s*$|[A-Z]\d{1,2}\b[^:]*:\s*[0-3]\s+evidence:)")
_NOT_A_NOTE = "a card begins with `Scenario: ID`, notes end it; indent what is meant as a note"
_END = re.compile(r"\s*(```|~~~|#)")
_NOT_GIVEN = frozenset({"", UNSET, "-", "—", "0-3"})


@dataclass(frozen=True, slots=True)
class Mark:
    """One metric on a card: 0 to 3, None when it is not given; what it rests on; the card's line that says so.

    `given`: what another source scored already, in words. Written for people, not read back.
    """

    score: int | None
    evidence: str = ""
    line: int = 0
    given: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One rep as a person scored it. `cell` is AGENT/TIER; `rep` counts from 1, 0 when the card names none.

    `line` is its first, from 1.
    """

    scenario: str
    run: str = ""
    cell: str = ""
    rep: int = 0
    by: str = ""
    status: str | None = None
    marks: Mapping[str, Mark] = field(default_factory=dict)
    agents: str = ""
    calls: str = ""
    notes: str = ""
    line: int = 0

    @property
    def filled(self) -> bool:
        """Whether somebody scored anything on it."""
        return any(mark.score is not None for mark in self.marks.values())


def day_of(path: str) -> str | None:
    """The day (YYYY-MM-DD) in the name of a result that a person wrote; None when there is no such day."""
    text = path.rpartition("/")[2][:10]
    try:
        return text if date.fromisoformat(text).isoformat() == text else None
    except ValueError:
        return None


def dump(cards: Iterable[Card], titles: Mapping[str, str]) -> str:
    """Cards as text, one blank line between two. `titles`: metric → its name for people."""
    return "\n".join(_dumped(card, titles) for card in cards)


def _dumped(card: Card, titles: Mapping[str, str]) -> str:
    heads = {"Scenario": card.scenario, "Run": card.run, "Cell": card.cell, "Rep": str(card.rep or ""), "By": card.by}
    lines = [f"{name}: {text}" for name, text in heads.items() if text]
    lines.append(f"Status: {card.status or ' | '.join(STATUSES)}")
    names = {
        metric: f"{'# ' * bool(mark.given)}{metric} {titles.get(metric, '').replace(':', ' ')}".strip() + ":"
        for metric, mark in card.marks.items()
    }
    wide = max(map(len, names.values()), default=0)
    for metric, mark in card.marks.items():
        score = "0-3" if mark.score is None and not card.by else score_word(mark.score)
        said = mark.given or f"{score}   evidence: {_one_line(mark.evidence)}".rstrip()
        lines.append(f"{names[metric]:{wide}} {said}")
    lines += [f"Agents dispatched: {card.agents}".rstrip(), f"Tool calls approx: {card.calls}".rstrip()]
    return "\n".join([*lines, "Notes / weaknesses observed:", *card.notes.splitlines()]) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def parse(text: str, file: str) -> tuple[list[Card], list[Finding]]:
    """Every card of the text, and what cannot be read on them: SCO001 no score, SCO002 a score without evidence, SCO003
    a line that means nothing on a card, SCO004 said twice."""
    lines = text.splitlines()
    findings: list[Finding] = []
    return [_card(lines, start, end, file, findings) for start, end in spans(lines)], findings


def spans(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """From each `Scenario:` line to the next one, or the fence or heading that ends the block; places from 0."""
    starts = [n for n, line in enumerate(lines) if _SCENARIO.match(line.strip())]
    for at, start in enumerate(starts):
        last = starts[at + 1] if at + 1 < len(starts) else len(lines)
        end = next((n for n in range(start + 1, last) if _ends(lines[n])), last)
        yield start, end


def _ends(line: str) -> bool:
    """A fence or a heading; a line that we wrote of another source's score begins with `# ` and a metric."""
    return bool(_END.match(line)) and not re.match(r"# (?:[A-Z]\d{1,2}|[a-z][\w-]*)\b.*:", line)


def _card(lines: Sequence[str], start: int, end: int, file: str, findings: list[Finding]) -> Card:
    found = _SCENARIO.match(lines[start].strip())
    assert found is not None
    heads: dict[str, tuple[str, Place]] = {}
    marks: dict[str, Mark] = {}
    notes: list[str] | None = None
    open_: str | None = None
    for number in range(start + 1, end):
        line = lines[number].strip()
        place = Place(file, number + 1, 1)
        if notes is not None:
            if _ASTRAY.match(lines[number]):
                findings.append(Finding(place, "SCO003", f"stands among the notes: {line[:60]}", _NOT_A_NOTE))
            notes.append(lines[number].rstrip())
        elif match := _NOTES.match(line):
            notes = [match[1]] if match[1] else []
        elif match := _FIELD.match(line):
            open_ = None
            _put(heads, match[1], match[2], place, findings)
        elif match := _SCORE.match(line):
            open_ = _mark(marks, match, place, findings)
        elif open_ and line and lines[number][:1] in " \t":
            marks[open_] = Mark(marks[open_].score, f"{marks[open_].evidence} {line}".strip(), marks[open_].line)
        elif line and not line.startswith("#"):
            findings.append(_unknown(place, line))
    findings += _unfounded(marks, file)
    return Card(
        scenario=found[1],
        run=_word(heads, "Run"),
        cell=_word(heads, "Cell"),
        rep=_rep(heads, findings),
        by=_word(heads, "By"),
        status=_status(heads, findings),
        marks=marks,
        agents=_word(heads, "Agents dispatched"),
        calls=_word(heads, "Tool calls approx"),
        notes="\n".join(notes or []).strip(),
        line=start + 1,
    )


def _word(heads: Mapping[str, tuple[str, Place]], name: str) -> str:
    return heads[name][0] if name in heads else ""


def _put(heads: dict[str, tuple[str, Place]], name: str, value: str, place: Place, findings: list[Finding]) -> None:
    if name in heads:
        findings.append(Finding(place, "SCO004", f"says {name} a second time on one card", "keep one of the two lines"))
    heads.setdefault(name, (value.strip(), place))


def _mark(marks: dict[str, Mark], match: re.Match[str], place: Place, findings: list[Finding]) -> str | None:
    name, score, evidence = match[1], match[3].strip(), (match[4] or "").strip()
    if name in marks:
        marks[name] = Mark(None, "", place.line)
        findings.append(Finding(place, "SCO004", f"scores {name} a second time on one card", "keep one of the two"))
        return None
    if score not in _NOT_GIVEN and not re.fullmatch("[0-3]", score):
        hint = f"0, 1, 2 or 3, where 3 is good; {UNSET} leaves it unset"
        findings.append(Finding(place, "SCO001", f"{name}: {score[:40]!r} is no score", hint))
        return None
    marks[name] = Mark(None if score in _NOT_GIVEN else int(score), evidence, place.line)
    return name


def _unknown(place: Place, line: str) -> Finding:
    hint = "lines of a card are `M1 name: 0-3 evidence: …`, its heads, and notes at its end"
    return Finding(place, "SCO003", f"means nothing on a score card: {line[:60]}", hint)


def _unfounded(marks: Mapping[str, Mark], file: str) -> Iterator[Finding]:
    for name, mark in marks.items():
        if mark.score is not None and not mark.evidence:
            hint = f"evidence: a line of the transcript, a file, a command; or {UNSET} instead of the score"
            yield Finding(Place(file, mark.line, 1), "SCO002", f"{name} has a score and no evidence", hint)


def _status(heads: Mapping[str, tuple[str, Place]], findings: list[Finding]) -> str | None:
    word, place = heads.get("Status", ("", Place("")))
    if word in STATUSES:
        return word
    if word and "|" not in word:
        findings.append(Finding(place, "SCO001", f"{word[:40]!r} is no status", ", ".join(STATUSES)))
    return None


def _rep(heads: Mapping[str, tuple[str, Place]], findings: list[Finding]) -> int:
    word, place = heads.get("Rep", ("", Place("")))
    if re.fullmatch("[1-9][0-9]{0,5}", word):
        return int(word)
    if word:
        findings.append(Finding(place, "SCO001", f"{word[:40]!r} is no number of a rep", "reps count from 1"))
    return 0
