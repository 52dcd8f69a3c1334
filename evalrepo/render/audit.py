"""What was found about results: as text for a terminal, and as JSON-ready data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from evalrepo.errors import Finding
from evalrepo.render.findings import counted, finding_json, shown, summary
from evalrepo.render.safe import safe


class Said(Protocol):
    """A finding, the commit that made it ("": it is so now), the event that acknowledges it ("" for none)."""

    @property
    def finding(self) -> Finding: ...
    @property
    def commit(self) -> str: ...
    @property
    def event(self) -> str: ...


def audit_text(found: Sequence[Said], clean: str) -> str:
    """A finding a line with the next step below it; what is acknowledged after the others, with its event."""
    open_ = [one.finding for one in found if not one.event]
    lines = [shown(finding) for finding in open_]
    for one in found:
        if one.event:
            kind = f"{one.finding.place}: {one.finding.code} acknowledged: {one.finding.message}"
            lines.append(f"{safe(kind)}\n  by {safe(one.event)}")
    excepted = len(found) - len(open_)
    more = f"; {counted(excepted, 'finding')} acknowledged" if excepted else ""
    return "\n".join([*lines, (summary(open_) if open_ else clean) + more])


def audit_json(found: Sequence[Said]) -> list[dict[str, Any]]:
    """As `finding_json`, with `commit` and `acknowledged`: the ledger path of the event, or ""."""
    return [{**finding_json(one.finding), "commit": one.commit, "acknowledged": one.event} for one in found]
