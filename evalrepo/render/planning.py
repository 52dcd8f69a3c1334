"""What more reps would tell, as text of 80 columns. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.records.planning import Option, Outlook, Price
from evalrepo.render.safe import wrapped
from evalrepo.render.text import Style, plain, table

LISTED = 20
"""Cells that need more reps and are listed; the others are counted."""


def outlook_text(found: Outlook, style: Style = plain) -> str:
    """Options, tiers, cells that need more, and what it all means."""
    blocks = [_head(found, style), _options(found), [*_meaning(found)], _tiers(found), _cells(found), _saturated(found)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(found: Outlook, style: Style) -> list[str]:
    what = f"suite {found.suite}" if found.suite else "every scenario"
    known = f"from {_plural(found.recorded, 'recorded rep')}" if found.recorded else "assumed, nothing is recorded"
    size = f"{_plural(found.scenarios, 'scenario')}, {_plural(len(found.cells), 'cell')}"
    lines = [style(line, "heading") for line in wrapped(f"plan  {what}: {size}", then="  ")]
    return [*lines, *wrapped(f"pass rate {found.rate:.0%} ({known})", first="  ", then="  ")]


def _options(found: Outlook) -> list[str]:
    heads = ("reps", "drop", "suspect", "by chance", "margin", "at bar", "to run", "USD", "time")
    return table([_option(o, found.jobs) for o in found.options], heads, shrink=7)


def _option(option: Option, jobs: int) -> tuple[str, ...]:
    return (
        str(option.reps),
        _short(option.drop),
        f"{option.suspect}/{option.reps}" if option.suspect is not None else "never",
        f"{option.false_suspects:.1f}",
        _short(option.margin),
        f"{option.unchanged:.0%}",
        f"{option.price.reps} + {option.base.reps}" if option.base is not None else str(option.price.reps),
        _usd(option.both),
        _time(option.both, jobs),
    )


def _short(share: float | None) -> str:
    return f"{share * 100:.0f} pts" if share is not None else "none"


def _points(share: float) -> str:
    return f"{share * 100:.0f} points"


def _usd(price: Price) -> str:
    if not price.reps:
        return "-"
    if price.unpriced == price.reps:
        return "unknown"
    return f"{'≥ ' if price.unpriced else ''}{price.usd:.2f}"


def _time(price: Price, jobs: int) -> str:
    if not price.reps:
        return "-"
    if price.untimed == price.reps:
        return "unknown"
    return f"{'≥ ' if price.untimed else ''}{_duration(price.seconds / jobs)}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _meaning(found: Outlook) -> Iterator[str]:
    for text in (*_legend(found), *_unknown(found), *_advice(found)):
        yield from wrapped(text, then="  ")


def _legend(found: Outlook) -> Iterator[str]:
    test = f"the exact test at {found.alpha:g} with a power of {found.power:.0%}"
    yield f"drop: the smallest fall of every cell that both sides with so many reps show ({test})"
    yield "suspect: where a cell has to fall to that passed all; by chance: how many do, without a change"
    yield f"margin: the smallest drop that can be excluded when all pass; the gate asks {_points(found.wanted_margin)}"
    yield "at bar: how probable it is that no cell is below its bar, without a change"
    at_a_time = f"{_plural(found.jobs, 'rep')} at a time"
    where = f"here + at {found.base}" if found.base else "here"
    yield f"to run: {where}, so that each cell has so many; USD and time by medians of recorded reps, {at_a_time}"
    if not found.base:
        yield "The base that it will be compared with needs as many; there is none with another subject yet."


def _unknown(found: Outlook) -> Iterator[str]:
    last = found.options[-1].both if found.options else None
    if last is not None and last.unpriced > 0:
        yield f"What {_plural(last.unpriced, 'rep')} of {last.reps} cost is not recorded, so no sum holds it."
    if last is not None and last.untimed > 0:
        yield f"How long {_plural(last.untimed, 'rep')} of {last.reps} take is not recorded, so no sum holds it."


def _advice(found: Outlook) -> Iterator[str]:
    if not found.options:
        return
    yield f"One rep of {found.options[0].reps} moves the overall rate by {found.options[0].flip * 100:.1f} points."
    if found.options[0].margin > found.wanted_margin and found.wanted_margin < 1:
        enough = next((o.reps for o in found.options if o.margin <= found.wanted_margin), None)
        said = f"only from {enough} reps on" if enough else "with none of these"
        yield f"The gate's margin of {_points(found.wanted_margin)} can be shown {said}."
    yield "More scenarios show more than more reps; more reps only name the cell."
    words = ["evalrepo run", *(["--suite", found.suite] if found.suite else []), "--reps N"]
    yield " ".join([*words, *(["--against", found.base] if found.base else [])]) + " runs them."
    yield "diff and gate count the first N of a cell, N as `reps` in evalrepo.yaml says: raise it first."


def _tiers(found: Outlook) -> list[str]:
    if len(found.tiers) < 2:
        return []
    reps = [o.reps for o in found.options]
    rows = [(t.name, str(t.cells), f"{t.rate:.0%}", *(_short(d) for d in t.drops)) for t in found.tiers]
    return table(rows, ("tier", "cells", "rate", *(f"drop at {n}" for n in reps)), shrink=0)


def _cells(found: Outlook) -> list[str]:
    needy = [cell for cell in found.cells if cell.needs]
    if not needy:
        return ["Every cell has its reps, and room to show a fall."] if found.cells else ["no cells: evalrepo list"]
    rows = [(c.name, f"{c.have}/{c.want}", cost_text(c.usd, c.seconds), c.needs) for c in needy[:LISTED]]
    heads = ("cells that need more", "reps", "one rep", "why")
    more = len(needy) - LISTED
    tail = [f"and {_plural(more, 'more cell')}: --format json lists all"] if more > 0 else []
    return [*table(rows, heads, shrink=0, least=16), *tail]


def cost_text(usd: float | None, seconds: float | None) -> str:
    """Of one rep: `0.12 USD, 45 s`, `unknown`."""
    known = [f"{usd:.2f} USD"] if usd is not None else []
    known += [_duration(seconds)] if seconds is not None else []
    return ", ".join(known) or "unknown"


def estimate_text(found: Price, jobs: int) -> list[str]:
    """What these reps would cost and take, in lines of 80 columns."""
    if found.unpriced == found.reps and found.untimed == found.reps:
        return ["estimate: nothing is recorded of what these reps cost or how long they take"]
    usd = f"{_usd(found)} USD" if found.unpriced < found.reps else "cost unknown"
    time = _time(found, jobs) if found.untimed < found.reps else "time unknown"
    said = f"estimate: {usd}, {time} with {_plural(jobs, 'rep')} at a time, by medians of recorded reps"
    lacks = [f"{noun} of {count} unknown" for noun, count in (("cost", found.unpriced), ("time", found.untimed))
             if 0 < count < found.reps]  # fmt: skip
    return wrapped(said + (f" ({', '.join(lacks)})" if lacks else ""), then="  ")


def _saturated(found: Outlook) -> list[str]:
    if not found.saturated:
        return []
    where = "on both sides" if found.sides == 2 else "so far"
    return wrapped(
        f"Every cell passed all its reps {where}: a tripwire, not an instrument. It shows a collapse, and nothing "
        "that became better; harder scenarios would tell more.",
        then="  ",
    )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
