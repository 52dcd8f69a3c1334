"""What people gave becomes records: cards of a template or answers of a walk, checked, then one record a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalrepo.errors import DataError, Finding, Place, UsageError

if TYPE_CHECKING:
    from evalrepo.commands.sheets import Desk, Room, Sheet
    from evalrepo.formats.scorecard import Card
    from evalrepo.records.record import Record
    from evalrepo.repository.repo import Repository
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


@dataclass
class _Heap:
    """Scores by record and person, while cards are read."""

    record: Record
    by: str
    reps: dict[int, dict[str, tuple[int, str]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def trouble(evidence: str, sheet: Sheet) -> str:
    """Why a score with this evidence is refused, "" when it is sound."""
    from evalrepo.scoring.grounds import grounds

    if not evidence:
        return "a score needs evidence; - leaves the metric unset"
    assert sheet.material is not None
    found = grounds(evidence, sheet.material)
    if found.missing:
        return f"not there: {', '.join(found.missing)}"
    if not found.found:
        return "it names no place: write line N of the log, a file, or a “quotation” of what was done, printed or said"
    return ""


def readable(desk: Desk) -> None:
    """UsageError with the way to get them where transcripts are not at hand."""
    lacking = [sheet for sheet in desk.sheets if sheet.lacking is not None]
    if lacking:
        why = lacking[0].lacking
        assert why is not None
        raise UsageError(f"{lacking[0].name}: {why.why}; {FETCH}", hint=why.how)


def cards(desk: Desk, by: str) -> list[Card]:
    """An empty card for each rep, with what other sources scored already."""
    from evalrepo.formats.scorecard import Card, Mark

    return [
        Card(
            sheet.record.scenario,
            sheet.record.run,
            f"{sheet.record.agent}/{sheet.record.tier}",
            sheet.rep.rep,
            by,
            sheet.rep.status,
            {metric: Mark(None) for metric in sheet.open},
            ", ".join(spawn.agent or "unnamed" for spawn in sheet.rep.spawns) or "none",
            str(sheet.rep.usage.tool_calls),
            given={n: f"{m.score} ({m.source})" for n, m in sheet.rep.metrics.items() if n not in sheet.open},
        )
        for sheet in desk.sheets
    ]


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
    return [Scored(h.record, h.by, h.reps, tuple(h.notes)) for h in heaps.values()]


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
    heap.reps.setdefault(sheet.rep.rep, {}).update(
        {name: (mark.score, mark.evidence) for name, mark in card.marks.items() if mark.score is not None}
    )
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
            out.append(Finding(place, "SCO006", f"{name}: {why}", "what happened: evalrepo show RUN"))
    return out
