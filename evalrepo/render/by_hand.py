"""A hand-written result in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalrepo.records.hand import HandResult
from evalrepo.render.findings import shown
from evalrepo.render.safe import wrapped


def hand_text(result: HandResult) -> str:
    """All that is taken of it, for a terminal of 80 columns."""
    return "\n".join(line for text, first in _texts(result) for line in wrapped(text, first=first, then="  ")) + "\n"


def _texts(result: HandResult) -> Iterator[tuple[str, str]]:
    yield f"{result.scenario or result.said} · by hand · {result.day} · by {result.by or 'human'}", ""
    if result.scenario is None:
        yield f"no scenario is called {result.said}, so it counts nowhere", ""
    elif result.subject is None:
        yield "its subject is not at the commit that added it, so it counts nowhere", ""
    else:
        yield f"subject {result.subject[:8]}, {_where(result)}", ""
    yield result.path, "file "
    if result.status:
        yield f"says {result.status}", "  "
    for name, mark in result.metrics.items():
        yield f"{name} {mark.score} of 3 ({mark.source}) {mark.evidence}", "  "
    if result.notes:
        yield f"notes: {' '.join(result.notes.split())}", "  "
    for finding in result.findings:
        yield from ((line, "") for line in shown(finding._replace(warning=True)).split("\n"))


def _where(result: HandResult) -> str:
    return f"of commit {result.commit[:7]}, which added it" if result.commit else "as it is here, not committed yet"


def hand_lines(results: Sequence[HandResult]) -> list[str]:
    """One line a result, the newest first."""
    newest = sorted(results, key=lambda one: (one.day, one.path), reverse=True)
    return [line for one in newest for line in wrapped(_line(one), first="by hand: ", then="  ")]


def _line(one: HandResult) -> str:
    scores = ", ".join(f"{name} {mark.score}" for name, mark in one.metrics.items())
    at = f"subject {one.subject[:8]}" if one.subject else "no subject"
    return f"{one.day} {scores} ({at}, {one.path.rpartition('/')[2]})"
