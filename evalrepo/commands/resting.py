"""From a recorded check to the sheet that a person reads: its evidence beside the rows and files that it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalrepo.records.record import CheckResult, Evidence
    from evalrepo.render.resting import CheckSheet, RestsOn
    from evalrepo.running.quoting import Quotes


def of_check(check: CheckResult, quotes: Quotes, asks: str = "") -> CheckSheet:
    """The check with what it rests on; without its evidence where that is sealed."""
    from evalrepo.render.resting import CheckSheet

    rests = () if quotes.sealed else tuple(rests_on(check.evidence, quotes))
    return CheckSheet(check.id, check.axis, str(check.outcome), check.gating, check.by, rests, asks)


def rests_on(evidence: Iterable[Evidence], quotes: Quotes) -> Iterable[RestsOn]:
    """Each piece of evidence with the row or the file that it names, as far as that is at hand."""
    from evalrepo.render.resting import RestsOn, beginning, excerpt

    for one in evidence:
        if one.line:
            row = quotes.row(one.file, one.line)
            shown = excerpt(row, one.call) if row is not None else None
            yield RestsOn(one.text, one.file, one.line, shown)
        else:
            left, text = quotes.left(one.file) if one.file else ("", None)
            yield RestsOn(one.text, one.file, 0, beginning(text) if text is not None else None, left)
