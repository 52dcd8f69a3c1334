"""A canary on paper: check by check the verdict, and under it the transcript's lines that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote

from evalrepo.render.record import git_show
from evalrepo.render.resting import CheckSheet, check_lines
from evalrepo.render.safe import wrapped
from evalrepo.render.text import Style


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
        yield from check_lines(check)
    if sheet.why:
        yield from wrapped(sheet.why, first="  ", then="  ")
    if sheet.place:
        yield from git_show(sheet.place)
    if sheet.accepted:
        yield from wrapped(f"looked at by {sheet.accepted}", first="  ", then="  ")


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
