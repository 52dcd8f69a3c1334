"""The verdict object as text of 80 columns. Decides nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from evalrepo.records.verdict import CellResult, Errors, Label, Rate, Reason, Score, Side, Verdict
from evalrepo.render.findings import counted
from evalrepo.render.inference import (
    HAND_HEADS,
    METRIC_HEADS,
    TEST_HEADS,
    USAGE_HEADS,
    evidence_lines,
    falls,
    hand_rows,
    inference_lines,
    instrument_lines,
    looked_text,
    metric_rows,
    points,
    rates,
    test_rows,
    unset_lines,
    usage_rows,
)
from evalrepo.render.safe import safe, shortened, width, wrapped

COLUMNS = 80
STAND_IN = "\ue000"
"""In the place of text whose columns are not its characters while a table is laid out: tabulate counts characters."""

FALLS = 20
"""Falls of a metric in a cell that are shown."""

STRIP = 8
"""Letters of a strip that are shown."""

Style = Callable[[str, str], str]
"""(text, role) → text; roles are labels, kinds of reasons, answers and `heading`."""

KINDS = {"invalid": "INVALID", "block": "BLOCK", "finding": "FINDING", "inconclusive": "OPEN", "unknown": "UNKNOWN"}
"""How a kind of reason is headed; a note has no head."""


def plain(text: str, role: str) -> str:  # noqa: ARG001 - a Style
    """No colour."""
    return text


def verdict_text(verdict: Verdict, style: Style = plain) -> str:
    """The whole verdict, most important last, where a terminal leaves the eye."""
    blocks = [
        _head(verdict, style),
        _validity(verdict),
        _rates(verdict),
        _tests(verdict),
        _cells(verdict, style),
        _moved(verdict),
        _table_of(metric_rows(verdict), METRIC_HEADS),
        _falls(verdict),
        [line for text in unset_lines(verdict) for line in wrapped(text, then="  ")],
        _table_of(hand_rows(verdict), HAND_HEADS),
        _table_of(usage_rows(verdict), USAGE_HEADS),
        [line for text in instrument_lines(verdict) for line in wrapped(text, then="  ")],
        _reasons(verdict, style),
        [_answer(verdict, style)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _head(verdict: Verdict, style: Style) -> list[str]:
    before, after = verdict.before, verdict.after
    title = f"{verdict.question}  {side_name(before)} → {side_name(after)}"
    lines = [style(line, "heading") for line in wrapped(title, then="      ")]
    for name in sorted({*before.subjects, *after.subjects}):
        old, new = before.subjects.get(name, "none"), after.subjects.get(name, "none")
        change = f"{old}, the same on both sides" if old == new else f"{old} → {new}"
        lines += wrapped(f"subject {name}  {change}", then="  ")
    if verdict.question == "gate":
        lines += wrapped(_policy(verdict), then="  ")
    return lines


def _policy(verdict: Verdict) -> str:
    policy = verdict.policy
    suites = ", ".join(policy.suites) or "every scenario"
    golden = ", ".join(policy.golden) or "none"
    margin = "none" if policy.margin >= 1 else f"{policy.margin * 100:.0f} points"
    rules = f"bar {policy.bar}; alpha {policy.alpha:g}; margin {margin}"
    return f"policy read at {policy.read_at}: suites {suites}; golden {golden}; {rules}"


def side_name(side: Side) -> str:
    """`v1.2 (3f2a91c)`, `WORKTREE`."""
    short = side.commit[:7]
    if not short or side.commit.startswith(side.name):
        return short or side.name
    return f"{side.name} ({short})"


def validity_lines(verdict: Verdict) -> list[str]:
    """What the comparison stands on, one sentence a line."""
    validity = verdict.validity
    others = [f"{n} {label}" for label, n in validity.labels.items() if Label(label) not in _COMPARABLE]
    lines = [", ".join([f"{validity.comparable} of {counted(len(verdict.cells), 'cell')} comparable", *others])]
    lines.append(f"ERROR: before {_errors(validity.before)}; after {_errors(validity.after)}")
    if validity.gap:
        lines.append(f"not concurrent: the sides were measured at different times ({validity.gap})")
    lines += evidence_lines(verdict)
    lines += [f"excluded: {e.reps} {'rep' if e.reps == 1 else 'reps'} {e.why}" for e in validity.excluded]
    return lines


_COMPARABLE = (Label.SAME, Label.BETTER, Label.WORSE, Label.SUSPECT)


def _validity(verdict: Verdict) -> list[str]:
    return [line for text in validity_lines(verdict) for line in wrapped(text, then="  ")]


def _errors(errors: Errors) -> str:
    kinds = ", ".join(f"{n} {kind}" for kind, n in errors.kinds.items())
    text = f"{errors.errors} of {counted(errors.reps, 'rep')}" + (f" ({kinds})" if kinds else "")
    return text + (f", {errors.retries} tried again" if errors.retries else "")


def _rates(verdict: Verdict) -> list[str]:
    rows = [rate_row(rate) for rate in rates(verdict)]
    return table(rows, ("pass rate", "scenarios", "before", "", "after", "", "change"), shrink=0) if rows else []


def _tests(verdict: Verdict) -> list[str]:
    said = [line for text in inference_lines(verdict) for line in wrapped(text, then="  ")]
    return _table_of(test_rows(verdict), TEST_HEADS) + said


def _table_of(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> list[str]:
    return table(rows, heads, shrink=0) if rows else []


def _falls(verdict: Verdict) -> list[str]:
    """At most so many; `--format json` has all."""
    heads, rows = falls(verdict)
    if not rows:
        return []
    more = [f"and {len(rows) - FALLS} more: --format json"] if len(rows) > FALLS else []
    return table(rows[:FALLS], heads, shrink=1) + more


def rate_row(rate: Rate) -> tuple[str, ...]:
    """Name, scenarios, counts and rates of both sides, change in points."""
    (old, n_old), (new, n_new) = rate.before_counts, rate.after_counts
    before, after = f"{rate.before:.0%}", f"{rate.after:.0%}"
    return (rate.name, str(rate.scenarios), f"{old}/{n_old}", before, f"{new}/{n_new}", after, points(rate.difference))


def _cells(verdict: Verdict, style: Style) -> list[str]:
    if not verdict.cells:
        return []
    rows = [
        (_cell_name(c), score_text(c.before), score_text(c.after), label_text(c) + looked_text(verdict, c), _worse(c))
        for c in verdict.cells
    ]
    lines = table(rows, ("cell", "before", "after", "", "P(worse)"), shrink=0)
    for i, cell in enumerate(verdict.cells):
        lines[i + 2] = _styled(lines[i + 2], cell, style)
    if verdict.validity.comparable:
        lines += wrapped(suspects_line(verdict))
    return lines


def _styled(line: str, cell: CellResult, style: Style) -> str:
    return line if cell.label is Label.SAME else style(line, cell.label)


def _cell_name(cell: CellResult) -> str:
    return f"{cell.name} ★" if cell.golden else cell.name


def label_text(cell: CellResult) -> str:
    """The label, with the bar where it is missed."""
    return f"{cell.label}, below bar" if cell.below_bar else str(cell.label)


def score_text(score: Score | None) -> str:
    """`2/3 PFP`, ERRORs beside it (`2/3 PEFP`, `+1E` for those that the strip does not show); `—` without one."""
    if score is None:
        return "—"
    strip = score.strip if len(score.strip) <= STRIP else score.strip[: STRIP - 1] + "…"
    unseen = score.errors - strip.count("E")
    return f"{score.passes}/{score.valid} {strip}" + (f" +{unseen}E" if unseen > 0 else "")


def _worse(cell: CellResult) -> str:
    return "" if cell.p_worse is None else probability(cell.p_worse)


def probability(value: float) -> str:
    """Three digits, and never a certainty that few reps do not give."""
    return f"{value:.3f}" if value < 0.9995 else ">0.999"


def suspects_line(verdict: Verdict) -> str:
    """The number of suspects beside the number to expect by chance."""
    n = len(verdict.suspects)
    found = "no suspect" if n == 0 else f"{n} suspect{'s' if n > 1 else ''}"
    return f"{found}; {verdict.expected_false_suspects:.1f} would be expected by chance if nothing had changed"


def _moved(verdict: Verdict) -> list[str]:
    rows = [
        (
            f"{moved.kind} {moved.name}",
            cell.name,
            f"{moved.before}/{_valid(cell.before)}",
            f"{moved.after}/{_valid(cell.after)}",
        )
        for cell in verdict.cells
        for moved in cell.moved
    ]
    return table(rows, ("reps that failed", "cell", "before", "after"), shrink=1) if rows else []


def _valid(score: Score | None) -> int:
    return score.valid if score is not None else 0


def _reasons(verdict: Verdict, style: Style) -> list[str]:
    return [line for reason in verdict.reasons for line in _reason(reason, style)]


def _reason(reason: Reason, style: Style) -> Iterator[str]:
    head = KINDS.get(reason.kind, "")
    for i, line in enumerate(wrapped(reason.text, first=f"{head}  " if head else "", then="  ")):
        yield style(head, reason.kind) + line[len(head) :] if head and i == 0 else line
    if reason.command:
        yield from command_lines(reason.command)


def command_lines(command: str) -> list[str]:
    """A command to copy, continued with backslashes where a line is full."""
    lines = wrapped(command, first="  → ", then="      ", columns=COLUMNS - 2, cut=False)
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _answer(verdict: Verdict, style: Style) -> str:
    return f"{verdict.question}: {style(answer_text(verdict), verdict.answer)} (exit {verdict.exit})"


def answer_text(verdict: Verdict) -> str:
    """The answer in words."""
    return {
        "same": "nothing worse than noise",
        "finding": "worse, or suspect",
        "unknown": "cannot compare",
    }.get(verdict.answer, verdict.answer)


def table(
    rows: Iterable[Sequence[str]], heads: Sequence[str], *, shrink: int, least: int = 8, columns: int = COLUMNS
) -> list[str]:
    """Lines of a table no wider than `columns`; the column number `shrink` gives way, down to `least`."""
    from tabulate import tabulate

    shown = [list(heads), *([safe(cell) for cell in row] for row in rows)]
    used = [i for i in range(len(heads)) if any(row[i] for row in shown)]
    shown, shrink = [[row[i] for i in used] for row in shown], used.index(shrink)
    widths = [max(width(row[i]) for row in shown) for i in range(len(used))]
    room = max(least, columns - (sum(widths) - widths[shrink]) - 2 * (len(used) - 1))
    for row in shown:
        row[shrink] = shortened(row[shrink], room)
    rules = ["-" * min(w, room) if i == shrink else "-" * w for i, w in enumerate(widths)]
    wide = [cell for row in shown for cell in row if len(cell) != width(cell)]
    narrow = [
        [cell if len(cell) == width(cell) else STAND_IN * width(cell) for cell in row]
        for row in [shown[0], rules, *shown[1:]]
    ]
    laid = tabulate(narrow, tablefmt="plain", disable_numparse=True)
    found = iter(wide)
    return [re.sub(f"{STAND_IN}+", lambda _: next(found), line).rstrip() for line in laid.splitlines()]
