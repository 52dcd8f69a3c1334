"""A canary on paper: check by check the verdict, and under it the transcript's lines that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote

from evalrepo.render.record import git_show
from evalrepo.render.safe import wrapped
from evalrepo.render.text import Style

SHOWN = 232
"""Characters of a transcript's row that are shown: three lines of a terminal."""
BEFORE = 24
"""Characters that are shown before what a row is about."""
STARTS = ('"text":', '"content":', '"output":', '"message":', '"data":')
"""Where in a row of JSON the telling part begins, when no call is named."""


@dataclass(frozen=True, slots=True)
class RestsOn:
    """One piece of evidence: its sentence, the file with its 1-based line (0: a file of the sandbox, or none), and the
    text of that row, None where it is not at hand or is not to be shown."""

    text: str
    file: str = ""
    line: int = 0
    row: str | None = None


@dataclass(frozen=True, slots=True)
class CheckSheet:
    """One check of the rep, and what its verdict rests on."""

    id: str
    axis: str
    outcome: str
    gating: bool
    by: str
    evidence: tuple[RestsOn, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """The canary of one cell. `rep` 0: there is none. `why`: why rows are not shown, "" when they are. `accepted`: who
    looked at it, and when, "" while nobody did. `place`: the transcript, as git names it."""

    scenario: str
    agent: str
    tier: str
    cli: str
    mark: str
    run: str = ""
    rep: int = 0
    verdict: str = ""
    error: str = ""
    message: str = ""
    checks: tuple[CheckSheet, ...] = ()
    accepted: str = ""
    why: str = ""
    place: str = ""

    @property
    def name(self) -> str:
        """`SCENARIO · AGENT/TIER`."""
        return f"{self.scenario} · {self.agent}/{self.tier}"

    @property
    def valid(self) -> bool:
        """Whether there is a rep that can be looked at: a PASS or a FAIL."""
        return bool(self.rep) and not self.error

    @property
    def waits(self) -> bool:
        """Whether a person is still to look at it."""
        return not self.accepted


def excerpt(row: str, call: str = "") -> str:
    """The part of a row that is about `call` (or about its text, without one), in `SHOWN` characters."""
    if len(row) <= SHOWN:
        return row
    found = [at for word in ((call,) if call else STARTS) if (at := row.find(word)) >= 0]
    start = min(max(0, min(found, default=0) - BEFORE), len(row) - SHOWN)
    end = start + SHOWN
    return ("…" if start else "") + row[start:end] + ("…" if end < len(row) else "")


def canary_text(sheet: Sheet, style: Style) -> str:
    """The sheet, for a terminal of 80 columns."""
    return "\n".join(_lines(sheet, style))


def _lines(sheet: Sheet, style: Style) -> Iterator[str]:
    verdict = f"ERROR({sheet.error})" if sheet.error else sheet.verdict
    where = f"run {sheet.run} rep {sheet.rep}: {verdict}" if sheet.rep else "no rep was recorded"
    for line in wrapped(f"canary {sheet.name} ({sheet.cli}), {where}", then="  "):
        yield style(line, "heading")
    if sheet.message:
        yield from wrapped(sheet.message, first="  ", then="  ")
    for check in sheet.checks:
        yield from _check(check)
    if sheet.why:
        yield from wrapped(sheet.why, first="  ", then="  ")
    if sheet.place:
        yield from git_show(sheet.place)
    if sheet.accepted:
        yield from wrapped(f"looked at by {sheet.accepted}", first="  ", then="  ")


def _check(check: CheckSheet) -> Iterator[str]:
    how = ("" if check.gating else ", not gating") + ("" if check.by == "mechanical" else f", by {check.by}")
    yield from wrapped(f"{check.axis} {check.id}: {check.outcome}{how}", first="  ", then="    ")
    last: tuple[str, int] | None = None
    for one in check.evidence:
        yield from wrapped(f"{one.text}{_where(one)}", first="    ", then="      ")
        if one.row is not None and last != (one.file, one.line):
            yield from wrapped(one.row, first="    | ", then="    | ")
        last = (one.file, one.line)


def _where(one: RestsOn) -> str:
    place = f"{one.file}:{one.line}" if one.line else one.file
    if not place:
        return ""
    return f" ({place})" if one.text else place


def look_text(sheets: Sequence[Sheet], command: Sequence[str]) -> list[str]:
    """What is left to do: `command` is the words of the run that was asked for, without its canary options."""
    waits = [sheet for sheet in sheets if sheet.waits and sheet.valid]
    if not waits:
        return []
    asked = " ".join(["evalrepo run", *map(quote, command)])
    many = "one canary" if len(waits) == 1 else f"each of {len(waits)} canaries"
    said = (
        f"look: does each verdict above agree with the lines under it? {many} waits for a "
        f"person's look. If one does not, mend the check. If all do:"
    )
    return [*wrapped(said, then="  "), f"  {asked} --canary --accept"]
