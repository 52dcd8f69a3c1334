"""A check and what its result rests on: the question, sentences, and under them the rows and files that they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalrepo.render.safe import wrapped

SHOWN = 232
"""Characters of a transcript's row that are shown: three lines of a terminal."""
BEFORE = 24
"""Characters that are shown before what a row is about."""
ASKS = 400
"""Characters of a check's words that are shown."""
LINES = 5
"""Lines of a file of the sandbox that are shown."""
STARTS = ('"text":', '"content":', '"output":', '"message":', '"data":')
"""Where in a row of JSON the telling part begins, when no call is named."""


@dataclass(frozen=True, slots=True)
class RestsOn:
    """One piece of evidence: its sentence, the file with its 1-based line (0: a file of the sandbox, or none), and the
    text of that row or the beginning of that file, None where it is not at hand or is not to be shown. `left`: what the
    agent made of a file of the sandbox."""

    text: str
    file: str = ""
    line: int = 0
    row: str | None = None
    left: str = ""


@dataclass(frozen=True, slots=True)
class CheckSheet:
    """One check of the rep, and what its verdict rests on. `asks`: its words, "" where they cannot be shown."""

    id: str
    axis: str
    outcome: str
    gating: bool
    by: str
    evidence: tuple[RestsOn, ...] = ()
    asks: str = ""


def excerpt(row: str, call: str = "") -> str:
    """The part of a row that is about `call` (or about its text, without one), in `SHOWN` characters."""
    if len(row) <= SHOWN:
        return row
    found = [at for word in ((call,) if call else STARTS) if (at := row.find(word)) >= 0]
    start = min(max(0, min(found, default=0) - BEFORE), len(row) - SHOWN)
    end = start + SHOWN
    return ("…" if start else "") + row[start:end] + ("…" if end < len(row) else "")


def beginning(text: str) -> str:
    """The first lines of a file, in `SHOWN` characters."""
    lines = text[:SHOWN].rstrip("\n").split("\n")
    shown = "\n".join(lines[:LINES])
    return shown + ("…" if len(text.rstrip("\n")) > len(shown) else "")


def check_lines(check: CheckSheet, *, axis: bool = True) -> Iterator[str]:
    """For a terminal of 80 columns: the result (behind its `axis`), the question, and each piece of evidence."""
    how = ("" if check.gating else ", not gating") + ("" if check.by == "mechanical" else f", by {check.by}")
    name = f"{check.axis} {check.id}" if axis else check.id
    yield from wrapped(f"{name}: {check.outcome}{how}", first="  ", then="    ")
    if check.asks:
        yield from asks_lines(check.asks)
    yield from evidence_lines(check.evidence)


def asks_lines(asks: str) -> Iterator[str]:
    """What is asked, cut where it is very long."""
    shown = asks if len(asks) <= ASKS else f"{asks[:ASKS].rstrip()}… (all of it: --format json)"
    yield from wrapped(shown, first="    asks ", then="      ")


def evidence_lines(evidence: tuple[RestsOn, ...]) -> Iterator[str]:
    """Each sentence with its place; rows under it, one that is named twice in a row only once."""
    last: tuple[str, int] | None = None
    for one in evidence:
        yield from wrapped(f"{one.text}{_where(one)}", first="    ", then="      ")
        if one.row is not None and last != (one.file, one.line):
            for line in one.row.split("\n"):
                yield from (part.rstrip() for part in wrapped(line, first="    | ", then="    | "))
        last = (one.file, one.line)


def _where(one: RestsOn) -> str:
    place = f"{one.file}:{one.line}" if one.line else ", ".join(filter(None, (one.file, one.left)))
    if not place:
        return ""
    return f" ({place})" if one.text else place
