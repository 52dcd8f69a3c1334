"""A judge beside people, as text of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalrepo.records.calibration import Calibration, Coefficient, Share
from evalrepo.render.findings import counted
from evalrepo.render.safe import wrapped

MOST = 5
"""Disagreements that are listed."""


def calibration_text(found: Calibration, judge: str, reps: Mapping[str, str]) -> Iterator[str]:
    """Matrix, coefficients, intervals, disagreements, and whether it decides. `reps`: transcript → its rep."""
    from evalrepo.render.text import table

    yield from wrapped(f"question {found.question} · judge {judge or 'not asked yet'}", then="  ")
    rows = [(answer, *map(str, counts)) for answer, counts in zip(found.answers, found.matrix, strict=True)]
    yield from table(rows, ("people, judge →", *found.answers), shrink=0)
    low, high = (round(bound * 100) for bound in found.agreement[1:])
    yield f"{counted(found.n, 'labelled rep')}, agreement {found.agreement[0]:.0%} ({low}-{high} %)"
    name = "weighted κ" if found.weighted else "κ"
    yield f"{_coefficient(name, found.kappa)}, {_coefficient('AC1', found.ac1)}"
    counts = ((found.unanswered, "without an answer of the judge"), (found.unasked, "not asked"))
    for number, what in (*counts, (found.unsettled, "on which people differ")):
        if number:
            yield f"{counted(number, 'rep')} {what}"
    if found.stale:
        yield f"{counted(found.stale, 'label')} of the question as it was worded before"
    for pair in found.raters:
        said = f"{pair.one} and {pair.other} agree on {pair.same} of {counted(pair.of, 'rep')}"
        yield from wrapped(f"{said}, {_coefficient(name, pair.kappa)}", then="  ")
    for one in found.disagreements[:MOST]:
        place = reps.get(one.transcript, one.transcript[:12])
        yield from wrapped(f"people {one.people}, judge {one.judge}: {place}", first="  ", then="    ")
    if len(found.disagreements) > MOST:
        yield f"  and {len(found.disagreements) - MOST} more disagreements"
    yield "decides" if found.decides else f"advisory: {found.why}"


def share_text(found: Share) -> Iterator[str]:
    """What the judge's rate in all runs is worth."""
    measured = f"in runs it says {found.answer} in {found.given} of {found.of} reps ({found.given / found.of:.0%})"
    low, high = round(found.low * 100), round(found.high * 100)
    yield from wrapped(f"{measured}; by people that is {found.share:.0%} ({low}-{high} %)", then="  ")


def _coefficient(name: str, found: Coefficient | None) -> str:
    return f"{name} unknown" if found is None else f"{name} {found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
