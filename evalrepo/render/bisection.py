"""A bisect as text of 80 columns. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from evalrepo.records.bisection import Bisection, Candidate
from evalrepo.render.safe import safe, wrapped
from evalrepo.render.text import Style, command_lines, plain, table

SHOWN = 0.005
"""Commits without reps are listed from this posterior on; the others are counted."""

DIFF_LINES = 60
"""Lines of the commit's diff that are shown."""


def bisection_text(found: Bisection, style: Style = plain) -> str:
    """The range, each commit's posterior, what changed in the likeliest, and the answer."""
    blocks = [_head(found, style), _table(found), [*_sentences(found)], _diff(found), [_answer(found, style)]]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(found: Bisection, style: Style) -> list[str]:
    what = f", axis {found.axis}" if found.axis else ""
    lines = [style(line, "heading") for line in wrapped(f"bisect  {found.name}{what}", then="  ")]
    subjects = len(found.candidates)
    ends = f"{_named(found.good)} (good) … {_named(found.bad)} (bad)"
    range_ = f"{ends}: {_plural(found.commits, 'commit')} of the first-parent history"
    return [*lines, *wrapped(f"{range_}, {_plural(subjects, 'version')} of the subject", then="  ")]


def _named(rev: str) -> str:
    return rev[:9] if len(rev) >= 40 else rev


def _table(found: Bisection) -> list[str]:
    rows = [_row(found, i, c) for i, c in enumerate(found.candidates) if _listed(found, i, c)]
    lines = table(rows, ("probability", "commit", "date", "failed", "", "what it says"), shrink=5)
    hidden = len(found.candidates) - len(rows)
    if hidden:
        lines.append(f"and {_plural(hidden, 'version')} without reps, each below {SHOWN:.1%}")
    return lines


def _listed(found: Bisection, i: int, candidate: Candidate) -> bool:
    ends = i in (0, len(found.candidates) - 1)
    return ends or bool(candidate.reps or candidate.errors or candidate.skipped) or candidate.posterior >= SHOWN


def _row(found: Bisection, i: int, c: Candidate) -> tuple[str, ...]:
    failed = f"{c.fails}/{c.reps}" if c.reps else "-"
    errors = f"{c.errors} ERROR" if c.errors else ""
    marks = [errors, c.skipped, "★" if i == found.best and _known(found) else ""]
    return (_share(c.posterior), c.commit[:9], c.date[:10], failed, " ".join(m for m in marks if m), c.line)


def _known(found: Bisection) -> bool:
    return any(c.reps for c in found.candidates)


def _share(p: float) -> str:
    """Never said to be certain or impossible unless it is."""
    if p == 0:
        return "0"
    return "<0.1%" if p < 0.001 else ">99.9%" if p > 0.999 else f"{p:.1%}"


def _sentences(found: Bisection) -> Iterator[str]:
    best = found.likeliest
    if not _known(found):
        yield "No rep of this range is recorded."
        return
    if found.answer == "found":
        said = f"It began with {best.commit[:9]} ({safe(best.line)}): {_share(best.posterior)}."
    elif found.best == len(found.candidates) - 1:
        like = f"{_named(found.good)} behaves like {_named(found.bad)}"
        said = f"The likeliest is that nothing changed in this range ({_share(best.posterior)}): {like}."
    else:
        said = f"The likeliest is {best.commit[:9]} ({safe(best.line)}), with {_share(best.posterior)}; not decided."
    yield from wrapped(said, then="  ")
    if best.commits > 1 and found.answer == "found":
        yield from wrapped(f"{_plural(best.commits - 1, 'later commit')} left the subject as it made it.", then="  ")
    yield from wrapped(_rates(found), then="  ")
    if found.beside:
        names = ", ".join(found.candidates[i].commit[:9] for i in found.beside)
        yield from wrapped(f"Not measured, and under the same suspicion: {names}.", then="  ")
    yield from wrapped(_cost(found), then="  ")


def _rates(found: Bisection) -> str:
    what = f"fails axis {found.axis}" if found.axis else "fails"
    if found.best == len(found.candidates) - 1:
        return f"It {what} in about {found.since:.0%} of the reps, all over the range."
    turn = "" if found.since >= found.before else " - it became better, so good and bad may be swapped"
    return f"It {what} in about {found.before:.0%} of the reps before that, {found.since:.0%} since{turn}."


def _cost(found: Bisection) -> str:
    recorded = sum(c.recorded for c in found.candidates)
    counted = f"{_plural(found.ran, 'rep')} of a budget of {found.budget} run, {recorded} recorded before"
    return f"{counted}; {found.bits:.1f} bits of doubt are left."


def _diff(found: Bisection) -> list[str]:
    if not found.diff_command:
        return []
    lines = found.diff.removesuffix("\n").split("\n")
    shown = [safe(line.replace("\t", "    ")) for line in lines[:DIFF_LINES]]
    more = [f"… {_plural(len(lines) - DIFF_LINES, 'more line')}"] if len(lines) > DIFF_LINES else []
    return ["What it changed in the subject:", *command_lines(found.diff_command), "", *shown, *more]


def _answer(found: Bisection, style: Style) -> str:
    words = {"nothing-changed": "nothing changed", "open": "not decided (dry run)"}.get(found.answer, found.answer)
    lines = [*wrapped(found.why, then="  ")] if found.why else []
    if found.next and found.answer != "found":
        more = "the next reps would go to" if found.answer == "open" else "more reps (the same command goes on) go to"
        lines.append(f"{more} {found.next[:9]}")
    role = {"found": "pass", "nothing-changed": "finding", "open": "unknown"}.get(found.answer, found.answer)
    return "\n".join([*lines, f"bisect: {style(words, role)} (exit {found.exit})"])


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
