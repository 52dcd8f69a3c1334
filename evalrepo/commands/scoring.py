"""What people gave becomes records: cards of a template or answers of a walk, checked, then one record a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from unicodedata import category

import click

from evalrepo.errors import DataError, Finding, Place, UsageError
from evalrepo.render.safe import safe, wrapped

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Desk, Room, Sheet
    from evalrepo.formats.scorecard import Card, Mark
    from evalrepo.records.record import Record
    from evalrepo.repository.repo import Repository
    from evalrepo.running.restate import Restated
    from evalrepo.scoring.people import Given

FETCH = "without its transcript nobody can check the evidence"


@dataclass(frozen=True)
class Scored:
    """Scores of one person for reps of one record. `reps`: number → metric → score and evidence; `notes`: sentences."""

    record: Record
    by: str
    reps: Mapping[int, Given]
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many scores."""
        return sum(map(len, self.reps.values()))

    @property
    def taken_back(self) -> int:
        """How many of them take back what was given before."""
        return [score for given in self.reps.values() for score, _ in given.values()].count(None)


@dataclass
class _Heap:
    """Scores by record and person, while cards are read."""

    record: Record
    by: str
    reps: dict[int, dict[str, tuple[int | None, str]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def trouble(evidence: str, sheet: Sheet) -> str:
    """Why a score with this evidence is refused, "" when it is sound."""
    from evalrepo.scoring.grounds import grounds

    if not evidence:
        return "a score needs evidence; - leaves the metric unset"
    if any(category(char) in ("Cc", "Cs") for char in evidence.replace("\t", " ")):
        return f"it holds characters that are no text: {safe(evidence)}"
    assert sheet.material is not None
    found = grounds(evidence, sheet.material)
    if found.missing:
        return f"not there: {', '.join(found.missing)} (the log has lines 1 to {sheet.material.length})"
    if not found.found:
        return "it names no place: write line N of the log, a file, or a “quotation” of what was done, printed or said"
    return ""


def readable(desk: Desk) -> Desk:
    """Those whose transcripts are at hand; the others are named with the way to get them. UsageError when none is."""
    lacking = {sheet.path: sheet for sheet in desk.sheets if sheet.lacking is not None}
    there = tuple(sheet for sheet in desk.sheets if sheet.lacking is None)
    for sheet in lacking.values():
        why = sheet.lacking
        assert why is not None
        if not there:
            raise UsageError(f"{sheet.name}: {why.why}; {FETCH}", hint=why.how)
        text = f"left out: {sheet.name.rpartition(' · ')[0]}: {why.why}: {why.how}"
        click.echo("\n".join(wrapped(text, then="  ")), err=True)
    return replace(desk, sheets=there)


def cards(desk: Desk, by: str) -> list[Card]:
    """A card for each rep: what this person gave before, not what others gave, and what other sources scored."""
    from evalrepo.formats.scorecard import Card

    return [
        Card(
            sheet.record.scenario,
            sheet.record.run,
            f"{sheet.record.agent}/{sheet.record.tier}",
            sheet.rep.rep,
            by,
            sheet.rep.status,
            {name: _mark(name, sheet, by) for name in sheet.rep.metrics},
            ", ".join(spawn.agent or "unnamed" for spawn in sheet.rep.spawns) or "none",
            str(sheet.rep.usage.tool_calls),
        )
        for sheet in desk.sheets
    ]


def _mark(name: str, sheet: Sheet, by: str) -> Mark:
    from evalrepo.formats.scorecard import Mark
    from evalrepo.records.unset import score_word
    from evalrepo.scoring.people import rating

    found = sheet.rep.metrics[name]
    if name not in sheet.open:
        return Mark(None, given=f"{score_word(found.score)} ({found.source})")
    own = rating(found, by)
    return Mark(None) if own is None else Mark(own.score, own.evidence)


def of_cards(repo: Repository, found: Sequence[Card], by: str, file: str) -> list[Scored]:
    """The scores of filled cards. DataError with every finding when one of them cannot be used, and then of none."""
    from evalrepo.commands.sheets import Room

    room = Room(repo)
    heaps: dict[tuple[str, str, str], _Heap] = {}
    findings: list[Finding] = []
    for card in found:
        if card.filled:
            _of_card(room, card, card.by or by, file, heaps, findings)
    if findings:
        raise DataError(findings, hint="nothing was recorded; mend the cards and import them again")
    made = [Scored(h.record, h.by, news(h.record, h.by, h.reps), tuple(h.notes)) for h in heaps.values()]
    return [one for one in made if one.count]


def news(record: Record, by: str, reps: Mapping[int, Given]) -> dict[int, Given]:
    """What of these scores the person has not given already, of metrics that are open."""
    from evalrepo.scoring.people import open_metrics, rating

    out: dict[int, Given] = {}
    for rep in record.last_attempts():
        new = {}
        for name in open_metrics(rep):
            own = rating(rep.metrics[name], by)
            before = (None, "") if own is None else (own.score, own.evidence)
            answer = reps.get(rep.rep, {}).get(name, before)
            if answer != before:
                new[name] = answer
        if new:
            out[rep.rep] = new
    return out


def _of_card(
    room: Room, card: Card, by: str, file: str, heaps: dict[tuple[str, str, str], _Heap], findings: list[Finding]
) -> None:
    place = Place(file, card.line, 1)
    if not (card.run and card.rep):
        hint = "evalrepo score RUN --export FILE writes cards that do; what no run measured stays a file of its own"
        findings.append(Finding(place, "SCO005", "the card names no run and rep", hint))
        return
    try:
        sheets = room.desk([card.run, card.scenario], rep=card.rep).sheets
    except UsageError as error:
        findings.append(Finding(place, "SCO005", error.message, error.hint))
        return
    fitting = [s for s in sheets if card.cell in ("", f"{s.record.agent}/{s.record.tier}")]
    if len(fitting) != 1:
        cells = ", ".join(f"{s.record.agent}/{s.record.tier}" for s in sheets)
        findings.append(Finding(place, "SCO005", f"the card fits {len(fitting)} reps", f"Cell: one of {cells}"))
        return
    (sheet,) = fitting
    findings += [*_unfit(card, sheet, file)]
    heap = heaps.setdefault((sheet.record.run, sheet.path, by), _Heap(sheet.record, by))
    given = heap.reps.setdefault(sheet.rep.rep, {})
    for name, mark in card.marks.items():
        if mark.score is None:
            continue
        if name in given:
            text = f"{by} scores {name} of this rep on another card too"
            findings.append(Finding(Place(file, mark.line, 1), "SCO004", text, "keep one of the two"))
        given[name] = (mark.score, mark.evidence)
    if card.status and card.status != sheet.rep.status:
        heap.notes.append(f"rep {sheet.rep.rep}, {by}: status {card.status}")
    if card.notes:
        heap.notes.append(f"rep {sheet.rep.rep}, {by}: {' '.join(card.notes.split())}")


def _unfit(card: Card, sheet: Sheet, file: str) -> list[Finding]:
    """Marks that cannot be taken: of a metric that is not a person's, or whose evidence is not there."""
    out = []
    if sheet.lacking is not None:
        return [Finding(Place(file, card.line, 1), "SCO006", f"{sheet.lacking.why}; {FETCH}", sheet.lacking.how)]
    for name, mark in card.marks.items():
        if mark.score is None:
            continue
        place = Place(file, mark.line, 1)
        if name not in sheet.open:
            hint = f"people score {', '.join(sheet.open)} here; a check that is wrong is mended, then evalrepo rescore"
            out.append(Finding(place, "SCO005", f"{name} is not a person's to score", hint))
        elif why := trouble(mark.evidence, sheet):
            out.append(
                Finding(
                    place,
                    "SCO006",
                    f"{name}: {why}",
                    f"what happened: evalrepo show {sheet.record.run} {sheet.record.scenario}",
                )
            )
    return out


def joinable(repo: Repository, words: Sequence[str]) -> list[Restated]:
    """Records that stand, with what people gave the same reps in records beside them; none where that adds nothing."""
    from evalrepo.commands.sheets import Room
    from evalrepo.running.restate import Restated, header_of
    from evalrepo.scoring.people import joined

    out = []
    for record, rivals in Room(repo).beside(words):
        others = [rep for rival in rivals for rep in rival.last_attempts()]
        last = {id(rep) for rep in record.last_attempts()}
        reps = tuple(
            joined(rep, [one for one in others if one.rep == rep.rep]) if id(rep) in last else rep
            for rep in record.reps
        )
        if reps != record.reps:
            why = f"joined with the scores of {', '.join(one.run for one in rivals)}"
            out.append(Restated(record, header_of(record), reps, why))
    return out
